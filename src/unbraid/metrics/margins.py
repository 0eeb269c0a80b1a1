"""Separated attribute predictability: how much better the best code predicts a factor than the second best."""

import numpy as np
from numpy.typing import ArrayLike

from unbraid.metrics.arrays import check, split
from unbraid.metrics.information import top_two
from unbraid.metrics.matching import correlations
from unbraid.metrics.svm import fit_predict


def sap(
    factors: ArrayLike,
    codes: ArrayLike,
    factors_test: ArrayLike | None = None,
    codes_test: ArrayLike | None = None,
    *,
    C: float = 0.01,
    test_size: float | int = 1 / 3,
    random_state: int | None = 0,
) -> float:
    r"""Separated attribute predictability: how much better the best code predicts each factor than the second best.

    .. math:: \mathrm{SAP} = \frac1K \sum_k \left( S_{(1)k} - S_{(2)k} \right)

    where :math:`S_{dk}` is the test accuracy of a linear support vector machine on code d alone if factor k is
    discrete, and their squared correlation (over all rows of ``factors``, ``codes``) if it is continuous. The machine
    is solved exactly. Its penalty depends on the scale of the codes, and so does the score of discrete factors.

    Parameters
    ----------
    factors : array (n_samples, n_factors)
        Integers are classes, floats are continuous. Constant factors are left out.
    codes, factors_test, codes_test
        As for :func:`~unbraid.metrics.downstream`.
    C : float
        Inverse penalty of the support vector machine.
    test_size, random_state
        As for :func:`~unbraid.metrics.downstream`.

    Returns
    -------
    float
        Between 0 and 1.

    References
    ----------
    Kumar, Sattigeri & Balakrishnan 2018, "Variational inference of disentangled latent concepts", section 3.

    Examples
    --------
    >>> import numpy as np
    >>> factors = np.random.default_rng(0).normal(size=(2000, 2))
    >>> sap(factors, factors) > 0.99
    True
    """
    truth, z = check(factors, codes)
    kept = truth.varying()
    columns = []
    if kept.discrete.any():
        parts = split(factors, codes, factors_test, codes_test, test_size=test_size, random_state=random_state)
        for k in np.flatnonzero(parts.factors.discrete):
            v, v_test = parts.factors.values[:, k], parts.factors_test.values[:, k]
            columns.append(_accuracies(v, parts.codes, v_test, parts.codes_test, C))
    if not kept.discrete.all():
        columns.extend(correlations(kept.values[:, ~kept.discrete], z) ** 2)
    first, second = top_two(np.column_stack(columns), axis=0)
    return float(np.mean(first - second))


def _accuracies(v: np.ndarray, z: np.ndarray, v_test: np.ndarray, z_test: np.ndarray, C: float) -> np.ndarray:
    values, labels = np.unique(v, return_inverse=True)
    return np.array(
        [np.mean(values[fit_predict(x, labels, x_test, C=C)] == v_test) for x, x_test in zip(z.T, z_test.T)]
    )
