"""Nearest neighbours among points of low intrinsic dimension: their graph, close pairs, and equal rows."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import nnls
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree
from scipy.spatial.distance import pdist

from unbraid.runtime.determinism import search_threads

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
Pairs = tuple[Indices, Indices, Floats]

TREE_FEATURES = 20  # up to this many features a KD-tree is the faster search on data of low intrinsic dimension
BRUTE_PAIRS = 2e9  # up to which exhaustive search is quick enough
SAMPLED = 50  # points that tell which search is the faster one beyond
SPREAD = 0.08  # of the usual distance between points: where the k-th neighbour is farther, a tree is slower
GRAIN = 1e-9  # of the largest difference: rows that agree to this are the same point


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

        ``workers`` are the threads of the tree; None takes all cores for many queries, unless tasks run in parallel
        (:mod:`unbraid.runtime.determinism`).
        """
        pairs = len(queries) * len(self.points)
        if self.points.shape[1] > TREE_FEATURES and (pairs <= BRUTE_PAIRS or self._spread_out(k)):
            return self._exhaustive(queries, k)
        if self._tree is None:
            self._tree = cKDTree(self.points, leafsize=16)
        if workers is None:
            workers = search_threads() if len(queries) > 50_000 else 1
        distances, near = map(np.asarray, self._tree.query(queries, k=k, workers=workers))
        return distances.reshape(len(queries), k), near.reshape(len(queries), k)

    def _spread_out(self, k: int) -> bool:
        """Whether the k nearest are so far apart, by noise or many dimensions, that a tree would visit every leaf."""
        some = self.points[:: -(-len(self.points) // SAMPLED)]
        usual = float(np.median(pdist(some)))
        return bool(np.median(self._exhaustive(some, min(k, len(self.points)))[0][:, -1]) > SPREAD * usual)

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
        The points to search for; all by default.
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


def graph_of(near: Indices) -> Graph:
    """Connected components and orphans of a neighbour list (n, k) whose first column is the point itself."""
    n, k = near.shape
    orphans = n - np.count_nonzero(np.bincount(near[:, 1:].ravel(), minlength=n))
    adjacency = sp.csr_array((np.ones(n * k, dtype=np.int8), near.ravel(), np.arange(0, n * k + 1, k)), shape=(n, n))
    n_components, labels = connected_components(adjacency, directed=False)
    order = np.argsort(-np.bincount(labels), kind="stable")
    rank = np.empty(n_components, dtype=np.intp)
    rank[order] = np.arange(n_components)
    return Graph(int(n_components), rank[labels], orphans)


def distance_graph(distances: Floats, near: Indices) -> sp.csr_array:
    """Each point joined to its neighbours, weighted by distance; the first of each row is the point itself.

    A distance of 0 would be no edge. Indices have 32 bits: before 1.14, scipy's searches took no others.

    >>> distance_graph(np.array([[0.0, 3.0], [0.0, 3.0]]), np.array([[0, 1], [1, 0]])).toarray()
    array([[0., 3.],
           [3., 0.]])
    """
    n, k = near.shape
    lengths, ends = np.maximum(distances[:, 1:].ravel(), 1e-300), near[:, 1:].ravel().astype(np.int32)
    return sp.csr_array((lengths, ends, np.arange(0, n * (k - 1) + 1, k - 1, dtype=np.int32)), shape=(n, n))


def neighbor_pairs(X: Floats, k: int, max_points: int | None = None) -> Pairs:
    """Pairs (i, j, distance) of the graph of k nearest neighbours; of about ``max_points`` points, if that is given.

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


def isometry(codes: Floats, pairs: Pairs) -> float:
    """The correlation of distances in the codes, rescaled, with those of the data."""
    i, j, lengths = pairs
    return isometry_of_pairs(codes[i] - codes[j], lengths)[0]


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


def distinct_rows(X: NDArray) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The first occurrence of each distinct row, in order, and the position of every row among these.

    Parameters
    ----------
    X : array of shape (n, n_features)

    Returns
    -------
    first : array of int
        ``X[first]`` are the distinct rows.
    index : array of int, of length n
        ``X[first][index]`` is X again.

    Examples
    --------
    >>> first, index = distinct_rows(np.array([[1.0, 2.0], [0.0, 1.0], [1.0, 2.0]]))
    >>> first.tolist(), index.tolist()
    ([0, 1], [0, 1, 0])
    """
    X = X - X[:1]  # the grain is that of the differences: a large offset must not make all rows one
    grain = GRAIN * max(float(np.abs(X).max(initial=0)), 1e-300)
    # Equal rows have equal projections: only rows whose projections meet need to be compared, and sorting one column
    # is quicker than sorting rows.
    projected = X @ np.cos(np.arange(X.shape[1]))
    order = np.argsort(projected)
    meets = np.diff(projected[order]) <= 4 * grain * X.shape[1]
    suspects = np.sort(order[np.append(meets, False) | np.insert(meets, 0, False)])
    original = np.arange(len(X))
    if len(suspects):
        rounded = np.round(X[suspects].astype(np.float64) / grain).astype(np.int64)
        _, first, group = np.unique(rounded, axis=0, return_index=True, return_inverse=True)
        original[suspects] = suspects[first][group.ravel()]
    first = np.flatnonzero(original == np.arange(len(X)))
    return first, np.searchsorted(first, original)
