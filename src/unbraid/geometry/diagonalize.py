"""The sorting of each point's axes into submanifolds."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans

SAMPLE = 500


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
