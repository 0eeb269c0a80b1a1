"""What sampling does to the spectrum of a flat neighbourhood: the yardstick of local gaps."""

from functools import cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

DRAWS = 64
LARGEST_DRAW = 96  # beyond it log ratios shrink with the root of the number of points


@cache
def flat_ratios(k: int, dim: int) -> tuple[float, float]:
    """Of k points in a flat ball of ``dim``: mean ratio of the last two eigenvalues, and of the last to the first.

    Geometric means over samples; (1, 1) for one dimension.

    >>> before_last, last = flat_ratios(96, 3)
    >>> before_last > 1 > last > 0.5
    True
    """
    if dim == 1:
        return 1.0, 1.0
    m = min(k, LARGEST_DRAW)
    rng = np.random.RandomState(1000 * m + dim)
    points = rng.standard_normal((DRAWS, m, dim))
    points *= rng.uniform(size=(DRAWS, m, 1)) ** (1 / dim) / np.linalg.norm(points, axis=2, keepdims=True)
    logs = np.log(np.maximum(local_spectra(points), 1e-12))
    shrunk = np.sqrt(m / k)
    ratios = np.exp(shrunk * np.array([logs[:, -2] - logs[:, -1], logs[:, -1] - logs[:, 0]]).mean(axis=1))
    return float(ratios[0]), float(ratios[1])


def local_spectra(neighborhoods: Floats) -> Floats:
    """Descending eigenvalues (n, features) of the covariance of each neighbourhood (n, k, features)."""
    centred = neighborhoods - neighborhoods.mean(axis=1, keepdims=True)
    covariances = centred.transpose(0, 2, 1) @ centred / (neighborhoods.shape[1] - 1)
    return np.linalg.eigvalsh(covariances)[:, ::-1]
