"""Boosted and randomised trees behind named backends, every argument pinned.

Trees see only the order of the codes, so each code is replaced by its rank, mirrored and sorted into an order that
the data determine. Order, sign, scale and monotone maps of the codes then do not change a single digit of the scores.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from unbraid.metrics.arrays import Factors, Split, choose
from unbraid.metrics.boosting import Boosting
from unbraid.runtime.extras import require


@dataclass(frozen=True)
class Importances:
    """Results of trees: importances (n_codes, n_factors), and how well each factor was predicted."""

    importance: np.ndarray
    train_score: np.ndarray  # accuracy of a discrete factor, R^2 (at least 0) of a continuous one
    test_score: np.ndarray


def tree_importances(parts: Split, backend: str, random_state: int | None) -> Importances:
    """Fit one ensemble per factor; importances of each factor sum to 1, or to 0 if no split was made."""
    choose(backend, tuple(BACKENDS), "backend")
    X, X_test, order = canonical_ranks(parts.codes, parts.codes_test)
    n_codes, n_factors = parts.codes.shape[1], parts.factors.values.shape[1]
    importance, train, test = np.zeros((n_codes, n_factors)), np.zeros(n_factors), np.zeros(n_factors)
    if X.shape[1] == 0:
        return Importances(importance, *_constant_scores(parts))
    for k in range(n_factors):
        discrete, v, v_test = parts.factors.discrete[k], parts.factors.values[:, k], parts.factors_test.values[:, k]
        model = BACKENDS[backend](discrete, random_state)
        model.fit(X, v.astype(np.int64) if discrete else v)
        found = np.asarray(model.feature_importances_, dtype=float)
        importance[order, k] = found / found.sum() if found.sum() > 0 else 0
        train[k] = accuracy(model.predict(X), v, discrete)
        test[k] = accuracy(model.predict(X_test), v_test, discrete)
    return Importances(importance, train, test)


def canonical_ranks(train: np.ndarray, test: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Ranks of the codes that vary, in an order and orientation determined by the data, and which columns they are.

    Test values between two training values get the rank in between.
    """
    columns = []
    for d, (x, x_test) in enumerate(zip(train.T, test.T)):
        values, rank = np.unique(x, return_inverse=True)
        if len(values) < 2:
            continue
        top = len(values) - 1
        rank_test = np.interp(x_test, values, np.arange(len(values)))
        moved = np.flatnonzero(2 * rank != top)
        if 2 * rank[moved[0]] > top:
            rank, rank_test = top - rank, top - rank_test
        columns.append((rank, rank_test, d))
    if not columns:
        return np.empty((len(train), 0)), np.empty((len(test), 0)), np.empty(0, dtype=int)
    order = np.lexsort(np.stack([c[0] for c in columns])[:, ::-1].T)
    ordered = [columns[i] for i in order]
    return (
        np.column_stack([c[0] for c in ordered]).astype(np.float64),
        np.column_stack([c[1] for c in ordered]),
        np.array([c[2] for c in ordered]),
    )


def accuracy(predicted: np.ndarray, v: np.ndarray, discrete: bool) -> float:
    """Share of classes that were predicted, or R squared (at least 0) of numbers."""
    if discrete:
        return float(np.mean(predicted == v))
    variation = np.sum((v - v.mean()) ** 2)
    return float(max(1 - np.sum((v - predicted) ** 2) / variation, 0)) if variation > 0 else 0.0


def _constant_scores(parts: Split) -> tuple[np.ndarray, np.ndarray]:
    """Scores if no code varies: the most frequent class is predicted."""

    def share(truth: Factors) -> np.ndarray:
        modes = [mode(column) for column in parts.factors.values.T]
        return np.where(truth.discrete, (truth.values == modes).mean(axis=0), 0.0)

    return share(parts.factors), share(parts.factors_test)


def mode(column: np.ndarray) -> float:
    values, counts = np.unique(column, return_counts=True)
    return values[counts.argmax()]


def _gbt(discrete: bool, random_state: int | None) -> Any:
    from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor

    # The criterion is left out: scikit-learn 1.9 has only Friedman's, which was the default before, and warns of it.
    pinned: dict[str, Any] = {
        "learning_rate": 0.1,
        "n_estimators": 100,
        "subsample": 1.0,
        "min_samples_split": 2,
        "min_samples_leaf": 1,
        "min_weight_fraction_leaf": 0.0,
        "max_depth": 3,
        "min_impurity_decrease": 0.0,
        "init": None,
        "max_features": None,
        "max_leaf_nodes": None,
        "validation_fraction": 0.1,
        "n_iter_no_change": None,
        "tol": 1e-4,
        "ccp_alpha": 0.0,
        "random_state": random_state,
    }
    if discrete:
        return GradientBoostingClassifier(loss="log_loss", **pinned)
    return GradientBoostingRegressor(loss="squared_error", **pinned)


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
        min_samples_split=2,
        min_samples_leaf=5,
        min_weight_fraction_leaf=0.0,
        max_features=None,
        max_leaf_nodes=None,
        min_impurity_decrease=0.0,
        bootstrap=False,
        oob_score=False,
        n_jobs=1,
        random_state=random_state,
        ccp_alpha=0.0,
        max_samples=None,
    )


def _compiled(discrete: bool, random_state: int | None) -> Any:
    return Boosting(discrete, n_estimators=100, learning_rate=0.1)


BACKENDS: dict[str, Callable[[bool, int | None], Any]] = {
    "gbt": _gbt,
    "compiled": _compiled,
    "lightgbm": _lightgbm,
    "extra_trees": _extra_trees,
}
