"""Gradient-boosted trees of depth 3, compiled: the algorithm of the reference, cut for cut.

The same loss, residuals, split criterion, leaf values and importances as scikit-learn's GradientBoosting (Friedman
2001), where other fast libraries grow other trees and weigh them otherwise. What is saved is the sorting: every feature
is sorted once, and a split parts each sorted feature in two, so that looking for a cut is one pass over an array.
"""

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
        else:
            self.start_, targets = np.array([y.mean()]), y[:, None].astype(np.float64)
        kind = 0 if not self.discrete else targets.shape[1]
        order = np.argsort(X, axis=0, kind="stable").T.astype(np.uint32)
        ordered = np.take_along_axis(X.T, order, axis=1).astype(np.float32)
        raw = np.tile(self.start_, (len(X), 1))
        self.features_, self.cuts_, self.leaves_, self.feature_importances_ = _boost(
            X.astype(np.float32), order, ordered, targets, raw, kind, self.n_estimators, self.learning_rate
        )
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        raw = np.tile(self.start_, (len(X), 1))
        _add_trees(X.astype(np.float32), raw, self.features_, self.cuts_, self.leaves_)
        if not self.discrete:
            return raw[:, 0]
        return self.classes_[(raw[:, 0] > 0).astype(int) if raw.shape[1] == 1 else raw.argmax(axis=1)]


@njit()
def _boost(
    X: np.ndarray,
    order: np.ndarray,
    ordered: np.ndarray,
    targets: np.ndarray,
    raw: np.ndarray,
    kind: int,
    n_estimators: int,
    rate: float,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """``kind``: 0 squared error, 1 binary log loss, K log loss of K classes."""
    n, n_outputs = targets.shape
    features = np.zeros((n_estimators, n_outputs, _INNER), dtype=np.int64)
    cuts = np.zeros((n_estimators, n_outputs, _INNER), dtype=np.float32)
    leaves = np.zeros((n_estimators, n_outputs, _LEAVES))
    gains = np.zeros(X.shape[1])
    inverse = np.ones(n + 1)
    for i in range(1, n + 1):
        inverse[i] = 1 / i
    orders = np.empty((_DEPTH, *order.shape), dtype=np.uint32)
    values = np.empty((_DEPTH, *order.shape), dtype=np.float32)
    for d in range(len(order)):  # loops, here and below: slices and functions of numpy take seconds to build
        for j in range(n):
            orders[0, d, j], values[0, d, j] = order[d, j], ordered[d, j]
    chance = np.empty((n, n_outputs))
    residual, factor = np.empty(n), np.empty(_LEAVES)
    node = np.empty(n, dtype=np.uint8)
    _probabilities(raw, chance, kind)
    for t in range(n_estimators):
        for k in range(n_outputs):
            for i in range(n):
                residual[i] = targets[i, k] - chance[i, k]
            _grow(X, orders, values, inverse, residual, node, features[t, k], cuts[t, k], gains)
            _leaf_values(residual, chance[:, k], node, kind, leaves[t, k])
            for a in range(_LEAVES):
                leaves[t, k, a] *= rate
                factor[a] = np.exp(leaves[t, k, a])  # of many classes the odds are multiplied: fewer exponentials
            for i in range(n):
                if kind > 1:
                    chance[i, k] *= factor[node[i]]
                else:
                    raw[i, k] += leaves[t, k, node[i]]
        if kind > 1:
            for i in range(n):
                whole = 0.0
                for k in range(n_outputs):
                    whole += chance[i, k]
                for k in range(n_outputs):
                    chance[i, k] /= whole
        else:
            _probabilities(raw, chance, kind)
    for d in range(len(gains)):
        gains[d] /= n * n_estimators * n_outputs
    return features, cuts, leaves, gains


@njit()
def _probabilities(raw: np.ndarray, chance: np.ndarray, kind: int) -> None:
    for i in range(len(raw)):
        if kind == 0:
            chance[i, 0] = raw[i, 0]
        elif kind == 1:
            chance[i, 0] = 1 / (1 + np.exp(-raw[i, 0]))
        else:
            top, whole = raw[i, 0], 0.0
            for k in range(raw.shape[1]):
                top = max(top, raw[i, k])
            for k in range(raw.shape[1]):
                chance[i, k] = np.exp(raw[i, k] - top)
                whole += chance[i, k]
            for k in range(raw.shape[1]):
                chance[i, k] /= whole


@njit()
def _grow(
    X: np.ndarray,
    orders: np.ndarray,
    values: np.ndarray,
    inverse: np.ndarray,
    residual: np.ndarray,
    node: np.ndarray,
    features: np.ndarray,
    cuts: np.ndarray,
    gains: np.ndarray,
) -> None:
    """Split level by level where the squared error falls most; afterwards ``node`` holds the leaf of each row.

    ``orders[level]`` and ``values[level]`` hold, for every feature, the rows of each node in the feature's order and
    their values; level 0 is given, the others are filled in.
    """
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
                right = X[i, feature] > cut
                node[i] = 2 * node[i] + right
                n_left += not right
            inner[2 * a + 1], inner[2 * a + 2] = start + n_left, end
            if level + 1 < _DEPTH:
                for d in range(n_features):
                    _part(
                        orders[level, d],
                        values[level, d],
                        node,
                        start,
                        start + n_left,
                        end,
                        orders[level + 1, d],
                        values[level + 1, d],
                    )
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
def _part(
    order: np.ndarray,
    values: np.ndarray,
    node: np.ndarray,
    start: np.int64,
    middle: np.int64,
    end: np.int64,
    new_order: np.ndarray,
    new_values: np.ndarray,
) -> None:
    """Rows of the left child (an even number) to the front, those of the right one behind, both in order."""
    left, right = start, middle
    for j in range(start, end):
        i = order[j]
        goes_right = np.int64(node[i] & 1)
        place = left + goes_right * (right - left)  # without a branch, which the processor could not foresee
        new_order[place], new_values[place] = i, values[j]
        left += 1 - goes_right
        right += goes_right


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
