"""The symmetrised graph of nearest neighbours, stored in spatial order."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array, csr_array, diags_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from unbraid.manifold.neighbors import NeighborSearch


@dataclass(frozen=True)
class Graph:
    """Directed edges of a symmetric graph in compressed rows: row i's are ``indices[indptr[i]:indptr[i + 1]]``."""

    indptr: np.ndarray
    indices: np.ndarray

    @property
    def n(self) -> int:
        return len(self.indptr) - 1

    @property
    def degrees(self) -> np.ndarray:
        return np.diff(self.indptr)

    @property
    def sources(self) -> np.ndarray:
        """The row of each edge."""
        return np.repeat(np.arange(self.n), self.degrees)

    def normalised(self) -> csr_array:
        """The adjacency with each edge over the root of its ends' degrees: one less the scalar Laplacian."""
        scale = diags_array(1 / np.sqrt(self.degrees))
        return scale @ self.adjacency().astype(np.float64) @ scale

    def lazy(self, unit: float) -> csr_array:
        """One less the unnormalised scalar Laplacian over ``unit``."""
        return csr_array(self.adjacency().astype(np.float64) / unit + diags_array(1 - self.degrees / unit))

    def padded(self) -> np.ndarray:
        """The neighbours of every point in a table (n, largest degree), filled up with the point itself."""
        table = np.repeat(np.arange(self.n, dtype=np.int32)[:, None], self.degrees.max(), axis=1)
        table[np.arange(table.shape[1]) < self.degrees[:, None]] = self.indices
        return table

    def adjacency(self) -> csr_array:
        return csr_array((np.ones(len(self.indices), np.float32), self.indices, self.indptr), shape=(self.n, self.n))


def order_in_space(X: np.ndarray) -> np.ndarray:
    """A permutation that puts near points near in memory: the leaves of a k-d tree."""
    return cKDTree(X, balanced_tree=False).indices


def symmetrised(neighbors: np.ndarray) -> tuple[Graph, np.ndarray]:
    """Edge i-j where either is among the other's neighbours, and the component label of each point.

    >>> graph, labels = symmetrised(np.array([[1], [0], [1]]))
    >>> graph.degrees.tolist(), labels.tolist()
    ([1, 2, 1], [0, 0, 0])
    """
    n, m = neighbors.shape
    return _from_edges(np.repeat(np.arange(n), m), neighbors.ravel(), n)


def _from_edges(rows: np.ndarray, columns: np.ndarray, n: int) -> tuple[Graph, np.ndarray]:
    """The symmetric graph of some edges, each counted once, and the component label of each point."""
    both = np.concatenate([rows, columns]).astype(np.int32), np.concatenate([columns, rows]).astype(np.int32)
    matrix = coo_array((np.ones(len(both[0]), np.int8), both), shape=(n, n)).tocsr()
    matrix.sort_indices()
    graph = Graph(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32))
    return graph, connected_components(matrix, directed=False)[1]


def joined(X: np.ndarray, graph: Graph, labels: np.ndarray) -> Graph:
    """The graph with each further component joined to the first by its shortest bridge, until all are connected.

    >>> X = np.array([[0.0], [1.0], [5.0], [6.0]])
    >>> joined(X, *symmetrised(np.array([[1], [0], [3], [2]]))).degrees.tolist()
    [1, 2, 2, 1]
    """
    if not labels.any():
        return graph
    rows, columns = graph.sources, graph.indices
    labels = labels.copy()
    while (labels != labels[0]).any():
        kept = np.flatnonzero(labels == labels[0])
        away = np.flatnonzero(labels != labels[0])
        distances, nearest_kept = NeighborSearch(X[kept]).query(X[away], 1)
        i = distances.argmin()
        rows = np.append(rows, away[i])
        columns = np.append(columns, kept[nearest_kept[i, 0]])
        labels[labels == labels[away[i]]] = labels[0]
    return _from_edges(rows, columns, graph.n)[0]


def connected(X: np.ndarray, neighbors: np.ndarray) -> Graph:
    """The symmetrised graph of the neighbours, with its components joined."""
    return joined(X, *symmetrised(neighbors))
