"""Boosted and randomised trees behind named backends, every argument pinned.

Trees see only the order of the codes, so each code is replaced by its rank, mirrored and sorted into an order that
the data determine. Order, sign, scale and monotone maps of the codes then do not change a single digit of the scores.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from unbraid.metrics.boosting import Boosting
from unbraid.runtime.extras import require


def canonical_ranks(train: np.ndarray, test: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Ranks of the codes that vary, in an order and orientation determined by the data, and which columns they are.

    Test values between two training values get the rank in between.
    """
    n, found = len(train), []
    for d, (x, x_test) in enumerate(zip(train.T, test.T)):
        values, rank = np.unique(x, return_inverse=True)
        top = len(values) - 1
        if top:
            both = np.concatenate([rank, np.interp(x_test, values, np.arange(len(values)))])
            first_moved = rank[(2 * rank != top).argmax()]
            found.append((top - both if 2 * first_moved > top else both, d))
    if not found:
        return np.empty((n, 0)), np.empty((len(test), 0)), np.empty(0, dtype=int)
    order = np.lexsort(np.stack([both[:n] for both, _ in found])[:, ::-1].T)
    both = np.column_stack([found[i][0] for i in order])
    return both[:n], both[n:], np.array([found[i][1] for i in order])


def accuracy(predicted: np.ndarray | float, v: np.ndarray, discrete: bool) -> float:
    """Share of classes that were predicted, or R squared (at least 0) of numbers."""
    if discrete:
        return float(np.mean(predicted == v))
    variation = np.sum((v - v.mean()) ** 2)
    return float(max(1 - np.sum((v - predicted) ** 2) / variation, 0)) if variation > 0 else 0.0


def without_codes(v: np.ndarray, discrete: bool) -> float:
    """The best prediction that uses no code: the most frequent class, or the mean."""
    if not discrete:
        return v.mean()
    values, counts = np.unique(v, return_counts=True)
    return values[counts.argmax()]


# what scikit-learn's ensembles have in common: nothing but depth and leaf size bounds a tree
_GROWTH: dict[str, Any] = {
    "min_samples_split": 2,
    "min_weight_fraction_leaf": 0.0,
    "max_features": None,
    "max_leaf_nodes": None,
    "min_impurity_decrease": 0.0,
    "ccp_alpha": 0.0,
}


def _gbt(discrete: bool, random_state: int | None) -> Any:
    from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor

    model = GradientBoostingClassifier if discrete else GradientBoostingRegressor
    # The criterion is left out: scikit-learn 1.9 has only Friedman's, which was the default before, and warns of it.
    return model(
        loss="log_loss" if discrete else "squared_error",
        learning_rate=0.1,
        n_estimators=100,
        subsample=1.0,
        max_depth=3,
        min_samples_leaf=1,
        init=None,
        n_iter_no_change=None,
        random_state=random_state,
        **_GROWTH,
    )


def _lightgbm(discrete: bool, random_state: int | None) -> Any:
    lightgbm = require("lightgbm", "metrics")
    model = lightgbm.LGBMClassifier if discrete else lightgbm.LGBMRegressor
    return model(
        boosting_type="gbdt",
        num_leaves=8,
        max_depth=3,
        learning_rate=0.1,
        n_estimators=100,
        max_bin=63,
        min_child_samples=1,
        min_child_weight=1e-3,
        min_split_gain=0.0,
        subsample=1.0,
        colsample_bytree=1.0,
        reg_alpha=0.0,
        reg_lambda=0.0,
        importance_type="gain",
        random_state=0 if random_state is None else random_state,
        deterministic=True,
        force_row_wise=True,
        n_jobs=1,
        verbosity=-1,
    )


def _extra_trees(discrete: bool, random_state: int | None) -> Any:
    from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor

    model = ExtraTreesClassifier if discrete else ExtraTreesRegressor
    return model(
        n_estimators=100,
        criterion="gini" if discrete else "squared_error",
        max_depth=None,
        min_samples_leaf=5,
        bootstrap=False,
        n_jobs=1,
        random_state=random_state,
        **_GROWTH,
    )


BACKENDS: dict[str, Callable[[bool, int | None], Any]] = {
    "gbt": _gbt,
    "compiled": lambda discrete, random_state: Boosting(discrete, n_estimators=100, learning_rate=0.1),
    "lightgbm": _lightgbm,
    "extra_trees": _extra_trees,
}
