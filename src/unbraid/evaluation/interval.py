"""Confidence intervals by half-samples, a bootstrap without replacement."""

from collections.abc import Callable

import numpy as np
from scipy.stats import t as student


def interval(
    value: np.ndarray, replicates: np.ndarray, bounds: tuple[float, float] = (0.0, 1.0), level: float = 0.95
) -> tuple[np.ndarray, np.ndarray]:
    r"""Ends of the interval of each score from its values on random halves of the sample.

    Over halves drawn without replacement a score varies as much as over fresh samples of full size, since
    :math:`1/(n/2) - 1/n = 1/n`, and its mean there lies as far from the value as the value from its limit, to first
    order (the m-out-of-n bootstrap of Bickel, Goetze & van Zwet 1997 with m = n/2). Unlike the bootstrap with
    replacement it makes no ties, which nearest neighbours and trees would take for structure, and it trains and tests
    on different rows. With bias b and standard deviation s of the replicates,

    .. math:: \big[\min(\hat\theta, \hat\theta - b) - t s,\; \max(\hat\theta, \hat\theta - b) + t s\big],

    which covers both the score of infinitely many samples and the expected score of this many.

    Parameters
    ----------
    value : ndarray (n_scores,)
    replicates : ndarray (n_replicates, n_scores)
    bounds : pair of floats
        Least and largest possible score.
    level : float

    Returns
    -------
    low, high : ndarrays (n_scores,)

    Examples
    --------
    >>> low, high = interval(np.array([0.5]), np.array([[0.49], [0.5], [0.51]]))
    >>> round(float(low[0]), 3), round(float(high[0]), 3)
    (0.457, 0.543)
    """
    if len(replicates) < 2:
        return np.full(value.shape, np.nan), np.full(value.shape, np.nan)
    reach = student.ppf(0.5 + level / 2, len(replicates) - 1) * replicates.std(axis=0, ddof=1)
    corrected = value - (replicates.mean(axis=0) - value)
    low, high = np.minimum(value, corrected) - reach, np.maximum(value, corrected) + reach
    return np.clip(low, *bounds), np.clip(high, *bounds)


def replicate(compute: Callable[[np.random.Generator], tuple[float, ...]], n: int, seed: int) -> np.ndarray:
    """``n`` values of a score, each with a generator of its own."""
    return np.array([compute(rng) for rng in np.random.default_rng(seed).spawn(n)])
