"""Whether one turn of a ring may be half of the real one: an object may look nearly the same after half a turn."""

import numpy as np
from scipy.linalg import eigh

from unbraid.product.diffusion import Floats

TIMES = (2, 3)  # that a turn may repeat itself
MOST_HARMONICS = 48
NODES = 720
NEAR = 1.0  # radians within which a sample is placed on the curve
WIDTH = 0.4  # radians over which the difference between two parts of a turn hardly changes
ROUNDS = 4
BESIDE = 3  # steps on either side with which one is compared
UNEVEN, ODD = 0.4, 1.0  # of their mean: usual and largest difference of even steps; those of views in pairs have 1


def hidden(points: Floats, angle: Floats) -> float:
    r"""How different the parts of a turn can be that lie on each other around a ring, relative to its spread.

    If the angle counts every turn m times, samples of equal angle lie in m clusters: the residuals :math:`r_i` around
    the curve share a direction that changes slowly along it. With :math:`w_{ij} = e^{(\cos(\varphi_i - \varphi_j) -
    1) / .4^2}`, the largest eigenvalue of :math:`w_{ij} \langle r_i, r_j \rangle` is the squared difference times the
    sum of a row of w, or what noise makes of it. Twice that bounds a difference that noise may hide.

    Even steps exclude a turn that repeats itself m times if m divides their number: its views would be in groups of m.

    Parameters
    ----------
    points : array (n, features)
    angle : array (n,)
        Of each sample, in radians.

    Returns
    -------
    float
        0 if a repeat is excluded.
    """
    angle, curve = _refined(points, angle)
    if all(len(points) % m == 0 for m in TIMES) and _even(angle, curve):
        return 0.0
    tangent = _waves(angle, len(curve)) @ _derivative(curve)
    tangent /= np.maximum(np.linalg.norm(tangent, axis=1, keepdims=True), 1e-300)
    rest = points - _waves(angle, len(curve)) @ curve
    rest -= (rest * tangent).sum(axis=1, keepdims=True) * tangent
    spread = max(float(points.var(axis=0).sum()), 1e-300)
    return float(np.sqrt(2 * shared(rest, angle)[0] / spread))


def shared(rest: Floats, angle: Floats) -> tuple[float, float]:
    r"""Squared size of the direction that residuals of about the same angle share, and what it is of mere noise.

    The latter is the edge :math:`v (1 + 2 \sqrt{d \sum_j w_{ij}^2} / \sum_j w_{ij})` of Marchenko and Pastur for noise
    of variance v in d directions.
    """
    n, weights = len(rest), np.exp((np.cos(np.subtract.outer(angle, angle)) - 1) / WIDTH**2)
    np.fill_diagonal(weights, 0)
    most = float(eigh(weights * (rest @ rest.T), eigvals_only=True, subset_by_index=[n - 1, n - 1])[0])
    total, squares = (float(np.median(np.power(weights, k).sum(axis=1))) for k in (1, 2))
    values = np.linalg.eigvalsh(rest.T @ rest / n)
    variance = float(np.square(values).sum() / max(values.sum(), 1e-300))
    directions = float(values.sum()) / max(variance, 1e-300)
    return max(most, 0.0) / total, variance * (1 + 2 * np.sqrt(directions * squares) / total)


def _refined(points: Floats, angle: Floats) -> tuple[Floats, Floats]:
    """The Fourier series through the samples, and the angle of the point of it that is nearest to each sample."""
    grid = 2 * np.pi * np.arange(NODES) / NODES
    curve = _series(points, angle)
    for _ in range(ROUNDS):
        nodes = _waves(grid, len(curve)) @ curve
        squares = np.square(nodes).sum(axis=1) - 2 * points @ nodes.T
        squares[np.cos(np.subtract.outer(angle, grid)) < np.cos(NEAR)] = np.inf
        angle = grid[squares.argmin(axis=1)]
        slopes = _waves(angle, len(curve)) @ _derivative(curve)
        off = points - _waves(angle, len(curve)) @ curve
        step = (off * slopes).sum(axis=1) / np.maximum(np.square(slopes).sum(axis=1), 1e-300)
        angle = angle + np.clip(step, -2 * np.pi / NODES, 2 * np.pi / NODES)
        curve = _series(points, angle)
    return angle, curve


def _series(points: Floats, angle: Floats) -> Floats:
    """Coefficients of a Fourier series, with as many harmonics as generalised cross-validation prefers."""
    n = len(points)
    most = min(MOST_HARMONICS, max(1, (n // 3 - 1) // 2))
    q, r = np.linalg.qr(_waves(angle, 2 * most + 1))
    parts = q.T @ points
    sizes = 1 + 2 * np.arange(1, most + 1)
    left = np.square(points).sum() - np.cumsum(np.square(parts).sum(axis=1))[sizes - 1]
    size = int(sizes[np.argmin(left / np.square(1 - sizes / n))])
    return np.linalg.lstsq(r[:size, :size], parts[:size], rcond=1e-9)[0]


def _waves(angle: Floats, size: int) -> Floats:
    """1, cos, sin, cos 2, sin 2, ... of an angle."""
    turns = np.outer(angle, np.arange(1, size // 2 + 1))
    waves = np.stack([np.cos(turns), np.sin(turns)], axis=2).reshape(len(angle), -1)
    return np.concatenate([np.ones((len(angle), 1)), waves], axis=1)


def _derivative(curve: Floats) -> Floats:
    """The coefficients of the derivative of a Fourier series."""
    k = np.arange(1, len(curve) // 2 + 1)[:, None]
    found = np.zeros_like(curve)
    found[1::2], found[2::2] = k * curve[2::2], -k * curve[1::2]
    return found


def _even(angle: Floats, curve: Floats) -> bool:
    """Whether samples follow one another along the curve in steps as long as those beside them."""
    around = np.sort(angle % (2 * np.pi))
    speed = np.linalg.norm(_waves(around, len(curve)) @ _derivative(curve), axis=1)
    steps = np.diff(around, append=around[0] + 2 * np.pi) * (speed + np.roll(speed, -1)) / 2
    usual = sum(np.roll(steps, k) + np.roll(steps, -k) for k in range(1, BESIDE + 1)) / (2 * BESIDE)
    apart = np.abs(steps / np.maximum(usual, 1e-300) - 1)
    return bool(np.sqrt(np.square(apart).mean()) < UNEVEN and apart.max() < ODD)
