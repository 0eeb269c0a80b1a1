"""PCA first: distances and tangents of a manifold of images live in few directions, whatever the number of pixels."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

SAMPLE_BYTES = 128 * 2**20
LARGEST_SIDE = 1200  # a full eigen-decomposition of this size takes a few tenths of a second
MAX_COMPONENTS = 64
RESIDUALS = (0.2, 0.1, 0.03, 0.01)  # shares of the variance that a candidate size may leave out


@dataclass(frozen=True)
class Reduction:
    """Principal components of a sample of the rows.

    Attributes
    ----------
    mean : array (n_features,)
    components : array (m, n_features)
    variances : array (m,)
    residuals : array (m,)
        Share of the variance left out by the first 1, 2, ... components.
    noise_size : int
        Components that stand above the noise floor (the Marchenko-Pastur edge at the median eigenvalue); all where
        the spectrum has no floor.
    """

    mean: NDArray
    components: NDArray
    variances: Floats
    residuals: Floats
    noise_size: int

    def __call__(self, block: NDArray) -> Floats:
        """Coordinates (n, m) of rows."""
        return np.asarray(block @ self.components.T - self.mean @ self.components.T, dtype=np.float64)

    def inverse(self, P: Floats) -> NDArray:
        """Rows whose first coordinates are P, the others at their mean."""
        return P.astype(self.components.dtype) @ self.components[: P.shape[1]] + self.mean

    def truncated(self, size: int) -> "Reduction":
        """The same with its first ``size`` components only."""
        parts = (self.components[:size], self.variances[:size], self.residuals[:size])
        return Reduction(self.mean, *parts, min(size, self.noise_size))

    def size_for(self, residual: float) -> int:
        """Smallest number of components that leaves out at most this share of the variance, or the noise size."""
        enough = np.flatnonzero(self.residuals <= residual)
        size = int(enough[0]) + 1 if len(enough) else len(self.variances)
        return max(1, min(size, self.noise_size))


def affordable_rows(n_features: int, itemsize: int, most: int) -> int:
    """Rows for a PCA: 128 MB of them, and at most as many as keep one side of the matrix at 1200; at least 300."""
    rows = max(300, SAMPLE_BYTES // (n_features * itemsize))
    return min(most, rows if n_features <= LARGEST_SIDE else min(rows, LARGEST_SIDE))


def fit_reduction(sample: NDArray, *, n_components: int | None) -> Reduction:
    """PCA of the given rows, which are centred in place; the noise floor is looked for unless the size is given."""
    n, p = sample.shape
    mean = sample.mean(axis=0, dtype=np.float64).astype(sample.dtype)
    sample -= mean
    total = float(np.einsum("ij,ij->", sample, sample, dtype=np.float64))
    if total <= 0 or not np.isfinite(total):
        raise ValueError(
            f"all {n} rows of X are equal: there is no variation to explain. Check that the right data were given."
        )
    most = min(len(sample) - 1, p, n_components or MAX_COMPONENTS)
    values, components, spectrum = _principal(sample, max(1, most))
    residuals = np.clip(1 - np.cumsum(values) / total, 0.0, 1.0)
    keep = values > 1e-12 * values[0]
    noise_size = _above_noise(spectrum, len(sample), p) if n_components is None else int(keep.sum())
    return Reduction(
        mean, components[keep], values[keep] / len(sample), residuals[keep], max(1, min(noise_size, int(keep.sum())))
    )


def _principal(sample: NDArray, most: int) -> tuple[Floats, NDArray, Floats]:
    """Leading eigenvalues of the scatter matrix, their unit vectors, and every eigenvalue that was computed."""
    n, p = sample.shape
    small = sample @ sample.T if n < p else sample.T @ sample
    values, vectors = np.linalg.eigh(small.astype(np.float64))
    values, vectors = np.maximum(values[::-1], 0), vectors[:, ::-1][:, :most]
    if n < p:
        lengths = np.sqrt(np.maximum(values[:most], 1e-12 * values[0]))
        components = (sample.T @ (vectors / lengths).astype(sample.dtype)).T
    else:
        components = vectors.T.astype(sample.dtype)
    # A fixed sign: the largest entry of each component is positive.
    signs = np.sign(components[np.arange(len(components)), np.abs(components).argmax(axis=1)])
    return values[:most], components * np.where(signs == 0, 1, signs)[:, None].astype(components.dtype), values


def _above_noise(spectrum: Floats, n: int, p: int) -> int:
    """Eigenvalues above the upper Marchenko-Pastur edge of white noise whose median eigenvalue is the observed one."""
    if len(spectrum) < min(n, p) or len(spectrum) < 10:
        return len(spectrum)  # the tail was not computed, or is too short to speak of a floor
    ratio = min(n, p) / max(n, p)
    low, high = (1 - ratio**0.5) ** 2, (1 + ratio**0.5) ** 2
    grid = np.linspace(low, high, 2001)[1:-1]
    density = np.sqrt((high - grid) * (grid - low)) / grid
    median = grid[np.searchsorted(np.cumsum(density), density.sum() / 2)]
    floor = float(np.median(spectrum)) / median
    return max(1, int(np.sum(spectrum > 1.02 * high * floor)))
