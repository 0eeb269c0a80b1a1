"""The expected MCC of a fit: what the MCC was in similar simulated data sets, and what a violated assumption costs.

``benchmarks/calibrate_expected_mcc.py`` draws data sets of many kinds, fits each, and records its figures and its MCC
with the true factors. Regression trees predict :math:`-\\log_{10}(1 - \\mathrm{MCC} + .003)` from the figures. What the
MCC was in data sets of about the same prediction, by trees that had seen neither them nor, for half of them, any of
their kind, gives the median and the bounds (conformal prediction). Data unlike all simulated data sets get none.
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
POINTS, FACTORS = (100, 20_000), (1, 6)  # what was simulated
SIMULATED_POINTS = 5000  # more count as this many
KINDS = ("hessian", "tangent", "laplacian", "pca")
DATA = "expected_mcc.npz"
STORED: dict[str, type] = {  # types in the file; the others are single precision
    "simulated": np.float16, "reach": np.float64, "start": np.float64, "threshold": np.float64,
    "roots": np.int32, "left": np.int32, "right": np.int32, "feature": np.int8,
}  # fmt: skip

TESTED = {  # by figure of an assumption: the inputs of the prediction that measure the same
    "dependence": ("dependence",),
    "raggedness": ("raggedness",),
    "emptiness": ("emptiness",),
    "separability": ("separability", "kurtosis"),
    "rotation_doubt": ("plain_turn", "chance_turn", "half_turn", "doubt"),
    "local_isometry": ("edges", "closest"),
    "extension_error": ("extension",),
    "off_tangent": ("noise",),
    "left_over": ("left", "further"),
    "apart": ("outside",),
}
OTHERS = ("knots", "median", "low", "high", "simulated", "mean", "scale", "reach", "sound")
NAMES = (
    "method", "n_points", "n_factors", "neighborhood", "edges", "closest", "condition", "skew", "plain_turn",
    "chance_turn", "half_turn", "doubt", "kurtosis", "separability", "dependence", "raggedness", "emptiness", "edge",
    "linear", "eigengap", "participation", "redundant", "extension", "residual", "noise", "left", "further",
    "repeated", "outside",
)  # fmt: skip


@dataclass(frozen=True)
class ExpectedMCC:
    """MCC in similar simulated data sets.

    Attributes
    ----------
    median : float
        Half of them had a higher MCC.
    low, high : float
        95 % of them had a higher MCC than ``low``, and 95 % a lower one than ``high``.

    Examples
    --------
    >>> print(ExpectedMCC(median=0.987, low=0.911))
    0.99; above 0.91 in 95 % of similar simulated data sets
    """

    median: float
    low: float
    high: float = 1.0

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
    trees : Trees
        From figures to a prediction.
    knots, median, low, high : arrays (knots,)
        Predictions, rising, and the quantiles of the MCC at each.
    simulated : array (data sets, figures)
        Figures of the simulated data sets, standardised.
    mean, scale : arrays (figures,)
    reach : float
        For 97 % of the data sets, the tenth nearest other one is within this distance.
    sound : array (figures,)
        Median figures of the data sets with good codes.
    """

    trees: Trees
    knots: Floats
    median: Floats
    low: Floats
    high: Floats
    simulated: Floats
    mean: Floats
    scale: Floats
    reach: float
    sound: Floats

    def distance(self, x: Floats) -> float:
        """Distance to the tenth nearest data set."""
        away = np.sqrt((((x - self.mean) / self.scale - self.simulated) ** 2).sum(axis=1))
        return float(np.partition(away, NEIGHBORS - 1)[NEIGHBORS - 1])

    def __call__(self, x: Floats) -> ExpectedMCC:
        """The expected MCC for one row of figures."""
        found = self.trees(x)
        return ExpectedMCC(*(float(np.interp(found, self.knots, part)) for part in (self.median, self.low, self.high)))


def folded(mcc: Floats) -> Floats:
    """The scale on which the trees learn, where .9 and .99 are far apart.

    >>> folded(np.array([0.903, 0.993])).round(6).tolist()
    [1.0, 2.0]
    """
    return -np.log10(1 - np.asarray(mcc) + FLOOR)


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
    if kind not in KINDS or not independent:
        return "only spectral methods and PCA+ICA with rotation by independence were simulated"
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
            f"the points have {100 * figures['edge']:.0f} % of the edge of a box: a factor wraps around, which "
            "product-manifold finds, the data are not a product, or noise hides the edge"
        )
    known = calibration()
    x = np.array([figures[name] for name in NAMES])
    away = known.distance(x)
    if away > known.reach:
        return None, (
            f"no simulated data set is similar: the tenth nearest is {_far(away)} standard deviations away "
            f"(normally at most {known.reach:.1f})"
        )
    return known(x), ""


def _far(away: float) -> str:
    """
    >>> _far(7.25), _far(646250.0)
    ('7.2', 'more than 100')
    """
    return f"{away:.1f}" if away < 100 else "more than 100"


def cost_of(figures: dict[str, float], key: str) -> float | None:
    """About how much MCC a violated assumption costs: the median expected without it, minus the one expected.

    Parameters
    ----------
    figures : dict
        Of :func:`~unbraid.spectral.figures.figures_of`.
    key : str
        Of a figure that tests an assumption.

    Returns
    -------
    float or None
        None if the prediction does not use the figure.
    """
    if key not in TESTED or not figures:
        return None
    known = calibration()
    x = np.array([figures[name] for name in NAMES])
    cured = np.where(np.isin(NAMES, TESTED[key]), known.sound, x)
    return max(0.0, known(cured).median - known(x).median)


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

    return Calibration(Trees(*(wide(part.name) for part in fields(Trees))), *map(wide, OTHERS))


def calibration_arrays(known: Calibration) -> dict[str, NDArray]:
    """The arrays that are written to the file."""
    parts = {name: getattr(known, name) for name in OTHERS}
    parts |= {part.name: getattr(known.trees, part.name) for part in fields(Trees)}
    stored: dict[str, NDArray] = {key: np.asarray(part, STORED.get(key, np.float32)) for key, part in parts.items()}
    return {"names": np.array(NAMES)} | stored
