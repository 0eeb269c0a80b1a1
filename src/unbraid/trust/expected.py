"""The honest guess: what the MCC was in simulated worlds whose figures look like those of a fit.

Worlds of many kinds were drawn by ``benchmarks/calibrate_expected_mcc.py``; each was fitted, and its figures and its
MCC with the true factors were recorded. Two sets of regression trees learnt the median and the 5 % quantile of
:math:`-\\log_{10}(1 - \\mathrm{MCC} + .003)`. The lower one was then moved down until it held for 95.5 % of fresh
worlds and for 92 % of the worlds of kinds that were never seen (conformal prediction). What looks like none of these
worlds gets no guess.
"""

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from unbraid.trust.table import FIGURES

Floats = NDArray[np.float64]

FLOOR = 0.003
NEIGHBORS = 10
POINTS, FACTORS = (300, 5000), (1, 4)  # what was simulated
DATA = "expected_mcc.npz"

NAMES = (
    "n_points", "n_factors", "neighborhood", "edges", "closest", "condition", "skew", "plain_turn", "chance_turn",
    "half_turn", "doubt", "kurtosis", "dependence", "raggedness", "emptiness", "edge", "linear", "eigengap",
    "participation", "redundant", "extension", "residual", "noise", "pieces",
)  # fmt: skip


@dataclass(frozen=True)
class ExpectedMCC:
    """What the MCC was in similar simulated data sets.

    Attributes
    ----------
    median : float
        Half of them had more.
    low : float
        95 % of them had more.

    Examples
    --------
    >>> print(ExpectedMCC(median=0.987, low=0.911))
    0.99; above 0.91 in 95 % of similar simulated data sets
    """

    median: float
    low: float

    def __str__(self) -> str:
        below = np.floor(self.low * 100) / 100
        return f"{self.median:.2f}; above {below:.2f} in 95 % of similar simulated data sets"


@dataclass(frozen=True)
class Trees:
    """Regression trees in flat arrays; a leaf is its own left child.

    Attributes
    ----------
    start : float
        What the sum over the trees is added to.
    roots : array (trees,) of int
    feature, left, right : arrays (nodes,) of int
    threshold, value : arrays (nodes,)
    """

    start: float
    roots: NDArray[np.int64]
    feature: NDArray[np.int64]
    threshold: Floats
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    value: Floats

    def __call__(self, x: Floats) -> float:
        """The prediction for one row of figures."""
        node = self.roots.copy()
        while True:
            below = x[self.feature[node]] <= self.threshold[node]
            after = np.where(below, self.left[node], self.right[node])
            if (after == node).all():
                return self.start + float(self.value[node].sum())
            node = after


@dataclass(frozen=True)
class Calibration:
    """What was learnt from the simulated worlds.

    Attributes
    ----------
    median, low : Trees
    offset : float
        By how much ``low`` is moved down.
    worlds : array (worlds, figures)
        Figures of the worlds, standardised.
    mean, scale : arrays (figures,)
    reach : float
        95 % of the worlds have their tenth neighbour among the others within this distance.
    """

    median: Trees
    low: Trees
    offset: float
    worlds: Floats
    mean: Floats
    scale: Floats
    reach: float

    def distance(self, x: Floats) -> float:
        """How far the tenth nearest world is."""
        away = np.sqrt((((x - self.mean) / self.scale - self.worlds) ** 2).sum(axis=1))
        return float(np.partition(away, NEIGHBORS - 1)[NEIGHBORS - 1])

    def __call__(self, x: Floats) -> ExpectedMCC:
        """The guess for one row of figures."""
        median = self.median(x)
        return ExpectedMCC(unfolded(median), unfolded(min(self.low(x) - self.offset, median)))


def folded(mcc: Floats) -> Floats:
    """The scale on which the trees learn: differences near 1 count, as .9 and .99 are far apart."""
    return -np.log10(1 - np.asarray(mcc) + FLOOR)


def unfolded(value: float) -> float:
    """From the scale of the trees back to an MCC.

    >>> round(unfolded(float(folded(0.97))), 6)
    0.97
    """
    return float(np.clip(1 + FLOOR - 10.0**-value, 0.0, 1.0))


def not_simulated(kind: str, n: int, d: int, *, independent: bool, unsure: str) -> str:
    """Why a fit of this kind and size gets no guess; empty where it may get one.

    Parameters
    ----------
    kind : str
        Of the estimator.
    n, d : int
        Points that were solved for, and factors.
    independent : bool
        Whether the codes were turned by their independence.
    unsure : str
        What speaks against the number of factors.
    """
    if kind != "hessian" or not independent:
        return "only HLLE+ICA, turned by independence, was simulated"
    if unsure:
        return "the number of factors cannot be told from the data"
    if not FACTORS[0] <= d <= FACTORS[1]:
        return f"data sets of {FACTORS[0]} to {FACTORS[1]} factors were simulated, and here are {d}"
    if not POINTS[0] <= n <= POINTS[1]:
        return f"data sets of {POINTS[0]} to {POINTS[1]} points were simulated, and {n} were solved for here"
    return ""


def is_closed(figures: dict[str, float]) -> bool:
    """Whether the points have too little of an edge to be a product of intervals."""
    d = int(figures["n_factors"])
    return d in (1, 2, 3) and not FIGURES["edge"].holds(figures["edge"], d)


def guess_of(figures: dict[str, float]) -> tuple[ExpectedMCC | None, str]:
    """The guess, or None and the reason in words.

    Parameters
    ----------
    figures : dict
        Of :func:`~unbraid.spectral.figures.figures_of`.
    """
    if is_closed(figures):
        return None, (
            f"the points have {100 * figures['edge']:.0f} % of the edge of a box: a factor wraps around, or they are "
            "no product; product-manifold finds such factors"
        )
    known = calibration()
    x = np.array([figures[name] for name in NAMES])
    away = known.distance(x)
    if away > known.reach:
        return None, (
            f"no simulated data set is similar: its figures are {away:.1f} standard deviations from the tenth "
            f"nearest (up to {known.reach:.1f} is usual)"
        )
    return known(x), ""


@cache
def calibration() -> Calibration:
    """The calibration that comes with the package."""
    with (files("unbraid.trust") / DATA).open("rb") as file, np.load(file) as data:
        return calibration_from(dict(data))


def calibration_from(data: dict[str, NDArray]) -> Calibration:
    """From the arrays of the file, which :func:`calibration_arrays` wrote."""
    names = [str(name) for name in data["names"]]
    if names != list(NAMES):
        raise ValueError(f"{DATA} was made for other figures ({', '.join(names)}); make it anew.")
    trees = {}
    for which in ("median", "low"):
        roots, feature, left, right = (
            data[f"{which}_{part}"].astype(np.int64) for part in ("roots", "feature", "left", "right")
        )
        threshold, value = (data[f"{which}_{part}"].astype(np.float64) for part in ("threshold", "value"))
        trees[which] = Trees(float(data[f"{which}_start"]), roots, feature, threshold, left, right, value)
    worlds, mean, scale = (data[part].astype(np.float64) for part in ("worlds", "mean", "scale"))
    return Calibration(trees["median"], trees["low"], float(data["offset"]), worlds, mean, scale, float(data["reach"]))


def calibration_arrays(known: Calibration) -> dict[str, NDArray]:
    """What is written to the file: small numbers, no objects."""
    found = {"names": np.array(NAMES), "offset": np.array(known.offset), "reach": np.array(known.reach)}
    for which, trees in (("median", known.median), ("low", known.low)):
        found[f"{which}_start"] = np.array(trees.start)
        for part in ("roots", "left", "right"):
            found[f"{which}_{part}"] = getattr(trees, part).astype(np.int32)
        found[f"{which}_feature"] = trees.feature.astype(np.int8)
        found[f"{which}_threshold"] = trees.threshold
        found[f"{which}_value"] = trees.value.astype(np.float32)
    return found | {
        "worlds": known.worlds.astype(np.float32),
        "mean": known.mean.astype(np.float32),
        "scale": known.scale.astype(np.float32),
    }
