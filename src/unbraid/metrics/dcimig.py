"""DCIMIG."""

import numpy as np
from numpy.typing import ArrayLike

from unbraid.metrics.information import information, top_two


def dcimig(factors: ArrayLike, codes: ArrayLike, *, n_bins: int = 20) -> float:
    r"""DCIMIG (3CharM): disentanglement, completeness and informativeness in one gap of mutual information.

    .. math:: R_d = I(z_d; v_{(1)}) - I(z_d; v_{(2)}), \qquad
              \mathrm{DCIMIG} = \frac{\sum_k \max_{d:\, v_{(1)}(d) = k} R_d}{\sum_k H(v_k)}

    Each code stands for the factor it tells most about, each factor for the best of its codes. High only if every
    factor has a code that tells it and no other; spare and duplicated codes do no harm.

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
    Sepliarskaia, Kiseleva & de Rijke 2019, "How to not measure disentanglement", section 5.

    Examples
    --------
    >>> import numpy as np
    >>> factors = np.random.default_rng(0).integers(0, 4, size=(2000, 2))
    >>> dcimig(factors, 1.0 * factors) > 0.99
    True
    """
    table = information(factors, codes, n_bins)
    first, second = top_two(table.mutual, axis=1)
    best = np.zeros(len(table.factor_entropy))
    np.maximum.at(best, table.mutual.argmax(axis=1), first - second)
    return float(np.clip(best.sum() / table.factor_entropy.sum(), 0, 1))
