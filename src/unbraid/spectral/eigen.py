"""The d smallest non-trivial eigenvectors of a sparse positive semidefinite matrix with a known null vector."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.sparse as sp
import scipy.sparse.linalg as sla
from scipy.sparse.csgraph import reverse_cuthill_mckee

from unbraid.manifold.neighbors import Floats, nearest
from unbraid.spectral.alignment import Alignment
from unbraid.trust.warnings import warn

Matrix = Alignment | sp.csc_array
Solve = Callable[[Floats], Floats]
Prepared = tuple[Floats, float, Solve]  # null vector, scale of the matrix, solver

PREDICTED = 0.6  # share of an eigenvector's variance that others may predict; above it, it is a function of them
BAND_ENTRIES = 2.5e8  # two gigabytes
DENSE_POINTS = 12_000
MAX_ITER, TOLERANCE = 60, 1e-9


@dataclass(frozen=True)
class Spectrum:
    """Eigenvectors with their eigenvalues, and one eigenvalue beyond to see the gap.

    Attributes
    ----------
    vectors : array (n, d)
        Orthonormal, orthogonal to the null vector.
    values : array (d + 1,)
        Ascending; the last one belongs to the first vector left out.
    n_redundant : int
        Eigenvectors that were skipped because they are functions of earlier ones.
    """

    vectors: Floats
    values: Floats
    n_redundant: int = 0

    @property
    def participation(self) -> Floats:
        """Share of the points on which each vector is concentrated, (d,)."""
        return 1 / (len(self.vectors) * (self.vectors**4).sum(axis=0))

    @property
    def eigengap(self) -> float:
        """The first eigenvalue left out over the last one kept; infinite if none was left out."""
        if len(self.values) <= self.vectors.shape[1]:
            return float("inf")
        return float(self.values[-1] / max(self.values[-2], 1e-300))


def independent_eigenvectors(
    M: Matrix,
    n_vectors: int,
    *,
    null: Floats | None = None,
    random_state: np.random.RandomState | None = None,
) -> Spectrum:
    """The first eigenvectors that are not functions of earlier ones.

    On a long and thin manifold the second smallest eigenvalue belongs to a curve over the long factor, not to the short
    factor: its vector carries nothing new. Such vectors are recognised by how well the accepted ones predict them
    (:func:`predictability`) and skipped; more eigenvectors are computed from the same factorisation when they
    run out.
    """
    known = _prepare(M, null)
    n, kept = M.shape[0], [0]
    for width in (n_vectors, 2 * n_vectors + 4, 5 * n_vectors + 8):
        found = _iterate(M, min(width, n - 2), known, random_state)
        kept = independent_columns(found.vectors, n_vectors)
        if len(kept) == n_vectors or n_vectors == 1 or width >= n - 2:
            break
    spare = [j for j in range(found.vectors.shape[1]) if j not in kept]
    last = kept[-1]
    kept = (kept + spare)[:n_vectors]  # no independent one is left: use the slowest of the rest
    after = found.values[last + 1] if len(kept) == n_vectors and last >= n_vectors - 1 else found.values[-1]
    values = np.append(found.values[kept], after)
    n_redundant = last + 1 - n_vectors if last >= n_vectors - 1 else found.vectors.shape[1] - n_vectors
    return Spectrum(found.vectors[:, kept], values, max(0, n_redundant))


def independent_columns(V: Floats, count: int) -> list[int]:
    """Columns, from the first on, that the accepted ones before them do not predict."""
    kept = [0]
    for j in range(1, V.shape[1]):
        if len(kept) == count:
            break
        if predictability(V[:, kept], V[:, j]) < PREDICTED:
            kept.append(j)
    return kept


def predictability(V: Floats, target: Floats, k: int = 12) -> float:
    """R2 of the target from the mean over the k nearest points in the space of V, the point itself left out.

    >>> import numpy as np
    >>> v = np.random.default_rng(0).uniform(-1, 1, size=(500, 2))
    >>> predictability(v[:, :1], v[:, 0] ** 2) > 0.95, predictability(v[:, :1], v[:, 1]) < 0.1
    (True, True)
    """
    V = V / V.std(axis=0)
    rows = np.arange(0, len(V), max(1, len(V) // 1500))
    _, near = nearest(V, min(k, len(V) - 1), rows)
    misses = target[rows] - target[near].mean(axis=1)
    # The mean of k neighbours of an unrelated target misses by (1 + 1/k) times its variance.
    return float(1 - misses.var() / target.var() / (1 + 1 / near.shape[1]))


def _prepare(M: Matrix, null: Floats | None) -> Prepared:
    n = M.shape[0]
    null = np.full(n, n**-0.5) if null is None else null / np.linalg.norm(null)
    scale = float(M.trace()) / n
    if not np.isfinite(scale) or scale <= 0:
        raise ValueError("the alignment matrix is zero or not finite: the points are all equal or not finite.")
    return null, scale, _factor(M, 1e-10 * scale)


def _iterate(M: Matrix, n_vectors: int, known: Prepared, rng: np.random.RandomState | None) -> Spectrum:
    """Smallest eigenvectors by block inverse iteration with the null vector deflated.

    The matrix is factored once at a slightly negative shift: at zero it is singular, and a positive shift can fall
    between eigenvalues.
    """
    null, scale, solve = known
    n = M.shape[0]
    rng = np.random.RandomState(0) if rng is None else rng
    width = min(n - 1, n_vectors + 2)
    V = rng.standard_normal((n, width))
    values = np.zeros(width)
    for _ in range(MAX_ITER):
        V = _orthonormal(V, null)
        V = _orthonormal(solve(V), null)
        image = M @ V
        values, S = np.linalg.eigh(V.T @ image)
        V, image = V @ S, image @ S
        errors = np.linalg.norm(image - V * values, axis=0)[:n_vectors]
        # Relative to the gap that separates the wanted vectors from the rest: what decides the angle.
        gap = max(values[-1] - values[n_vectors - 1], 1e-12 * scale) if width > n_vectors else scale
        if errors.max() <= TOLERANCE**0.5 * gap or errors.max() <= 1e-13 * scale:
            break
    else:
        warn("UB403", stacklevel=4, iterations=MAX_ITER, residual=errors.max() / scale)
    return Spectrum(V[:, :n_vectors], values[: n_vectors + 1])


def _orthonormal(V: Floats, null: Floats) -> Floats:
    V = V - np.outer(null, null @ V)
    V = np.linalg.qr(V)[0]
    V -= np.outer(null, null @ V)
    return np.linalg.qr(V)[0]


def _factor(M: Matrix, shift: float) -> Solve:
    """A function that solves (M + shift I) V = B."""
    if isinstance(M, Alignment):
        return _solver(M, shift)
    order = reverse_cuthill_mckee(sp.csr_matrix(M), symmetric_mode=True)
    solve, place = _solver(_Banded(M[order][:, order]), shift), np.argsort(order)
    return lambda B: solve(B[order])[place]


class _Banded(sp.csc_array):
    """A sparse matrix in the forms of an :class:`~unbraid.spectral.alignment.Alignment`."""

    @property
    def bandwidth(self) -> int:
        entries = self.tocoo()
        return int((entries.row - entries.col).max())

    def band(self) -> Floats:
        lower = sp.tril(self, format="coo")
        band = np.zeros((self.bandwidth + 1, self.shape[0]), order="F")
        band[lower.row - lower.col, lower.col] = lower.data
        return band


def _solver(M: Alignment | _Banded, shift: float) -> Solve:
    """Solve by the cheapest of three factorisations, for a matrix in an order that keeps its band narrow.

    The band is as wide as the manifold's cross-section, and LAPACK's banded Cholesky takes half the time of a sparse LU
    at d = 2 and a quarter at d = 3. With many factors the band fills the matrix: dense Cholesky. Sparse LU is left for
    matrices whose band would not fit into memory.
    """
    n, width = M.shape[0], M.bandwidth
    if width < 0.4 * n and n * width <= BAND_ENTRIES:
        band = M.band()
        band[0] += shift
        factor = scipy.linalg.cholesky_banded(band, overwrite_ab=True, lower=True, check_finite=False)
        return lambda B: scipy.linalg.cho_solve_banded((factor, True), B, check_finite=False)
    if n <= DENSE_POINTS:
        dense = M.toarray()
        dense[np.diag_indices(n)] += shift
        # The upper triangle of a matrix by rows is the lower one of LAPACK's, by columns.
        cholesky = scipy.linalg.cho_factor(dense.T, lower=True, overwrite_a=True, check_finite=False)
        return lambda B: scipy.linalg.cho_solve(cholesky, B, check_finite=False)
    shifted = sp.csc_matrix(M.tocsc() + shift * sp.eye_array(n))
    lu = sla.splu(shifted, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    return lu.solve
