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
from numpy.typing import NDArray

from unbraid.contract.kernels import njit

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
    spaces = _leading_spaces(X, neighbors, n_factors)
    _local_blocks(X, neighbors, spaces, float(hessian), float(tangent), np.empty((k, needed)), blocks)
    return _assemble(neighbors, blocks)


def tangent_bases(X: Floats, neighbors: NDArray[np.intp], n_factors: int) -> Floats:
    """Orthonormal tangent basis at each neighbourhood, (n, features, d), by local PCA."""
    X, neighbors = np.ascontiguousarray(X, np.float64), np.ascontiguousarray(neighbors, np.int64)
    spaces = _leading_spaces(X, neighbors, n_factors)
    if neighbors.shape[1] > X.shape[1]:
        return spaces
    G = X[neighbors]
    G -= G.mean(axis=1, keepdims=True)
    return np.linalg.qr(G.transpose(0, 2, 1) @ spaces)[0]


def _leading_spaces(X: Floats, neighbors: Ints, n_factors: int) -> Floats:
    """The d leading singular vectors of each centred neighbourhood, on its smaller side: points, or features."""
    k, m = neighbors.shape[1], X.shape[1]
    s = min(k, m)
    spaces = np.empty((len(neighbors), s, n_factors))
    _find_spaces(
        X, neighbors, spaces, np.empty((max(k, m), s)), np.empty((s, s)), np.empty((s, n_factors)), np.empty(s)
    )
    return spaces


def _assemble(neighbors: Ints, blocks: Floats) -> sp.csc_array:
    n, k = neighbors.shape
    owner = np.argsort(neighbors.ravel(), kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(neighbors.ravel(), minlength=n))])
    place = np.full(n, -1)  # kernels get their arrays ready made: to build numpy's functions takes longer than they do
    counts = np.zeros(n, np.int64)
    _count_rows(neighbors, owner, starts, place, counts)
    indptr = np.concatenate([[0], np.cumsum(counts)])
    indices = np.empty(indptr[-1], dtype=np.int32)
    data = np.empty(indptr[-1])
    place[:] = -1
    _fill_rows(neighbors, blocks, owner, starts, place, indptr, indices, data)
    return sp.csc_array((data, indices, indptr.astype(np.int32)), shape=(n, n))


# The kernels are built on first use, so they are few and plain: a kernel that calls another is optimised with it once
# more, an assignment to a slice brings in the text of its error message (seconds), and a constant integer in a call
# makes a version of the callee for that constant.


@njit(nogil=True)
def _orthonormalize(A: Floats, j: int, tol: float) -> None:
    """Column j of A against all columns before it, twice for stability; a dependent column becomes 0."""
    k = A.shape[0]
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


@njit(nogil=True)
def _find_spaces(X: Floats, neighbors: Ints, spaces: Floats, G: Floats, K: Floats, old: Floats, taken: Floats) -> None:
    """Leading eigenvectors of K = G^T G by orthogonal iteration; G is the centred neighbourhood, larger side first."""
    n, k = neighbors.shape
    m, s, d = X.shape[1], spaces.shape[1], spaces.shape[2]
    for i in range(n):
        V = spaces[i]
        for f in range(m):
            mean = 0.0
            for r in range(k):
                mean += X[neighbors[i, r], f]
            mean /= k
            for r in range(k):
                if k <= m:
                    G[f, r] = X[neighbors[i, r], f] - mean
                else:
                    G[r, f] = X[neighbors[i, r], f] - mean
        for a in range(s):
            taken[a] = 0.0
            for b in range(s):
                K[a, b] = 0.0
        for r in range(G.shape[0]):
            for a in range(s):
                g = G[r, a]
                for b in range(a + 1):
                    K[a, b] += g * G[r, b]
        for a in range(s):
            for b in range(a):
                K[b, a] = K[a, b]
        # Start from the d columns of K with the largest diagonal: close to the leading space already.
        for j in range(d):
            best = -1
            for a in range(s):
                if taken[a] == 0.0 and (best < 0 or K[a, a] > K[best, best]):
                    best = a
            taken[best] = 1.0
            for a in range(s):
                V[a, j] = K[a, best] + 1e-3 * K[best, best] * np.cos(1.7 * a + 2.3 * j)
        inside = -1.0
        for turn in range(301):
            for j in range(d):
                _orthonormalize(V, j, 1e-14)
            if turn > 0:
                inside = 0.0  # squared cosines between the old and the new space: d once it stands still
                for c in range(d):
                    for j in range(d):
                        dot = 0.0
                        for a in range(s):
                            dot += old[a, c] * V[a, j]
                        inside += dot * dot
            if turn == 300 or d - inside < 1e-20 + 1e-14 * d:
                break
            for a in range(s):
                for j in range(d):
                    old[a, j] = V[a, j]
            for a in range(s):
                for j in range(d):
                    dot = 0.0
                    for b in range(s):
                        dot += K[a, b] * old[b, j]
                    V[a, j] = dot


@njit(nogil=True)
def _local_blocks(
    X: Floats, neighbors: Ints, spaces: Floats, hessian: float, tangent: float, Y: Floats, blocks: Floats
) -> None:
    """Y has room for one neighbourhood: its columns become T, and W behind it where ``hessian`` asks for it."""
    n, k = neighbors.shape
    s, d, p = spaces.shape[1], spaces.shape[2], Y.shape[1]
    for i in range(n):
        for r in range(k):
            Y[r, 0] = 1.0 / np.sqrt(k)
            for a in range(d):
                if s == k:
                    Y[r, 1 + a] = spaces[i, r, a]
                else:  # the constant part goes with column 0
                    dot = 0.0
                    for f in range(s):
                        dot += (X[neighbors[i, r], f] - X[neighbors[i, 0], f]) * spaces[i, f, a]
                    Y[r, 1 + a] = dot
        for c in range(1, p):
            if c == 1 + d:
                column = 1 + d
                for a in range(d):
                    for b in range(a, d):
                        for r in range(k):
                            Y[r, column] = Y[r, 1 + a] * Y[r, 1 + b]
                        column += 1
            _orthonormalize(Y, c, 1e-10 if c <= d else 1e-8)
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


@njit(nogil=True)
def _count_rows(neighbors: Ints, owner: Ints, starts: Ints, seen: Ints, counts: Ints) -> None:
    n, k = neighbors.shape
    for row in range(n):
        for o in range(starts[row], starts[row + 1]):
            i = owner[o] // k
            for b in range(k):
                col = neighbors[i, b]
                if seen[col] != row:
                    seen[col] = row
                    counts[row] += 1


@njit(nogil=True)
def _fill_rows(
    neighbors: Ints,
    blocks: Floats,
    owner: Ints,
    starts: Ints,
    place: Ints,
    indptr: Ints,
    indices: NDArray[np.int32],
    data: Floats,
) -> None:
    n, k = neighbors.shape
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
