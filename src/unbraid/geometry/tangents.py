r"""Tangent spaces: principal directions of the neighbours, then corrected for curvature.

Plain principal components tilt by :math:`O(r / \sqrt m)` where the manifold curves and its :math:`m` neighbours are not
balanced. Fitting a quadratic surface :math:`x_j - x_i = A t_j + B(t_j, t_j)` over the first estimate's coordinates and
taking the columns of :math:`A` removes that term: on S2 x S2 with 2000 points the angle falls from .21 to .01 rad.
"""

import numpy as np

REFINEMENTS = 2
CHUNK = 4_000_000
RIDGE = 1e-6


def n_unknowns(k: int) -> int:
    """Coefficients of a quadratic without constant term in k variables.

    >>> n_unknowns(4)
    14
    """
    return k + k * (k + 1) // 2


def tangent_frames(
    X: np.ndarray, points: np.ndarray, neighbors: np.ndarray, k: int, *, curved: bool = True
) -> np.ndarray:
    """Orthonormal bases (n, features, k) of the tangent spaces at ``points``.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
    points : array of shape (n, n_features)
        Where.
    neighbors : int array of shape (n, m)
        The rows of ``X`` that are near each.
    k : int
        Dimension of the manifold.
    curved : bool
        Whether to fit the quadratic, as far as there are enough neighbours for it.

    Examples
    --------
    >>> t = np.array([0.0, -0.3, -0.2, -0.1, 0.15, 0.25, 0.35])
    >>> circle = np.c_[np.sin(t), np.cos(t)]
    >>> frame = tangent_frames(circle, circle[:1], np.arange(1, 7)[None], 1)
    >>> abs(frame[0, :, 0]).round(2)
    array([1., 0.])
    """
    n, m = neighbors.shape
    size = X.shape[1]
    frames = np.empty((n, size, k), X.dtype)
    step = max(1, CHUNK // (m * max(size, m)))
    curved = curved and m >= 1.25 * n_unknowns(k)
    for start in range(0, n, step):
        rows = slice(start, start + step)
        differences = X[neighbors[rows]] - points[rows, None]
        frame = _principal(differences, k)
        for _ in range(REFINEMENTS if curved else 0):
            frame = _refined(differences, frame)
        frames[rows] = frame
    return frames


def _principal(differences: np.ndarray, k: int) -> np.ndarray:
    """Top right singular vectors of the differences, not centred, from the smaller of the two Gram matrices."""
    _, m, size = differences.shape
    transposed = differences.transpose(0, 2, 1)
    if size <= m:
        return np.linalg.eigh(transposed @ differences)[1][:, :, : -k - 1 : -1]
    vectors = np.linalg.eigh(differences @ transposed)[1][:, :, : -k - 1 : -1]
    return np.linalg.qr(transposed @ vectors)[0]


def _refined(differences: np.ndarray, frame: np.ndarray) -> np.ndarray:
    k = frame.shape[2]
    t = differences @ frame
    scale = np.sqrt(np.square(t).sum(axis=2).mean(axis=1))[:, None, None]
    t = t / np.maximum(scale, np.finfo(t.dtype).tiny)
    rows, columns = np.triu_indices(k)
    design = np.concatenate([t, t[:, :, rows] * t[:, :, columns]], axis=2)
    transposed = design.transpose(0, 2, 1)
    gram = transposed @ design
    trace = np.trace(gram, axis1=1, axis2=2)[:, None, None] / gram.shape[1]
    gram += (RIDGE * trace + np.finfo(t.dtype).tiny) * np.eye(gram.shape[1], dtype=t.dtype)
    linear = np.linalg.solve(gram, transposed @ differences)[:, :k]
    return np.linalg.qr(linear.transpose(0, 2, 1))[0]
