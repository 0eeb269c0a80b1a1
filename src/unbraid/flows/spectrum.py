"""Which latent dimensions matter (the count above the noise, between-class information), and which starts agree."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from unbraid.trust.table import FIGURES
from unbraid.trust.warnings import warn

QUARTILES = (0.25, 0.5, 0.75)
LEAST_VARIANCE = 0.1**2  # of log ratios, which are known to a few per cent
SHELF = 20  # fewest latents from which the spread of a shelf is estimated
CHANCES = (0.001, 0.01, 0.5)  # that a shelf alone would reach as far: for the low end, the count and the high end
DRAWS = 4000  # of shelves, for the quantiles of their reach
SUPPORT = 1.92  # log-likelihood below the maximum at the ends of a 95 % interval


@dataclass(frozen=True)
class Count:
    """How many latents are informative.

    Attributes
    ----------
    n : int
    low, high : int
        The counts that may be.
    drop : float
        The factor by which the ratio falls after the last latent counted.
    above : int
        Latents above the noise: the informative ones, and the shelf of fine structure where there is one.
    """

    n: int
    low: int
    high: int
    drop: float
    above: int

    @property
    def clear(self) -> bool:
        return self.low == self.high and FIGURES["spectrum_drop"].holds(self.drop)


def count_above_noise(ratios: np.ndarray) -> Count:
    r"""How many latents stand out of the noise, by their spreads over those that the noise alone gives them.

    The logarithms y of the sorted ratios are split in two normal groups where their profile likelihood is largest:

    .. math:: l(n) = -\frac{n}{2} \log v(y_1, \dots, y_n) - \frac{d + 1 - n}{2} \log v(y_{n + 1}, \dots, y_d, 0)

    with the variances v, of 0.1^2 at least. The second is no larger than the first (else both are the pooled one, the
    maximum under this condition): noise is much alike in all latents that hold only noise, while factors may differ.
    (Zhu and Ghodsi have one variance for both groups.) The 0 is the noise itself, so that all d latents can be
    informative. The mean of the second group is free, as data may have noise of their own beyond what was added. The
    interval holds all n with l(n) within 1.92 of the maximum, and the place of the largest single drop.

    Real data have shelves: fine structure that many latents share lies above the noise and far below the factors. So
    where 20 latents or more are above the noise, they are held against a null: all are a shelf, whose logarithms are
    normal with the median and the quartiles that are found. The latents that stand above what the largest of such a
    shelf reaches with a chance of 1 % are counted; the interval has chances of 0.1 % and 50 %. Where none does, there
    is no shelf: all that is above the noise is counted. (So one in a hundred sets of many factors is taken for a shelf
    if their logarithms are normal.)

    The split was chosen among four rules on 24 GIN fits (seeds 100 to 102, 200 and 201; 1, 2, 4, 6 and 9 factors of
    ten; the default noise and 0.01): 22 counts are right, and the two others, of fits that failed (MCC .67 and .60),
    are uncertain. On 13 fits that had no part in it (seeds 300 to 303; 1, 2, 6 and 9 of ten) 12 are right; the other
    says 7 to 9 of 9. The shelf's null was fixed on GIN after 6.8 epochs on MNIST; :doc:`/flows` has what it says of
    others.

    References
    ----------
    Zhu and Ghodsi (2006), Automatic dimensionality selection from the scree plot via the use of profile likelihood.

    Examples
    --------
    >>> count_above_noise(np.array([20.0, 9.0, 1.0, 1.0, 1.0]))
    Count(n=2, low=2, high=2, drop=9.0, above=2)
    """
    levels = np.append(np.log(np.sort(np.maximum(ratios, 1.0))[::-1]), 0.0)
    drops = np.exp(-np.diff(levels))
    above, likely = _split(levels)
    possible = [*likely, int(np.argmax(drops)) + 1]
    low, n, high = min(possible), above, max(possible)
    if above >= SHELF:
        few, some, many = _above_shelf(levels[:above])
        if some:
            low, n, high = max(few, 1), some, many
    return Count(n, low, high, float(drops[n - 1]), above)


def _split(levels: np.ndarray) -> tuple[int, list[int]]:
    """How many of the levels make the first of two groups, and which numbers are likely."""
    likelihood = np.array([_two_groups(*np.split(levels, [n])) for n in range(1, len(levels))])
    likely = np.flatnonzero(likelihood >= likelihood.max() - SUPPORT) + 1
    return int(np.argmax(likelihood)) + 1, likely.tolist()


def _above_shelf(levels: np.ndarray) -> list[int]:
    """How many levels, largest first, stand above what the largest of a normal shelf reaches, at each of ``CHANCES``.

    The shelf is what does not stand above it at the second of them.
    """
    first = 0
    while True:
        shelf = levels[first:]
        low, middle, high = np.quantile(shelf, QUARTILES)
        spread = max(high - low, 2 * np.sqrt(LEAST_VARIANCE))
        counts = [int((levels > middle + spread * reach).sum()) for reach in _reach_of_shelf(len(shelf))]
        if counts[1] <= first or len(levels) - counts[1] < SHELF:
            return counts
        first = counts[1]


@lru_cache(maxsize=64)
def _reach_of_shelf(n: int) -> tuple[float, ...]:
    """How far the largest of n normal levels lies above their median, in units of the range between their quartiles.

    Exceeded with each of ``CHANCES``, by simulation: the quartiles of few levels are uncertain themselves.
    """
    drawn = np.random.default_rng(0).standard_normal((DRAWS, n))
    low, middle, high = np.quantile(drawn, QUARTILES, axis=1)
    return tuple(np.quantile((drawn.max(1) - middle) / (high - low), 1 - np.array(CHANCES)).tolist())


def _two_groups(first: np.ndarray, second: np.ndarray) -> float:
    """Profile log-likelihood of two normal groups, the second no wider than the first, up to a constant."""
    sizes = np.array([len(first), len(second)])
    variances = np.maximum([first.var(), second.var()], LEAST_VARIANCE)
    if variances[1] > variances[0]:
        variances[:] = sizes @ variances / sizes.sum()
    return float(-(sizes @ np.log(variances)) / 2)


def warn_of_uncertain_count(count: Count, n_features: int, noise: float) -> None:
    """Warn where the spectrum allows several counts, or has no clear drop."""
    if not count.clear:
        warn(
            "UB221", stacklevel=5,  # the caller of fit
            count=count.n, of=n_features, low=count.low, high=count.high, drop=count.drop,
            clear=FIGURES["spectrum_drop"].limit(), noise=noise,
        )  # fmt: skip


def warn_of_disagreement(found: np.ndarray, n_informative: int) -> None:
    """Warn of informative codes that the other starts do not have (``found`` as of :func:`found_again`)."""
    usual = FIGURES["found_again"].limit()
    lost = np.flatnonzero(found[:n_informative] < usual)
    if len(lost):
        warn(
            "UB222", stacklevel=4,  # the caller of fit
            which=", ".join(str(i + 1) for i in lost), correlation=float(found[lost].min()), usual=usual,
        )  # fmt: skip


def class_information(log_densities: np.ndarray, labels: np.ndarray, priors: np.ndarray) -> np.ndarray:
    """Mutual information of each latent dimension and the class, in nats: mean of log p(z|u) - log sum_u p(u) p(z|u).

    Parameters
    ----------
    log_densities : array (n, classes, dimensions)
        log p(z_i | u) of every point under every class.
    labels : int array (n,)
    priors : array (classes,)
    """
    own = np.take_along_axis(log_densities, labels[:, None, None], axis=1)[:, 0]
    mixed = np.logaddexp.reduce(log_densities + np.log(priors)[None, :, None], axis=1)
    return np.maximum((own - mixed).mean(0), 0)


def agreement(codes: np.ndarray) -> np.ndarray:
    """How well the codes of each of K starts, (K, n, d), are found again in the others and the others in them: (K,).

    Of two starts a and b it is sum_i v_i max_j |corr(a_i, b_j)| / sum_i v_i with the variances v of a, so that scale,
    sign and order do not count and small latents hardly do. What is identified is the same in every good start,
    while those that fail do so each in its own way.

    >>> z = np.random.default_rng(0).normal(size=(500, 2))
    >>> turned = z @ np.array([[0.8, 0.6], [-0.6, 0.8]])
    >>> int(agreement(np.stack([turned, z, -3 * z[:, ::-1]])).argmin())
    0
    """
    standard, stds = standardised(codes)
    shares = stds**2 / np.maximum((stds**2).sum(1, keepdims=True), 1e-12)
    found = np.zeros((len(codes), len(codes)))
    for a, b in np.ndindex(found.shape):
        found[a, b] = shares[a] @ _likeness(standard[a], standard[b])
    return (found + found.T).sum(1) / 2 - np.diag(found)


def found_again(codes: np.ndarray, kept: int) -> np.ndarray:
    """How well each code of start ``kept`` is found again: mean over the other starts of max_j |corr|, (d,).

    NaN where there is no other start.

    >>> z = np.random.default_rng(0).normal(size=(500, 2))
    >>> turned = z @ np.array([[0.8, 0.6], [-0.6, 0.8]])
    >>> bool(found_again(np.stack([z, -3 * z[:, ::-1]]), 0).min() > 0.999)
    True
    >>> bool(found_again(np.stack([z, turned]), 0).max() < 0.9)
    True
    """
    standard, _ = standardised(codes)
    others = [_likeness(standard[kept], other) for k, other in enumerate(standard) if k != kept]
    return np.mean(others, axis=0) if others else np.full(codes.shape[2], np.nan)


def standardised(codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Codes (K, n, d) with mean 0 and std 1, and their stds (K, d)."""
    centred = codes - codes.mean(1, keepdims=True)
    stds = centred.std(1)
    return centred / np.maximum(stds, 1e-12)[:, None], stds


def _likeness(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The largest absolute correlation of each standardised code of a with one of b."""
    return np.abs(a.T @ b / len(a)).max(1)
