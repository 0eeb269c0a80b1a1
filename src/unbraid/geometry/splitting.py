"""Tangent spaces split into those of the submanifolds: at the points of a fit, and at new ones."""

from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans

from unbraid.geometry.eigen import lowest_fields
from unbraid.geometry.graph import Graph
from unbraid.geometry.operator import transports, unpack
from unbraid.geometry.reading import Reading, flat, read_spectrum
from unbraid.manifold.diagonalize import ffdiag, joint_diagonals

SAMPLE = 500  # points whose axes are clustered
COMMUTING = 0.15
ALIKE = 0.5  # cosine of the diagonals of two axes of one submanifold, in the paper


@dataclass(frozen=True)
class Split:
    """The reading of the spectrum, axes (n, k, k) of each tangent space, and how many belong to each submanifold."""

    spectrum: np.ndarray
    reading: Reading
    axes: np.ndarray
    dims: list[int]


def split(
    Z: np.ndarray,
    frames: np.ndarray,
    graph: Graph,
    scale: float,
    gap: float | str,
    tol: float,
    rng: np.random.Generator,
    threads: int,
    as_paper: bool = False,
) -> Split:
    """Read the spectrum of the connection Laplacian, and sort the axes of its fields into submanifolds.

    ``as_paper`` takes the unnormalised Laplacian, FFDIAG and clusters of cosines in place of the normalised one, Jacobi
    rotations and k-means over all points.
    """
    n, _, k = frames.shape
    undivided = np.broadcast_to(np.eye(k), (n, k, k)), [k]
    if k == 1:
        return Split(np.zeros(0), Reading(1, np.inf), *undivided)
    at_most = min(2 * k + 2, n // 7)
    solved = lowest_fields(Z, frames, graph, at_most, tol=tol, rng=rng, threads=threads, normalised=not as_paper)
    reading = read_spectrum(solved.values, scale, k, gap)
    if reading.n_submanifolds == 1:
        return Split(solved.values, reading, *undivided)
    fields = solved.fields[:, :, : reading.n_submanifolds - 1]
    if as_paper:
        axes, diagonals, _ = ffdiag(unpack(fields, k).transpose(0, 3, 1, 2) * np.sqrt(n))
        smoothed, centers, dims = cosine_clusters(diagonals)
        order = assign(smoothed, centers, dims)
        reading = replace(reading, n_submanifolds=len(dims))
        return Split(solved.values, reading, np.take_along_axis(axes, order[:, None], axis=2), dims)
    fields = fields * np.sqrt(n / graph.degrees)[:, None, None]
    axes, diagonals, left = joint_diagonals(unpack(fields, k).transpose(0, 3, 1, 2), threads=threads)
    if left > COMMUTING:
        return Split(solved.values, Reading(1, reading.ratio, flat(reading.n_submanifolds - 1, k)), *undivided)
    centers, dims = find_clusters(diagonals, reading.n_submanifolds, rng)
    if min(dims) == 0:
        reason = (
            f"undetermined: the spectrum has a gap after {reading.n_submanifolds - 1} eigenvalues, but their "
            "fields do not split the tangent spaces the same way everywhere. The points are too few or too noisy."
        )
        return Split(solved.values, Reading(1, reading.ratio, reason), *undivided)
    order = assign(diagonals, centers, dims)
    return Split(solved.values, reading, np.take_along_axis(axes, order[:, None], axis=2), dims)


def carried_axes(
    frames: np.ndarray, adapted: np.ndarray, near: np.ndarray, dims: list[int], threads: int
) -> np.ndarray:
    """Axes (n, k, k) at new points with these frames, from the split frames ``adapted`` of their neighbours.

    Each neighbour's projections are carried over by parallel transport; their mean is diagonalised.
    """
    n, m = near.shape
    star = Graph(np.arange(n + 1) * m, near.ravel().astype(np.int32))
    k = frames.shape[2]
    carried = transports(frames, star, np.ascontiguousarray(adapted), threads=threads).reshape(n, m, k, k)
    parts = np.split(carried, np.cumsum(dims)[:-1], axis=-1)
    projections = [np.einsum("nmab,nmcb->nac", part, part) / m for part in parts]
    axes, diagonals, _ = joint_diagonals(np.stack(projections, axis=1))
    order = assign(diagonals, np.eye(len(dims)), dims)
    return np.take_along_axis(axes, order[:, None], axis=2)


def find_clusters(diagonals: np.ndarray, m: int, rng: np.random.Generator) -> tuple[np.ndarray, list[int]]:
    """The values (m, r) that the fields take on each submanifold, and its dimension.

    The axes of all points are clustered together: parallel fields have the same eigenvalues everywhere.

    >>> diagonals = np.tile([[1.0], [1.1], [-2.0]], (50, 1, 1))
    >>> find_clusters(diagonals, 2, np.random.default_rng(0))[1]
    [2, 1]
    """
    n, k, r = diagonals.shape
    sample = diagonals[rng.permutation(n)[:SAMPLE]]
    means = KMeans(m, n_init=4, random_state=int(rng.integers(2**31))).fit(sample.reshape(-1, r))
    counts = np.stack([(means.labels_.reshape(-1, k) == j).sum(axis=1) for j in range(m)], axis=1)
    kinds, often = np.unique(counts, axis=0, return_counts=True)
    dims = kinds[often.argmax()]
    order = np.argsort(-dims, kind="stable")
    return means.cluster_centers_[order], dims[order].tolist()


def cosine_clusters(diagonals: np.ndarray) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """The paper's clusters at each point: axes whose diagonals have a cosine above .5, and those linked by such axes.

    Returns the diagonals (n, k, r) with those of a cluster replaced by their mean, and the values (m, r) and dimensions
    of the submanifolds at the first point that has the most common dimensions. The paper lets points differ in these;
    here those that do are made to fit.

    >>> diagonals = np.array([[[1.0], [-2.0], [1.1]]] * 9 + [[[1.0], [2.0], [3.0]]])
    >>> smoothed, centers, dims = cosine_clusters(diagonals)
    >>> smoothed[0].ravel().round(2).tolist(), centers.ravel().round(2).tolist(), dims
    ([1.05, -2.0, 1.05], [1.05, -2.0], [2, 1])
    """
    k = diagonals.shape[1]
    unit = diagonals / np.maximum(np.linalg.norm(diagonals, axis=2, keepdims=True), 1e-300)
    linked = unit @ unit.swapaxes(1, 2) > ALIKE
    linked |= np.eye(k, dtype=bool)
    for _ in range(int(np.ceil(np.log2(k)))):
        linked = (linked.astype(np.float32) @ linked.astype(np.float32)) > 0
    sizes = linked.sum(axis=2)
    smoothed = linked @ diagonals / sizes[:, :, None]
    kinds, kind, often = np.unique(np.sort(sizes, axis=1), axis=0, return_inverse=True, return_counts=True)
    usual = int(np.flatnonzero(kind.ravel() == often.argmax())[0])
    firsts = np.unique(linked[usual].argmax(axis=1))  # the first axis of each cluster
    firsts = firsts[np.argsort(-sizes[usual, firsts], kind="stable")]
    return smoothed, smoothed[usual, firsts], sizes[usual, firsts].tolist()


def assign(diagonals: np.ndarray, centers: np.ndarray, dims: list[int]) -> np.ndarray:
    """Order of the axes at each point that puts those of each submanifold together, (n, k).

    >>> assign(np.array([[[1.0], [-2.0], [0.9]]]), np.array([[1.0], [-2.0]]), [2, 1]).tolist()
    [[0, 2, 1]]
    """
    costs = np.square(diagonals[:, :, None] - centers).sum(axis=3)
    labels = costs.argmin(axis=2)
    wanted = np.repeat(np.arange(len(dims)), dims)
    for i in np.flatnonzero((np.sort(labels, axis=1) != wanted).any(axis=1)):
        rows, columns = linear_sum_assignment(costs[i][:, wanted])
        labels[i, rows] = wanted[columns]
    return np.argsort(labels, axis=1, kind="stable")
