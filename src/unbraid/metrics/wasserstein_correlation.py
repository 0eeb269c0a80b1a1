"""Gaussian Wasserstein correlation."""

import numpy as np
from numpy.typing import ArrayLike

from unbraid.metrics.covariance import code_covariance


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
    covariance = code_covariance(factors, codes, variances)
    if len(covariance) < 2:
        return 0.0
    root = np.sqrt(np.diag(covariance))
    eigenvalues = np.linalg.eigvalsh(root[:, None] * covariance * root)
    trace = np.trace(covariance)
    distance = 2 * trace - 2 * np.sqrt(np.maximum(eigenvalues, 0)).sum()
    return float(max(distance / trace if normalised else distance, 0))
