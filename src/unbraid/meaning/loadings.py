"""How much each feature changes along each code, with intervals, and the course of the features along it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import t as student
from sklearn.neighbors import NearestNeighbors

from unbraid.metrics.kinds import columns_of

Floats = NDArray[np.float64]

MOST_ROWS = 5000  # of a large data set
MOST_PLACES = 200  # rows at which the slopes are taken
GROUPS = 10  # parts of the rows, each left out once for the intervals
SMALLEST_SHARE = 0.05  # singular values below this share of the largest are no direction of the codes
STOPS = 24  # bins of a course


@dataclass(frozen=True)
class Course:
    """Means of the features along one code: a tuning curve where the code is an angle.

    Attributes
    ----------
    at : array (m,)
        Mean of the code in each bin; bins hold equally many rows, those of an angle are equally wide.
    mean : array (m, features)
    error : array (m, features)
        Standard error of each mean; NaN in a bin of fewer than two rows.
    """

    at: Floats
    mean: Floats
    error: Floats


@dataclass(frozen=True)
class Loadings:
    """What changes along each code while the other codes stay.

    Attributes
    ----------
    mean : array (codes, features)
        Mean slope of each feature: its change for one standard deviation of the code, or for one radian of an angle.
    low, high : arrays (codes, features)
        Bounds of its interval, each feature by itself.
    size : array (codes, features)
        Root mean square of the slopes: also features that rise and fall again have one.
    rows : array (m,)
        Rows at which the slopes were taken.
    slopes : array (m, codes, features)
        The slopes there, as an estimate of the Jacobian of the data by the codes.
    courses : list of Course
        Of each code.
    feature_names : list of str
    row_shape : tuple of int
        Shape of one observation.
    confidence : float
    """

    mean: Floats
    low: Floats
    high: Floats
    size: Floats
    rows: NDArray[np.intp]
    slopes: NDArray[np.float32]
    courses: list[Course]
    feature_names: list[str]
    row_shape: tuple[int, ...]
    confidence: float

    @property
    def maps(self) -> Floats:
        """The mean slopes in the shape of the data: one image per code for images."""
        return self.mean.reshape(len(self.mean), *self.row_shape)

    def strongest(self, code: int, most: int = 5) -> list[tuple[str, float, float, float]]:
        """Features that change most along a code and surely do: name, mean slope and the bounds of its interval."""
        sure = np.flatnonzero((self.low[code] > 0) | (self.high[code] < 0))
        first = sure[np.argsort(-np.abs(self.mean[code, sure]), kind="stable")][:most]
        figures = zip(self.mean[code, first], self.low[code, first], self.high[code, first], strict=True)
        return [(self.feature_names[j], *map(float, line)) for j, line in zip(first, figures, strict=True)]

    def line(self, code: int) -> str:
        """Those features in one line."""
        found = [f"{name} {mean:+.3g} [{low:.3g}, {high:.3g}]" for name, mean, low, high in self.strongest(code)]
        return ", ".join(found) or "no feature changes for sure"

    def __str__(self) -> str:
        return "\n".join(f"code {code + 1}: {self.line(code)}" for code in range(len(self.mean)))


def loadings(
    codes: ArrayLike,
    X: ArrayLike,
    *,
    kinds: Sequence[str] = (),
    feature_names: Iterable[str] | None = None,
    confidence: float = 0.95,
    random_state: int = 0,
) -> Loadings:
    r"""Slopes of every feature along every code, by local linear regression of the features on the codes.

    At each of up to 200 rows :math:`a`, over its nearest rows in the codes with tricube weights :math:`w`,

    .. math:: J_a = \arg\min_J \sum_i w_i \, |x_i - b - J (c_i - c_a)|^2,

    with differences of angles wrapped. The mean over :math:`a` is linear in the data, so that its interval comes from
    leaving out each tenth of the rows in turn (the grouped jackknife). It holds what sampling and noise do, not the
    bending of the data between neighbours.

    Parameters
    ----------
    codes : array (n, d)
    X : array (n, ...)
        The observations.
    kinds : sequence of str
        What the codes are, as in :class:`unbraid.estimator.summary.Summary`; empty for plain numbers.
    feature_names : iterable of str, optional
    confidence : float
        Of each interval.
    random_state : int
        Draws the rows and the parts.

    Returns
    -------
    Loadings

    References
    ----------
    Fan, Gijbels (1996), Local polynomial modelling and its applications, chapter 7. Shao, Wu (1989), A general theory
    for jackknife variance estimation.

    Examples
    --------
    >>> z = np.random.default_rng(0).uniform(size=(500, 2))
    >>> found = loadings(z, z @ [[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]], feature_names=["a", "b", "c"])
    >>> (found.mean / z.std(axis=0)[:, None]).round(6) + 0.0
    array([[1., 0., 2.],
           [0., 3., 0.]])
    """
    codes, values = np.asarray(codes, dtype=np.float64), np.asarray(X)
    if codes.ndim != 2 or len(codes) != len(values):
        raise ValueError(
            f"codes of shape {codes.shape} and X of shape {values.shape} must have one row per observation each."
        )
    if not 0 < confidence < 1:
        raise ValueError(f"confidence={confidence!r} must be a number above 0 and below 1.")
    n, d = codes.shape
    fewest = fewest_rows(d)
    if n < fewest:
        raise ValueError(f"the slopes along {d} codes need at least {fewest} rows; received {n}.")
    rng = np.random.default_rng(random_state)
    features = values.reshape(n, -1).astype(np.float64)
    around = columns_of("circle", kinds) if kinds else []
    scale = codes.std(axis=0)
    scale[around] = 1.0
    scale[scale == 0] = 1.0
    places = np.sort(rng.choice(n, min(n, MOST_PLACES), replace=False))
    near = _neighbors(codes / scale, around, places, k=min(n - 1, max(2 * fewest, round(0.4 * n**0.8))))
    steps = codes[near] - codes[places, None]
    steps[..., around] = np.angle(np.exp(1j * steps[..., around]))
    weights = _tricube(np.linalg.norm(steps / scale, axis=2))
    rule = _slope_rule(steps / scale, weights)
    slopes = np.matmul(rule, features[near])
    mean = slopes.mean(axis=0)
    part = rng.permutation(n) % GROUPS
    left_out = []
    for group in range(GROUPS):
        kept = part[places] != group
        thinned = weights[kept] * (part[near[kept]] != group)
        left_out.append(_mean_rule(_slope_rule(steps[kept] / scale, thinned), near[kept], n) @ features)
    spread = np.sqrt((GROUPS - 1) * np.var(left_out, axis=0))
    reach = student.ppf((1 + confidence) / 2, GROUPS - 1) * spread
    return Loadings(
        mean, mean - reach, mean + reach, np.sqrt(np.square(slopes).mean(axis=0)), places, slopes.astype(np.float32),
        [_course(codes[:, j], features, j in around) for j in range(d)],
        [f"feature {j + 1}" for j in range(features.shape[1])] if feature_names is None else list(feature_names),
        values.shape[1:], confidence,
    )  # fmt: skip


def fewest_rows(n_codes: int) -> int:
    """Rows below which the slopes along so many codes cannot be told."""
    return 4 * (n_codes + 1)


def _neighbors(codes: Floats, around: list[int], places: NDArray[np.intp], k: int) -> NDArray[np.intp]:
    """The nearest rows of each place, itself among them; angles are compared by their cosines and sines."""
    plain = np.delete(codes, around, axis=1)
    points = np.concatenate([plain, np.cos(codes[:, around]), np.sin(codes[:, around])], axis=1)
    return NearestNeighbors(n_neighbors=k).fit(points).kneighbors(points[places], return_distance=False)


def _tricube(lengths: Floats) -> Floats:
    reach = np.maximum(lengths.max(axis=1, keepdims=True) * (1 + 1e-9), 1e-300)
    return (1 - (lengths / reach) ** 3) ** 3


def _slope_rule(steps: Floats, weights: Floats) -> Floats:
    """(places, d, k): what the values of the neighbours are multiplied by to give the slopes."""
    root = np.sqrt(weights)[..., None]
    share = weights / weights.sum(axis=1, keepdims=True)
    centred = steps - (share[..., None] * steps).sum(axis=1, keepdims=True)
    return np.linalg.pinv(root * centred, rcond=SMALLEST_SHARE) * root.swapaxes(1, 2)


def _mean_rule(rule: Floats, near: NDArray[np.intp], n: int) -> Floats:
    """(d, n): the same for the mean over the places, by rows of the data."""
    total = np.zeros((rule.shape[1], n))
    for j in range(rule.shape[1]):
        total[j] = np.bincount(near.ravel(), rule[:, j].ravel(), minlength=n)
    return total / len(rule)


def _course(code: Floats, features: Floats, angle: bool) -> Course:
    if angle:
        bins = np.floor((code % (2 * np.pi)) / (2 * np.pi) * STOPS).astype(int) % STOPS
    else:
        rank = np.argsort(np.argsort(code, kind="stable"), kind="stable")
        bins = rank * min(STOPS, len(code)) // len(code)
    held = [np.flatnonzero(bins == b) for b in np.unique(bins)]
    at = [np.angle(np.exp(1j * code[rows]).mean()) if angle else code[rows].mean() for rows in held]
    mean = np.stack([features[rows].mean(axis=0) for rows in held])
    with np.errstate(invalid="ignore", divide="ignore"):
        error = [np.std(features[r], axis=0, ddof=1) / len(r) ** 0.5 if len(r) > 1 else mean[0] * np.nan for r in held]
    return Course(np.array(at), mean, np.stack(error))
