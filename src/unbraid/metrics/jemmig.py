"""Joint entropy minus mutual information gap."""

import numpy as np
from numpy.typing import ArrayLike

from unbraid.metrics.information import information, top_two


def jemmig(factors: ArrayLike, codes: ArrayLike, *, n_bins: int = 20) -> float:
    r"""JEMMIG, normalised so that 1 is best: MIG that also asks the leading code to tell nothing else.

    .. math:: \mathrm{JEMMIG} = 1 - \frac1K \sum_k
              \frac{H(v_k, z_{(1)}) - I(v_k; z_{(1)}) + I(v_k; z_{(2)})}{H(v_k) + \log B}

    with :math:`B` bins. The joint entropy punishes a code that holds more than its factor, which MIG forgives.
    The score is 1 only when the code takes one value for each value of the factor. By its formula constant codes do
    not score 0 but :math:`\log B / (H(v_k) + \log B)`: read it beside its chance level.

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
    Do & Tran 2020, "Theory and evaluation metrics for learning disentangled representations", section 4.3;
    the normalisation is that of Carbonneau et al. 2022, "Measuring disentanglement: a review of metrics".

    Examples
    --------
    >>> import numpy as np
    >>> factors = np.random.default_rng(0).integers(0, 4, size=(2000, 2))
    >>> jemmig(factors, 1.0 * factors) > 0.99
    True
    """
    table = information(factors, codes, n_bins)
    first, second = top_two(table.mutual, axis=0)
    joint = np.take_along_axis(table.joint_entropy, table.mutual.argmax(axis=0)[None], axis=0)[0]
    worst = table.factor_entropy + np.log(n_bins)
    return float(np.clip(1 - np.mean((joint - first + second) / worst), 0, 1))
