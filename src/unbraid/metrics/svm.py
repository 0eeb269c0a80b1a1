"""The linear support vector machine of one feature, solved exactly.

liblinear's problem (squared hinge, intercept penalised like a weight) for one feature x and labels +1 and -1:

    min over w, b:  (w^2 + b^2) / 2 + sum_i C_i max(0, 1 - y_i (w x_i + b))^2

With x in order, the points that a line (w, b) leaves inside the margin are an interval of each class, so sums over
them are differences of prefix sums, and a Newton step costs two binary searches instead of a pass over the data.
"""

import numpy as np

from unbraid.runtime.kernels import njit

_MAX_STEPS = 200


def fit_predict(x: np.ndarray, labels: np.ndarray, x_test: np.ndarray, *, C: float = 0.01) -> np.ndarray:
    """Predicted classes of ``x_test``: one machine per class against the rest, classes weighted by 1/frequency.

    ``labels`` are 0, 1, ... and every class occurs. As in liblinear, the weight of a class multiplies its own points
    in its own one-against-rest problem; with two classes there is one machine, which uses both weights.

    >>> fit_predict(np.array([-2.0, -1.0, 1.0, 2.0]), np.array([0, 0, 1, 1]), np.array([-3.0, 3.0]), C=1.0)
    array([0, 1])
    """
    order = np.argsort(x, kind="stable")
    counts = np.bincount(labels)
    weights = C * len(x) / (len(counts) * counts)
    by_class = order[np.argsort(labels[order], kind="stable")]
    ends = np.concatenate([[0], np.cumsum(counts)])
    lines = _one_against_rest(x[order], x[by_class], ends, weights, C)
    return _upper_line(lines, x_test)


@njit()
def _prefix_sums(x: np.ndarray) -> np.ndarray:
    sums = np.zeros((len(x) + 1, 3))
    for i in range(len(x)):
        sums[i + 1, 0] = sums[i, 0] + 1
        sums[i + 1, 1] = sums[i, 1] + x[i]
        sums[i + 1, 2] = sums[i, 2] + x[i] * x[i]
    return sums


@njit()
def _inside(x: np.ndarray, sums: np.ndarray, w: float, b: float, sign: float) -> np.ndarray:
    """Count, sum and sum of squares of the points with sign * (w x + b) < 1."""
    n = len(x)
    slope = sign * w
    if slope == 0:
        i, j = 0, n if sign * b < 1 else 0
    elif slope > 0:
        i, j = 0, int(np.searchsorted(x, (1 - sign * b) / slope, side="left"))
    else:
        i, j = int(np.searchsorted(x, (1 - sign * b) / slope, side="right")), n
    return sums[j] - sums[i]


@njit()
def _loss(s: np.ndarray, w: float, b: float, sign: float) -> float:
    """Sum of (1 - sign (w x + b))^2 over points with sums s."""
    a = 1 - sign * b
    return max(a * a * s[0] - 2 * sign * a * w * s[1] + w * w * s[2], 0.0)


@njit()
def _solve(
    x: np.ndarray, sums: np.ndarray, own: np.ndarray, own_sums: np.ndarray, c_own: float, c_rest: float
) -> tuple[float, float]:
    """Weight and intercept of ``own`` against the rest of ``x``; Newton with halved steps until the gradient is 0."""
    w, b = 0.0, 0.0
    up = _inside(own, own_sums, w, b, 1.0)
    down = _inside(x, sums, w, b, -1.0) - _inside(own, own_sums, w, b, -1.0)
    value = c_own * _loss(up, w, b, 1.0) + c_rest * _loss(down, w, b, -1.0)
    for _ in range(_MAX_STEPS):
        h_ww = 1 + 2 * (c_own * up[2] + c_rest * down[2])
        h_wb = 2 * (c_own * up[1] + c_rest * down[1])
        h_bb = 1 + 2 * (c_own * up[0] + c_rest * down[0])
        g_w = h_ww * w + h_wb * b - 2 * (c_own * up[1] - c_rest * down[1])
        g_b = h_wb * w + h_bb * b - 2 * (c_own * up[0] - c_rest * down[0])
        det = h_ww * h_bb - h_wb * h_wb
        step_w = -(h_bb * g_w - h_wb * g_b) / det
        step_b = -(h_ww * g_b - h_wb * g_w) / det
        slope = g_w * step_w + g_b * step_b
        if slope > -1e-14 * (1 + abs(value)):
            break
        size = 1.0
        while True:
            new_w, new_b = w + size * step_w, b + size * step_b
            up = _inside(own, own_sums, new_w, new_b, 1.0)
            down = _inside(x, sums, new_w, new_b, -1.0) - _inside(own, own_sums, new_w, new_b, -1.0)
            new = 0.5 * (new_w * new_w + new_b * new_b)
            new += c_own * _loss(up, new_w, new_b, 1.0) + c_rest * _loss(down, new_w, new_b, -1.0)
            if new <= value + 1e-4 * size * slope or size < 1e-10:
                break
            size *= 0.5
        w, b, value = new_w, new_b, new
    return w, b


@njit()
def _one_against_rest(
    x: np.ndarray, grouped: np.ndarray, ends: np.ndarray, weights: np.ndarray, c: float
) -> np.ndarray:
    """Lines (w, b) of each class; ``grouped`` is x in order within each class."""
    n_classes = len(ends) - 1
    sums = _prefix_sums(x)
    lines = np.zeros((n_classes, 2))
    for k in range(n_classes):
        own = grouped[ends[k] : ends[k + 1]]
        c_rest = weights[1 - k] if n_classes == 2 else c
        lines[k, 0], lines[k, 1] = _solve(x, sums, own, _prefix_sums(own), weights[k], c_rest)
    return lines


@njit()
def _upper_line(lines: np.ndarray, x: np.ndarray) -> np.ndarray:
    best = np.zeros(len(x), dtype=np.int64)
    for i in range(len(x)):
        top = -np.inf
        for k in range(len(lines)):
            value = lines[k, 0] * x[i] + lines[k, 1]
            if value > top:
                top = value
                best[i] = k
    return best
