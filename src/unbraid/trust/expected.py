"""The expected MCC of a fit: what the MCC was in similar simulated data sets.

``benchmarks/calibrate_expected_mcc.py`` draws data sets of many kinds, fits each, and records its figures and its MCC
with the true factors. Two sets of regression trees predict the median and the 5 % quantile of
:math:`-\\log_{10}(1 - \\mathrm{MCC} + .003)`. The lower prediction is then moved down until it holds for 95.5 % of
fresh data sets and for 92 % of the data sets of unseen kinds (conformal prediction). Data unlike all simulated data
sets get no prediction.
"""

from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unbraid.trust.table import FIGURES

Floats = NDArray[np.float64]

FLOOR = 0.003
NEIGHBORS = 10
POINTS, FACTORS = (300, 5000), (1, 4)  # what was simulated
DATA = "expected_mcc.npz"
STORED: dict[str, type] = {  # types in the file, by the last word of a name; the others are single precision
    "offset": np.float64, "reach": np.float64, "start": np.float64, "threshold": np.float64,
    "roots": np.int32, "left": np.int32, "right": np.int32, "feature": np.int8,
}  # fmt: skip

NAMES = (
    "n_points", "n_factors", "neighborhood", "edges", "closest", "condition", "skew", "plain_turn", "chance_turn",
    "half_turn", "doubt", "kurtosis", "dependence", "raggedness", "emptiness", "edge", "linear", "eigengap",
    "participation", "redundant", "extension", "residual", "noise", "pieces",
)  # fmt: skip


@dataclass(frozen=True)
class ExpectedMCC:
    """MCC in similar simulated data sets.

    Attributes
    ----------
    median : float
        Half of them had a higher MCC.
    low : float
        95 % of them had a higher MCC.

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
        Added to the sum over the trees.
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
                return float(self.start + self.value[node].sum())
            node = after


@dataclass(frozen=True)
class Calibration:
    """What was learnt from the simulated data sets.

    Attributes
    ----------
    median, low : Trees
    offset : float
        Subtracted from the prediction of ``low``.
    simulated : array (data sets, figures)
        Figures of the simulated data sets, standardised.
    mean, scale : arrays (figures,)
    reach : float
        For 95 % of the data sets, the tenth nearest other one is within this distance.
    """

    median: Trees
    low: Trees
    offset: float
    simulated: Floats
    mean: Floats
    scale: Floats
    reach: float

    def distance(self, x: Floats) -> float:
        """Distance to the tenth nearest data set."""
        away = np.sqrt((((x - self.mean) / self.scale - self.simulated) ** 2).sum(axis=1))
        return float(np.partition(away, NEIGHBORS - 1)[NEIGHBORS - 1])

    def __call__(self, x: Floats) -> ExpectedMCC:
        """The expected MCC for one row of figures."""
        median = self.median(x)
        return ExpectedMCC(unfolded(median), unfolded(min(self.low(x) - self.offset, median)))


def folded(mcc: Floats) -> Floats:
    """The scale on which the trees learn, where .9 and .99 are far apart."""
    return -np.log10(1 - np.asarray(mcc) + FLOOR)


def unfolded(value: float) -> float:
    """From the scale of the trees back to an MCC.

    >>> round(unfolded(float(folded(0.97))), 6)
    0.97
    """
    return float(np.clip(1 + FLOOR - 10.0**-value, 0.0, 1.0))


def not_simulated(kind: str, n: int, d: int, *, independent: bool, unsure: str) -> str:
    """Why a fit of this kind and size gets no prediction; empty if it may get one.

    Parameters
    ----------
    kind : str
        Of the estimator.
    n, d : int
        Embedded points, and factors.
    independent : bool
        Whether the codes were rotated by independence.
    unsure : str
        Why the number of factors is uncertain.
    """
    if kind != "hessian" or not independent:
        return "only HLLE+ICA with rotation by independence was simulated"
    if unsure:
        return "the data do not determine the number of factors"
    if not FACTORS[0] <= d <= FACTORS[1]:
        return f"data sets with {FACTORS[0]} to {FACTORS[1]} factors were simulated; this one has {d}"
    if not POINTS[0] <= n <= POINTS[1]:
        return f"data sets with {POINTS[0]} to {POINTS[1]} points were simulated; here {n} were embedded"
    return ""


def is_closed(figures: dict[str, float]) -> bool:
    """Whether the points have too little of an edge to be a product of intervals."""
    d = int(figures["n_factors"])
    return d in (1, 2, 3) and not FIGURES["edge"].holds(figures["edge"], d)


def guess_of(figures: dict[str, float]) -> tuple[ExpectedMCC | None, str]:
    """The expected MCC, or None and the reason.

    Parameters
    ----------
    figures : dict
        Of :func:`~unbraid.spectral.figures.figures_of`.
    """
    if is_closed(figures):
        return None, (
            f"the points have {100 * figures['edge']:.0f} % of the edge of a box: a factor wraps around, or the data "
            "are not a product; product-manifold finds such factors"
        )
    known = calibration()
    x = np.array([figures[name] for name in NAMES])
    away = known.distance(x)
    if away > known.reach:
        return None, (
            f"no simulated data set is similar: the tenth nearest is {away:.1f} standard deviations away "
            f"(normally at most {known.reach:.1f})"
        )
    return known(x), ""


@cache
def calibration() -> Calibration:
    """The calibration that comes with the package."""
    with (files("unbraid.trust") / DATA).open("rb") as file, np.load(file) as data:
        return calibration_from(dict(data))


def calibration_from(data: dict[str, NDArray]) -> Calibration:
    """The calibration from the arrays of :func:`calibration_arrays`."""
    names = [str(name) for name in data["names"]]
    if names != list(NAMES):
        raise ValueError(
            f"{DATA} was made for other figures ({', '.join(names)}); run benchmarks/calibrate_expected_mcc.py."
        )

    def wide(key: str) -> Any:
        return data[key].astype(np.int64 if data[key].dtype.kind == "i" else np.float64)

    median, low = (Trees(*(wide(f"{which}_{part.name}") for part in fields(Trees))) for which in ("median", "low"))
    return Calibration(median, low, *map(wide, ("offset", "worlds", "mean", "scale", "reach")))


def calibration_arrays(known: Calibration) -> dict[str, NDArray]:
    """The arrays that are written to the file."""
    parts = {name: getattr(known, name) for name in ("offset", "reach", "mean", "scale")} | {"worlds": known.simulated}
    for which in ("median", "low"):
        trees = getattr(known, which)
        parts |= {f"{which}_{part.name}": getattr(trees, part.name) for part in fields(Trees)}
    stored: dict[str, NDArray] = {
        key: np.asarray(part, STORED.get(key.rpartition("_")[2], np.float32)) for key, part in parts.items()
    }
    return {"names": np.array(NAMES)} | stored
