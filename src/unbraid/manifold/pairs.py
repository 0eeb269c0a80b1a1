"""Pairs of points that lie close together, and how well codes keep their distances."""

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls
from scipy.spatial.distance import pdist

from unbraid.manifold.neighbors import nearest

Floats = NDArray[np.float64]
Pairs = tuple[NDArray[np.intp], NDArray[np.intp], Floats]


def neighbor_pairs(X: Floats, k: int, max_points: int | None = None) -> Pairs:
    """Pairs (i, j, distance) of the graph of k nearest neighbours; of about ``max_points`` points, if told so.

    Parameters
    ----------
    X : array (n, features)
    k : int
    max_points : int, optional

    Returns
    -------
    i, j, distances : arrays (pairs,)

    Examples
    --------
    >>> neighbor_pairs(np.array([[0.0], [1.0], [3.0]]), 1)[1].tolist()
    [1, 0, 1]
    """
    k = min(k, len(X) - 1)
    rows = np.arange(0, len(X), max(1, len(X) // max_points) if max_points else 1)
    distances, near = nearest(X, k, rows)
    return np.repeat(rows, k), near.ravel(), distances.ravel()


def closest_pairs(X: Floats, share: float) -> Pairs:
    """Pairs (i, j, distance) of the given share of all pairs, the closest ones.

    Parameters
    ----------
    X : array (n, features)
    share : float

    Returns
    -------
    i, j, distances : arrays (pairs,)

    Examples
    --------
    >>> i, j, _ = closest_pairs(np.array([[0.0], [1.0], [3.0], [9.0]]), 0.5)
    >>> sorted(zip(i.tolist(), j.tolist()))
    [(0, 1), (0, 2), (1, 2)]
    """
    lengths = pdist(X)
    count = max(3, round(share * len(lengths)))
    chosen = np.argpartition(lengths, count - 1)[:count] if count < len(lengths) else np.arange(len(lengths))
    i, j = np.triu_indices(len(X), k=1)
    return i[chosen], j[chosen], lengths[chosen]


def isometry_of_pairs(steps: Floats, lengths: Floats) -> tuple[float, Floats]:
    """The correlation and the diagonal of D for given code differences (pairs, d) and data distances (pairs,)."""
    scale = diagonal_rescaling(steps, lengths)
    found = np.linalg.norm(steps * scale, axis=1)
    if np.ptp(found) <= 1e-12 * max(found.max(), 1e-300) or np.ptp(lengths) <= 1e-12 * lengths.max():
        return 0.0, scale
    return float(np.corrcoef(found, lengths)[0, 1]), scale


def diagonal_rescaling(steps: Floats, lengths: Floats, n_iter: int = 20) -> Floats:
    """Diagonal of the D that minimises sum (|D step| - length)^2, by Gauss-Newton from the fit of the squares.

    >>> steps = np.random.default_rng(0).normal(size=(50, 2))
    >>> diagonal_rescaling(steps, np.linalg.norm(steps * [2.0, 0.5], axis=1)).round(6).tolist()
    [2.0, 0.5]
    """
    squares = steps**2
    size = np.maximum(squares.mean(axis=0), 1e-300)  # condition the fit when codes have very different units
    squares = squares / size
    weights = _nonnegative(squares, lengths**2)
    for _ in range(n_iter):
        found = np.sqrt(np.maximum(squares @ weights, 1e-300))
        J = squares / (2 * found[:, None])
        # The model is sqrt(squares @ w): linearised at w it reads found + J (w' - w), and J w = found / 2.
        new = _nonnegative(J, lengths - found / 2)
        done = np.allclose(new, weights, rtol=1e-9, atol=1e-12 * max(weights.max(), 1e-300))
        weights = new
        if done:
            break
    return np.sqrt(weights / size)


def _nonnegative(A: Floats, b: Floats) -> Floats:
    """argmin |A w - b| over w >= 0 for a tall A, from its small triangular factor."""
    G = A.T @ A
    G[np.diag_indices(len(G))] += 1e-14 * max(np.trace(G), 1e-300)
    L = np.linalg.cholesky(G)
    return nnls(L.T, np.linalg.solve(L, A.T @ b))[0]
