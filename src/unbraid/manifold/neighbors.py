"""Nearest neighbours among points of low intrinsic dimension, and what their graph looks like."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from unbraid.runtime.threads import search_threads

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

TREE_FEATURES = 20  # up to this many features a KD-tree is the faster search on data of low intrinsic dimension
BRUTE_PAIRS = 2e9


class NeighborSearch:
    """Index over ``points``: a KD-tree, or exhaustive search where a tree would visit every leaf.

    Parameters
    ----------
    points : array (n, features)

    Examples
    --------
    >>> import numpy as np
    >>> distances, near = NeighborSearch(np.array([[0.0], [1.0], [5.0]])).query(np.array([[0.9]]), 2)
    >>> near.tolist()
    [[1, 0]]
    """

    def __init__(self, points: Floats) -> None:
        self.points = np.ascontiguousarray(points)
        self._tree: cKDTree | None = None

    def query(self, queries: Floats, k: int, *, workers: int | None = None) -> tuple[Floats, Indices]:
        """Distances and indices (n, k) of the k nearest points, nearest first.

        ``workers`` are the threads of the tree; None takes all cores for many queries, unless tasks run side by side
        (:mod:`unbraid.runtime.threads`).
        """
        pairs = len(queries) * len(self.points)
        if self.points.shape[1] > TREE_FEATURES and pairs <= BRUTE_PAIRS:
            return self._exhaustive(queries, k)
        if self._tree is None:
            self._tree = cKDTree(self.points, leafsize=16)
        if workers is None:
            workers = search_threads() if len(queries) > 50_000 else 1
        distances, near = map(np.asarray, self._tree.query(queries, k=k, workers=workers))
        return distances.reshape(len(queries), k), near.reshape(len(queries), k)

    def _exhaustive(self, queries: Floats, k: int) -> tuple[Floats, Indices]:
        from sklearn.neighbors import NearestNeighbors

        search = NearestNeighbors(n_neighbors=k, algorithm="brute").fit(self.points)
        return search.kneighbors(queries)


def neighborhoods(
    points: Floats, k: int, rows: Indices | None = None, *, workers: int | None = None
) -> tuple[Floats, Indices]:
    """The k nearest points of each point (of these ``rows``), itself first even among duplicates.

    Parameters
    ----------
    points : array (n, features)
    k : int
        How many.
    rows : array of int, optional
        The points that are asked about; all by default.
    workers : int, optional
        Threads of the search; by default one, and all for many points.

    Returns
    -------
    distances, near : arrays (n, k)
    """
    own = np.arange(len(points)) if rows is None else rows
    distances, near = NeighborSearch(points).query(points if rows is None else points[rows], k, workers=workers)
    for i in np.flatnonzero(near[:, 0] != own):
        place = np.flatnonzero(near[i] == own[i])
        near[i, place[0] if len(place) else k - 1] = near[i, 0]
        near[i, 0] = own[i]
    return distances, near


def nearest(
    points: Floats, k: int, rows: Indices | None = None, *, workers: int | None = None
) -> tuple[Floats, Indices]:
    """Distances and indices of the k nearest other points of each point (of these ``rows``), nearest first.

    Parameters
    ----------
    points, k, rows, workers
        As for :func:`neighborhoods`.

    Returns
    -------
    distances, near : arrays (n, k)

    Examples
    --------
    >>> nearest(np.array([[0.0], [1.0], [3.0]]), 1)[1].tolist()
    [[1], [0], [1]]
    """
    distances, near = neighborhoods(points, k + 1, rows, workers=workers)
    return distances[:, 1:], near[:, 1:]


@dataclass(frozen=True)
class Graph:
    """Shape of a neighbour graph.

    Attributes
    ----------
    n_components : int
        Connected pieces of the symmetrised graph.
    labels : array (n,)
        Piece of each point; 0 is the largest.
    n_orphans : int
        Points that no other point lists as a neighbour.
    """

    n_components: int
    labels: NDArray[np.intp]
    n_orphans: int

    @property
    def largest_share(self) -> float:
        """Share of the points that lie in the largest piece."""
        return float(np.mean(self.labels == 0))


def graph_of(near: Indices, *, connected: bool = False) -> Graph:
    """Connected components and orphans of a neighbour list (n, k) whose first column is the point itself.

    ``connected`` says that it is known to be, because part of the list is.
    """
    n, k = near.shape
    orphans = n - np.count_nonzero(np.bincount(near[:, 1:].ravel(), minlength=n))
    if connected:
        return Graph(1, np.zeros(n, dtype=np.intp), orphans)
    adjacency = sp.csr_array((np.ones(n * k, dtype=np.int8), near.ravel(), np.arange(0, n * k + 1, k)), shape=(n, n))
    n_components, labels = connected_components(adjacency, directed=False)
    order = np.argsort(-np.bincount(labels), kind="stable")
    rank = np.empty(n_components, dtype=np.intp)
    rank[order] = np.arange(n_components)
    return Graph(int(n_components), rank[labels], orphans)
