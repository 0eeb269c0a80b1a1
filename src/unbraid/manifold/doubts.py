"""Why a gap in local spectra may mislead: groups, hollow neighbourhoods, and factors shorter than the scale."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

GROUPED = 1.5  # ratio of successive neighbour distances that a connected sample does not show
HOLLOW = 0.25  # variance of the squared whitened radius per axis: .8 in a cube, 2 of a Gaussian, 0 on a sphere
RESIDUE = 1.9  # times the noise variance
FEW = 64  # points whose neighbourhoods are fitted


def doubt_of(P: Floats, distances: Floats, k: int, dim: int, noise: float) -> str:
    """What speaks against a gap after ``dim`` among k neighbours; empty when nothing does.

    Parameters
    ----------
    P : array (n, components)
    distances : array (some, n)
        From some points to all.
    k, dim : int
    noise : float
        Variance of the noise per component.
    """
    if _grouped(distances, k):
        return "the points lie in separate groups, and the gap may be that between groups and their members"
    few = distances[:FEW]
    near = np.argpartition(few, k - 1, axis=1)[:, :k] if k < len(P) else np.arange(k)[None]
    neighborhoods = P[near] - P[near].mean(axis=1, keepdims=True)
    if k > len(P) / 4 and _hollow(neighborhoods, dim):
        return f"only neighbourhoods of {k} points show a gap, and they are hollow, as a closed surface seen whole"
    if noise > 0 and _residue(neighborhoods, dim) > RESIDUE * noise:
        return "more than noise is left beyond the gap: there may be further factors, shorter than the scale"
    return ""


def _grouped(distances: Floats, k: int) -> bool:
    """Whether neighbour distances jump, from the 8th to the 2k-th."""
    last = min(2 * k, distances.shape[1] - 1)
    if last < 10:
        return False
    rising = np.sort(np.partition(distances, last, axis=1)[:, : last + 1], axis=1)[:, 8:]
    jumps = (rising[:, 1:] / np.maximum(rising[:, :-1], 1e-300)).max(axis=1)
    return bool(np.median(jumps) > GROUPED)


def _hollow(neighborhoods: Floats, dim: int) -> bool:
    """Whether the squared radius hardly varies, in the plane of the gap and whitened there."""
    U = np.linalg.svd(neighborhoods, full_matrices=False)[0][:, :, :dim]
    k = U.shape[1]
    squared = k * (U**2).sum(axis=2) / dim
    misses = (squared - 1) ** 2 * dim
    return bool(np.median(misses.mean(axis=1) - 2 * misses.std(axis=1) / np.sqrt(k)) < HOLLOW)


def _residue(neighborhoods: Floats, dim: int) -> float:
    """Mean variance per component that a quadratic function of the leading coordinates leaves beyond them."""
    count, k, size = neighborhoods.shape
    a, b = np.triu_indices(dim)
    unknowns = 1 + dim + len(a)
    if size <= dim or k < 2 * unknowns:
        return 0.0
    U = np.linalg.svd(neighborhoods, full_matrices=False)[0][:, :, :dim] * np.sqrt(k)
    design = np.concatenate([np.ones((count, k, 1)), U, U[:, :, a] * U[:, :, b]], axis=2)
    Q = np.linalg.qr(design)[0]
    left = neighborhoods - Q @ (Q.transpose(0, 2, 1) @ neighborhoods)
    return float((left**2).sum(axis=(1, 2)).mean() / ((k - unknowns) * (size - dim)))
