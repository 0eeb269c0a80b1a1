"""Gradient-boosted trees of depth 3, compiled: the algorithm of the reference, cut for cut.

The same loss, residuals, split criterion, leaf values and importances as scikit-learn's GradientBoosting (Friedman
2001), where other fast libraries grow other trees and weigh them otherwise. What is saved is the sorting: every feature
is sorted once, and a split parts each sorted feature in two, so that looking for a cut is one pass over an array.
"""

import math

import numpy as np

from unbraid.runtime.kernels import njit

_DEPTH = 3
_INNER, _LEAVES = 2**_DEPTH - 1, 2**_DEPTH


class Boosting:
    """Classifier of integer classes, or regressor of a number; ``fit``, ``predict``, ``feature_importances_``.

    >>> X = np.arange(40.0)[:, None]
    >>> model = Boosting(discrete=True, n_estimators=20).fit(X, (X[:, 0] > 25).astype(int))
    >>> model.predict(np.array([[3.0], [30.0]]))
    array([0, 1])
    """

    def __init__(self, discrete: bool, n_estimators: int = 100, learning_rate: float = 0.1):
        self.discrete, self.n_estimators, self.learning_rate = discrete, n_estimators, learning_rate

    def fit(self, X: np.ndarray, y: np.ndarray) -> "Boosting":
        if self.discrete:
            self.classes_, labels = np.unique(y, return_inverse=True)
            share = np.bincount(labels) / len(y)
            n_outputs = 1 if len(share) == 2 else len(share)
            self.start_ = np.log(share[1:] / share[:1]) if n_outputs == 1 else np.log(share)
            targets = np.stack([labels == c for c in range(len(share))[-n_outputs:]], axis=1).astype(np.float64)
            # math.exp is the function that compiled code calls; numpy's may differ in the last digit
            odds = np.array([math.exp(s) for s in self.start_ - self.start_.max()])
            chance = odds / sum(odds) if n_outputs > 1 else np.array([1 / (1 + math.exp(-self.start_[0]))])
        else:
            chance = self.start_ = np.array([y.mean()])
            targets = y[:, None].astype(np.float64)
        n_trees, n_outputs = self.n_estimators, targets.shape[1]
        kind = n_outputs if self.discrete else 0
        order = np.argsort(X, axis=0, kind="stable").T
        orders = np.tile(order.astype(np.uint32), (_DEPTH, 1, 1))
        values = np.tile(np.take_along_axis(X.T, order, axis=1).astype(np.float32), (_DEPTH, 1, 1))
        inverse = 1 / np.maximum(np.arange(len(X) + 1.0), 1)
        raw, chance = (np.tile(row, (len(X), 1)) for row in (self.start_, chance))
        self.features_ = np.zeros((n_trees, n_outputs, _INNER), dtype=np.int64)
        self.cuts_ = np.zeros((n_trees, n_outputs, _INNER), dtype=np.float32)
        self.leaves_ = np.zeros((n_trees, n_outputs, _LEAVES))
        trees = self.features_, self.cuts_, self.leaves_
        given = X.astype(np.float32), orders, values, inverse
        gains = _boost(given, targets, raw, chance, kind, self.learning_rate, trees)
        self.feature_importances_ = gains / (len(X) * n_trees * n_outputs)
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        raw = np.tile(self.start_, (len(X), 1))
        _add_trees(X.astype(np.float32), raw, self.features_, self.cuts_, self.leaves_)
        if not self.discrete:
            return raw[:, 0]
        return self.classes_[(raw[:, 0] > 0).astype(int) if raw.shape[1] == 1 else raw.argmax(axis=1)]


@njit()
def _boost(
    given: tuple, targets: np.ndarray, raw: np.ndarray, chance: np.ndarray, kind: int, rate: float, trees: tuple
) -> np.ndarray:
    """Fill in the trees; the gain of each feature. ``kind``: 0 squared error, 1 binary log loss, K that of K classes.

    Loops, here and below: slices and functions of numpy take seconds to compile.
    """
    features, cuts, leaves = trees
    n, n_outputs = targets.shape
    gains = np.zeros(given[0].shape[1])
    residual, factor = np.empty(n), np.empty(_LEAVES)
    node = np.empty(n, dtype=np.uint8)
    for t in range(len(features)):
        for k in range(n_outputs):
            for i in range(n):
                residual[i] = targets[i, k] - chance[i, k]
            _grow(given, residual, node, features[t, k], cuts[t, k], gains)
            _leaf_values(residual, chance[:, k], node, kind, leaves[t, k])
            for a in range(_LEAVES):
                leaves[t, k, a] *= rate
                factor[a] = np.exp(leaves[t, k, a])  # of many classes the odds are multiplied: fewer exponentials
            for i in range(n):
                if kind > 1:
                    chance[i, k] *= factor[node[i]]
                else:
                    raw[i, k] += leaves[t, k, node[i]]
                    chance[i, k] = raw[i, k] if kind == 0 else 1 / (1 + np.exp(-raw[i, k]))
        if kind > 1:
            for i in range(n):
                whole = 0.0
                for k in range(n_outputs):
                    whole += chance[i, k]
                for k in range(n_outputs):
                    chance[i, k] /= whole
    return gains


@njit()
def _grow(
    given: tuple, residual: np.ndarray, node: np.ndarray, features: np.ndarray, cuts: np.ndarray, gains: np.ndarray
) -> None:
    """Split level by level where the squared error falls most; afterwards ``node`` holds the leaf of each row.

    ``orders[level]`` and ``values[level]`` hold, for every feature, the rows of each node in the feature's order and
    their values; level 0 is given, the others are filled in.
    """
    X, orders, values, inverse = given
    n_features = X.shape[1]
    for i in range(len(node)):
        node[i] = 0
    bounds = np.array([0, len(node)])
    for level in range(_DEPTH):
        n_nodes, first = 2**level, 2**level - 1
        inner = np.zeros(2 * n_nodes + 1, dtype=np.int64)
        for a in range(n_nodes):
            start, end = bounds[a], bounds[a + 1]
            total = 0.0
            for j in range(start, end):
                total += residual[orders[level, 0, j]]
            whole = total * total * inverse[end - start]
            best, feature, cut = whole + 1e-12 * (1 + whole), 0, np.float32(np.inf)  # a cut must beat rounding
            for d in range(n_features):
                gain, place = _scan(
                    orders[level, d, start:end], values[level, d, start:end], inverse, residual, total, best
                )
                if gain > best:
                    best, feature, cut = gain, d, place
            features[first + a], cuts[first + a] = feature, cut
            if cut < np.inf:
                gains[feature] += best - whole
            n_left = 0
            for j in range(start, end):
                i = orders[level, 0, j]
                goes_right = X[i, feature] > cut
                node[i] = 2 * node[i] + goes_right
                n_left += not goes_right
            inner[2 * a + 1], inner[2 * a + 2] = start + n_left, end
            if level + 1 < _DEPTH:
                for d in range(n_features):  # rows of the left child to the front, of the right one behind, in order
                    left, right = start, start + n_left
                    for j in range(start, end):
                        i = orders[level, d, j]
                        odd = np.int64(node[i] & 1)
                        place = left + odd * (right - left)  # without a branch, which the processor could not foresee
                        orders[level + 1, d, place], values[level + 1, d, place] = i, values[level, d, j]
                        left += 1 - odd
                        right += odd
        bounds = inner


@njit()
def _scan(
    order: np.ndarray, values: np.ndarray, inverse: np.ndarray, residual: np.ndarray, total: float, best: float
) -> tuple[float, np.float32]:
    """Gain and place of the best cut of a node's rows in the order of one feature, if any is better than ``best``."""
    n = len(order)
    place = np.float32(np.inf)
    left = 0.0
    for j in range(1, n):
        left += residual[order[j - 1]]
        right = total - left
        gain = left * left * inverse[j] + right * right * inverse[n - j]
        if gain > best and values[j] > values[j - 1]:
            best, place = gain, (values[j] + values[j - 1]) / 2
    return best, place


@njit()
def _leaf_values(residual: np.ndarray, chance: np.ndarray, node: np.ndarray, kind: int, leaves: np.ndarray) -> None:
    """One Newton step in each leaf (the mean residual for squared error)."""
    top, bottom = np.zeros(_LEAVES), np.zeros(_LEAVES)
    for i in range(len(node)):
        top[node[i]] += residual[i]
        bottom[node[i]] += 1.0 if kind == 0 else chance[i] * (1 - chance[i])
    for a in range(_LEAVES):
        if bottom[a] > 1e-150:
            leaves[a] = top[a] / bottom[a]
            if kind > 1:
                leaves[a] *= (kind - 1) / kind


@njit()
def _add_trees(X: np.ndarray, raw: np.ndarray, features: np.ndarray, cuts: np.ndarray, leaves: np.ndarray) -> None:
    n_trees, n_outputs = features.shape[:2]
    for i in range(len(X)):
        for t in range(n_trees):
            for k in range(n_outputs):
                a = 0
                for level in range(_DEPTH):
                    place = 2**level - 1 + a
                    a = 2 * a + (X[i, features[t, k, place]] > cuts[t, k, place])
                raw[i, k] += leaves[t, k, a]
