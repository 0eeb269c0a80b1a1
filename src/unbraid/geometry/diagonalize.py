"""Simultaneous diagonalisation of each point's matrices, and the sorting of its axes into submanifolds."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans

from unbraid.geometry.operator import by_rows
from unbraid.runtime.kernels import njit

SAMPLE = 500


@njit(nogil=True)
def _jacobi(matrices: np.ndarray, turns: np.ndarray, start: int, stop: int) -> None:  # pragma: no cover - compiled
    """Cardoso and Souloumiac's Jacobi angles: ``matrices[i, r]`` become near-diagonal, ``turns[i]`` the axes."""
    count, k = matrices.shape[1], matrices.shape[2]
    for i in range(start, stop):
        for a in range(k):
            for b in range(k):
                turns[i, a, b] = 1.0 if a == b else 0.0
        for _ in range(60):
            largest = 0.0
            for p in range(k - 1):
                for q in range(p + 1, k):
                    g11, g12, g22 = 0.0, 0.0, 0.0
                    for r in range(count):
                        u = matrices[i, r, p, p] - matrices[i, r, q, q]
                        v = 2.0 * matrices[i, r, p, q]
                        g11 += u * u
                        g12 += u * v
                        g22 += v * v
                    on, off = g11 - g22, 2.0 * g12
                    theta = 0.5 * np.arctan2(off, on + np.hypot(on, off))
                    c, s = np.cos(theta), np.sin(theta)
                    largest = max(largest, abs(s))
                    if abs(s) < 1e-10:
                        continue
                    for r in range(count):
                        for a in range(k):
                            x, y = matrices[i, r, a, p], matrices[i, r, a, q]
                            matrices[i, r, a, p], matrices[i, r, a, q] = c * x + s * y, c * y - s * x
                        for a in range(k):
                            x, y = matrices[i, r, p, a], matrices[i, r, q, a]
                            matrices[i, r, p, a], matrices[i, r, q, a] = c * x + s * y, c * y - s * x
                    for a in range(k):
                        x, y = turns[i, a, p], turns[i, a, q]
                        turns[i, a, p], turns[i, a, q] = c * x + s * y, c * y - s * x
            if largest < 1e-8:
                break


def joint_diagonals(matrices: np.ndarray, *, threads: int = 1) -> tuple[np.ndarray, np.ndarray, float]:
    """Axes (n, k, k) in columns, diagonals (n, k, r) in these axes, and the part of the squares left beside them.

    Parameters
    ----------
    matrices : array of shape (n, r, k, k)
        Symmetric; r to be diagonalised together at each of n points.

    Examples
    --------
    >>> turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    >>> pair = np.stack([turn @ np.diag(d) @ turn.T for d in ([1.0, 2.0], [5.0, 3.0])])
    >>> axes, diagonals, left = joint_diagonals(pair[None])
    >>> sorted(diagonals[0].round(6).tolist()), round(left, 6)
    ([[1.0, 5.0], [2.0, 3.0]], 0.0)
    """
    matrices = np.array(matrices, np.float64, order="C")
    n, _, k, _ = matrices.shape
    total = np.square(matrices).sum()
    axes = np.empty((n, k, k))
    by_rows(lambda a, b: _jacobi(matrices, axes, a, b), n, threads)
    diagonals = np.diagonal(matrices, axis1=2, axis2=3).transpose(0, 2, 1)
    left = 1 - np.square(diagonals).sum() / max(total, np.finfo(float).tiny)
    return axes, diagonals, float(max(left, 0))


@dataclass(frozen=True)
class Clusters:
    """The values (m, r) that the fields take on each submanifold, its dimension, and how many points agree."""

    centers: np.ndarray
    dims: list[int]
    agreement: float


def find_clusters(diagonals: np.ndarray, m: int, rng: np.random.Generator) -> Clusters:
    """Cluster the axes of all points together: parallel fields have the same eigenvalues everywhere.

    >>> diagonals = np.tile([[1.0], [1.1], [-2.0]], (50, 1, 1))
    >>> find_clusters(diagonals, 2, np.random.default_rng(0)).dims
    [2, 1]
    """
    n, k, r = diagonals.shape
    sample = diagonals[rng.permutation(n)[:SAMPLE]]
    means = KMeans(m, n_init=4, random_state=int(rng.integers(2**31))).fit(sample.reshape(-1, r))
    counts = np.stack([(means.labels_.reshape(-1, k) == j).sum(axis=1) for j in range(m)], axis=1)
    kinds, first, often = np.unique(counts, axis=0, return_index=True, return_counts=True)
    best = often.argmax()
    dims = kinds[best]
    order = np.argsort(-dims, kind="stable")
    return Clusters(means.cluster_centers_[order], dims[order].tolist(), float(often[best] / len(sample)))


def assign(diagonals: np.ndarray, clusters: Clusters) -> np.ndarray:
    """Order of the axes at each point that puts those of each submanifold together, (n, k).

    >>> clusters = Clusters(np.array([[1.0], [-2.0]]), [2, 1], 1.0)
    >>> assign(np.array([[[1.0], [-2.0], [0.9]]]), clusters).tolist()
    [[0, 2, 1]]
    """
    n, k, _ = diagonals.shape
    costs = np.square(diagonals[:, :, None] - clusters.centers).sum(axis=3)
    labels = costs.argmin(axis=2)
    wanted = np.repeat(np.arange(len(clusters.dims)), clusters.dims)
    for i in np.flatnonzero((np.sort(labels, axis=1) != wanted).any(axis=1)):
        rows, columns = linear_sum_assignment(costs[i][:, wanted])
        labels[i, rows] = wanted[columns]
    return np.argsort(labels, axis=1, kind="stable")
