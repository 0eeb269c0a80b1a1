"""The linear span of the data: without the directions that hold nothing, or noise alone."""

import numpy as np

from unbraid.manifold.neighbors import nearest

FLAT, STEP, NOISE = 2.5, 4.0, 0.5


def spanning_basis(Z: np.ndarray) -> tuple[np.ndarray, int]:
    r"""Orthonormal columns that span the centred rows of ``Z``, and how many directions of noise were left out.

    A direction is noise if it belongs to a flat tail of the covariance's spectrum and neighbours differ along it about
    as much as strangers do: :math:`E(z_i - z_{nn(i)})^2 \ge 0.5 \cdot 2\,\mathrm{var}(z)`. On a manifold they do not.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> t = rng.uniform(0, 6, 500)
    >>> Z = np.hstack([np.c_[np.cos(t), np.sin(t)], 0.05 * rng.normal(size=(500, 30))])
    >>> basis, noise = spanning_basis(Z - Z.mean(axis=0))
    >>> basis.shape, noise
    ((32, 2), 30)
    """
    values, basis = _principal(Z)
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


def _principal(Z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues, largest first, and eigenvectors of the covariance, without its null space."""
    if Z.shape[1] <= len(Z):
        values, basis = np.linalg.eigh(Z.T @ Z / len(Z))
        values, basis = values[::-1], basis[:, ::-1]
    else:
        _, singular, rows = np.linalg.svd(Z, full_matrices=False)
        values, basis = np.square(singular) / len(Z), rows.T
    kept = values > 1e-12 * values[0]
    return values[kept], np.ascontiguousarray(basis[:, kept])


def _flat_tail(values: np.ndarray) -> int:
    """Length of the longest tail of near-equal eigenvalues behind a step, three at least; 0 without one."""
    for start in range(1, len(values) - 2):
        if values[start] <= FLAT * values[-1] and values[start - 1] >= STEP * values[start]:
            return len(values) - start
    return 0
