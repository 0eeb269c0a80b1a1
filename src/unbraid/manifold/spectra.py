"""Spectra of noise and of neighbourhoods: the noise floor, data that are only noise, and misleading gaps."""

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from unbraid.manifold.neighbors import Floats
from unbraid.trust.table import FIGURES

FEWEST_FEATURES = 15  # with fewer the median eigenvalue need not belong to the noise
MARGIN, TRACY_WIDOM = 1.01, 3.3  # over the edge, and its scales beyond (noise goes further once in a thousand)
NOT_WHITE = 1.5  # times the ratio of the quartiles that white noise has
PERMUTATIONS, NEAR, FAR = 19, 10, 20.0
ROWS, COLUMNS = 1000, 200
DRAWS = 64
LARGEST_DRAW = 96  # beyond it log ratios shrink with the root of the number of points
DISTANCE_JUMP = 1.5  # ratio of successive neighbour distances that a connected sample does not show
HOLLOW_VARIANCE = 0.25  # variance of the squared whitened radius per axis: .8 in a cube, 2 of a Gaussian, 0 on a sphere
EXCESS_RESIDUE = 1.9  # times the noise variance
FITTED = 64  # points whose neighbourhoods are fitted


@dataclass(frozen=True)
class NoiseFloor:
    """White noise under a spectrum.

    Attributes
    ----------
    variance : float
        Of the noise, per feature; 0 where there are too few features to tell.
    edge : float
        Variance that a principal component of noise alone can reach.
    size : int
        Principal components above the edge.
    """

    variance: float
    edge: float
    size: int


def noise_floor(scatter: Floats, n: int, p: int) -> NoiseFloor:
    """Of the descending eigenvalues of the scatter matrix of n centred rows with p features, all min(n, p) of them.

    The median eigenvalue over the median of the Marchenko-Pastur law is the variance of white noise; the eigenvalues
    above its edge are set aside as signal, and the rest is examined again.

    >>> import numpy as np
    >>> X = 0.1 * np.random.default_rng(0).normal(size=(2000, 50))
    >>> X[:, 0] += np.linspace(0, 1, 2000)
    >>> found = noise_floor(np.linalg.svd(X - X.mean(axis=0), compute_uv=False) ** 2, 2000, 50)
    >>> found.size, round(found.variance, 3)
    (1, 0.01)
    """
    positive = int(np.sum(scatter > 1e-12 * scatter[0]))
    if p < FEWEST_FEATURES or len(scatter) < min(n, p) or len(scatter) < 10:
        return NoiseFloor(0.0, 0.0, positive)
    size, variance, edge = 0, 0.0, 0.0
    for _ in range(10):
        rows, features = n - 1 - (size if n <= p else 0), p - (size if n > p else 0)
        rest = scatter[size : min(n - 1, p)]
        if len(rest) <= len(scatter) / 2:
            return NoiseFloor(0.0, 0.0, positive)  # the median belongs to the signal
        quartiles = _quartiles(rows, features)
        variance = float(np.median(rest) / quartiles[1])
        roots = rows**0.5 + features**0.5
        scale = roots * (rows**-0.5 + features**-0.5) ** (1 / 3)
        edge = variance * (MARGIN * roots**2 + TRACY_WIDOM * scale)
        above = int(np.sum(scatter > max(edge, 1e-12 * scatter[0])))
        if above <= size:
            break
        size = above
    low, high = np.quantile(rest, [0.25, 0.75])
    flat = high / max(low, 1e-300) <= NOT_WHITE * quartiles[2] / quartiles[0]
    if not flat or variance * n < 1e-10 * scatter[0]:
        return NoiseFloor(0.0, 0.0, positive)  # a spectrum that keeps falling is not that of white noise
    return NoiseFloor(variance, edge / n, size)


def _quartiles(n: int, p: int) -> Floats:
    """Quartiles of the Marchenko-Pastur law, for the scatter matrix of unit noise."""
    ratio = min(n, p) / max(n, p)
    low, high = (1 - ratio**0.5) ** 2, (1 + ratio**0.5) ** 2
    steps = np.linspace(0, 1, 2001)[1:-1]
    grid = low + (high - low) * steps**2  # finer where the density of a square matrix is infinite
    density = np.sqrt((high - grid) * (grid - low)) / grid * steps
    return max(n, p) * grid[np.searchsorted(np.cumsum(density) / density.sum(), [0.25, 0.5, 0.75])]


def has_structure(X: NDArray, random_state: np.random.RandomState) -> bool:
    """Whether the features depend on each other: :func:`structure` beyond four standard deviations."""
    return FIGURES["structure"].holds(structure(X, random_state))


def structure(X: NDArray, random_state: np.random.RandomState) -> float:
    """How far the features are from independent ones, in standard deviations of 19 copies with permuted features.

    It shows in the largest eigenvalue of the covariance, or else in the mean log distance to the tenth neighbour. Noise
    has about 1; values are capped at 20.

    Parameters
    ----------
    X : array (n, features)
        At most 1000 rows and 200 features, drawn at random, are used.
    random_state : RandomState

    Examples
    --------
    >>> noise = np.random.default_rng(0).normal(size=(300, 5))
    >>> structure(noise, np.random.RandomState(0)) < 4 < structure(noise @ noise[:5], np.random.RandomState(0))
    True
    """
    rows = random_state.permutation(len(X))[:ROWS]
    columns = random_state.permutation(X.shape[1])
    A = X if len(rows) == len(X) else X[rows]  # the order of the rows does not matter
    A = np.asarray(A[:, columns[np.ptp(A, axis=0)[columns] > 0][:COLUMNS]], dtype=np.float64)
    A = A - A.mean(axis=0)
    copies = [np.stack([random_state.permutation(a) for a in A.T], axis=1) for _ in range(PERMUTATIONS)]
    found = 0.0
    for figure in (_largest, _crowding):
        found = max(found, _z_score(figure(A), [figure(copy) for copy in copies]))
        if FIGURES["structure"].holds(found):
            break
    return min(found, FAR)


def _z_score(value: float, others: list[float]) -> float:
    spread = max(float(np.std(others, ddof=1)), 1e-9 * abs(float(np.mean(others))), 1e-300)
    return abs(value - float(np.mean(others))) / spread


def _largest(A: Floats) -> float:
    return float(np.linalg.eigvalsh(A.T @ A if A.shape[1] <= len(A) else A @ A.T)[-1])


def _crowding(A: Floats) -> float:
    near = min(NEAR, len(A) - 1)
    return float(np.log(np.maximum(np.partition(cdist(A, A), near, axis=1)[:, near], 1e-300)).mean())


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


def doubt_of(P: Floats, distances: Floats, k: int, dim: int, noise: float) -> str:
    """Why a gap after ``dim`` among k neighbours may mislead; empty if nothing suggests so.

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
        return "the points form separate groups, and the gap may be between groups rather than factors"
    few = distances[:FITTED]
    near = np.argpartition(few, k - 1, axis=1)[:, :k] if k < len(P) else np.arange(k)[None]
    neighborhoods = P[near] - P[near].mean(axis=1, keepdims=True)
    if k > len(P) / 4 and _hollow(neighborhoods, dim):
        return f"only neighbourhoods of {k} points show a gap, and they are hollow, like a whole closed surface"
    if noise > 0 and _residue(neighborhoods, dim) > EXCESS_RESIDUE * noise:
        return "more than noise remains beyond the gap: there may be further factors, shorter than the neighbourhoods"
    return ""


def _grouped(distances: Floats, k: int) -> bool:
    """Whether neighbour distances jump, from the 8th to the 2k-th."""
    last = min(2 * k, distances.shape[1] - 1)
    if last < 10:
        return False
    rising = np.sort(np.partition(distances, last, axis=1)[:, : last + 1], axis=1)[:, 8:]
    jumps = (rising[:, 1:] / np.maximum(rising[:, :-1], 1e-300)).max(axis=1)
    return bool(np.median(jumps) > DISTANCE_JUMP)


def _hollow(neighborhoods: Floats, dim: int) -> bool:
    """Whether the squared radius hardly varies, in the plane of the gap and whitened there."""
    U = np.linalg.svd(neighborhoods, full_matrices=False)[0][:, :, :dim]
    k = U.shape[1]
    squared = k * (U**2).sum(axis=2) / dim
    misses = (squared - 1) ** 2 * dim
    return bool(np.median(misses.mean(axis=1) - 2 * misses.std(axis=1) / np.sqrt(k)) < HOLLOW_VARIANCE)


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
