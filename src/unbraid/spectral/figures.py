r"""Figures of a fit that separate good codes from bad ones without labels: the inputs of the expected MCC.

One of them is how far the codes may be rotated. A rotation by independence is affected by chance, by the density
weights, and by dependence between the codes. Chance shows in bootstraps, the weights in the angle between the solutions
with and without them, and dependence in halves: if the points are split at the median of one code, the others stay
independent only if the codes are right, so the rotation found on each half must be the same.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
import scipy.linalg

from unbraid.manifold.neighbors import Floats, Indices, Pairs, closest_pairs, isometry
from unbraid.manifold.surroundings import EDGE, edge_ratio, end_distance, off_tangent
from unbraid.spectral import ica
from unbraid.spectral.trial import metric_root
from unbraid.trust.expected import KINDS, SIMULATED_POINTS
from unbraid.trust.support import dependence, mean_emptiness, raggedness, separability
from unbraid.trust.table import FIGURES

ROTATED_POINTS = 1000  # on which the rotation is solved again
N_BOOTSTRAPS = 16
FEWEST = 40  # fewest points of a half
MOST_POINTS = 600  # used by the other figures
SUPPORT_POINTS = 2000  # used by those of the shape that the codes fill
NEIGHBORHOODS = 300  # whose noise is measured
CLOSEST_POINTS = 400
LOCAL_COMPONENTS = 20  # in which edges are looked for


@dataclass(frozen=True)
class TurnUncertainty:
    """How far each code may be rotated, in degrees.

    Attributes
    ----------
    per_code : array (d,)
        The largest turn of each code: with and without density weights, over bootstraps (90 % quantile), over halves.
    doubt : float
        (A + H) / 2, where A is the larger of the first two for the code that turns most, and H the mean over halves
        of the turn of the code that turns most. Its threshold is in :mod:`unbraid.trust.table`.
    plain, chance, halves : float
        For the code that turns most: without density weights, over bootstraps (90 % quantile), over halves (the mean).
    """

    per_code: Floats
    doubt: float
    plain: float = 0.0
    chance: float = 0.0
    halves: float = 0.0


def code_uncertainty(codes: Floats, rotation: ica.Rotation, random_state: np.random.RandomState) -> TurnUncertainty:
    """Solve for the rotation again under other assumptions, on at most 1000 points.

    Parameters
    ----------
    codes : array (n, d)
        In the order of the uncertainties to return; scale and sign do not matter.
    rotation : Rotation
        How they were found.
    random_state : RandomState
    """
    n, d = codes.shape
    if d == 1:
        return TurnUncertainty(np.zeros(1), 0.0)
    S = codes if n <= ROTATED_POINTS else codes[random_state.choice(n, ROTATED_POINTS, replace=False)]
    S = (S - S.mean(axis=0)) / S.std(axis=0)
    contrast, own = ica.CONTRASTS[rotation.contrast], np.eye(d)
    even = np.full(len(S), 1 / len(S))
    weights = ica.half_density_weights(S) if rotation.weighted else even
    plain = ica.turns(own, ica.search_near(S, even, contrast, own))
    # Turns by chance shrink with the root of the number of points, of which some were left out here.
    chance = _bootstrap_turns(S, weights, contrast, random_state) * np.sqrt(len(S) / n)
    halves = _half_turns(S, weights, contrast)
    assumed = np.maximum(plain, np.quantile(chance, 0.9, axis=0))
    bare, by_chance = float(plain.max()), float(np.quantile(chance.max(axis=1), 0.9))
    alone = max(bare, by_chance)
    halved = float(halves.max(axis=1).mean()) if len(halves) else alone
    per_code = np.maximum(assumed, halves.max(axis=0, initial=0.0))
    return TurnUncertainty(per_code, (alone + halved) / 2, bare, by_chance, halved)


def _bootstrap_turns(S: Floats, weights: Floats, contrast: ica.Contrast, rng: np.random.RandomState) -> Floats:
    """Turns (bootstraps, d) of the solution under resampled weights (Bayesian bootstrap), every plane by itself.

    The contrast is evaluated once per angle; what resampling does to mean and scale is taken to first order.
    """
    n, d = S.shape
    resampled = weights[:, None] * rng.exponential(size=(n, N_BOOTSTRAPS))
    resampled /= resampled.sum(axis=0)
    generators = np.zeros((N_BOOTSTRAPS, d, d))
    angles = ica.quarter(ica.N_ANGLES)
    for a in range(d):
        for b in range(a):
            U = ica.standardised_turns(S[:, [b, a]], weights, angles)
            G = contrast(U)
            slope = (contrast(U + 1e-4) - G) / 1e-4
            means = U @ resampled
            spreads = np.sqrt(np.maximum((U * U) @ resampled - means**2, 1e-12))
            first_order = means * (slope @ weights)[:, None] + (spreads - 1) * ((slope * U) @ weights)[:, None]
            squares = (G @ resampled - first_order) ** 2
            values = squares[: ica.N_ANGLES] + squares[ica.N_ANGLES :]  # (angles, bootstraps), periodic in the angle
            found = np.array([ica.highest(column) for column in values.T]) * (angles[1] - angles[0]) + angles[0]
            generators[:, b, a], generators[:, a, b] = found, -found
    return np.stack([ica.turns(np.eye(d), R) for R in scipy.linalg.expm(generators)])


def _half_turns(S: Floats, weights: Floats, contrast: ica.Contrast) -> Floats:
    """Turns (halves, d) of the rows of the unmixing that each half of each code asks for."""
    d, found = S.shape[1], []
    middle = np.median(S, axis=0)
    for k in range(d):
        for side in (S[:, k] <= middle[k], S[:, k] > middle[k]):
            if side.sum() < FEWEST:
                continue
            half = S[side] / S[side].std(axis=0)
            white = ica.whitening(half)
            w = weights[side] / weights[side].sum()
            R = ica.search_near(white(half), w, contrast, np.eye(d))
            found.append(ica.turns(np.eye(d), R @ white.matrix))
    return np.array(found).reshape(len(found), d)


class Later:
    """Base of a dataclass of which some fields, without a default in the class, are computed when they are first read.

    A plain fit neither shows them nor warns of them. Whatever prints, copies, saves or pickles the object reads them.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Length(Later):
    ...     metres: float
    ...     feet: float
    >>> Length.partly({"metres": 3.0}, lambda: {"feet": 9.84})
    Length(metres=3.0, feet=9.84)
    """

    @classmethod
    def partly(cls, known: dict[str, Any], rest: Callable[[], dict[str, Any]]) -> Self:
        """An object with these fields; ``rest`` computes the others."""
        found = object.__new__(cls)
        vars(found).update(known, _rest=rest)
        return found

    def __getattr__(self, name: str) -> Any:
        rest = vars(self).get("_rest")
        if rest is None or name.startswith("_"):
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        vars(self).update(rest(), _rest=None)
        return getattr(self, name)

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]


@dataclass(frozen=True)
class Fitted:
    """What the figures are measured on.

    Attributes
    ----------
    kind : {"hessian", "tangent", "laplacian", "pca"}
        Of the estimator.
    points : array (n, components)
        The points in principal components.
    codes : array (n, d)
        Their codes.
    near : array of int, (n, k)
        Their neighbourhoods.
    edges : Pairs
        Pairs of neighbours, with their distances.
    repeated, outside : float
        Shares of the rows that equal an earlier one, and that lie outside of the embedding.
    """

    kind: str
    points: Floats
    codes: Floats
    near: Indices
    edges: Pairs
    repeated: float = 0.0
    outside: float = 0.0


def figures_of(
    fit: Fitted, turn: TurnUncertainty, measured: dict[str, Any], rng: np.random.RandomState
) -> dict[str, float]:
    """The figures by their names.

    Parameters
    ----------
    fit : Fitted
    turn : TurnUncertainty
    measured : dict
        The figures of the diagnostics; a linear method has neither an eigengap nor an extension.
    rng : RandomState

    Returns
    -------
    dict
        One number for each of :data:`unbraid.trust.expected.NAMES`.
    """
    n, d = fit.codes.shape
    order = rng.permutation(n)
    rows, many = np.sort(order[:MOST_POINTS]), fit.codes[np.sort(order[:SUPPORT_POINTS])]
    points, codes = fit.points[rows], fit.codes[rows]
    condition, skew = _metric(fit.codes / fit.codes.std(axis=0), fit.edges)
    kurtosis = np.sort(np.abs(measured["kurtosis"]))
    found = {
        "method": float(KINDS.index(fit.kind)),
        "n_points": np.log10(min(n, SIMULATED_POINTS)),
        "n_factors": float(d),
        "neighborhood": np.log10(fit.near.shape[1] / n),
        "edges": _far(measured["local_isometry"]),
        "closest": _far(_closest(points, codes, rng)),
        "condition": condition,
        "skew": skew,
        "plain_turn": turn.plain,
        "chance_turn": turn.chance,
        "half_turn": turn.halves,
        "doubt": turn.doubt,
        "kurtosis": float(kurtosis[min(1, d - 1)]),  # of all codes but one, ICA needs that they are not Gaussian
        "separability": np.log10(np.clip(separability(many), 0.1, 1000)),
        "dependence": dependence(many),
        "raggedness": raggedness(many, rng),
        "emptiness": mean_emptiness(many, rng),
        "edge": edge_of(points, d, rng),
        "linear": _explained(points[:, :d], codes),
        "eigengap": np.log10(np.clip(measured.get("eigengap", 1e6), 1e-3, 1e6)),
        "participation": float(np.min(measured.get("participation", 1.0))),
        "redundant": float(min(measured.get("n_redundant", 0), 5)),
        "extension": np.log10(max(measured.get("extension_error", 0.0), 1e-5)),
        "residual": np.log10(max(1 - float(points[:, :d].var(axis=0).sum() / points.var(axis=0).sum()), 1e-8)),
        "noise": np.log10(max(off_tangent(fit.points, d, fit.near[rows[:NEIGHBORHOODS]]), 1e-8)),
        "left": np.log10(max(measured["left"][0], 1e-8)),
        "further": np.log10(max(measured["left"][1], 1e-8)),
        "repeated": fit.repeated,
        "outside": fit.outside,
    }
    return {name: float(value) for name, value in found.items()}


def edge_of(points: Floats, d: int, rng: np.random.RandomState) -> float:
    """The edge of the points over that of a cube; 0 for a curve whose ends meet, 1 if it is not measured."""
    if d not in EDGE:
        return 1.0
    local = np.ascontiguousarray(points[:, :LOCAL_COMPONENTS])
    if d == 1 and not FIGURES["end_distance"].holds(end_distance(local, rng)):
        return 0.0
    return edge_ratio(local, d)


def _far(correlation: float) -> float:
    """How far a correlation is from 1, in powers of ten: .9 gives 1, .99 gives 2."""
    return float(-np.log10(1.001 - min(correlation, 1.0)))


def _closest(points: Floats, codes: Floats, rng: np.random.RandomState) -> float:
    some = rng.permutation(len(points))[:CLOSEST_POINTS]
    return isometry(codes[some], closest_pairs(points[some], 0.05))


def _metric(codes: Floats, edges: Pairs) -> tuple[float, float]:
    """Of the metric of the data in standardised codes: its condition in powers of ten, and its largest correlation."""
    i, j, lengths = edges
    root = metric_root(codes[i] - codes[j], lengths)
    values = np.linalg.svd(root, compute_uv=False)
    G = root.T @ root
    size = np.sqrt(np.maximum(np.diag(G), 1e-300))
    off = np.abs(G / np.outer(size, size) - np.eye(len(G)))
    return float(np.log10(values[0] / max(values[-1], 1e-12 * values[0]))), float(off.max())


def _explained(components: Floats, codes: Floats) -> float:
    """Smallest share of the variance of a code that a linear map of the principal components explains."""
    design = np.c_[components - components.mean(axis=0)]
    centred = codes - codes.mean(axis=0)
    left = centred - design @ np.linalg.lstsq(design, centred, rcond=None)[0]
    return float((1 - (left**2).sum(axis=0) / np.maximum((centred**2).sum(axis=0), 1e-300)).min())
