"""The d smallest non-trivial eigenvectors of a sparse positive semidefinite matrix with a known null vector."""

import warnings
from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.sparse as sp
import scipy.sparse.linalg as sla
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

Floats = NDArray[np.float64]

DENSE_FILL = 0.12  # above this share of non-zeros in the factor's pattern, dense Cholesky beats sparse LU


@dataclass(frozen=True)
class Spectrum:
    """Eigenvectors with their eigenvalues, and one eigenvalue beyond to see the gap.

    Attributes
    ----------
    vectors : array (n, d)
        Orthonormal, orthogonal to the null vector.
    values : array (d + 1,)
        Ascending; the last one belongs to the first vector left out.
    residual : float
        Largest norm of M v - lambda v, relative to the mean diagonal of M.
    n_iter : int
    """

    vectors: Floats
    values: Floats
    residual: float
    n_iter: int


def smallest_eigenvectors(
    M: sp.csc_array,
    n_vectors: int,
    *,
    null: Floats | None = None,
    max_iter: int = 60,
    tol: float = 1e-9,
    random_state: np.random.RandomState | None = None,
) -> Spectrum:
    """Block inverse iteration with the null vector deflated.

    The matrix is factored once at a slightly negative shift: at zero it is singular, and a positive shift can fall
    between eigenvalues. Sparse LU in symmetric mode where the factor stays sparse, dense Cholesky where it
    would fill up (many factors, so that neighbourhoods overlap widely).

    Parameters
    ----------
    M : sparse (n, n), symmetric positive semidefinite
    n_vectors : int
    null : array (n,), optional
        The known null vector; the constant when not given.
    """
    n = M.shape[0]
    rng = np.random.RandomState(0) if random_state is None else random_state
    null = np.full(n, n**-0.5) if null is None else null / np.linalg.norm(null)
    scale = float(M.diagonal().mean())
    if not np.isfinite(scale) or scale <= 0:
        raise ValueError("the alignment matrix is zero or not finite: the points are all equal or not finite.")
    solve = _factor(M, 1e-10 * scale)
    width = min(n - 1, n_vectors + 2)
    V = rng.standard_normal((n, width))
    values = np.zeros(width)
    for n_iter in range(1, max_iter + 1):  # noqa: B007
        V = _orthonormal(V, null)
        V = _orthonormal(solve(V), null)
        image = M @ V
        values, S = np.linalg.eigh(V.T @ image)
        V, image = V @ S, image @ S
        errors = np.linalg.norm(image - V * values, axis=0)[:n_vectors]
        # Relative to the gap that separates the wanted vectors from the rest: what decides the angle.
        gap = max(values[-1] - values[n_vectors - 1], 1e-12 * scale) if width > n_vectors else scale
        if errors.max() <= tol**0.5 * gap or errors.max() <= 1e-13 * scale:
            break
    else:
        warnings.warn(
            f"the eigen-solver stopped after {max_iter} iterations with residual {errors.max() / scale:.1e}: the "
            "spectrum has no gap after the wanted vectors. Try another n_neighbors, or check n_factors.",
            ConvergenceWarning,
            stacklevel=3,
        )
    return Spectrum(V[:, :n_vectors], values[: n_vectors + 1], float(errors.max() / scale), n_iter)


def _orthonormal(V: Floats, null: Floats) -> Floats:
    V = V - np.outer(null, null @ V)
    V = np.linalg.qr(V)[0]
    V -= np.outer(null, null @ V)
    return np.linalg.qr(V)[0]


def _factor(M: sp.csc_array, shift: float):
    n = M.shape[0]
    if n <= 300 or (M.nnz / n**2 > DENSE_FILL and n <= 12_000):
        dense = M.toarray()
        dense[np.diag_indices(n)] += shift
        factor = scipy.linalg.cho_factor(dense, lower=True, overwrite_a=True, check_finite=False)
        return lambda V: scipy.linalg.cho_solve(factor, V, check_finite=False)
    on_diagonal = M.indices == np.repeat(np.arange(n), np.diff(M.indptr))
    if on_diagonal.sum() == n:
        shifted = sp.csc_matrix(M, copy=True)  # the factorisation sorts it in place
        shifted.data += shift * on_diagonal
    else:
        shifted = sp.csc_matrix(M + shift * sp.eye_array(n))
    lu = sla.splu(shifted, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    return lu.solve
