"""FactorVAE score."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from unbraid.metrics.pool import Fresh, Pool, sampler


def factor_vae(
    factors: ArrayLike,
    codes: ArrayLike | Callable,
    *,
    n_train: int = 10_000,
    n_test: int = 5_000,
    batch_size: int = 64,
    threshold: float = 0.05,
    n_bins: int = 20,
    random_state: int | None = 0,
) -> float:
    r"""FactorVAE score: the code that moves least tells which factor was held still.

    .. math:: d^* = \arg\min_d \frac{\operatorname{Var}_{batch}(z_d)}{\operatorname{Var}(z_d)}, \qquad
              \mathrm{score} = P\big( k = \text{majority vote of } d^* \big)

    Each batch fixes one factor. Batches are drawn from one pool of encoded samples (the arrays), or encoded afresh if
    ``codes`` is a function of factors. It asks that every factor has a code of its own; a code may serve no other
    purpose, but codes that mix factors can still score well: above .6 it says little.

    Parameters
    ----------
    factors : array (n_samples, n_factors)
        Integers are classes; floats are cut into ``n_bins`` bins. Constant factors are left out. With fresh sampling
        each factor is drawn from its own column.
    codes : array (n_samples, n_codes), or callable
        A callable maps an array of factors to codes.
    n_train, n_test : int
        Batches to learn the majority votes from, and to score them on.
    batch_size : int
        Samples in a batch.
    threshold : float
        Codes with a smaller standard deviation are pruned. The study sets .05; 0 prunes constant codes only.
    n_bins : int
        Bins of equal width for continuous factors.
    random_state : int
        Draws the batches.

    Returns
    -------
    float
        Between 0 and 1; chance is one over the number of factors. 0 if all codes are pruned.

    References
    ----------
    Kim & Mnih 2018, "Disentangling by factorising", section 4.

    Examples
    --------
    >>> import numpy as np
    >>> factors = np.random.default_rng(0).integers(0, 4, size=(2000, 2))
    >>> factor_vae(factors, 1.0 * factors, n_train=200, n_test=100)
    1.0
    >>> factor_vae(factors, lambda v: 1.0 * v, n_train=200, n_test=100)  # encoded afresh
    1.0
    """
    n_factors, source = sampler(factors, codes, n_bins, random_state)
    pool = source.spread(max(n_train, 2))
    deviation = pool.std(axis=0, ddof=1)
    active = (np.ptp(pool, axis=0) > 0) & (deviation >= threshold)
    if not active.any():
        return 0.0
    scale = deviation[active]
    shape = (n_factors, len(scale))
    votes = _votes(source, n_train, batch_size, active, scale, shape)
    majority = votes.argmax(axis=0)
    test = _votes(source, n_test, batch_size, active, scale, shape)
    return float(test[majority, np.arange(shape[1])].sum() / n_test)


def _votes(source: Pool | Fresh, n: int, size: int, active: np.ndarray, scale: np.ndarray, shape: tuple) -> np.ndarray:
    """How often each code moved least while each factor stood still, (n_factors, n_codes)."""
    votes = np.zeros(shape, dtype=np.int64)
    for k, moved in source.variances(n, size):
        np.add.at(votes, (k, (moved[:, active] / scale**2).argmin(axis=1)), 1)
    return votes
