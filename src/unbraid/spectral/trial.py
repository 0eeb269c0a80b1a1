"""One setting tried out, and the choice among many: neighbours once per PCA size, then every neighbourhood size."""

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from unbraid.manifold.neighbors import (
    Floats,
    Graph,
    Indices,
    Pairs,
    closest_pairs,
    distinct_rows,
    graph_of,
    isometry,
    neighbor_pairs,
    neighborhoods,
)
from unbraid.spectral.eigen import Spectrum
from unbraid.spectral.extension import LocalMaps, local_maps
from unbraid.spectral.ica import Rotation, best_rotation, whitening
from unbraid.spectral.selection import Candidate, exclusion, neighbor_candidates, score
from unbraid.trust.support import mutual_information
from unbraid.trust.warnings import ConvergenceWarning, emit, format_warning

# embed(points, near, distances, n_factors, random_state)
Embedding = Callable[[Floats, Indices, Floats, int, np.random.RandomState], Spectrum]
Advance = Callable[[int], None]  # called with 1 after each trial
View = Callable[[Floats], Floats]  # from the points to others, in which neighbours are looked for

EDGE_NEIGHBORS = 15
EDGE_POINTS = 1000
CLOSEST_POINTS = 1000
SMALL_SIZES = 3  # neighbourhood sizes at which every PCA size is tried
CONNECTED_SHARE = 0.9  # share of the points that must be connected; the rest is placed by the local maps
WIDEST = 200  # neighbours up to which a connected graph is tried
LEAST_GAIN = 0.02  # of the score, for which distances between evened pictures are taken in place of plain ones
GAIN_POINTS = 1000  # up to which it holds; of more, the score is less a matter of chance, and the square root is taken


@dataclass(frozen=True)
class Settings:
    """The fixed settings, and those left to choose.

    Attributes
    ----------
    name : str
        The method, as named in messages.
    embed : Embedding
        From neighbourhoods to eigenvectors.
    n_factors : int
    n_neighbors : int or "auto"
    pca_sizes : tuple of int
        Numbers of principal components to try.
    smallest : int
        Minimum number of points in a neighbourhood.
    rule : str
        The criterion that the best setting maximises, one of ``RULES``.
    contrast : str or None
        Contrast of the ICA that follows; None for an embedding alone.
    n_init : int
        Random starts of the ICA, for three factors or more.
    evening : View or None
        The points as they would be if all pictures had one brightness and one contrast; None if they are no pictures.
    views : tuple of bool
        Whether distances are those of the points (False), or those of evened pictures (True); both if it is open.
    """

    name: str
    embed: Embedding
    n_factors: int
    n_neighbors: int | str
    pca_sizes: tuple[int, ...]
    smallest: int
    rule: str = "combined"
    contrast: str | None = None
    n_init: int = 3
    evening: View | None = None
    views: tuple[bool, ...] = (False,)

    @property
    def open(self) -> bool:
        """Whether there is more than one setting to try."""
        return len(self.pca_sizes) > 1 or self.n_neighbors == "auto"

    def at(self, candidate: Candidate) -> "Settings":
        """With the candidate's sizes, nothing left open."""
        neighbors, sizes = candidate.n_neighbors, (candidate.pca_components,)
        return replace(self, n_neighbors=neighbors, pca_sizes=sizes, views=(candidate.evened,))


@dataclass
class Neighborhood:
    """One setting to try: the points in so many principal components, and their neighbours."""

    points: Floats
    near: Indices
    distances: Floats
    graph: Graph


@dataclass
class Choice(Neighborhood):
    """The chosen setting with everything that was computed for it."""

    settings: Settings
    spectrum: Spectrum
    vectors: Floats
    rotation: Rotation | None
    edges: Pairs
    candidate: Candidate
    n_outside: int
    unsolved: list[str]
    rule: str = "given"
    candidates: list[Candidate] = field(default_factory=list)
    n_merged: int = 0

    def on(self, P: Floats) -> "Choice":
        """The same embedding, seen from the points themselves: local maps start there, and lead back there."""
        inside = P[self.graph.labels == 0] if self.n_outside else P
        points = np.ascontiguousarray(inside[:, : self.points.shape[1]])
        distances = np.stack([np.linalg.norm(points[near] - points, axis=1) for near in self.near.T], axis=1)
        i, j, _ = self.edges
        edges = (i, j, np.linalg.norm(points[i] - points[j], axis=1))
        return replace(self, points=points, distances=distances, edges=edges)

    def maps(self) -> LocalMaps:
        """Local maps from the reduced space to the embedding."""
        return local_maps(self.points, self.vectors, self.near, self.distances)

    def unmix(self, fresh: Floats, rng: np.random.RandomState) -> tuple[Floats, Floats, Rotation | None]:
        """Mean and matrix that rotate the embedding into codes, from the embedding of ``fresh`` points."""
        white = whitening(fresh)
        rotation = self.rotation if fresh is self.vectors else _rotate(self.settings, white(fresh), rng)
        if rotation is None:
            i, j, lengths = self.edges
            return fresh.mean(axis=0), metric_root(self.vectors[i] - self.vectors[j], lengths), None
        return white.mean, rotation.matrix @ white.matrix, rotation

    def held_out_error(self, maps: LocalMaps) -> float:
        """Median error of predicting a point from its nearest neighbour's map, in standard deviations of a code."""
        i = np.arange(0, len(self.points), max(1, len(self.points) // 500))
        j = self.near[i, 1]
        forward = maps.derivatives(maps.near[j])
        found = maps.codes[j] + np.einsum("ncm,nm->nc", forward, self.points[i] - self.points[j])
        return float(np.median(np.sqrt((((found - maps.codes[i]) / maps.codes.std(axis=0)) ** 2).mean(axis=1))))

    def concerns(self) -> list[str]:
        """Warnings about points outside the embedding and about ICA."""
        found = []
        if self.n_outside:
            found.append(format_warning("UB207", pieces=self.graph.n_components, outside=self.n_outside))
        if self.rotation is not None and self.rotation.converged == 0:
            found.append(format_warning("UB208"))
        return found


def choose(P: Floats, settings: Settings, rng: np.random.RandomState, advance: Advance) -> Choice:
    """Try every setting that is left open on the points ``P``, and keep the best by the rule of the settings."""
    first, index = distinct_rows(P)
    P, n_merged = P[first], len(index) - len(first)
    if len(P) <= settings.smallest:
        raise ValueError(
            f"n_samples = {len(P)} distinct points are too few for {settings.n_factors} factor(s): {settings.name} "
            f"needs more than {settings.smallest}. Provide more points or ask for fewer factors."
        )
    found: list[Choice] = []
    every: list[Candidate] = []
    least_gain = LEAST_GAIN * min(1.0, (GAIN_POINTS / len(P)) ** 0.5)
    for evened in settings.views:
        if found and score(settings.rule, found[0].candidate) + least_gain > 1:
            break  # no score exceeds 1
        seen = settings.evening(P) if evened and settings.evening else P
        best, tried, last = _best(seen, settings, rng, advance)
        every += [replace(c, evened=evened) for c in tried]
        if best is None and not found:
            raise _no_single_embedding(last)
        if best is not None and (not found or _gains(settings.rule, best, found[0], least_gain)):
            best.candidate = replace(best.candidate, evened=evened)
            found.append(best.on(P) if evened else best)
    best = found[-1]
    for message in best.unsolved:
        emit(message, stacklevel=4)
    every.sort(key=lambda c: (c.evened, c.pca_components, c.n_neighbors))
    best.rule, best.candidates, best.n_merged = settings.rule if settings.open else "given", every, n_merged
    return best


def _best(
    P: Floats, settings: Settings, rng: np.random.RandomState, advance: Advance
) -> tuple[Choice | None, list[Candidate], Neighborhood]:
    """The best setting on these points, all that were tried, and the last neighbourhoods."""
    edges = neighbor_pairs(P, EDGE_NEIGHBORS, EDGE_POINTS)
    closest = _closest(P, rng) if settings.open else None
    best: Choice | None = None
    tried: list[Candidate] = []
    for last in _rounds(P, settings, tried):
        graph, k = last.graph, last.near.shape[1]
        widest = k >= min(len(P), WIDEST)
        if settings.open and graph.n_components > 1 and not (widest and graph.largest_share >= CONNECTED_SHARE):
            excluded = exclusion(1, graph.n_components, True)
            tried.append(Candidate(k, last.points.shape[1], pieces=graph.n_components, excluded=excluded))
            continue
        trial = _try(last, edges, closest, settings, rng)
        tried.append(trial.candidate)
        advance(1)
        if best is None or _better(settings.rule, trial.candidate, best.candidate):
            best = trial
    return best, tried, last


def _gains(rule: str, new: Choice, old: Choice, least: float) -> bool:
    """Whether the distances of evened pictures explain the codes clearly better."""
    whole = not new.candidate.excluded and not new.n_outside
    return whole and score(rule, new.candidate) >= score(rule, old.candidate) + least


def _better(rule: str, new: Candidate, old: Candidate) -> bool:
    if bool(new.excluded) != bool(old.excluded):
        return not new.excluded
    return score(rule, new) > score(rule, old)


def _no_single_embedding(last: Neighborhood) -> ValueError:
    return ValueError(
        f"with {last.near.shape[1]} neighbours the graph has {last.graph.n_components} disconnected pieces, the "
        f"largest with {100 * last.graph.largest_share:.0f} % of the points: there is no single embedding. Raise "
        "n_neighbors, or fit the pieces separately."
    )


def _rounds(P: Floats, settings: Settings, tried: list[Candidate]) -> Iterator[Neighborhood]:
    """Every setting to try: each PCA size at the smallest neighbourhood, then at the next.

    The results so far (``tried``) decide what follows: a PCA size that did worse than another one at every smaller
    neighbourhood is not tried at the large ones, which take most of the time.
    """
    alive = {m: _neighborhoods(np.ascontiguousarray(P[:, :m]), settings) for m in settings.pca_sizes}
    done = 0
    while alive:
        for m in list(alive):
            found = next(alive[m], None)
            if found is None:
                del alive[m]
                continue
            better = _better_size(m, tried, settings.rule) if done >= SMALL_SIZES else 0
            if better:
                del alive[m]
                reason = f"not tried: {better} principal components did better at every smaller neighbourhood"
                tried.append(Candidate(found.near.shape[1], m, pieces=found.graph.n_components, excluded=reason))
                continue
            yield found
        done += 1


def _better_size(m: int, tried: list[Candidate], rule: str) -> int:
    """A PCA size that did better than m in every neighbourhood that both were tried at; 0 if there is none."""
    own = {c.n_neighbors: c for c in tried if c.pca_components == m}
    for other in sorted({c.pca_components for c in tried} - {m}):
        pairs = [(c, own[c.n_neighbors]) for c in tried if c.pca_components == other and c.n_neighbors in own]
        lost = [not theirs.excluded and _better(rule, theirs, ours) for theirs, ours in pairs]
        if len(lost) >= SMALL_SIZES and all(lost):
            return other
    return 0


def _neighborhoods(points: Floats, settings: Settings) -> Iterator[Neighborhood]:
    """Neighbourhoods of every size to try, from one search for the largest."""
    n, k = len(points), settings.n_neighbors
    if not isinstance(k, str):
        if k < settings.smallest:
            raise ValueError(
                f"n_neighbors={k} is too small: {settings.name} needs neighbourhoods of at least {settings.smallest} "
                "points (the point itself counts) for this number of factors."
            )
        if k > n:
            raise ValueError(f"n_neighbors={k} is larger than the number of distinct points, n_samples = {n}.")
    sizes = neighbor_candidates(n, settings.smallest) if isinstance(k, str) else [int(k)]
    distances, near = neighborhoods(points, sizes[-1])
    while isinstance(k, str) and sizes[-1] < min(n, WIDEST) and graph_of(near).n_components > 1:
        sizes.append(min(n, WIDEST, 3 * sizes[-1] // 2 + 1))  # no size is connected yet: widen until one is
        distances, near = neighborhoods(points, sizes[-1])
    for size in sizes:
        some = np.ascontiguousarray(near[:, :size])
        yield Neighborhood(points, some, np.ascontiguousarray(distances[:, :size]), graph_of(some))


def _try(
    at: Neighborhood, edges: Pairs, closest: Pairs | None, settings: Settings, rng: np.random.RandomState
) -> Choice:
    points, near, distances, graph = at.points, at.near, at.distances, at.graph
    n_outside = 0
    if graph.n_components > 1:
        inside = graph.labels == 0
        n_outside = int(np.sum(~inside))
        if graph.largest_share < CONNECTED_SHARE:
            raise _no_single_embedding(at)
        points, distances = points[inside], distances[inside]
        near = (np.cumsum(inside) - 1)[near[inside]]
        edges = _within(inside, edges)
        closest = _within(inside, closest) if closest is not None else None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        spectrum = settings.embed(points, near, distances, settings.n_factors, rng)
    unsolved = [str(w.message) for w in caught if issubclass(w.category, ConvergenceWarning)]
    vectors = whitening(spectrum.vectors)(spectrum.vectors)
    rotation = _rotate(settings, vectors, rng)
    turn = metric_root(vectors[edges[0]] - vectors[edges[1]], edges[2]) if rotation is None else rotation.matrix
    codes = vectors @ turn.T
    participation = float(spectrum.participation.min())
    candidate = Candidate(
        n_neighbors=near.shape[1],
        pca_components=points.shape[1],
        contrast=rotation.contrast if rotation else "",
        edges=isometry(codes, edges),
        closest=isometry(codes, closest) if closest is not None else float("nan"),
        dependence=mutual_information(codes) if rotation and closest is not None else 0.0,
        participation=participation,
        eigengap=spectrum.eigengap,
        stability=rotation.stability if rotation else 1.0,
        pieces=graph.n_components,
        excluded=exclusion(participation, graph.n_components, rotation is None or rotation.converged > 0)
        or "; ".join(unsolved),
    )
    solved = (spectrum, vectors, rotation, edges, candidate, n_outside, unsolved)
    return Choice(points, near, distances, graph, settings, *solved)


def _rotate(settings: Settings, Z: Floats, rng: np.random.RandomState) -> Rotation | None:
    if settings.contrast is None:
        return None
    return best_rotation(Z, contrast=settings.contrast, n_init=settings.n_init, random_state=rng)


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


def _closest(P: Floats, rng: np.random.RandomState) -> Pairs:
    rows = np.sort(rng.permutation(len(P))[:CLOSEST_POINTS])
    i, j, lengths = closest_pairs(P[rows], 0.05)
    return rows[i], rows[j], lengths


def _within(inside: NDArray[np.bool_], pairs: Pairs) -> Pairs:
    """The pairs of which both points are inside, numbered among these."""
    new = np.cumsum(inside) - 1
    i, j, lengths = pairs
    keep = inside[i] & inside[j]
    return new[i[keep]], new[j[keep]], lengths[keep]
