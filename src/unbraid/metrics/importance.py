"""Disentanglement, completeness and informativeness."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from unbraid.metrics.arrays import choose, split
from unbraid.metrics.trees import BACKENDS, accuracy, canonical_ranks, without_codes


@dataclass(frozen=True)
class DCI:
    """The three scores, the matrix they come from and the backend that made it. ``float()`` gives disentanglement.

    Attributes
    ----------
    disentanglement, completeness, informativeness : float
        Between 0 and 1; informativeness is the mean test accuracy (R squared of continuous factors).
    informativeness_train : float
        The same on the training rows.
    importance : ndarray (n_codes, n_factors)
        Each column sums to 1.
    backend : str
    """

    disentanglement: float
    completeness: float
    informativeness: float
    informativeness_train: float
    importance: np.ndarray
    backend: str

    def __float__(self) -> float:
        return self.disentanglement


def dci(
    factors: ArrayLike,
    codes: ArrayLike,
    factors_test: ArrayLike | None = None,
    codes_test: ArrayLike | None = None,
    *,
    backend: str = "gbt",
    test_size: float | int = 1 / 3,
    random_state: int | None = 0,
) -> DCI:
    r"""Disentanglement, completeness and informativeness from the importances of trees that predict each factor.

    With importances :math:`R_{dk}` of code d for factor k,

    .. math:: D = \sum_d \rho_d \left(1 - H_K(R_{d\cdot})\right), \qquad
              C = \sum_k \rho_k \left(1 - H_D(R_{\cdot k})\right), \qquad
              I = \operatorname{mean}_k \mathrm{accuracy}_k

    where the entropies are of normalised rows and columns, in base K and D, and :math:`\rho` are shares of the total
    importance. D requires one factor per code, C one code per factor, I that the factors can be predicted at all.

    "gbt" is the reference: 100 boosted trees of depth 3 by scikit-learn, minutes for 10,000 points. "compiled" grows
    the same trees some twenty times faster; ties between cuts make it differ in the third digit. "lightgbm" and
    "extra_trees" rank representations similarly but give other values: compare scores of one backend only.

    Parameters
    ----------
    factors : array (n_samples, n_factors)
        Integers are classes; floats are regressed on. Constant factors are left out.
    codes : array (n_samples, n_codes)
    factors_test, codes_test : arrays, optional
        Rows to test on; else ``test_size`` of the rows given are held out.
    backend : {"gbt", "compiled", "lightgbm", "extra_trees"}
    test_size : float or int
        Share, or number, of rows to hold out.
    random_state : int
        Draws the rows held out, and what the trees draw.

    Returns
    -------
    DCI

    References
    ----------
    Eastwood & Williams 2018, "A framework for the quantitative evaluation of disentangled representations", section 2.

    Examples
    --------
    >>> import numpy as np
    >>> factors = np.random.default_rng(0).integers(0, 3, size=(300, 2))
    >>> scores = dci(factors, 1.0 * factors, backend="extra_trees")
    >>> scores.disentanglement > 0.99, scores.informativeness
    (True, 1.0)
    """
    choose(backend, tuple(BACKENDS), "backend")
    parts = split(factors, codes, factors_test, codes_test, test_size=test_size, random_state=random_state)
    X, X_test, order = canonical_ranks(parts.codes, parts.codes_test)
    importance = np.zeros((parts.codes.shape[1], len(parts.factors.discrete)))
    scores = []
    for k, discrete in enumerate(parts.factors.discrete):
        v, v_test = parts.factors.column(k), parts.factors_test.column(k)
        predicted = predicted_test = without_codes(v, discrete)
        if len(order):
            model = BACKENDS[backend](discrete, random_state).fit(X, v)
            found = np.asarray(model.feature_importances_, dtype=float)
            importance[order, k] = found / found.sum() if found.sum() > 0 else 0  # 0 if no split was made
            predicted, predicted_test = model.predict(X), model.predict(X_test)
        scores.append((accuracy(predicted, v, discrete), accuracy(predicted_test, v_test, discrete)))
    train, test = np.mean(scores, axis=0).tolist()
    return DCI(weighted_purity(importance), weighted_purity(importance.T), test, train, importance, backend)


def weighted_purity(matrix: np.ndarray) -> float:
    """Mean over rows of 1 - entropy (in base of the columns), rows weighted by their sums.

    Disentanglement of importances (n_codes, n_factors), and completeness of their transpose.
    """
    total = matrix.sum()
    if total == 0:
        return 0.0
    if matrix.shape[1] == 1:
        return 1.0  # there is no other factor
    p = matrix + 1e-11  # as in the study's code
    p /= p.sum(axis=1, keepdims=True)
    purity = 1 + (p * np.log(p)).sum(axis=1) / np.log(matrix.shape[1])
    return float(np.clip(purity @ (matrix.sum(axis=1) / total), 0, 1))
