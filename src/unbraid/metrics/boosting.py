"""Gradient-boosted trees of depth 3 on histograms: the reference's algorithm with at most 255 cuts a feature.

The same loss, residuals, split criterion, leaf values and importances as scikit-learn's GradientBoosting (Friedman
2001), where LightGBM grows other trees and weighs them otherwise. Only the candidates for a cut differ: where a
feature has more than 256 values, cuts lie at its quantiles.
"""

import numpy as np
from numba import njit

_DEPTH, _N_BINS = 3, 256
_INNER, _LEAVES = 2**_DEPTH - 1, 2**_DEPTH


class HistogramBoosting:
    """Classifier of integer classes, or regressor of a number; ``fit``, ``predict``, ``feature_importances_``.

    >>> X = np.arange(40.0)[:, None]
    >>> model = HistogramBoosting(discrete=True, n_estimators=20).fit(X, (X[:, 0] > 25).astype(int))
    >>> model.predict(np.array([[3.0], [30.0]]))
    array([0, 1])
    """

    def __init__(self, discrete: bool, n_estimators: int = 100, learning_rate: float = 0.1):
        self.discrete, self.n_estimators, self.learning_rate = discrete, n_estimators, learning_rate

    def fit(self, X: np.ndarray, y: np.ndarray) -> "HistogramBoosting":
        self.edges_ = [_cuts(column) for column in X.T]
        bins = self._bins(X)
        if self.discrete:
            self.classes_, labels = np.unique(y, return_inverse=True)
            share = np.bincount(labels) / len(y)
            n_outputs = 1 if len(share) == 2 else len(share)
            self.start_ = np.log(share[1:] / share[:1]) if n_outputs == 1 else np.log(share)
            targets = np.stack([labels == c for c in range(len(share))[-n_outputs:]], axis=1).astype(np.float64)
        else:
            self.start_, targets = np.array([y.mean()]), y[:, None].astype(np.float64)
        kind = 0 if not self.discrete else targets.shape[1]
        raw = np.tile(self.start_, (len(X), 1))
        self.features_, self.cuts_, self.leaves_, gains = _boost(
            bins, targets, raw, kind, self.n_estimators, self.learning_rate
        )
        self.feature_importances_ = gains
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        raw = np.tile(self.start_, (len(X), 1))
        _add_trees(self._bins(X), raw, self.features_, self.cuts_, self.leaves_)
        if not self.discrete:
            return raw[:, 0]
        return self.classes_[(raw[:, 0] > 0).astype(int) if raw.shape[1] == 1 else raw.argmax(axis=1)]

    def _bins(self, X: np.ndarray) -> np.ndarray:
        return np.column_stack([np.searchsorted(e, x) for e, x in zip(self.edges_, X.T)]).astype(np.uint8)


def _cuts(column: np.ndarray) -> np.ndarray:
    """Halfway between neighbouring values, at quantiles if there are more than 256 of them."""
    ordered = np.sort(column)
    values = np.unique(ordered)
    if len(values) > _N_BINS:
        values = np.unique(ordered[(np.arange(_N_BINS) * (len(ordered) - 1)) // (_N_BINS - 1)])
    return (values[1:] + values[:-1]) / 2


@njit(cache=True)
def _boost(bins, targets, raw, kind, n_estimators, rate):
    """``kind``: 0 squared error, 1 binary log loss, K log loss of K classes."""
    n, n_outputs = targets.shape
    n_features = bins.shape[1]
    features = np.zeros((n_estimators, n_outputs, _INNER), dtype=np.int64)
    cuts = np.zeros((n_estimators, n_outputs, _INNER), dtype=np.int64)
    leaves = np.zeros((n_estimators, n_outputs, _LEAVES))
    gains = np.zeros(n_features)
    chance = np.empty((n, n_outputs))
    residual = np.empty(n)
    node = np.empty(n, dtype=np.int64)
    for t in range(n_estimators):
        _probabilities(raw, chance, kind)
        for k in range(n_outputs):
            for i in range(n):
                residual[i] = targets[i, k] - chance[i, k]
            _grow(bins, residual, node, features[t, k], cuts[t, k], gains)
            _leaf_values(residual, chance[:, k], targets[:, k], node, kind, leaves[t, k])
            for i in range(n):
                leaf = node[i]
                raw[i, k] += rate * leaves[t, k, leaf]
            leaves[t, k] *= rate
    return features, cuts, leaves, gains / (n * n_estimators * n_outputs)


@njit(cache=True)
def _probabilities(raw, chance, kind):
    n, n_outputs = raw.shape
    for i in range(n):
        if kind == 0:
            chance[i, 0] = raw[i, 0]
        elif kind == 1:
            chance[i, 0] = 1 / (1 + np.exp(-raw[i, 0]))
        else:
            top = raw[i].max()
            total = 0.0
            for k in range(n_outputs):
                chance[i, k] = np.exp(raw[i, k] - top)
                total += chance[i, k]
            for k in range(n_outputs):
                chance[i, k] /= total


@njit(cache=True)
def _grow(bins, residual, node, features, cuts, gains):
    """Split level by level where the squared error falls most; afterwards ``node`` holds the leaf of each row."""
    n, n_features = bins.shape
    node[:] = 0
    for level in range(_DEPTH):
        n_nodes = 2**level
        sums = np.zeros((n_nodes, n_features, _N_BINS))
        counts = np.zeros((n_nodes, n_features, _N_BINS))
        for i in range(n):
            r, a = residual[i], node[i]
            for d in range(n_features):
                b = bins[i, d]
                sums[a, d, b] += r
                counts[a, d, b] += 1
        for a in range(n_nodes):
            d, cut, gain = _best_cut(sums[a], counts[a])
            place = n_nodes - 1 + a
            features[place], cuts[place] = d, cut
            gains[d] += gain
        for i in range(n):
            place = n_nodes - 1 + node[i]
            node[i] = 2 * node[i] + (bins[i, features[place]] > cuts[place])


@njit(cache=True)
def _best_cut(sums, counts):
    """Feature, last bin to the left, and the fall of the squared error; without any, all rows go left."""
    best_d, best_cut, best = 0, _N_BINS, 0.0
    for d in range(sums.shape[0]):
        total, count = sums[d].sum(), counts[d].sum()
        left, n_left = 0.0, 0.0
        for b in range(_N_BINS - 1):
            if counts[d, b] == 0:
                continue
            left += sums[d, b]
            n_left += counts[d, b]
            n_right = count - n_left
            if n_right == 0:
                break
            gain = (left * n_right - (total - left) * n_left) ** 2 / (count * n_left * n_right)
            if gain > best * (1 + 1e-12) + 1e-15:
                best_d, best_cut, best = d, b, gain
    return best_d, best_cut, best


@njit(cache=True)
def _leaf_values(residual, chance, target, node, kind, leaves):
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


@njit(cache=True)
def _add_trees(bins, raw, features, cuts, leaves):
    n_trees, n_outputs = features.shape[:2]
    for i in range(len(bins)):
        for t in range(n_trees):
            for k in range(n_outputs):
                a = 0
                for level in range(_DEPTH):
                    place = 2**level - 1 + a
                    a = 2 * a + (bins[i, features[t, k, place]] > cuts[t, k, place])
                raw[i, k] += leaves[t, k, a]
