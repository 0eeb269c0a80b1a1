"""Explicitness."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import rankdata

from unbraid.metrics.arrays import Factors, split
from unbraid.metrics.logistic import fit_logistic, standardise


def explicitness(
    factors: ArrayLike,
    codes: ArrayLike,
    factors_test: ArrayLike | None = None,
    codes_test: ArrayLike | None = None,
    *,
    C: float = 1.0,
    n_bins: int = 20,
    test_size: float | int = 1 / 3,
    random_state: int | None = 0,
) -> float:
    r"""Explicitness: how well the classes of each factor can be read off all codes by a linear classifier.

    .. math:: \frac1K \sum_k \operatorname{mean}_c \mathrm{AUC}\big( p(v_k = c \mid z),\; [v_k = c] \big)

    Multinomial logistic regression on standardised codes, scored on test rows by the area under the one-against-rest
    ROC curve, averaged over classes. It asks nothing of the axes: any invertible linear map of the codes keeps it,
    up to the penalty. Chance is 0.5.

    Parameters
    ----------
    factors : array (n_samples, n_factors)
        Integers are classes; floats are cut into ``n_bins`` bins. Constant factors are left out.
    codes : array (n_samples, n_codes)
    factors_test, codes_test : arrays, optional
        Rows to test on; else ``test_size`` of the rows given are held out.
    C : float
        Inverse penalty of the logistic regression.
    n_bins : int
        Bins of equal width for continuous factors.
    test_size : float or int
        Share, or number, of rows to hold out.
    random_state : int
        Draws the rows held out.

    Returns
    -------
    float
        Between 0 and 1. Classes that do not occur among the test rows are left out.

    References
    ----------
    Ridgeway & Mozer 2018, "Learning deep disentangled embeddings with the F-statistic loss", section 3.

    Examples
    --------
    >>> import numpy as np
    >>> factors = np.random.default_rng(0).integers(0, 4, size=(600, 2))
    >>> explicitness(factors, 1.0 * factors) > 0.99
    True
    """
    parts = split(factors, codes, factors_test, codes_test, test_size=test_size, random_state=random_state)
    X, X_test = standardise(parts.codes, parts.codes_test)
    if not X.shape[1]:
        return 0.5
    scores = []
    for labels, labels_test in _paired_classes(parts.factors, parts.factors_test, n_bins):
        areas = _areas(fit_logistic(X, labels, C=C).log_proba(X_test), labels_test)
        if len(areas):
            scores.append(areas.mean())
    if not scores:
        raise ValueError("no factor has two classes among the test rows. Test on more rows.")
    return float(np.mean(scores))


def _paired_classes(train: Factors, test: Factors, n_bins: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Class indices of each factor in training and test rows; -1 where a class was not seen in training."""
    for k in range(train.values.shape[1]):
        v, v_test = train.values[:, k], test.values[:, k]
        if not train.discrete[k]:
            edges = np.linspace(v.min(), v.max(), n_bins + 1)[1:-1]
            v, v_test = np.searchsorted(edges, v, side="right"), np.searchsorted(edges, v_test, side="right")
        values, labels = np.unique(v, return_inverse=True)
        place = np.minimum(np.searchsorted(values, v_test), len(values) - 1)
        yield labels, np.where(values[place] == v_test, place, -1)


def _areas(scores: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Area under the ROC curve of each class that some, but not all, test rows have."""
    n = len(labels)
    counts = np.bincount(labels[labels >= 0], minlength=scores.shape[1])
    present = np.flatnonzero((counts > 0) & (counts < n))
    ranks = rankdata(scores[:, present], axis=0)
    positive = counts[present]
    own = np.array([ranks[labels == c, i].sum() for i, c in enumerate(present)])
    return (own - positive * (positive + 1) / 2) / (positive * (n - positive))
