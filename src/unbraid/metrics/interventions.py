"""Interventional robustness score."""

import numpy as np
from numpy.typing import ArrayLike

from unbraid.metrics.arrays import check, equal_width_bins


def irs(factors: ArrayLike, codes: ArrayLike, *, n_bins: int = 20, quantile: float = 0.99) -> float:
    r"""Interventional robustness score: how little a code varies while one factor is held fixed.

    .. math:: \mathrm{IRS}_{dk} = 1 - \frac1{m_d}\,
              \operatorname{mean}_{a} Q_{.99}\big( |z_d - E[z_d \mid v_k = a]| \;\big|\; v_k = a \big), \qquad
              \mathrm{IRS} = \frac{\sum_d m_d \max_k \mathrm{IRS}_{dk}}{\sum_d m_d}

    with :math:`m_d` the largest deviation of code d from its mean. A code that is a function of one factor reaches 1.
    Deviations are worst cases, so one outlier in a code raises its score; codes are weighted by their range. Rescaling
    all codes by one factor changes nothing; rescaling one of them does.

    Parameters
    ----------
    factors : array (n_samples, n_factors)
        Values are cut into ``n_bins`` bins of equal width, discrete ones too. Constant factors are left out.
    codes : array (n_samples, n_codes)
        Constant codes are left out.
    n_bins : int
        Bins of each factor.
    quantile : float
        Of the deviations within a bin; 1 is the paper's maximum.

    Returns
    -------
    float
        Between 0 and 1.

    References
    ----------
    Suter et al. 2019, "Robustly disentangled causal mechanisms", section 4.

    Examples
    --------
    >>> import numpy as np
    >>> factors = np.random.default_rng(0).integers(0, 4, size=(2000, 2))
    >>> irs(factors, 1.0 * factors)
    1.0
    """
    if not 0 < quantile <= 1:
        raise ValueError(f"quantile={quantile!r}; it must be above 0 and at most 1. The study uses 0.99.")
    truth, z = check(factors, codes)
    values = truth.varying().values
    z = z[:, np.ptp(z, axis=0) > 0]
    if not z.shape[1]:
        return 0.0
    largest = np.abs(z - z.mean(axis=0)).max(axis=0)
    deviation = np.stack([_deviation(equal_width_bins(v, n_bins), z, quantile) for v in values.T], axis=1)
    scores = (1 - deviation / largest[:, None]).max(axis=1)
    return float(np.clip(np.average(scores, weights=largest), 0, 1))


def _deviation(labels: np.ndarray, codes: np.ndarray, quantile: float) -> np.ndarray:
    """Mean over the groups of the quantile of the deviation from the group's mean, of every code."""
    order = np.argsort(labels, kind="stable")
    bounds = np.flatnonzero(np.diff(labels[order])) + 1
    groups = np.split(codes[order], bounds)
    return np.mean([np.quantile(np.abs(g - g.mean(axis=0)), quantile, axis=0) for g in groups], axis=0)
