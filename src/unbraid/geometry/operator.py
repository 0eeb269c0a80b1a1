"""The second-order graph connection Laplacian as a matrix-free operator on fields of symmetric matrices.

A field gives each point a symmetric k x k matrix S_i in the basis of its tangent space. It is packed as the vector of
the diagonal and of the off-diagonals times sqrt(2), so that the packed dot product is the matrices' own and the
operator is symmetric. ``LANES`` fields are adjacent in the last axis, one vector register for the kernel.
"""

import os
from collections.abc import Callable
from functools import cache

import numpy as np

from unbraid.geometry.graph import Graph
from unbraid.runtime.kernels import by_rows, njit

Array = np.ndarray
LANES = 8
_HALF, _DOUBLE = np.sqrt(0.5), np.sqrt(2.0)


def packed_size(k: int) -> int:
    """Entries of a symmetric k x k matrix.

    >>> packed_size(4)
    10
    """
    return k * (k + 1) // 2


def unpack(packed: np.ndarray, k: int) -> np.ndarray:
    """Symmetric matrices of packed vectors, along the second axis.

    >>> unpack(np.array([[1.0, 2 ** 0.5, 3.0]]), 2).round(6)
    array([[[1., 1.],
            [1., 3.]]])
    """
    rows, columns = np.triu_indices(k)
    scale = np.where(rows == columns, 1, _HALF).astype(packed.dtype)
    values = packed * scale.reshape(1, -1, *[1] * (packed.ndim - 2))
    matrices = np.empty((len(packed), k, k, *packed.shape[2:]), packed.dtype)
    matrices[:, rows, columns] = values
    matrices[:, columns, rows] = values
    return matrices


def n_threads(n_jobs: int | None) -> int:
    """Threads for ``n_jobs``, with scikit-learn's meaning of None and of negative numbers.

    >>> n_threads(None), n_threads(3)
    (1, 3)
    """
    if n_jobs is None:
        return 1
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return n_jobs if n_jobs > 0 else max(1, available + 1 + n_jobs)


@njit(nogil=True, fastmath=True)
def _transport(
    frames: Array, other: Array, indptr: Array, indices: Array, start: int, stop: int, out: Array
) -> None:  # pragma: no cover - compiled
    """Polar factors of U_i^T U_j by Newton-Schulz steps, which keep the singular vectors and send their values to 1."""
    size, k = frames.shape[1], frames.shape[2]
    m = np.empty((k, k), np.float64)
    g = np.empty((k, k), np.float64)
    new = np.empty((k, k), np.float64)
    for i in range(start, stop):
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            m[:] = 0
            for c in range(size):
                for a in range(k):
                    for b in range(k):
                        m[a, b] += frames[i, c, a] * other[j, c, b]
            for _ in range(40):
                error = 0.0
                for a in range(k):
                    for b in range(k):
                        s = 0.0
                        for c in range(k):
                            s += m[c, a] * m[c, b]
                        target = 1.0 if a == b else 0.0
                        error = max(error, abs(s - target))
                        g[a, b] = 1.5 * target - 0.5 * s
                if error < 1e-6:
                    break
                for a in range(k):
                    for b in range(k):
                        s = 0.0
                        for c in range(k):
                            s += m[a, c] * g[c, b]
                        new[a, b] = s
                m[:] = new
            for a in range(k):
                for b in range(k):
                    out[e, a, b] = m[a, b]


def transports(frames: np.ndarray, graph: Graph, other: np.ndarray | None = None, *, threads: int = 1) -> np.ndarray:
    """Parallel transport along each edge: the orthogonal (k, k) nearest to U_i^T U_j takes j's coordinates to i's.

    ``other`` holds the frames at the far ends, when these are other points than the rows.

    >>> graph = Graph(np.array([0, 1, 2]), np.array([1, 0], np.int32))
    >>> frames = np.array([[[1.0], [0.0]], [[0.6], [0.8]]], np.float32)
    >>> transports(frames, graph).ravel().round(4).tolist()
    [1.0, 1.0]
    """
    k = frames.shape[2]
    out = np.empty((len(graph.indices), k, k), frames.dtype)
    other = frames if other is None else other
    by_rows(lambda a, b: _transport(frames, other, graph.indptr, graph.indices, a, b, out), graph.n, threads)
    return out


@cache
def _diffusion(k: int) -> Callable:
    """The kernel for manifolds of dimension k: a constant size lets the compiler unroll its loops."""
    width = k * LANES

    @njit(nogil=True, fastmath=True, error_model="numpy")
    def kernel(
        q: Array, weights: Array, indptr: Array, indices: Array, x: Array, y: Array, start: int, stop: int
    ) -> None:  # pragma: no cover - compiled
        s = np.empty((k, width), x.dtype)
        t = np.empty(width, x.dtype)
        total = np.empty((k, width), x.dtype)
        half, double = x.dtype.type(_HALF), x.dtype.type(_DOUBLE)
        for i in range(start, stop):
            total[:] = 0
            for e in range(indptr[i], indptr[i + 1]):
                j = indices[e]
                r = 0
                for a in range(k):
                    for b in range(a, k):
                        f = weights[j] if a == b else weights[j] * half
                        for v in range(LANES):
                            z = f * x[j, r, v]
                            s[a, b * LANES + v] = z
                            s[b, a * LANES + v] = z
                        r += 1
                for a in range(k):
                    f = q[e, a, 0]
                    for u in range(width):
                        t[u] = f * s[0, u]
                    for c in range(1, k):
                        f = q[e, a, c]
                        for u in range(width):
                            t[u] += f * s[c, u]
                    for b in range(a, k):
                        for c in range(k):
                            f = q[e, b, c]
                            for v in range(LANES):
                                total[a, b * LANES + v] += f * t[c * LANES + v]
            for v in range(LANES):
                trace = x.dtype.type(0)
                for a in range(k):
                    trace += total[a, a * LANES + v]
                for a in range(k):
                    total[a, a * LANES + v] -= trace / x.dtype.type(k)
            r = 0
            for a in range(k):
                for b in range(a, k):
                    f = weights[i] if a == b else weights[i] * double
                    for v in range(LANES):
                        y[i, r, v] = f * total[a, b * LANES + v]
                    r += 1

    return kernel


class Diffusion:
    r"""One step of a random walk with parallel transport, on ``LANES`` packed fields (n, k(k+1)/2, LANES).

    .. math:: (A S)_i = \sum_{j \sim i} \frac{Q_{ij} S_j Q_{ij}^T}{\sqrt{n_i n_j}}
        - \text{its trace part}

    The connection Laplacian is :math:`I - A`, its spectrum within [0, 2]. The trace is removed at every pass:
    its zero mode would otherwise enter through rounding and dominate.

    ``normalised=False`` is the paper's Laplacian :math:`n_i S_i - \sum_j Q_{ij} S_j Q_{ij}^T`, as :math:`I - A` times
    ``unit``, the largest number of neighbours.
    """

    def __init__(self, frames: np.ndarray, graph: Graph, *, threads: int = 1, normalised: bool = True):
        self.graph, self.threads = graph, threads
        self.k = frames.shape[2]
        self.q = transports(frames, graph, threads=threads)
        self.unit = 1.0 if normalised else float(graph.degrees.max())
        degrees = graph.degrees if normalised else np.full(graph.n, self.unit)
        self.weights = (1 / np.sqrt(degrees)).astype(frames.dtype)
        self.stays = (1 - graph.degrees / degrees)[:, None, None].astype(frames.dtype)  # 0 where normalised
        self._diagonal = np.flatnonzero(np.equal(*np.triu_indices(self.k)))
        self.shape = (graph.n, packed_size(self.k), LANES)
        self._kernel = _diffusion(self.k)

    def __call__(self, x: np.ndarray) -> np.ndarray:
        y = np.empty_like(x)
        graph = self.graph

        def rows(start: int, stop: int) -> None:
            self._kernel(self.q, self.weights, graph.indptr, graph.indices, x, y, start, stop)

        by_rows(rows, graph.n, self.threads)
        if self.unit != 1.0:
            y += self.stays * x
            y[:, self._diagonal] -= y[:, self._diagonal].mean(axis=1, keepdims=True)
        return y
