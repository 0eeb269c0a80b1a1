"""What predictors get from all codes: downstream accuracy, statistical efficiency, explicitness."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import rankdata

from unbraid.metrics.arrays import Factors, choose, split
from unbraid.metrics.logistic import fit_logistic, standardise
from unbraid.metrics.trees import BACKENDS, accuracy, canonical_ranks, without_codes


@dataclass(frozen=True)
class Downstream:
    """Test accuracy by number of training samples. ``float()`` gives the accuracy with the most of them.

    Attributes
    ----------
    n_train : tuple of int
    accuracy : ndarray (n_sizes,)
        Mean over factors of the test accuracy (R squared, at least 0, of continuous factors).
    per_factor : ndarray (n_sizes, n_factors)
    efficiency : float
        Accuracy with 100 training samples over that with 10,000; NaN if these sizes were not trained.
    classifier : str
    """

    n_train: tuple[int, ...]
    accuracy: np.ndarray
    per_factor: np.ndarray
    classifier: str

    @property
    def efficiency(self) -> float:
        found = dict(zip(self.n_train, self.accuracy))
        if 100 not in found or 10_000 not in found or found[10_000] == 0:
            return float("nan")
        return float(found[100] / found[10_000])

    def __float__(self) -> float:
        return float(self.accuracy[int(np.argmax(self.n_train))])


def downstream(
    factors: ArrayLike,
    codes: ArrayLike,
    factors_test: ArrayLike | None = None,
    codes_test: ArrayLike | None = None,
    *,
    n_train: Sequence[int] | None = None,
    classifier: str = "logistic",
    test_size: float | int = 1 / 3,
    random_state: int | None = 0,
) -> Downstream:
    r"""Downstream accuracy: predict each factor from all codes, with few and with many training samples.

    .. math:: \text{efficiency} = \frac{\text{accuracy with 100 training samples}}{\text{accuracy with 10,000}}

    "logistic" is logistic regression with the penalty chosen by cross-validation (10 values from 1e-4 to 1e4,
    5 folds); the others are tree ensembles. Continuous factors are regressed on: ridge with the same penalties, trees.

    Parameters
    ----------
    factors : array (n_samples, n_factors)
        Integers are classes; floats are regressed on. Constant factors are left out.
    codes : array (n_samples, n_codes)
    factors_test, codes_test : arrays, optional
        Rows to test on; otherwise ``test_size`` of the rows are held out.
    n_train : sequence of int, optional
        Training sizes. By default those of 10, 100, 1000, 10000 that the training rows allow.
    classifier : {"logistic", "gbt", "compiled", "lightgbm", "extra_trees"}
    test_size : float or int
        Share, or number, of rows to hold out.
    random_state : int
        Draws the rows held out and the training rows.

    Returns
    -------
    Downstream

    References
    ----------
    Locatello et al. 2019, "Challenging common assumptions", section 5.5.

    Examples
    --------
    >>> import numpy as np
    >>> factors = np.random.default_rng(0).integers(0, 3, size=(600, 2))
    >>> float(downstream(factors, 1.0 * factors, n_train=[10, 100]))
    1.0
    """
    choose(classifier, ("logistic", *BACKENDS), "classifier")
    parts = split(factors, codes, factors_test, codes_test, test_size=test_size, random_state=random_state)
    available = len(parts.codes)
    if n_train is None:
        n_train = [n for n in (10, 100, 1000, 10_000) if n <= available] or [available]
    sizes = tuple(int(n) for n in n_train)
    if not sizes or min(sizes) < 2 or max(sizes) > available:
        raise ValueError(f"n_train={list(n_train)!r}; allowed are sizes from 2 to the {available} training rows.")
    order = np.random.default_rng(random_state).permutation(available)
    scores = np.empty((len(sizes), parts.factors.values.shape[1]))
    for i, n in enumerate(sizes):
        rows = order[:n]
        if classifier == "logistic":
            X, X_test = standardise(parts.codes[rows], parts.codes_test)
        else:
            X, X_test, _ = canonical_ranks(parts.codes[rows], parts.codes_test)
        for k, discrete in enumerate(parts.factors.discrete):
            v = parts.factors.column(k)[rows]
            predicted = without_codes(v, discrete)
            if X.shape[1] and np.ptp(v) > 0:
                model = _linear(discrete) if classifier == "logistic" else BACKENDS[classifier](discrete, random_state)
                predicted = model.fit(X, v).predict(X_test)
            scores[i, k] = accuracy(predicted, parts.factors_test.column(k), discrete)
    return Downstream(sizes, scores.mean(axis=1), scores, classifier)


_PENALTIES = np.logspace(-4, 4, 10)
_N_FOLDS = 5


class _CrossValidatedLogistic:
    """Multinomial logistic regression, its penalty chosen by cross-validation."""

    def fit(self, X: np.ndarray, v: np.ndarray) -> "_CrossValidatedLogistic":
        self.values_, labels = np.unique(v, return_inverse=True)
        fold = np.empty(len(v), dtype=int)
        fold[np.argsort(labels, kind="stable")] = np.arange(len(v)) % _N_FOLDS  # stratified
        right = np.zeros(len(_PENALTIES))
        for f in range(min(_N_FOLDS, len(v))):
            train = fold != f
            seen, own = np.unique(labels[train], return_inverse=True)
            if len(seen) < 2 or train.all():
                continue
            model = None
            for i, C in enumerate(_PENALTIES):
                model = fit_logistic(X[train], own, C=C, tol=1e-3, max_iter=100, start=model)
                right[i] += np.sum(seen[model.predict(X[~train])] == labels[~train])
        self.model_ = fit_logistic(X, labels, C=_PENALTIES[right.argmax()], tol=1e-4, max_iter=100)
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self.values_[self.model_.predict(X)]


def _linear(discrete: bool) -> Any:
    if discrete:
        return _CrossValidatedLogistic()
    from sklearn.linear_model import RidgeCV

    return RidgeCV(
        alphas=1 / _PENALTIES, fit_intercept=True, scoring=None, cv=None, gcv_mode=None, store_cv_results=False
    )


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
    r"""Explicitness: how well a linear classifier predicts the classes of each factor from all codes.

    .. math:: \frac1K \sum_k \operatorname{mean}_c \mathrm{AUC}\big( p(v_k = c \mid z),\; [v_k = c] \big)

    Multinomial logistic regression on standardised codes, scored on test rows by the area under the one-against-rest
    ROC curve, averaged over classes. It ignores axes: apart from the penalty, it does not change under
    invertible linear maps of the codes. Chance is 0.5.

    Parameters
    ----------
    factors, codes, factors_test, codes_test
        As for :func:`downstream`, but continuous factors are cut into bins.
    C : float
        Inverse penalty of the logistic regression.
    n_bins : int
        Bins of equal width for continuous factors.
    test_size, random_state
        As for :func:`downstream`.

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
        raise ValueError("no factor has two classes in the test rows. Use more test rows.")
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
