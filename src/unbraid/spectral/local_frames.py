"""The local step: tangent coordinates of each neighbourhood, and orthonormal affine and quadratic functions on it."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
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
    _frames(np.ascontiguousarray(X, np.float64), np.ascontiguousarray(neighbors, np.int64), d, frames)
    return frames


def tangent_bases(X: Floats, neighbors: NDArray[np.intp], n_factors: int) -> Floats:
    """Orthonormal tangent basis at each neighbourhood, (n, features, d), by local PCA."""
    bases = np.empty((len(neighbors), X.shape[1], n_factors))
    _tangents(np.ascontiguousarray(X, np.float64), np.ascontiguousarray(neighbors, np.int64), bases)
    return bases


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
    mean = np.zeros(m)
    for i in range(k):
        for f in range(m):
            G[i, f] = X[near[i], f]
            mean[f] += G[i, f]
    for i in range(k):
        for f in range(m):
            G[i, f] -= mean[f] / k


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


@njit(cache=True, nogil=True, fastmath=ANY_ORDER)
def _orthonormal_rows(A: Floats, start: int, tol: float) -> None:
    """Rows from start on against all rows before them, twice for stability; dependent rows become 0."""
    p, k = A.shape
    for j in range(start, p):
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


@njit(cache=True, nogil=True)
def _frames(X: Floats, neighbors: Ints, d: int, frames: Floats) -> None:
    n, k = neighbors.shape
    m, p = X.shape[1], frames.shape[1]
    s = min(k, m)
    G, K = np.empty((k, m)), np.empty((s, s))
    V, old, U = np.empty((s, d)), np.empty((s, d)), np.empty((k, d))
    for i in range(n):
        Y = frames[i]
        _center(X, neighbors[i], G)
        _tangent_coordinates(G, K, V, old, U)
        Y[0] = 1.0 / np.sqrt(k)
        for a in range(d):
            for r in range(k):
                Y[1 + a, r] = U[r, a]
        _orthonormal_rows(Y[: 1 + d], 1, 1e-10)
        if p > 1 + d:
            c = 1 + d
            for a in range(d):
                for b in range(a, d):
                    for r in range(k):
                        Y[c, r] = Y[1 + a, r] * Y[1 + b, r]
                    c += 1
            _orthonormal_rows(Y, 1 + d, 1e-8)


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
