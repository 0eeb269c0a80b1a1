"""Mutual information gap of the codes."""

import numpy as np
from numpy.typing import ArrayLike

from unbraid.metrics.information import information, top_two


def mig_sup(factors: ArrayLike, codes: ArrayLike, *, n_bins: int = 20) -> float:
    r"""MIG-sup: how far one factor leads in each code.

    .. math:: \mathrm{MIG\text{-}sup} = \frac1D \sum_d \left(
              \frac{I(z_d; v_{(1)})}{H(v_{(1)})} - \frac{I(z_d; v_{(2)})}{H(v_{(2)})} \right)

    The mirror of MIG, which does not see a code that mixes factors. Every code counts, so spare codes lower it.

    Parameters
    ----------
    factors : array (n_samples, n_factors)
        Integers are classes; floats are cut into ``n_bins`` bins. Constant factors are left out.
    codes : array (n_samples, n_codes)
    n_bins : int
        Bins of equal width over the range of each code.

    Returns
    -------
    float
        Between 0 and 1.

    References
    ----------
    Li et al. 2020, "Progressive learning and disentanglement of hierarchical representations", section 4.

    Examples
    --------
    >>> import numpy as np
    >>> factors = np.random.default_rng(0).integers(0, 4, size=(2000, 2))
    >>> mig_sup(factors, 1.0 * factors) > 0.99
    True
    """
    table = information(factors, codes, n_bins)
    first, second = top_two(table.normalised, axis=1)
    return float(np.clip(np.mean(first - second), 0, 1))
