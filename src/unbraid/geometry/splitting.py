"""Tangent spaces split into those of the submanifolds: at the points of a fit, and at new ones."""

from dataclasses import dataclass

import numpy as np

from unbraid.geometry.diagonalize import Clusters, assign, find_clusters
from unbraid.geometry.eigen import lowest_fields
from unbraid.geometry.graph import Graph
from unbraid.geometry.operator import transports, unpack
from unbraid.geometry.reading import Reading, flat, read_spectrum
from unbraid.manifold.diagonalize import joint_diagonals

COMMUTING = 0.15


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
) -> Split:
    """Read the spectrum of the connection Laplacian, and sort the axes of its fields into submanifolds."""
    n, _, k = frames.shape
    undivided = np.broadcast_to(np.eye(k), (n, k, k)), [k]
    if k == 1:
        return Split(np.zeros(0), Reading(1, np.inf), *undivided)
    solved = lowest_fields(Z, frames, graph, min(2 * k + 2, n // 7), tol=tol, rng=rng, threads=threads)
    reading = read_spectrum(solved.values, scale, k, gap)
    if reading.n_submanifolds == 1:
        return Split(solved.values, reading, *undivided)
    fields = solved.fields[:, :, : reading.n_submanifolds - 1] * np.sqrt(n / graph.degrees)[:, None, None]
    axes, diagonals, left = joint_diagonals(unpack(fields, k).transpose(0, 3, 1, 2), threads=threads)
    if left > COMMUTING:
        return Split(solved.values, Reading(1, reading.ratio, flat(reading.n_submanifolds - 1, k)), *undivided)
    clusters = find_clusters(diagonals, reading.n_submanifolds, rng)
    if min(clusters.dims) == 0:
        reason = (
            f"undetermined: the spectrum has a gap after {reading.n_submanifolds - 1} eigenvalues, but their "
            "fields do not split the tangent spaces the same way everywhere. The points are too few or too noisy."
        )
        return Split(solved.values, Reading(1, reading.ratio, reason), *undivided)
    order = assign(diagonals, clusters)
    return Split(solved.values, reading, np.take_along_axis(axes, order[:, None], axis=2), clusters.dims)


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
    order = assign(diagonals, Clusters(np.eye(len(dims)), dims, 1.0))
    return np.take_along_axis(axes, order[:, None], axis=2)
