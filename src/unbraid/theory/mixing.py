"""Rotations that mix every factor into every code as evenly as possible."""

from functools import lru_cache

import numpy as np
from scipy.optimize import minimize

STARTS = 20


def mixing_matrix(n_factors: int, turn: float = 0.5) -> np.ndarray:
    r"""A rotation between the identity (turn 0) and the most even mixture that we know of (turn .5).

    With :math:`d = 2^m q`, q odd, it is :math:`A = R^{\otimes m} \otimes C`: R turns a plane by ``turn`` times 90
    degrees, and C is circulant with eigenvalues :math:`e^{\pm 2 i \,\mathrm{turn}\, \phi_k}`, the phases chosen such
    that the squared entries are as even as they can be at .5. For 2, 4, 8, ... factors all entries at .5 have the same
    size (a Hadamard matrix), and a turn of 1 permutes the factors. No rotation of 3, 5, 6, 7, 9, ... factors has
    entries of one size.

    Parameters
    ----------
    n_factors : int
        2 or more.
    turn : float
        Between 0 and 1.

    Returns
    -------
    array of shape (n_factors, n_factors)
        Orthogonal.

    References
    ----------
    Banica, Nechita, Życzkowski (2012), Almost Hadamard matrices (the search finds theirs for 3, 5, 7, 11 and 13).

    Examples
    --------
    >>> np.abs(mixing_matrix(4)).round(3).ravel().tolist() == [0.5] * 16
    True
    >>> np.sort(np.abs(mixing_matrix(3)[0])).round(3).tolist()
    [0.333, 0.667, 0.667]
    """
    if isinstance(n_factors, bool) or not isinstance(n_factors, int | np.integer) or n_factors < 2:
        raise ValueError(f"n_factors is {n_factors!r}; one factor cannot be entangled with itself. Give 2 or more.")
    if not 0 <= turn <= 1:
        raise ValueError(f"turn is {turn!r}; it must be between 0 (nothing changes) and 1. Try 0.5.")
    odd = int(n_factors)
    matrix = np.ones((1, 1))
    angle = turn * np.pi / 2
    plane = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    while odd % 2 == 0:
        odd //= 2
        matrix = np.kron(matrix, plane)
    row = _circulant(2 * turn * np.array(_even_phases(odd)))
    return np.kron(matrix, np.array([np.roll(row, shift) for shift in range(odd)]))


def _circulant(phases: np.ndarray) -> np.ndarray:
    """First row of the orthogonal circulant matrix with these phases: 2 len(phases) + 1 entries."""
    eigenvalues = np.concatenate([[1.0], np.exp(1j * phases), np.exp(-1j * phases[::-1])])
    return np.fft.ifft(eigenvalues).real


def _unevenness(phases: np.ndarray) -> tuple[float, np.ndarray]:
    """Negative entropy of the squared entries, and its gradient."""
    row = _circulant(phases)
    share = np.maximum(row**2, 1e-300)
    slope = np.fft.fft(2 * row * (np.log(share) + 1)).conj()[1 : len(phases) + 1]
    return float(np.sum(share * np.log(share))), 2 / len(row) * (1j * np.exp(1j * phases) * slope).real


@lru_cache
def _even_phases(order: int) -> tuple[float, ...]:
    """Phases of the most even circulant of an odd order, found from fixed starts."""
    if order == 1:
        return ()
    rng = np.random.default_rng(0)
    starts = rng.uniform(-np.pi, np.pi, (STARTS, order // 2))
    found = [minimize(_unevenness, start, jac=True, method="BFGS") for start in starts]
    best = min(result.fun for result in found)
    return tuple(next(result.x for result in found if result.fun < best + 1e-6).tolist())
