"""PCA first: distances and tangents of a manifold of images lie in few directions, whatever the number of pixels."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unbraid.manifold.columns import cell_marks, column_scale
from unbraid.manifold.neighbors import Floats, distinct_rows, nearest
from unbraid.manifold.spectra import NoiseFloor, noise_floor
from unbraid.manifold.surroundings import strays

if TYPE_CHECKING:  # the dimension is estimated in these components; a screen is made only where something is wrong
    from unbraid.manifold.dimension import DimensionEstimate
    from unbraid.manifold.screening import Screen


SAMPLE_BYTES = 128 * 2**20
SMALLEST = 1e-280  # sum of squares, below which float64 loses digits
SPREADS = 1e-50, 1e50  # of data whose fourth powers fit into float64
DIGITS = 1e-3  # of the spread: what rounding may cost
LARGEST_SIDE = 1200  # a full eigen-decomposition of this size takes a few tenths of a second
MAX_COMPONENTS = 64
WIDE_ROWS = 1000
FAINTEST = 0.1  # of the usual contrast of pictures
FINEST = 0.002  # share of the variance left out by the PCA in which distances are measured
RESIDUALS = (0.2, 0.1, 0.03, 0.01)  # shares of the variance that a candidate size may leave out
FLAT, STEP = 2.5, 4.0  # a tail of noise: its spread, and the step before it, as ratios of eigenvalues
NOISE = 0.5  # of the squared distance of random points: neighbours further apart than this differ by noise
SCREENED_ROWS, SCREENED_COMPONENTS = 5000, 15  # in which strays are looked for
REPEATED, REPEATED_SHARE = 10, 0.01  # times the usual number of copies of a row, and share of all rows
FAR = 1e4  # times the upper quartile of the distances from the middle: so far that nothing else can be seen


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
        Components above the noise floor (:func:`~unbraid.manifold.spectra.noise_floor`); all if the
        spectrum has no floor.
    noise, edge : float
        Variance of the noise per feature, and what a principal component of noise can reach; 0 without a floor.
    left_out : float or None
        Variance of the first component that was left out; None if there is no further one.
    scale : array (n_features,) or None
        What columns in other units are multiplied by, 0 where one is left out; the components include it.
    """

    mean: NDArray
    components: NDArray
    variances: Floats
    residuals: Floats
    noise_size: int
    noise: float = 0.0
    edge: float = 0.0
    left_out: float | None = None
    scale: NDArray | None = None

    @property
    def within(self) -> NDArray:
        """The components for columns that have been multiplied by the scale: orthonormal."""
        return self.components if self.scale is None else self.components * _inverse(self.scale)

    @property
    def decoding(self) -> NDArray:
        """What maps coordinates back to rows: the components, in the units of the columns."""
        return self.components if self.scale is None else self.components * _inverse(self.scale) ** 2

    @property
    def floor(self) -> NoiseFloor:
        """The noise under the spectrum."""
        return NoiseFloor(self.noise, self.edge, self.noise_size)

    def __call__(self, block: NDArray) -> Floats:
        """Coordinates (n, m) of rows."""
        return np.asarray(block @ self.components.T - self.mean @ self.components.T, dtype=np.float64)

    def inverse(self, P: Floats) -> NDArray:
        """Rows whose first coordinates are P, the others at their mean."""
        return P.astype(self.components.dtype) @ self.decoding[: P.shape[1]] + self.mean

    def truncated(self, size: int) -> "Reduction":
        """The same with its first ``size`` components only."""
        parts = (self.components[:size], self.variances[:size], self.residuals[:size])
        left_out = float(self.variances[size]) if size < len(self.variances) else self.left_out
        return Reduction(self.mean, *parts, min(size, self.noise_size), self.noise, self.edge, left_out, self.scale)

    def size_for(self, residual: float) -> int:
        """Smallest number of components that leaves out at most this share of the variance, or the noise size."""
        enough = np.flatnonzero(self.residuals <= residual)
        size = int(enough[0]) + 1 if len(enough) else len(self.variances)
        return max(1, min(size, self.noise_size))


def _inverse(scale: NDArray) -> NDArray:
    return np.divide(1, scale, out=np.zeros_like(scale), where=scale > 0)


@dataclass(frozen=True)
class Look:
    """What is computed from the data before a fit, so that it is computed only once.

    Attributes
    ----------
    reduction : Reduction
    points : array (m, components)
        Rows in principal components.
    n : int
        Rows of the data; of more than m, the points are a random sample.
    structured : bool
        Result of :func:`~unbraid.manifold.spectra.has_structure` on them.
    rows : array (m,) of int, or None
        Their numbers; None if they are all n in order, or were drawn in one pass through the data.
    dimension : DimensionEstimate or None
        Of the points, if it has been estimated.
    screen : Screen or None
        What was found wrong with the data, if anything.
    n_odd : int
        Rows that were examined and are not among the points, as they do not belong to the rest.
    wide : array (at most 1000, all components)
        Some of the rows in all principal components, also after :meth:`truncated`.
    """

    reduction: Reduction
    points: Floats
    n: int
    structured: bool
    rows: NDArray[np.intp] | None = None
    dimension: "DimensionEstimate | None" = None
    screen: "Screen | None" = None
    n_odd: int = 0
    wide: Floats = field(default_factory=lambda: np.empty((0, 0)))

    @property
    def complete(self) -> bool:
        """Whether the points are all rows that belong together."""
        return len(self.points) + self.n_odd == self.n

    def truncated(self, size: int) -> "Look":
        """The same in its first ``size`` components only."""
        screen = self.screen and self.screen.truncated(size)
        return replace(self, reduction=self.reduction.truncated(size), points=self.points[:, :size], screen=screen)


class Reduced(NamedTuple):
    """A PCA, the centred rows that it was fitted to, which of the given rows these are, and what was wrong.

    ``kept`` and ``screen`` are None if nothing is wrong.
    """

    reduction: Reduction
    sample: NDArray
    kept: NDArray[np.bool_] | None = None
    screen: "Screen | None" = None


def reduce_rows(
    sample: NDArray, *, n_components: int | None, table: bool, rows: bool = True, units: bool = True
) -> Reduced:
    """PCA of the rows that belong together, after columns in other units and cells without a value are filled.

    Parameters
    ----------
    sample : array (n, n_features)
        Overwritten.
    n_components : int or None
    table : bool
        Whether columns may have units of their own, and zeros mean something: not in pictures.
    rows, units : bool
        Whether rows and cells, and whether units, are looked at.

    Returns
    -------
    Reduced
    """
    scale = column_scale(sample) if table and units else None
    marks = cell_marks(sample, scale) if table and rows else None
    if scale is None and marks is None:
        raw = sample.copy() if table else None  # far strays take away the digits of what is centred
        reduction = fit_reduction(sample, n_components=n_components)
        if not rows or not odd_rows(places(sample[screened_rows(len(sample))], reduction)).any():
            return Reduced(reduction, sample)
        sample = sample + reduction.mean if raw is None else raw
    from unbraid.manifold.screening import screened

    return screened(sample, scale, marks, n_components=n_components, rows=rows)


def screened_rows(n: int) -> NDArray[np.intp] | slice:
    """The rows among which strays are looked for: all, or 5000 at random."""
    return slice(None) if n <= SCREENED_ROWS else np.sort(np.random.default_rng(0).permutation(n)[:SCREENED_ROWS])


def places(centred: NDArray, reduction: Reduction) -> Floats:
    """The first coordinates of centred rows, and their distance from the space that these span: (n, at most 16)."""
    P = np.asarray(centred @ reduction.components[:SCREENED_COMPONENTS].T, dtype=np.float64)
    scaled = centred if reduction.scale is None else centred * reduction.scale
    squares = np.einsum("ij,ij->i", scaled, scaled, dtype=np.float64)
    return np.column_stack([P, np.sqrt(np.maximum(squares - np.square(P).sum(axis=1), 0.0))])


def odd_rows(at: Floats) -> NDArray[np.bool_]:
    """Which places are strays or, if there are none, hold far more copies of one row than others do.

    >>> line = np.linspace(0, 1, 100)[:, None]
    >>> np.flatnonzero(odd_rows(np.concatenate([line, [[0.5001]], line[:1], np.full((20, 1), 0.7)])))[[0, -1]]
    array([102, 121])
    """
    radius = np.linalg.norm(at - np.median(at, axis=0), axis=1)
    far = radius > FAR * max(float(np.quantile(radius, 0.75)), FAR * 1e-9 * float(radius.max()))
    if far.any():
        return far
    first, index = distinct_rows(at)
    off = strays(at[first])
    if not off.any():
        copies = np.bincount(index)
        off = copies >= max(REPEATED * max(1.0, float(np.median(copies))), REPEATED_SHARE * len(at))
    return off[index]


def evening_of(reduction: Reduction) -> Callable[[Floats], Floats]:
    """A function from coordinates of pictures to those of pictures of one brightness and one contrast.

    Every picture less its mean, over its standard deviation; none is brought up from less than ``FAINTEST`` of the
    usual contrast. Lengths stay about as they were. The result is in principal components again, as many as before.
    """
    rows = np.concatenate([reduction.mean[None], reduction.components]).astype(np.float64)
    rows -= rows.mean(axis=1, keepdims=True)
    basis = np.linalg.qr(rows.T)[1].T  # lower triangular, so fewer coordinates need fewer rows

    def evened(P: Floats) -> Floats:
        size = P.shape[1] + 1
        flat = np.column_stack([np.ones(len(P)), P]) @ basis[:size, :size]
        contrast = np.linalg.norm(flat, axis=1)
        usual = float(np.median(contrast))
        flat *= (usual / np.maximum(contrast, max(FAINTEST * usual, 1e-300)))[:, None]
        flat -= flat.mean(axis=0)
        values, axes = np.linalg.eigh(flat.T @ flat)
        return np.ascontiguousarray(flat @ axes[:, ::-1][:, : P.shape[1]])

    return evened


def wide_rows(sample: NDArray, reduction: Reduction) -> Floats:
    """At most 1000 of some centred rows, evenly spaced, in all principal components."""
    return np.asarray(sample[:: -(-len(sample) // WIDE_ROWS)] @ reduction.within.T, dtype=np.float64)


def affordable_rows(n_features: int, itemsize: int, most: int) -> int:
    """Rows for a PCA: 128 MB of them, and at most as many as keep one side of the matrix at 1200; at least 300."""
    rows = max(300, SAMPLE_BYTES // (n_features * itemsize))
    return min(most, rows if n_features <= LARGEST_SIDE else min(rows, LARGEST_SIDE))


def check_spread(X: NDArray) -> None:
    """Refuse rows that differ by too little or too much, or by less than float64 can tell beside a large offset."""
    apart = float(np.abs(X - X[0]).max())
    if not SPREADS[0] <= apart <= SPREADS[1]:
        raise ValueError(
            f"the rows of X differ by {apart:.3g} at most, and the powers of such numbers do not fit into float64. "
            "Rescale X, for instance X / np.abs(X).max()."
        )
    offset = float(np.abs(X[0]).max())
    if np.finfo(np.float64).eps * offset > DIGITS * apart:
        raise ValueError(
            f"X is about {offset:.3g}, its rows differ by {apart:.3g} at most, and float64 lacks the digits for both. "
            "Subtract the mean before the numbers become floats; of dates, subtract the first."
        )


def fit_reduction(sample: NDArray, *, n_components: int | None) -> Reduction:
    """PCA of the given rows, which are centred in place; the noise floor is estimated unless the size is given."""
    n, p = sample.shape
    mean = sample.mean(axis=0, dtype=np.float64).astype(sample.dtype)
    sample -= mean
    total = float(np.einsum("ij,ij->", sample, sample, dtype=np.float64))
    if total < SMALLEST and sample.any():
        raise ValueError(
            f"the rows of X differ by {np.abs(sample).max():.3g} at most, and the squares of such numbers do not fit "
            "into float64. Rescale X, for instance X / np.abs(X).max()."
        )
    if total <= 0 or not np.isfinite(total):
        raise ValueError(
            f"all {n} rows of X are equal: there is no variation to explain. Check that these are the right data."
        )
    most = min(len(sample) - 1, p, n_components or MAX_COMPONENTS)
    values, components, spectrum = _principal(sample, max(1, most))
    residuals = np.clip(1 - np.cumsum(values) / total, 0.0, 1.0)
    keep = values > 1e-12 * values[0]
    kept = int(keep.sum())
    floor = noise_floor(spectrum, n, p) if n_components is None else NoiseFloor(0.0, 0.0, kept)
    beyond = float(spectrum[kept]) / n if kept < min(n - 1, p) else None
    size = max(1, min(floor.size, kept))
    parts = (components[keep], values[keep] / n, residuals[keep])
    return Reduction(mean, *parts, size, floor.variance, floor.edge, beyond)


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


def inverse_root(covariance: Floats, floor: float = 0.0) -> Floats:
    """The symmetric inverse square root: what it maps has unit covariance. Variances are at least ``floor``.

    >>> inverse_root(np.array([[4.0, 0.0], [0.0, 0.25]])).tolist()
    [[0.5, 0.0], [0.0, 2.0]]
    """
    values, vectors = np.linalg.eigh(covariance)
    return (vectors / np.sqrt(np.maximum(values, floor))) @ vectors.T


def spanning_basis(Z: NDArray) -> tuple[NDArray, int]:
    r"""Orthonormal columns that span the centred rows of ``Z``, and how many directions of noise were left out.

    A direction is noise if it belongs to a flat tail of the covariance's spectrum and neighbours differ along it about
    as much as random points do: :math:`E(z_i - z_{nn(i)})^2 \ge 0.5 \cdot 2\,\mathrm{var}(z)`. On a manifold they
    do not.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> t = rng.uniform(0, 6, 500)
    >>> Z = np.hstack([np.c_[np.cos(t), np.sin(t)], 0.05 * rng.normal(size=(500, 30))])
    >>> basis, noise = spanning_basis(Z - Z.mean(axis=0))
    >>> basis.shape, noise
    ((32, 2), 30)
    """
    values, basis = _eigenbasis(Z)
    tail = _flat_tail(values)
    if tail == 0:
        return basis, 0
    coordinates = Z @ basis
    rest = coordinates[:, -tail:]
    some = np.random.default_rng(0).permutation(len(Z))[:500]
    _, near = nearest(coordinates, 1, some)
    differences = np.square(rest[some] - rest[near[:, 0]]).mean()
    if differences < NOISE * 2 * rest.var(axis=0).mean():
        return basis, 0
    return basis[:, : len(values) - tail], tail


def _eigenbasis(Z: NDArray) -> tuple[NDArray, NDArray]:
    """Eigenvalues, largest first, and eigenvectors of the covariance, without its null space."""
    if Z.shape[1] <= len(Z):
        values, basis = np.linalg.eigh(Z.T @ Z / len(Z))
        values, basis = values[::-1], basis[:, ::-1]
    else:
        _, singular, rows = np.linalg.svd(Z, full_matrices=False)
        values, basis = np.square(singular) / len(Z), rows.T
    kept = values > 1e-12 * values[0]
    return values[kept], np.ascontiguousarray(basis[:, kept])


def _flat_tail(values: NDArray) -> int:
    """Length of the longest tail of near-equal eigenvalues behind a step, three at least; 0 without one."""
    for start in range(1, len(values) - 2):
        if values[start] <= FLAT * values[-1] and values[start - 1] >= STEP * values[start]:
            return len(values) - start
    return 0
