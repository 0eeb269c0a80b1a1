"""Scores of how far codes depend on each other, for which no factors are needed."""

import numpy as np
from numpy.typing import ArrayLike

from unbraid.metrics.arrays import check_codes
from unbraid.metrics.information import bin_codes, tabulate


def total_correlation(
    factors: ArrayLike | None = None, codes: ArrayLike | None = None, *, variances: ArrayLike | None = None
) -> float:
    r"""Total correlation of the Gaussian with the codes' covariance; 0 when the codes are uncorrelated.

    .. math:: \mathrm{TC} = \tfrac12 \left( \sum_d \log C_{dd} - \log\det C \right)

    Needs no factors: call it as ``total_correlation(codes)``, or like every metric as
    ``total_correlation(factors, codes)``, where the factors do not matter. The codes of an encoder are the means;
    with their ``variances`` the score is that of sampled codes, whose covariance is
    :math:`\operatorname{Cov}[\mu] + \operatorname{diag} E[\sigma^2]`, so nothing need be drawn. Low is good, and the
    study found it unrelated to the scores that know the factors.

    Parameters
    ----------
    factors : array, optional
    codes : array (n_samples, n_codes)
        Constant codes are left out. A code that is a linear combination of others makes the score infinite.
    variances : array (n_samples, n_codes), optional
        Variances of the encoder's posterior.

    Returns
    -------
    float
        0 or more.

    References
    ----------
    Watanabe 1960; Locatello et al. 2019, "Challenging common assumptions", section 5.4.

    Examples
    --------
    >>> import numpy as np
    >>> z = np.random.default_rng(0).normal(size=(100_000, 2))
    >>> mixed = z @ np.array([[1, 0.6], [0, 0.8]])  # correlation 0.6: TC = -log(1 - 0.36) / 2 = 0.223
    >>> round(total_correlation(mixed), 2)
    0.22
    """
    covariance = _covariance(factors, codes, variances)
    if len(covariance) < 2:
        return 0.0
    scale = np.sqrt(np.diag(covariance))
    logdet = np.linalg.slogdet(covariance / np.outer(scale, scale))[1]
    return float(max(-0.5 * logdet, 0))


def wasserstein_correlation(
    factors: ArrayLike | None = None,
    codes: ArrayLike | None = None,
    *,
    normalised: bool = False,
    variances: ArrayLike | None = None,
) -> float:
    r"""Squared Wasserstein distance of the Gaussian with the codes' covariance to the product of its marginals.

    .. math:: W = 2 \operatorname{tr} C - 2 \operatorname{tr} (D^{1/2} C D^{1/2})^{1/2},
              \qquad D = \operatorname{diag} C

    Needs no factors: call it as ``wasserstein_correlation(codes)``, or like every metric with ``(factors, codes)``,
    where the factors do not matter. Unlike the total correlation it stays finite for codes that depend on each other
    linearly, and dead codes hardly matter; it scales with the codes' variance unless ``normalised`` by it.

    Parameters
    ----------
    factors : array, optional
    codes : array (n_samples, n_codes)
    normalised : bool
        Divide by the trace of the covariance, so that the scale of the codes does not matter.
    variances : array (n_samples, n_codes), optional
        Variances of the encoder's posterior: the score is then that of sampled codes.

    Returns
    -------
    float
        0 or more; at most 2 if normalised.

    References
    ----------
    Locatello et al. 2019, "Challenging common assumptions", section 5.4 and appendix.

    Examples
    --------
    >>> import numpy as np
    >>> z = np.random.default_rng(0).normal(size=(1000, 1))
    >>> round(wasserstein_correlation(np.hstack([z, z]), normalised=True), 4)  # 2 - sqrt(2)
    0.5858
    """
    covariance = _covariance(factors, codes, variances)
    if len(covariance) < 2:
        return 0.0
    root = np.sqrt(np.diag(covariance))
    eigenvalues = np.linalg.eigvalsh(root[:, None] * covariance * root)
    trace = np.trace(covariance)
    distance = 2 * trace - 2 * np.sqrt(np.maximum(eigenvalues, 0)).sum()
    return float(max(distance / trace if normalised else distance, 0))


def pairwise_information(
    factors: ArrayLike | None = None, codes: ArrayLike | None = None, *, n_bins: int = 20
) -> float:
    r"""Mean mutual information of two different codes, in nats; 0 when the codes are independent in pairs.

    .. math:: \frac{1}{D (D-1)} \sum_{d \ne e} I(z_d; z_e)

    Needs no factors: call it as ``pairwise_information(codes)`` or with ``(factors, codes)``, where the factors do not
    matter. It sees dependence that the Gaussian scores cannot.

    Parameters
    ----------
    factors : array, optional
    codes : array (n_samples, n_codes)
    n_bins : int
        Bins of equal width over the range of each code.

    Returns
    -------
    float
        0 or more.

    References
    ----------
    Locatello et al. 2019, "Challenging common assumptions", section 5.4.

    Examples
    --------
    >>> import numpy as np
    >>> z = np.random.default_rng(0).integers(0, 2, size=1000)
    >>> round(pairwise_information(np.column_stack([z, z])), 2)  # log 2
    0.69
    """
    bins = bin_codes(_given_codes(factors, codes), n_bins)
    n = bins.shape[1]
    if n < 2:
        return 0.0
    mutual = tabulate(bins, bins).mutual
    return float((mutual.sum() - np.trace(mutual)) / (n * (n - 1)))


def _given_codes(factors: ArrayLike | None, codes: ArrayLike | None) -> np.ndarray:
    """The codes, which are the only array, or the second."""
    if codes is None:
        factors, codes = None, factors
    if codes is None:
        raise TypeError("no codes were given; call the metric with (codes) or with (factors, codes).")
    z = check_codes(codes)
    if factors is not None and len(np.asarray(factors)) != len(z):
        raise ValueError(f"factors have {len(np.asarray(factors))} rows and codes {len(z)}; they must agree.")
    return z


def _covariance(factors: ArrayLike | None, codes: ArrayLike | None, variances: ArrayLike | None) -> np.ndarray:
    """Covariance of the codes that vary, of their means or (with ``variances``) of samples around them."""
    z = _given_codes(factors, codes)
    noise = np.zeros(z.shape[1])
    if variances is not None:
        spread = check_codes(variances, "variances")
        if spread.shape != z.shape or (spread < 0).any():
            raise ValueError(f"variances must be non-negative and of the codes' shape {z.shape}, not {spread.shape}.")
        noise = spread.mean(axis=0)
    keep = (np.ptp(z, axis=0) > 0) | (noise > 0)
    return np.atleast_2d(np.cov(z[:, keep], rowvar=False)) + np.diag(noise[keep]) if keep.any() else np.zeros((0, 0))
