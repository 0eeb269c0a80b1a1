"""The local step: one small symmetric block per neighbourhood, summed into a sparse alignment matrix.

For a neighbourhood of k points with tangent coordinates U (k x d), let T be an orthonormal basis of span[1, U] and W
one of the part of the products U_a U_b that is orthogonal to T. Then

    Hessian block (Donoho and Grimes 2003)   W W^T
    tangent block (LTSA, Zhang and Zha 2004) I - T T^T

Functions that are affine in the tangent coordinates lie in the null space of both. The tangent block also punishes
what is not quadratic, so it ties down the vectors that HLLE alone leaves free on a few points. With the smallest
neighbourhood, k = 1 + d + d(d+1)/2, the two are the same.
"""

import numpy as np
import scipy.sparse as sp
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def smallest_neighborhood(n_factors: int) -> int:
    """Points that a Hessian estimate needs: 1 + d + d(d+1)/2.

    >>> smallest_neighborhood(2)
    6
    """
    return 1 + n_factors + n_factors * (n_factors + 1) // 2


def alignment_matrix(
    X: Floats, neighbors: NDArray[np.intp], n_factors: int, *, hessian: float = 1.0, tangent: float = 0.01
) -> sp.csc_array:
    """Sum over neighbourhoods of ``hessian * W W^T + tangent * (I - T T^T)``.

    Parameters
    ----------
    X : array (n, features)
    neighbors : array (n, k) of int
        Row i lists the points of neighbourhood i. Include i itself: a point that nobody lists would get a zero
        row, one more null vector, and a useless embedding.
    n_factors : int
        Dimension d of the tangent spaces.
    hessian, tangent : float
        Weights of the two blocks; (1, 0) is textbook HLLE, (0, 1) is LTSA.

    Returns
    -------
    sparse (n, n), symmetric, positive semidefinite

    Examples
    --------
    A flat sheet: the coordinates are in the null space.

    >>> import numpy as np
    >>> X = np.random.default_rng(0).uniform(size=(50, 2))
    >>> near = np.argsort(((X[:, None] - X) ** 2).sum(-1), axis=1)[:, :9]
    >>> bool(abs(alignment_matrix(X, near, 2) @ X).max() < 1e-10)
    True
    """
    X = np.ascontiguousarray(X, dtype=np.float64)
    neighbors = np.ascontiguousarray(neighbors, dtype=np.int64)
    n, k = neighbors.shape
    needed = smallest_neighborhood(n_factors) if hessian else n_factors + 1
    if k < needed:
        raise ValueError(
            f"{k} neighbours are too few for {n_factors} factors: a neighbourhood needs at least {needed} points "
            f"(the point itself counts). Raise n_neighbors to {needed} or more, or ask for fewer factors."
        )
    blocks = np.empty((n, k, k))
    _local_blocks(X, neighbors, n_factors, hessian, tangent, blocks)
    return _assemble(neighbors, blocks)


def tangent_bases(X: Floats, neighbors: NDArray[np.intp], n_factors: int) -> Floats:
    """Orthonormal tangent basis at each neighbourhood, (n, features, d), by local PCA."""
    bases = np.empty((len(neighbors), X.shape[1], n_factors))
    _tangents(np.ascontiguousarray(X, np.float64), np.ascontiguousarray(neighbors, np.int64), bases)
    return bases


def _assemble(neighbors: Ints, blocks: Floats) -> sp.csc_array:
    n, k = neighbors.shape
    owner = np.argsort(neighbors.ravel(), kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(neighbors.ravel(), minlength=n))])
    counts = _row_counts(neighbors, owner, starts)
    indptr = np.concatenate([[0], np.cumsum(counts)])
    indices = np.empty(indptr[-1], dtype=np.int32)
    data = np.empty(indptr[-1])
    _fill_rows(neighbors, blocks, owner, starts, indptr, indices, data)
    return sp.csc_array((data, indices, indptr.astype(np.int32)), shape=(n, n))


@njit(cache=True, nogil=True)
def _orthonormalize(A: Floats, start: int, stop: int, tol: float) -> None:
    """Columns start..stop of A against all columns before them, twice for stability; dependent columns become 0."""
    k = A.shape[0]
    for j in range(start, stop):
        norm0 = 0.0
        for i in range(k):
            norm0 += A[i, j] * A[i, j]
        for _ in range(2):
            for c in range(j):
                dot = 0.0
                for i in range(k):
                    dot += A[i, c] * A[i, j]
                for i in range(k):
                    A[i, j] -= dot * A[i, c]
        norm = 0.0
        for i in range(k):
            norm += A[i, j] * A[i, j]
        scale = 1.0 / np.sqrt(norm) if norm > tol * tol * norm0 and norm > 1e-300 else 0.0
        for i in range(k):
            A[i, j] *= scale


@njit(cache=True, nogil=True)
def _center(X: Floats, near: Ints, G: Floats) -> None:
    k, m = G.shape
    for f in range(m):
        mean = 0.0
        for i in range(k):
            G[i, f] = X[near[i], f]
            mean += G[i, f]
        mean /= k
        for i in range(k):
            G[i, f] -= mean


@njit(cache=True, nogil=True)
def _leading_space(G: Floats, K: Floats, V: Floats, old: Floats, small_first: bool) -> None:
    """Leading eigenvectors of G G^T (small_first) or G^T G into V, by orthogonal iteration on the product K."""
    s, d = V.shape
    if small_first:
        for a in range(s):
            for b in range(a + 1):
                dot = 0.0
                for f in range(G.shape[1]):
                    dot += G[a, f] * G[b, f]
                K[a, b] = dot
                K[b, a] = dot
    else:
        K[:] = 0.0
        for i in range(G.shape[0]):
            for a in range(s):
                g = G[i, a]
                for b in range(a + 1):
                    K[a, b] += g * G[i, b]
        for a in range(s):
            for b in range(a):
                K[b, a] = K[a, b]
    # Start from the d columns of K with the largest diagonal: close to the leading space already.
    taken = np.zeros(s, dtype=np.bool_)
    for j in range(d):
        best = -1
        for a in range(s):
            if not taken[a] and (best < 0 or K[a, a] > K[best, best]):
                best = a
        taken[best] = True
        for a in range(s):
            V[a, j] = K[a, best] + 1e-3 * K[best, best] * np.cos(1.7 * a + 2.3 * j)
    _orthonormalize(V, 0, d, 1e-14)
    for _ in range(300):
        for a in range(s):
            for j in range(d):
                old[a, j] = V[a, j]
        for a in range(s):
            for j in range(d):
                dot = 0.0
                for b in range(s):
                    dot += K[a, b] * old[b, j]
                V[a, j] = dot
        _orthonormalize(V, 0, d, 1e-14)
        inside = 0.0  # squared cosines between the old and the new space add up to d once it stands still
        for i in range(d):
            for j in range(d):
                dot = 0.0
                for a in range(s):
                    dot += old[a, i] * V[a, j]
                inside += dot * dot
        if d - inside < 1e-20 + 1e-14 * d:
            break


@njit(cache=True, nogil=True)
def _tangent_coordinates(G: Floats, K: Floats, V: Floats, old: Floats, U: Floats) -> None:
    """Left singular vectors of the centred neighbourhood G that belong to its d largest singular values."""
    k, m = G.shape
    d = U.shape[1]
    if k <= m:
        _leading_space(G, K, U, old, True)
        return
    _leading_space(G, K, V, old, False)
    for i in range(k):
        for j in range(d):
            dot = 0.0
            for f in range(m):
                dot += G[i, f] * V[f, j]
            U[i, j] = dot


@njit(cache=True, nogil=True)
def _local_blocks(X: Floats, neighbors: Ints, d: int, hessian: float, tangent: float, blocks: Floats) -> None:
    n, k = neighbors.shape
    m = X.shape[1]
    s = min(k, m)
    p = 1 + d + d * (d + 1) // 2 if hessian > 0 else 1 + d
    G, K = np.empty((k, m)), np.empty((s, s))
    V, old, U = np.empty((s, d)), np.empty((s, d)), np.empty((k, d))
    Y = np.empty((k, p))
    for i in range(n):
        _center(X, neighbors[i], G)
        _tangent_coordinates(G, K, V, old, U)
        for r in range(k):
            Y[r, 0] = 1.0 / np.sqrt(k)
            for a in range(d):
                Y[r, 1 + a] = U[r, a]
        _orthonormalize(Y, 1, 1 + d, 1e-10)
        if hessian > 0:
            c = 1 + d
            for a in range(d):
                for b in range(a, d):
                    for r in range(k):
                        Y[r, c] = Y[r, 1 + a] * Y[r, 1 + b]
                    c += 1
            _orthonormalize(Y, 1 + d, p, 1e-8)
        for r in range(k):
            for q in range(r + 1):
                low = 0.0
                for c in range(1 + d):
                    low += Y[r, c] * Y[q, c]
                high = 0.0
                for c in range(1 + d, p):
                    high += Y[r, c] * Y[q, c]
                value = hessian * high + tangent * ((1.0 if r == q else 0.0) - low)
                blocks[i, r, q] = value
                blocks[i, q, r] = value


@njit(cache=True, nogil=True)
def _tangents(X: Floats, neighbors: Ints, bases: Floats) -> None:
    n, k = neighbors.shape
    m, d = bases.shape[1:]
    G, K, old = np.empty((k, m)), np.empty((min(k, m), min(k, m))), np.empty((min(k, m), d))
    V, U = np.empty((m, d)), np.empty((k, d))
    for i in range(n):
        _center(X, neighbors[i], G)
        if k > m:
            _leading_space(G, K, V, old, False)
        else:
            _leading_space(G, K, U, old, True)
            V[:] = G.T @ U
            _orthonormalize(V, 0, d, 1e-12)
        bases[i] = V


@njit(cache=True, nogil=True)
def _row_counts(neighbors: Ints, owner: Ints, starts: Ints) -> Ints:
    n, k = neighbors.shape
    seen = np.full(n, -1, dtype=np.int64)
    counts = np.zeros(n, dtype=np.int64)
    for row in range(n):
        for o in range(starts[row], starts[row + 1]):
            i = owner[o] // k
            for b in range(k):
                col = neighbors[i, b]
                if seen[col] != row:
                    seen[col] = row
                    counts[row] += 1
    return counts


@njit(cache=True, nogil=True)
def _fill_rows(
    neighbors: Ints, blocks: Floats, owner: Ints, starts: Ints, indptr: Ints, indices: NDArray[np.int32], data: Floats
) -> None:
    n, k = neighbors.shape
    place = np.full(n, -1, dtype=np.int64)
    for row in range(n):
        end = indptr[row]
        for o in range(starts[row], starts[row + 1]):
            i, a = owner[o] // k, owner[o] % k
            for b in range(k):
                col = neighbors[i, b]
                if place[col] < indptr[row] or place[col] >= end or indices[place[col]] != col:
                    place[col] = end
                    indices[end] = col
                    data[end] = 0.0
                    end += 1
                data[place[col]] += blocks[i, a, b]
