"""Mutual information based entropy disentanglement."""

import numpy as np
from numpy.typing import ArrayLike

from unbraid.metrics.importance import disentanglement
from unbraid.metrics.information import information


def med(factors: ArrayLike, codes: ArrayLike, *, n_bins: int = 20, top_k: int | None = None) -> float:
    r"""MED: the disentanglement score of DCI with mutual information in place of trained importances.

    .. math:: R_{dk} = \frac{I(z_d; v_k)}{\sum_e I(z_e; v_k)}, \qquad
              \mathrm{MED} = \sum_d \frac{\sum_k R_{dk}}{\sum_{dk} R_{dk}} \left(1 - H_K(R_{d\cdot})\right)

    Milliseconds instead of minutes, without a model to train. For representations with many more codes than factors
    use ``top_k``: only the k most disentangled codes of each factor count.

    Parameters
    ----------
    factors : array (n_samples, n_factors)
        Integers are classes; floats are cut into ``n_bins`` bins. Constant factors are left out.
    codes : array (n_samples, n_codes)
    n_bins : int
        Bins of equal width over the range of each code.
    top_k : int, optional
        Codes that count for each factor; None counts all.

    Returns
    -------
    float
        Between 0 and 1.

    References
    ----------
    Cao et al. 2022, "An empirical study on disentanglement of negative-free contrastive learning", section 3.

    Examples
    --------
    >>> import numpy as np
    >>> factors = np.random.default_rng(0).integers(0, 4, size=(2000, 2))
    >>> med(factors, 1.0 * factors) > 0.98
    True
    """
    if top_k is not None and top_k < 1:
        raise ValueError(f"top_k={top_k!r}; allowed are integers from 1, or None for all codes.")
    mutual = information(factors, codes, n_bins).mutual
    told = mutual.sum(axis=0)
    importance = np.divide(mutual, told, out=np.zeros_like(mutual), where=told > 0)
    if top_k is not None:
        importance = importance[_most_disentangled(importance, top_k)]
    return disentanglement(importance)


def _most_disentangled(importance: np.ndarray, k: int) -> np.ndarray:
    purity = np.array([disentanglement(row[None]) for row in importance])
    owner = importance.argmax(axis=1)
    order = np.argsort(-purity, kind="stable")
    return np.concatenate([order[owner[order] == f][:k] for f in range(importance.shape[1])])
