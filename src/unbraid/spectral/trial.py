"""One setting tried out, and the choice among many: neighbours once per PCA size, then every neighbourhood size."""

import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from unbraid.manifold.neighbors import Graph, graph_of, neighborhoods
from unbraid.metrics.local_isometry import closest_pairs, isometry_of_pairs, neighbor_pairs
from unbraid.spectral.eigen import Spectrum
from unbraid.spectral.extension import LocalMaps, local_maps
from unbraid.spectral.ica import Rotation, rotations, whitening
from unbraid.spectral.reduction import RESIDUALS
from unbraid.spectral.selection import RULES, Candidate, exclusion, mutual_information, neighbor_candidates, score

if TYPE_CHECKING:
    from unbraid.spectral.base import SpectralEstimator

Floats = NDArray[np.float64]
Pairs = tuple[NDArray[np.intp], NDArray[np.intp], Floats]

EDGE_NEIGHBORS = 15
EDGE_POINTS = 1000
CLOSEST_POINTS = 1500
MOSTLY = 0.9  # share of the points that must hang together; the rest is placed by the local maps
WIDEST = 200  # neighbours up to which a connected graph is looked for


@dataclass
class Choice:
    """The chosen setting with everything that was computed for it."""

    estimator: "SpectralEstimator"
    points: Floats
    near: NDArray[np.intp]
    distances: Floats
    graph: Graph
    spectrum: Spectrum
    vectors: Floats
    rotation: Rotation | None
    edges: Pairs
    candidate: Candidate
    rule: str = "given"
    candidates: list[Candidate] = field(default_factory=list)
    n_merged: int = 0
    n_outside: int = 0
    unsolved: list[str] = field(default_factory=list)

    def maps(self) -> LocalMaps:
        """Local maps from the reduced space to the embedding."""
        return local_maps(self.points, self.vectors, self.near, self.distances)

    def unmix(self, fresh: Floats, rng) -> tuple[Floats, Floats, Rotation | None]:
        """Mean and matrix that turn the embedding into codes, from the embedding of ``fresh`` points."""
        if not self.estimator.with_ica:
            i, j, lengths = self.edges
            return fresh.mean(axis=0), metric_root(self.vectors[i] - self.vectors[j], lengths), None
        white = whitening(fresh)
        rotation = self.rotation
        if fresh is not self.vectors:
            rotation = best_rotation(self.estimator, white(fresh), rng)
        assert rotation is not None
        return white.mean, rotation.matrix @ white.matrix, rotation

    def held_out_error(self, maps: LocalMaps) -> float:
        """Median error of predicting a point from its nearest neighbour's map, in standard deviations of a code."""
        i = np.arange(0, len(self.points), max(1, len(self.points) // 500))
        j = self.near[i, 1]
        forward = maps.derivatives(maps.near[j])[0]
        found = maps.codes[j] + np.einsum("ncm,nm->nc", forward, self.points[i] - self.points[j])
        return float(np.median(np.sqrt((((found - maps.codes[i]) / maps.codes.std(axis=0)) ** 2).mean(axis=1))))

    def concerns(self) -> list[str]:
        """What was done with points that could not be embedded with the rest."""
        found = []
        if self.n_outside:
            found.append(
                f"the neighbour graph falls into {self.graph.n_components} pieces; the largest was embedded, and "
                f"{self.n_outside} point(s) outside it were placed by the nearest local maps. Raise n_neighbors, or "
                "fit the pieces separately"
            )
        if self.rotation is not None and self.rotation.converged == 0:
            found.append(
                "ICA did not converge from any start; the codes are the last iterate. Raise n_restarts or try the "
                "other contrast"
            )
        return found


def choose(est: "SpectralEstimator", P: Floats, d: int, rng, advance, fixed: Candidate | None = None) -> Choice:
    """Try every setting that the parameters leave open, and keep the best by the estimator's rule."""
    if est.selection not in RULES:
        raise ValueError(f"selection is {est.selection!r}; it must be one of {', '.join(map(repr, RULES))}.")
    P, n_merged = merge_duplicates(P)
    n = len(P)
    smallest = est._smallest_neighborhood(d)
    if n <= smallest:
        raise ValueError(
            f"n_samples = {n} different points are too few for {d} factor(s): {type(est).__name__} needs more than "
            f"{smallest}. Give more points or ask for fewer factors."
        )
    sizes = [fixed.pca_components] if fixed else _pca_sizes(est, P, d)
    edges = neighbor_pairs(P, EDGE_NEIGHBORS, EDGE_POINTS)
    searching = len(sizes) > 1 or (est.n_neighbors == "auto" and fixed is None)
    closest = _closest(P, rng) if searching else None
    best: Choice | None = None
    tried: list[Candidate] = []
    for m in sizes:
        points = np.ascontiguousarray(P[:, :m])
        for near, distances in _neighborhoods(est, points, smallest, fixed):
            graph = graph_of(near)
            widest = near.shape[1] >= min(n, WIDEST)
            if searching and graph.n_components > 1 and not (widest and graph.largest_share >= MOSTLY):
                tried.append(_torn(near.shape[1], m, graph))
                continue
            trial = _try(est, points, near, distances, graph, d, edges, closest, rng)
            tried.append(trial.candidate)
            advance(1)
            if best is None or _better(est.selection, trial.candidate, best.candidate):
                best = trial
    if best is None:
        raise _no_single_embedding(near.shape[1], graph)
    for message in best.unsolved:
        warnings.warn(message, ConvergenceWarning, stacklevel=5)
    best.rule, best.candidates, best.n_merged = est.selection if searching else "given", tried, n_merged
    return best


def _better(rule: str, new: Candidate, old: Candidate) -> bool:
    if bool(new.excluded) != bool(old.excluded):
        return not new.excluded
    return score(rule, new) > score(rule, old)


def _torn(k: int, m: int, graph: Graph) -> Candidate:
    """A size that was not solved, because its graph is not connected."""
    nan = float("nan")
    return Candidate(k, m, "", nan, nan, nan, nan, nan, nan, graph.n_components, exclusion(1, graph.n_components, True))


def _no_single_embedding(k: int, graph: Graph) -> ValueError:
    return ValueError(
        f"with {k} neighbours the neighbour graph falls into {graph.n_components} pieces, the largest with "
        f"{100 * graph.largest_share:.0f} % of the points: there is no single embedding. Raise n_neighbors, or fit the "
        "pieces separately."
    )


def _pca_sizes(est: "SpectralEstimator", P: Floats, d: int) -> list[int]:
    if est.pca_components not in ("auto", None):
        return [P.shape[1]]
    sizes = [max(d + 1, est.reduction_.size_for(r)) for r in RESIDUALS]
    sizes = sorted({min(size, P.shape[1]) for size in sizes})
    if est.n_neighbors != "auto":
        return sizes[-1:]
    kept = sizes[:1]
    for size in sizes[1:]:  # sizes closer than a fifth do not differ enough to be worth a trial
        if size >= 1.2 * kept[-1] or size == sizes[-1]:
            kept.append(size)
    return kept


def _neighborhoods(est: "SpectralEstimator", points: Floats, smallest: int, fixed: Candidate | None):
    """(neighbours, distances) of every size to try, from one search for the largest."""
    n = len(points)
    if fixed is not None or est.n_neighbors != "auto":
        k = fixed.n_neighbors if fixed else est.n_neighbors
        if not isinstance(k, int | np.integer) or isinstance(k, bool) or k < 1:
            raise ValueError(f"n_neighbors is {k!r}; it must be 'auto' or a positive integer.")
        if k < smallest:
            raise ValueError(
                f"n_neighbors={k} is too small: {type(est).__name__} needs neighbourhoods of at least {smallest} "
                "points (the point itself counts) for this number of factors."
            )
        if k > n:
            raise ValueError(f"n_neighbors={k} is larger than the number of different points, n_samples = {n}.")
        distances, near = neighborhoods(points, int(k))
        yield near, distances
        return
    sizes = neighbor_candidates(n, smallest)
    distances, near = neighborhoods(points, sizes[-1])
    while graph_of(near).n_components > 1 and sizes[-1] < min(n, WIDEST):
        sizes.append(min(n, WIDEST, 3 * sizes[-1] // 2 + 1))  # no size is connected yet: widen until one is
        distances, near = neighborhoods(points, sizes[-1])
    for k in sizes:
        yield np.ascontiguousarray(near[:, :k]), np.ascontiguousarray(distances[:, :k])


def _try(
    est: "SpectralEstimator",
    points: Floats,
    near: NDArray[np.intp],
    distances: Floats,
    graph: Graph,
    d: int,
    edges: Pairs,
    closest: Pairs | None,
    rng,
) -> Choice:
    n_outside = 0
    if graph.n_components > 1:
        inside = graph.labels == 0
        n_outside = int(np.sum(~inside))
        if graph.largest_share < MOSTLY:
            raise _no_single_embedding(near.shape[1], graph)
        points, near, distances, edges = _restrict(inside, points, near, distances, edges)
        closest = _restrict_pairs(inside, closest) if closest is not None else None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        spectrum = est._spectrum(points, near, distances, d, rng)
    unsolved = [str(w.message) for w in caught if issubclass(w.category, ConvergenceWarning)]
    participation = float((1 / (len(points) * (spectrum.vectors**4).sum(axis=0))).min())
    white = whitening(spectrum.vectors)
    vectors = white(spectrum.vectors)
    rotation = best_rotation(est, vectors, rng) if est.with_ica else None
    codes, (by_edges, by_closest) = _scored(est, vectors, rotation, edges, closest)
    values = spectrum.values
    candidate = Candidate(
        n_neighbors=near.shape[1],
        pca_components=points.shape[1],
        contrast=rotation.contrast if rotation else "",
        edges=by_edges,
        closest=by_closest,
        dependence=mutual_information(codes) if est.with_ica and closest is not None else 0.0,
        participation=participation,
        eigengap=float(values[-1] / max(values[-2], 1e-300)) if len(values) > d else float("inf"),
        stability=rotation.stability if rotation else 1.0,
        pieces=graph.n_components,
        excluded=exclusion(participation, graph.n_components, rotation is None or rotation.converged > 0)
        or "; ".join(unsolved),
    )
    return Choice(
        est,
        points,
        near,
        distances,
        graph,
        spectrum,
        vectors,
        rotation,
        edges,
        candidate,
        n_outside=n_outside,
        unsolved=unsolved,
    )


def _scored(est, vectors: Floats, rotation: Rotation | None, edges: Pairs, closest: Pairs | None):
    if rotation is not None:
        codes = vectors @ rotation.matrix.T
    else:
        codes = vectors @ metric_root(vectors[edges[0]] - vectors[edges[1]], edges[2]).T
    found = [
        isometry_of_pairs(codes[pairs[0]] - codes[pairs[1]], pairs[2])[0] if pairs is not None else float("nan")
        for pairs in (edges, closest)
    ]
    return codes, found


def best_rotation(est, Z: Floats, rng) -> Rotation:
    """The rotation of the estimator's contrast; with "auto" the one whose components are least dependent."""
    found = rotations(Z, contrast=est.contrast, n_restarts=est.n_restarts, random_state=rng)
    return (
        min(found, key=lambda r: (r.converged == 0, mutual_information(Z @ r.matrix.T))) if len(found) > 1 else found[0]
    )


def metric_root(steps: Floats, lengths: Floats) -> Floats:
    """Symmetric root A of the metric G that fits |x_i - x_j|^2 by (y_i - y_j)^T G (y_i - y_j), in the relative sense.

    This is Donoho and Grimes' last step, with every edge in place of one neighbourhood: A y is locally isometric.
    """
    d = steps.shape[1]
    a, b = np.triu_indices(d)
    features = steps[:, a] * steps[:, b] * np.where(a == b, 1.0, 2.0)
    weights = 1 / np.maximum(lengths, 1e-3 * lengths.mean())
    g = np.linalg.lstsq(features * weights[:, None], lengths**2 * weights, rcond=None)[0]
    G = np.zeros((d, d))
    G[a, b] = g
    G[b, a] = g
    values, vectors = np.linalg.eigh(G)
    values = np.maximum(values, 1e-6 * max(abs(values[-1]), 1e-300))
    return (vectors * np.sqrt(values)) @ vectors.T


def merge_duplicates(P: Floats) -> tuple[Floats, int]:
    """Different points in their first order, and how many were equal to an earlier one."""
    grain = 1e-9 * max(float(np.abs(P).max()), 1e-300)
    # Equal points have equal projections: where no two projections meet, there is nothing to merge.
    projected = np.sort(P @ np.cos(np.arange(P.shape[1])))
    if len(P) > 1 and np.diff(projected).min() > 4 * grain * P.shape[1]:
        return P, 0
    _, first = np.unique(np.round(P / grain).astype(np.int64), axis=0, return_index=True)
    return P[np.sort(first)], len(P) - len(first)


def _closest(P: Floats, rng) -> Pairs:
    rows = np.sort(rng.permutation(len(P))[:CLOSEST_POINTS])
    i, j, lengths = closest_pairs(P[rows], 0.05)
    return rows[i], rows[j], lengths


def _restrict(inside: NDArray[np.bool_], points: Floats, near: NDArray[np.intp], distances: Floats, edges: Pairs):
    new = np.cumsum(inside) - 1
    return points[inside], new[near[inside]], distances[inside], _restrict_pairs(inside, edges)


def _restrict_pairs(inside: NDArray[np.bool_], pairs: Pairs) -> Pairs:
    new = np.cumsum(inside) - 1
    i, j, lengths = pairs
    keep = inside[i] & inside[j]
    return new[i[keep]], new[j[keep]], lengths[keep]
