"""The scores of beta-VAE and FactorVAE: batches that hold one factor still."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from unbraid.metrics.logistic import fit_logistic
from unbraid.metrics.pool import Fresh, Pool, sampler


def beta_vae(
    factors: ArrayLike,
    codes: ArrayLike | Callable,
    *,
    n_train: int = 10_000,
    n_test: int = 5_000,
    batch_size: int = 64,
    C: float = 1.0,
    n_bins: int = 20,
    random_state: int | None = 0,
) -> float:
    r"""BetaVAE score: a linear classifier predicts which factor two samples share from how much their codes differ.

    .. math:: x = \frac1B \sum_b |z^{(b)} - z'^{(b)}|, \qquad \mathrm{score} = P\big( \hat k(x) = k \big)

    The pairs of a batch agree in factor k. Batches are drawn from one pool of encoded samples (the arrays), or encoded
    on demand if ``codes`` is a function of factors. The classifier is multinomial logistic regression, the codes scaled
    to unit variance. Known failure: it reaches 1 if the codes carry K - 1 of K factors, and for codes
    rotated by 35 degrees.

    Parameters
    ----------
    factors : array (n_samples, n_factors)
        Integers are classes; floats are cut into ``n_bins`` bins. Constant factors are left out. With fresh sampling
        each factor is drawn from its own column.
    codes : array (n_samples, n_codes), or callable
        A callable maps an array of factors to codes.
    n_train, n_test : int
        Batches to train the classifier on, and to score it on.
    batch_size : int
        Pairs in a batch.
    C : float
        Inverse penalty of the logistic regression.
    n_bins : int
        Bins of equal width for continuous factors.
    random_state : int
        Draws the batches.

    Returns
    -------
    float
        Between 0 and 1; chance is one over the number of factors.

    References
    ----------
    Higgins et al. 2017, "beta-VAE", section 3; the failure: Kim & Mnih 2018, section 4.

    Examples
    --------
    >>> import numpy as np
    >>> factors = np.random.default_rng(0).integers(0, 4, size=(2000, 2))
    >>> beta_vae(factors, 1.0 * factors, n_train=200, n_test=100)
    1.0
    """
    _, source = sampler(factors, codes, n_bins, random_state)
    pool = source.spread(max(n_train, 2))
    active = np.ptp(pool, axis=0) > 0
    scale = pool.std(axis=0)[active]
    x, k = _features(source, n_train, batch_size, active, scale)
    x_test, k_test = _features(source, n_test, batch_size, active, scale)
    seen, labels = np.unique(k, return_inverse=True)
    if not active.any() or len(seen) == 1:
        return float(np.mean(k_test == np.bincount(k).argmax()))
    order = np.lexsort(x[:64])  # the order of the codes must not reach the solver
    return float(np.mean(seen[fit_logistic(x[:, order], labels, C=C).predict(x_test[:, order])] == k_test))


def _features(
    source: Pool | Fresh, n: int, size: int, active: np.ndarray, scale: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    batches = list(source.differences(n, size))
    features = np.concatenate([x for _, x in batches])
    return features[:, active] / scale, np.concatenate([k for k, _ in batches])


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
    r"""FactorVAE score: the code that varies least predicts which factor was held fixed.

    .. math:: d^* = \arg\min_d \frac{\operatorname{Var}_{batch}(z_d)}{\operatorname{Var}(z_d)}, \qquad
              \mathrm{score} = P\big( k = \text{majority vote of } d^* \big)

    Each batch fixes one factor. Batches are drawn from one pool of encoded samples (the arrays), or encoded on
    demand if ``codes`` is a function of factors. It requires a separate code for every factor, but codes that mix
    factors can still score well: values above .6 mean little.

    Parameters
    ----------
    factors, codes
        As for :func:`beta_vae`.
    n_train, n_test : int
        Batches to learn the majority votes from, and to score them on.
    batch_size : int
        Samples in a batch.
    threshold : float
        Codes with a smaller standard deviation are pruned. The study sets .05; 0 prunes constant codes only.
    n_bins, random_state
        As for :func:`beta_vae`.

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
    >>> factor_vae(factors, lambda v: 1.0 * v, n_train=200, n_test=100)  # encoded on demand
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
    """How often each code varied least while each factor was fixed, (n_factors, n_codes)."""
    votes = np.zeros(shape, dtype=np.int64)
    for k, moved in source.variances(n, size):
        np.add.at(votes, (k, (moved[:, active] / scale**2).argmin(axis=1)), 1)
    return votes
