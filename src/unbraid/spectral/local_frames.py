"""The local step: tangent coordinates of each neighbourhood, and orthonormal affine and quadratic functions on it."""

import numpy as np
from numpy.typing import NDArray

from unbraid.manifold.neighbors import Floats
from unbraid.runtime.kernels import njit

Ints = NDArray[np.int64]

# Sums may be taken in any order: that lets the compiler use vector instructions.
ANY_ORDER = {"reassoc", "contract", "nsz"}


def local_frames(X: Floats, neighbors: Ints, n_factors: int, *, quadratic: bool) -> Floats:
    """Orthonormal functions on each neighbourhood, (n, p, k): 1, the d tangent coordinates, and their products.

    Products that are affine functions of the coordinates give rows of zeros. Without ``quadratic`` there are none.
    """
    d = n_factors
    p = 1 + d + (d * (d + 1) // 2 if quadratic else 0)
    frames = np.empty((len(neighbors), p, neighbors.shape[1]))
    X, neighbors = np.ascontiguousarray(X, np.float64), np.ascontiguousarray(neighbors, np.int64)
    _frames(X, neighbors, _leading_spaces(X, neighbors, d), frames)
    return frames


def tangent_bases(X: Floats, neighbors: NDArray[np.intp], n_factors: int) -> Floats:
    """Orthonormal tangent basis at each neighbourhood, (n, features, d), by local PCA."""
    X, neighbors = np.ascontiguousarray(X, np.float64), np.ascontiguousarray(neighbors, np.int64)
    spaces = _leading_spaces(X, neighbors, n_factors)
    if neighbors.shape[1] > X.shape[1]:
        return np.ascontiguousarray(spaces.transpose(0, 2, 1))
    bases = np.empty((len(neighbors), X.shape[1], n_factors))
    for start in range(0, len(neighbors), 1000):
        some = slice(start, start + 1000)
        G = X[neighbors[some]]
        G -= G.mean(axis=1, keepdims=True)
        bases[some] = np.linalg.qr(G.transpose(0, 2, 1) @ spaces[some].transpose(0, 2, 1))[0]
    return bases


def _leading_spaces(X: Floats, neighbors: Ints, n_factors: int) -> Floats:
    """Rows are the d leading singular vectors of a centred neighbourhood, on its smaller side: points, or features."""
    k, m = neighbors.shape[1], X.shape[1]
    s = min(k, m)
    spaces = np.empty((len(neighbors), n_factors, s))
    _find_spaces(
        X, neighbors, spaces, np.empty((max(k, m), s)), np.empty((s, s)), np.empty((n_factors, s)), np.empty(s)
    )
    return spaces


# The kernels are built on first use, so they are few and plain: a kernel that calls another is optimised with it once
# more, an assignment to a slice brings in the text of its error message (seconds), and a constant integer in a call
# makes a version of the callee for that constant.


@njit(nogil=True, fastmath=ANY_ORDER)
def _orthonormal_row(A: Floats, j: int, tol: float) -> None:
    """Row j against all rows before it, twice for stability; a dependent row becomes 0."""
    k = A.shape[1]
    norm0 = 0.0
    for i in range(k):
        norm0 += A[j, i] * A[j, i]
    for _ in range(2):
        for c in range(j):
            dot = 0.0
            for i in range(k):
                dot += A[c, i] * A[j, i]
            for i in range(k):
                A[j, i] -= dot * A[c, i]
    norm = 0.0
    for i in range(k):
        norm += A[j, i] * A[j, i]
    scale = 1.0 / np.sqrt(norm) if norm > tol * tol * norm0 and norm > 1e-300 else 0.0
    for i in range(k):
        A[j, i] *= scale


@njit(nogil=True, fastmath=ANY_ORDER)
def _find_spaces(X: Floats, neighbors: Ints, spaces: Floats, G: Floats, K: Floats, old: Floats, taken: Floats) -> None:
    """Leading eigenvectors of K = G^T G by orthogonal iteration; G is the centred neighbourhood, larger side first."""
    n, k = neighbors.shape
    m, d, s = X.shape[1], spaces.shape[1], spaces.shape[2]
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
                V[j, a] = K[a, best] + 1e-3 * K[best, best] * np.cos(1.7 * a + 2.3 * j)
        inside = -1.0
        for turn in range(301):
            for j in range(d):
                _orthonormal_row(V, j, 1e-14)
            if turn > 0:
                inside = 0.0  # squared cosines between the old and the new space: d once it stands still
                for c in range(d):
                    for j in range(d):
                        dot = 0.0
                        for a in range(s):
                            dot += old[c, a] * V[j, a]
                        inside += dot * dot
            if turn == 300 or d - inside < 1e-20 + 1e-14 * d:
                break
            for j in range(d):
                for a in range(s):
                    old[j, a] = V[j, a]
            for j in range(d):
                for a in range(s):
                    dot = 0.0
                    for b in range(s):
                        dot += K[a, b] * old[j, b]
                    V[j, a] = dot


@njit(nogil=True, fastmath=ANY_ORDER)
def _frames(X: Floats, neighbors: Ints, spaces: Floats, frames: Floats) -> None:
    n, k = neighbors.shape
    d, s, p = spaces.shape[1], spaces.shape[2], frames.shape[1]
    for i in range(n):
        Y = frames[i]
        for r in range(k):
            Y[0, r] = 1.0 / np.sqrt(k)
            for a in range(d):
                if s == k:
                    Y[1 + a, r] = spaces[i, a, r]
                else:  # the constant part goes with row 0
                    dot = 0.0
                    for f in range(s):
                        dot += (X[neighbors[i, r], f] - X[neighbors[i, 0], f]) * spaces[i, a, f]
                    Y[1 + a, r] = dot
        for c in range(1, p):
            if c == 1 + d:
                row = 1 + d
                for a in range(d):
                    for b in range(a, d):
                        for r in range(k):
                            Y[row, r] = Y[1 + a, r] * Y[1 + b, r]
                        row += 1
            _orthonormal_row(Y, c, 1e-10 if c <= d else 1e-8)
