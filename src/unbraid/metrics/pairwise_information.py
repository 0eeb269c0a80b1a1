"""Mean mutual information between codes."""

import numpy as np
from numpy.typing import ArrayLike

from unbraid.metrics.arrays import check_codes
from unbraid.metrics.information import bin_codes, tabulate


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
    given = codes if codes is not None else factors
    if given is None:
        raise TypeError("no codes were given; call the metric with (codes) or with (factors, codes).")
    bins = bin_codes(check_codes(given), n_bins)
    n = bins.shape[1]
    if n < 2:
        return 0.0
    mutual = tabulate(bins, bins).mutual
    return float((mutual.sum() - np.trace(mutual)) / (n * (n - 1)))
