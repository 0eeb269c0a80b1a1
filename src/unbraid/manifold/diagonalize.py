"""Simultaneous diagonalisation of symmetric matrices, by Jacobi rotations or by FFDIAG."""

import numpy as np

from unbraid.runtime.kernels import by_rows, njit


@njit(nogil=True)
def _jacobi(matrices: np.ndarray, turns: np.ndarray, start: int, stop: int) -> None:  # pragma: no cover - compiled
    """Cardoso and Souloumiac's Jacobi angles: ``matrices[i, r]`` become near-diagonal, ``turns[i]`` the axes."""
    count, k = matrices.shape[1], matrices.shape[2]
    for i in range(start, stop):
        for a in range(k):
            for b in range(k):
                turns[i, a, b] = 1.0 if a == b else 0.0
        for _ in range(60):
            largest = 0.0
            for p in range(k - 1):
                for q in range(p + 1, k):
                    g11, g12, g22 = 0.0, 0.0, 0.0
                    for r in range(count):
                        u = matrices[i, r, p, p] - matrices[i, r, q, q]
                        v = 2.0 * matrices[i, r, p, q]
                        g11 += u * u
                        g12 += u * v
                        g22 += v * v
                    on, off = g11 - g22, 2.0 * g12
                    theta = 0.5 * np.arctan2(off, on + np.hypot(on, off))
                    c, s = np.cos(theta), np.sin(theta)
                    largest = max(largest, abs(s))
                    if abs(s) < 1e-10:
                        continue
                    for r in range(count):
                        for a in range(k):
                            x, y = matrices[i, r, a, p], matrices[i, r, a, q]
                            matrices[i, r, a, p], matrices[i, r, a, q] = c * x + s * y, c * y - s * x
                        for a in range(k):
                            x, y = matrices[i, r, p, a], matrices[i, r, q, a]
                            matrices[i, r, p, a], matrices[i, r, q, a] = c * x + s * y, c * y - s * x
                    for a in range(k):
                        x, y = turns[i, a, p], turns[i, a, q]
                        turns[i, a, p], turns[i, a, q] = c * x + s * y, c * y - s * x
            if largest < 1e-8:
                break


def joint_diagonals(matrices: np.ndarray, *, threads: int = 1) -> tuple[np.ndarray, np.ndarray, float]:
    """Axes (n, k, k) in columns, diagonals (n, k, r) in these axes, and the share of the squares left off-diagonal.

    Parameters
    ----------
    matrices : array of shape (n, r, k, k)
        Symmetric; r to be diagonalised together at each of n points.

    References
    ----------
    Cardoso, Souloumiac (1996), Jacobi angles for simultaneous diagonalization.

    Examples
    --------
    >>> turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    >>> pair = np.stack([turn @ np.diag(d) @ turn.T for d in ([1.0, 2.0], [5.0, 3.0])])
    >>> axes, diagonals, left = joint_diagonals(pair[None])
    >>> sorted(diagonals[0].round(6).tolist()), round(left, 6)
    ([[1.0, 5.0], [2.0, 3.0]], 0.0)
    """
    matrices = np.array(matrices, np.float64, order="C")
    n, _, k, _ = matrices.shape
    total = np.square(matrices).sum()
    axes = np.empty((n, k, k))
    by_rows(lambda a, b: _jacobi(matrices, axes, a, b), n, threads)
    diagonals = np.diagonal(matrices, axis1=2, axis2=3).transpose(0, 2, 1)
    left = 1 - np.square(diagonals).sum() / max(total, np.finfo(float).tiny)
    return axes, diagonals, float(max(left, 0))


def ffdiag(matrices: np.ndarray, *, tol: float = 1e-10, max_steps: int = 200) -> tuple[np.ndarray, np.ndarray, float]:
    r"""As :func:`joint_diagonals`, by the orthogonal FFDIAG.

    Steps :math:`V \leftarrow e^W V` of all planes at once, with diagonals :math:`d^r` and the rest :math:`E^r`,

    .. math:: W_{ij} = \frac{\sum_r E^r_{ij} (d^r_i - d^r_j)}{\sum_r (d^r_i - d^r_j)^2},

    at most of length 1, until none is longer than ``tol``.

    Parameters
    ----------
    matrices : array of shape (n, r, k, k)
    tol : float
    max_steps : int

    References
    ----------
    Ziehe, Laskov, Nolte, Mueller (2004), A fast algorithm for joint diagonalization with non-orthogonal
    transformations, the case of an orthogonal one.

    Examples
    --------
    >>> turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    >>> pair = np.stack([turn @ np.diag(d) @ turn.T for d in ([1.0, 2.0], [5.0, 3.0])])
    >>> axes, diagonals, left = ffdiag(pair[None])
    >>> sorted(diagonals[0].round(6).tolist()), round(left, 6)
    ([[1.0, 5.0], [2.0, 3.0]], 0.0)
    """
    left = np.array(matrices, np.float64)
    n, _, k, _ = left.shape
    turned = np.broadcast_to(np.eye(k), (n, k, k)).copy()
    moving = np.arange(n)
    for _ in range(max_steps):
        here = left[moving]
        d = np.diagonal(here, axis1=2, axis2=3)
        gaps = d[..., :, None] - d[..., None, :]
        squares = np.square(gaps).sum(axis=1)
        step = (gaps * here).sum(axis=1) / np.where(squares > 0, squares, np.inf)
        lengths = np.linalg.norm(step, axis=(1, 2))
        turn = _exponential(step / np.maximum(lengths, 1)[:, None, None])
        left[moving] = turn[:, None] @ here @ turn[:, None].swapaxes(2, 3)
        turned[moving] = turn @ turned[moving]
        moving = moving[lengths > tol]
        if not len(moving):
            break
    diagonals = np.diagonal(left, axis1=2, axis2=3).transpose(0, 2, 1)
    rest = 1 - np.square(diagonals).sum() / max(np.square(left).sum(), np.finfo(float).tiny)
    return turned.swapaxes(1, 2), diagonals, float(max(rest, 0))


def _exponential(skew: np.ndarray) -> np.ndarray:
    """Matrix exponentials of skew-symmetric matrices, from the eigenvalues of the Hermitian i W."""
    values, vectors = np.linalg.eigh(1j * skew)
    return ((vectors * np.exp(-1j * values)[:, None]) @ vectors.conj().swapaxes(1, 2)).real
