r"""Counts, put into a scale in which distances mean something: square roots, with the same noise in every column.

The noise of a count grows with its mean, so that columns of high counts decide alone what is near. The square root of
a Poisson count has a standard deviation of about 1/2 (Bartlett 1936), but less for means below 1, where it is divided
by what it is instead. Distances of means are then :math:`2 \sqrt{\sum_j (\sqrt{\mu_j} - \sqrt{\nu_j})^2}` noise
standard deviations: those of Fisher's information about the factors.

Where the totals of rows vary, that may be depth of sequencing or time of exposure, or a factor that raises all rates:
counts cannot tell. They are brought to one total where the user says so.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from unbraid.data.rows import Rows

COUNTS = ("auto", "depth", "given")
FEWEST_COLUMNS = 5  # fewer are hardly counts of like things
SMALL = 20  # the median of counts above 0, beyond which they are not many small values
PILED = 0.01  # share of the cells at the largest value: classes, and pixels that are white, pile up there
DISPERSED = 0.5  # variance over mean, 1 for Poisson counts; grades have less
LOOKED, SEEN = 64, 5000  # rows of a first look, and rows that are seen
UNEVEN = 0.05  # squared variation of the totals beyond that of independent columns, from which it is worth a word
RARE = 0.01  # mean counts below this are weighed as if they were this
NOISE = 0.5  # of the square root of a large count


@dataclass(frozen=True)
class Counts:
    """The scale of a table of counts.

    Attributes
    ----------
    weights : array (n_features,)
        What square roots are multiplied by: 1 for large counts.
    total : float
        To which rows are brought; 0 where they are taken as they are.
    uneven : float
        Relative standard deviation of the totals that all columns share; 0 if hardly any.
    """

    weights: NDArray
    total: float = 0.0
    uneven: float = 0.0

    def __call__(self, rows: NDArray) -> NDArray:
        """Counts (n, n_features) as roots whose noise has a standard deviation of 1/2."""
        if self.total:
            rows = rows * (self.total / np.maximum(rows.sum(axis=1, keepdims=True), 1))
        return np.sqrt(np.maximum(rows, 0)) * self.weights.astype(rows.dtype)

    def inverse(self, roots: NDArray) -> NDArray:
        """Mean counts of rows, those of the usual total."""
        return np.square(np.maximum(roots, 0) / self.weights.astype(roots.dtype))

    def __str__(self) -> str:
        if self.total:
            return "square roots of counts, rows brought to one total"
        hint = f"; totals vary by {100 * self.uneven:.0f} %, counts='depth' would bring them to one" * bool(self.uneven)
        return f"square roots of counts{hint}"


def counts_of(rows: Rows, how: str = "auto") -> Counts | None:
    """The scale of these rows, if they are counts; nearly always the first of them show that they are not."""
    found = None if how == "given" else _seen(rows)
    if found is None and how == "depth":
        raise ValueError(
            "counts='depth' is for tables of counts: whole numbers from 0 on, many of them small. X holds others. "
            "counts='auto' takes them as they are."
        )
    return None if found is None else scale_of(found, depth=how == "depth")


def _seen(rows: Rows) -> NDArray | None:
    """Some of the rows, if they are counts."""
    if len(rows.row_shape) != 1 or rows.n_features < FEWEST_COLUMNS or rows.dtype.kind == "b":
        return None
    first = next(rows.stored(LOOKED, LOOKED))
    if first.dtype.kind == "O" or not _whole(first):
        return None
    n = len(rows)
    sample = np.concatenate(list(rows.picked(np.unique(np.linspace(0, n - 1, min(n, SEEN)).astype(np.intp)))))
    return sample if are_counts(sample) else None


def _whole(values: NDArray) -> bool:
    with np.errstate(invalid="ignore"):
        return bool((values >= 0).all() and (values == np.round(values)).all())


def are_counts(sample: NDArray) -> bool:
    """Whether all are whole numbers from 0 on, many of them small, as spread as counts, and not piled up at the top.

    >>> rng = np.random.default_rng(0)
    >>> are_counts(rng.poisson(2, size=(100, 10))), are_counts(rng.integers(0, 2, size=(100, 10)))
    (True, False)
    """
    if not _whole(sample):  # nor any gap
        return False
    positive, largest = sample[sample > 0], sample.max()
    if largest < 2 or np.median(positive) > SMALL or (sample == largest).mean() > PILED:
        return False
    means = sample.mean(axis=0, dtype=np.float64)
    return bool(np.median(sample.var(axis=0, dtype=np.float64)[means > 0] / means[means > 0]) > DISPERSED)


def scale_of(sample: NDArray, *, depth: bool = False) -> Counts:
    """The scale of counts: weights by the noise at the mean of each column, and the total, if ``depth`` is to go."""
    sample = sample.astype(np.float64)
    totals = sample.sum(axis=1)
    total = float(np.median(totals)) if depth else 0.0
    means = np.square(Counts(np.ones(sample.shape[1]), total)(sample)).mean(axis=0)
    return Counts(NOISE / root_noise(np.maximum(means, RARE)), total, 0.0 if depth else _uneven(sample, totals))


def _uneven(sample: NDArray, totals: NDArray) -> float:
    """By how much all columns rise and fall together, if more than a little and than a total itself is uncertain."""
    means, variances = sample.mean(axis=0), sample.var(axis=0)
    together = totals.var() - variances.sum()
    excess = together / max(means.sum() ** 2 - np.square(means).sum(), 1e-300)
    return float(np.sqrt(excess)) if excess > max(UNEVEN, 1 / max(float(totals.mean()), 1e-300)) else 0.0


def root_noise(means: NDArray) -> NDArray:
    """Standard deviation of the square root of a Poisson count of each mean.

    >>> root_noise(np.array([0.01, 1.0, 100.0])).round(3).tolist()
    [0.1, 0.634, 0.501]
    """
    at, noise = _table()
    return np.interp(np.log(means), at, noise)


@cache
def _table() -> tuple[NDArray, NDArray]:
    at, k = np.linspace(np.log(RARE / 10), np.log(1000), 200), np.arange(1500)
    chance = np.exp(k * at[:, None] - np.exp(at)[:, None] - gammaln(k + 1))
    return at, np.sqrt(np.exp(at) - np.square(chance @ np.sqrt(k)))
