"""The smallest eigenvectors of a sparse positive semidefinite matrix with a known null vector, and those to keep."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.sparse as sp
import scipy.sparse.linalg as sla
from scipy.optimize import linear_sum_assignment
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
MIXED = 0.35  # share of an eigenvector's variance that others may predict before it is taken for a mixture


@dataclass(frozen=True)
class Spectrum:
    """Eigenvectors with their eigenvalues, and one eigenvalue beyond to see the gap.

    Attributes
    ----------
    vectors : array (n, d)
        Orthonormal, orthogonal to the null vector; eigenvectors, or combinations of them.
    values : array (d + 1,)
        Eigenvalues of those, or of the vectors that the combinations mostly consist of, ascending; the last one belongs
        to the first vector left out.
    n_redundant : int
        Eigenvectors that were skipped because they are functions of others.
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


def smoothest_coordinates(M: Matrix, n_vectors: int, *, random_state: np.random.RandomState | None = None) -> Spectrum:
    """The smoothest functions on the points that are not functions of each other; M is an alignment matrix.

    Its eigenvectors are linear in the factors where the manifold is flat. Where it is not quite, or has few points,
    curves over one factor have eigenvalues like those of others and mix with them. So where a good part of an
    eigenvector is a function of earlier ones, more are computed from the same factorisation, and :func:`least_bent`
    combines them. (A small part can be right: of a bent embedding the factors themselves are functions of each other.)
    """
    known = _prepare(M, None)
    n, d = M.shape[0], n_vectors
    found = _iterate(M, min(d, n - 2), known, random_state)
    if d >= n - 2 or max(predicted(found.vectors), default=0.0) < MIXED:
        return found
    for width in (2 * d + 4, 5 * d + 8):
        found = _iterate(M, min(width, n - 2), known, random_state, n_exact=(d + width) // 2)
        turn, new = least_bent(found.values[:-1], found.vectors, d)
        if new.min() > 1 - PREDICTED:
            break
    mostly = np.sort(linear_sum_assignment(-(turn**2))[1])
    last = int(mostly[-1]) if new.min() > 1 - PREDICTED else found.vectors.shape[1] - 1
    values = np.append(found.values[mostly], found.values[last + 1])
    return Spectrum(found.vectors @ turn.T, values, last + 1 - d)


def smallest_eigenvectors(M: Matrix, n_vectors: int, *, random_state: np.random.RandomState | None = None) -> Spectrum:
    """The eigenvectors after the constant one as they come, functions of each other or not: the textbook's choice."""
    return _iterate(M, min(n_vectors, M.shape[0] - 2), _prepare(M, None), random_state)


def predicted(V: Floats) -> list[float]:
    """R2 of each column but the first from the earlier ones."""
    return [predictability(V[:, :j], V[:, j]) for j in range(1, V.shape[1])]


def least_bent(values: Floats, V: Floats, count: int) -> tuple[Floats, Floats]:
    r"""Orthonormal combinations of eigenvectors, each with the least energy for what is new in it.

    The first is the first eigenvector. Each further one minimises

    .. math:: w^T \Lambda w / w^T R w

    among the combinations orthogonal to those before it, where :math:`\Lambda` are the eigenvalues and R is the
    covariance of what the earlier combinations do not predict (:func:`left_over`). A function of earlier ones leaves
    nothing over, so it is never chosen, and its share in an eigenvector that is half a factor is taken out.

    Parameters
    ----------
    values : array (m,)
    V : array (n, m)
        Orthonormal eigenvectors.
    count : int

    Returns
    -------
    W : array (count, m)
        Combinations are ``V @ W.T``.
    new : array (count,)
        Share of each that the earlier ones do not predict.

    References
    ----------
    Dsilva, Talmon, Coifman, Kevrekidis (2018), Parsimonious representation of nonlinear dynamical systems through
    manifold learning: eigenvectors are chosen there by what earlier ones do not predict; they are combined here.
    """
    W, new = np.eye(1, len(values)), [1.0]
    while len(W) < count:
        free = scipy.linalg.null_space(W)
        rest = left_over(V @ W.T, V @ free) * len(V) ** 0.5
        R = rest.T @ rest / len(rest) + 1e-9 * np.eye(free.shape[1])
        w = scipy.linalg.eigh(free.T @ (values[:, None] * free), R, subset_by_index=[0, 0])[1][:, 0]
        w /= np.linalg.norm(w)
        W = np.vstack([W, free @ w])
        new.append(float(w @ R @ w))
    return W, np.array(new)


def left_over(V: Floats, targets: Floats, k: int = 12) -> Floats:
    """What the mean over the k nearest points in the space of V, the point itself left out, leaves of each target.

    At up to 3,000 points, and scaled so that an unrelated target keeps its variance: the mean of k misses by
    (1 + 1/k) times as much.
    """
    V = V / V.std(axis=0)
    rows = np.arange(0, len(V), max(1, len(V) // 1500))
    _, near = nearest(V, min(k, len(V) - 1), rows)
    misses = targets[rows] - targets[near].mean(axis=1)
    return (misses - misses.mean(axis=0)) / np.sqrt(1 + 1 / near.shape[1])


def predictability(V: Floats, target: Floats) -> float:
    """R2 of the target from its nearest neighbours in the space of V.

    >>> import numpy as np
    >>> v = np.random.default_rng(0).uniform(-1, 1, size=(500, 2))
    >>> predictability(v[:, :1], v[:, 0] ** 2) > 0.95, predictability(v[:, :1], v[:, 1]) < 0.1
    (True, True)
    """
    return float(1 - left_over(V, target[:, None]).var() / target.var())


def _prepare(M: Matrix, null: Floats | None) -> Prepared:
    n = M.shape[0]
    null = np.full(n, n**-0.5) if null is None else null / np.linalg.norm(null)
    scale = float(M.trace()) / n
    if not np.isfinite(scale) or scale <= 0:
        raise ValueError("the alignment matrix is zero or not finite: the points are all equal or not finite.")
    return null, scale, _factor(M, 1e-10 * scale)


def _iterate(
    M: Matrix, n_vectors: int, known: Prepared, rng: np.random.RandomState | None, n_exact: int | None = None
) -> Spectrum:
    """Smallest eigenvectors by block inverse iteration with the null vector deflated; the first ``n_exact`` exactly.

    The matrix is factored once at a slightly negative shift: at zero it is singular, and a positive shift can fall
    between eigenvalues.
    """
    null, scale, solve = known
    n = M.shape[0]
    rng = np.random.RandomState(0) if rng is None else rng
    width, n_exact = min(n - 1, n_vectors + 2), min(n_exact or n_vectors, n_vectors)
    V = rng.standard_normal((n, width))
    values = np.zeros(width)
    for _ in range(MAX_ITER):
        V = _orthonormal(V, null)
        V = _orthonormal(solve(V), null)
        image = M @ V
        values, S = np.linalg.eigh(V.T @ image)
        V, image = V @ S, image @ S
        errors = np.linalg.norm(image - V * values, axis=0)[:n_exact]
        # Relative to the gap that separates the wanted vectors from the rest: what decides the angle.
        gap = max(values[-1] - values[n_exact - 1], 1e-12 * scale) if width > n_exact else scale
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
