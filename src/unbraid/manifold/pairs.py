"""Pairs of points that lie close together."""

import numpy as np
from numpy.typing import NDArray
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
