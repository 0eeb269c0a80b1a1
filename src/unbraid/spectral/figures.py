"""Figures of a fit that tell good codes from bad ones without labels: what the guess of the MCC looks at."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unbraid.manifold.pairs import closest_pairs, isometry_of_pairs
from unbraid.manifold.surroundings import EDGE, edge_ratio, end_distance, off_tangent
from unbraid.spectral.landmarks import Embedded
from unbraid.spectral.trial import metric_root
from unbraid.spectral.uncertainty import TurnUncertainty
from unbraid.trust.support import dependence, emptiness, raggedness
from unbraid.trust.table import FIGURES

Floats = NDArray[np.float64]

MOST_POINTS = 600  # looked at
CLOSEST_POINTS = 400
LOCAL_COMPONENTS = 20  # in which edges are looked for


def figures_of(
    found: Embedded,
    embedded: Floats,
    turn: TurnUncertainty,
    measured: dict[str, Any],
    rng: np.random.RandomState,
) -> dict[str, float]:
    """The figures by their names.

    Parameters
    ----------
    found : Embedded
    embedded : array (n, d)
        The codes of the points that were solved for.
    turn : TurnUncertainty
    measured : dict
        The figures of the diagnostics.
    rng : RandomState

    Returns
    -------
    dict
        One number for each of :data:`unbraid.trust.expected.NAMES`.
    """
    choice = found.choice
    n, d = embedded.shape
    rows = np.sort(rng.permutation(n)[:MOST_POINTS])
    points, codes = choice.points[rows], embedded[rows]
    condition, skew = _metric(embedded / embedded.std(axis=0), choice.edges)
    kurtosis = np.sort(np.abs(measured["kurtosis"]))
    return {
        "n_points": np.log10(n),
        "n_factors": float(d),
        "neighborhood": np.log10(choice.near.shape[1] / n),
        "edges": _far(measured["local_isometry"]),
        "closest": _far(_closest(points, codes, rng)),
        "condition": condition,
        "skew": skew,
        "plain_turn": turn.plain,
        "chance_turn": turn.chance,
        "half_turn": turn.halves,
        "doubt": turn.doubt,
        "kurtosis": float(kurtosis[min(1, d - 1)]),  # of all codes but one, ICA needs that they are not Gaussian
        "dependence": dependence(codes),
        "raggedness": raggedness(codes, rng),
        "emptiness": emptiness(codes, rng),
        "edge": edge_of(points, d, rng),
        "linear": _explained(points[:, :d], codes),
        "eigengap": np.log10(np.clip(measured["eigengap"], 1e-3, 1e6)),
        "participation": float(np.min(measured["participation"])),
        "redundant": float(min(measured["n_redundant"], 5)),
        "extension": np.log10(max(measured["extension_error"], 1e-5)),
        "residual": np.log10(max(1 - float(points[:, :d].var(axis=0).sum() / points.var(axis=0).sum()), 1e-8)),
        "noise": np.log10(max(off_tangent(choice.points, d, choice.near[rows[:300]]), 1e-8)),
        "pieces": float(choice.n_outside > 0),
    }


def edge_of(points: Floats, d: int, rng: np.random.RandomState) -> float:
    """The edge of the points over that of a cube; 0 for a curve whose ends meet, 1 where it is not looked for."""
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
    i, j, lengths = closest_pairs(points[some], 0.05)
    return isometry_of_pairs(codes[some][i] - codes[some][j], lengths)[0]


def _metric(codes: Floats, edges: tuple[NDArray[np.intp], NDArray[np.intp], Floats]) -> tuple[float, float]:
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
