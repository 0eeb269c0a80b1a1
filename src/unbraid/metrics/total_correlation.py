"""Gaussian total correlation."""

import numpy as np
from numpy.typing import ArrayLike

from unbraid.metrics.covariance import code_covariance


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
    covariance = code_covariance(factors, codes, variances)
    if len(covariance) < 2:
        return 0.0
    scale = np.sqrt(np.diag(covariance))
    logdet = np.linalg.slogdet(covariance / np.outer(scale, scale))[1]
    return float(max(-0.5 * logdet, 0))
