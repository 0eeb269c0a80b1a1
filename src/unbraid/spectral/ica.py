r"""The rotation that makes an embedding independent, searched globally under half-density weights.

If a density factorises, so does every power of it. Weighting the points by :math:`p^{-1/2}` is therefore as valid as
not weighting them, for independent factors of any distribution, and it removes most of the effect of a curved metric on
the density of an embedding. The contrast has spurious optima, so a local search from a few starts is not enough: with
two factors the whole circle is searched, with more every plane in turn, from several starts.
"""

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

from unbraid.manifold.neighbors import Floats, nearest
from unbraid.trust.support import mutual_information

Contrast = Callable[[Floats], Floats]

DENSITY_NEIGHBORS, LARGEST_WEIGHT = 15, 2.0
GAUSSIAN_LOGCOSH = 0.37456721  # E log cosh of a standard normal
MOST_POINTS = 10_000  # more do not make the rotation better
START_POINTS = 1000  # used by the random starts; the best of them is then refined on all points
N_ANGLES = 18  # turns of a quarter circle that are tried first; the contrast has no finer detail than ten degrees
FAINT = 0.25  # share of the contrast that the weights must leave
MAX_SWEEPS, STILL = 40, 1e-5  # radians


@dataclass(frozen=True)
class Rotation:
    """An orthogonal matrix that rotates whitened points into components that are as independent as possible.

    Attributes
    ----------
    matrix : array (d, d)
        Components are ``Z @ matrix.T`` for whitened Z.
    contrast : str
        One of ``CONTRASTS``.
    stability : float
        Mean correlation between its components and those that are found without density weights; of fastICA, those
        of the best u^4.
    converged : float
        Share of the starts that converged.
    weighted : bool
        Whether density weights were used; they are not if they leave no contrast.
    """

    matrix: Floats
    contrast: str
    stability: float
    converged: float
    weighted: bool = True


@dataclass(frozen=True)
class Whitening:
    """``(Y - mean) @ matrix.T`` has zero mean and unit covariance."""

    mean: Floats
    matrix: Floats

    def __call__(self, Y: Floats) -> Floats:
        return (Y - self.mean) @ self.matrix.T


def whitening(Y: Floats) -> Whitening:
    """Whiten by the eigenvectors of the covariance (the symmetric square root).

    >>> import numpy as np
    >>> Y = np.random.default_rng(0).normal(size=(100, 2)) @ [[2.0, 1.0], [0.0, 1.0]]
    >>> np.cov(whitening(Y)(Y).T, bias=True).round(6).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    mean = Y.mean(axis=0)
    values, vectors = np.linalg.eigh(np.atleast_2d(np.cov(Y.T, bias=True)))
    if values[0] <= 1e-12 * values[-1]:
        raise ValueError(
            f"the {Y.shape[1]} dimensions of the embedding are not independent (a covariance eigenvalue is "
            f"{values[0]:.1e}): the data have fewer factors. Ask for fewer factors."
        )
    return Whitening(mean, (vectors / np.sqrt(values)) @ vectors.T)


def logcosh(U: Floats) -> Floats:
    """log cosh u, less its mean for a Gaussian."""
    size = np.abs(U)
    found = np.exp(-2 * size)
    found += 1
    np.log(found, out=found)
    found += size
    found -= math.log(2) + GAUSSIAN_LOGCOSH
    return found


def fourth_power(U: Floats) -> Floats:
    """u^4, less its mean for a Gaussian."""
    square = U * U
    return square * square - 3


FASTICA = "fastica"
CONTRASTS: dict[str, Contrast] = {"kurtosis": fourth_power, "logcosh": logcosh, FASTICA: fourth_power}
CONTRAST = ("auto", "kurtosis", "logcosh")  # what the parameter may be


def half_density_weights(Z: Floats) -> Floats:
    """Weights that add up to 1, in proportion to the distance to the 15th neighbour, at most twice its median.

    In two dimensions that distance is p^(-1/2) of the density p, up to a constant; in others it is closer to the
    uniform or to the full weight, which are equally valid. Where most points are repeated, all weights are the same.
    """
    reach = nearest(Z, min(DENSITY_NEIGHBORS, len(Z) - 1))[0][:, -1]
    usual = float(np.median(reach))
    weights = np.minimum(reach / usual, LARGEST_WEIGHT) if usual > 0 else np.ones(len(Z))
    return weights / weights.sum()


def best_rotation(Z: Floats, *, contrast: str, n_init: int, random_state: np.random.RandomState) -> Rotation:
    """The orthogonal R that maximises the sum over its rows of (E_w G(u) - E G(gaussian))^2.

    u is a row's component, standardised under the half-density weights w.

    Parameters
    ----------
    Z : array (n, d), whitened
    contrast : {"logcosh", "kurtosis", "auto", "fastica"}
        G is log cosh u or u^4; "auto" searches with both and keeps the less dependent components. "fastica" is another
        algorithm, see :func:`fixed_point`.
    n_init : int
        Random starts, for three factors or more.
    random_state : RandomState
    """
    names = CONTRAST[1:] if contrast == "auto" else (contrast,)
    if contrast == FASTICA:
        return fixed_point(Z, random_state)
    if Z.shape[1] == 1:
        return Rotation(np.eye(1), names[-1], 1.0, 1.0)
    if len(Z) > MOST_POINTS:
        Z = Z[random_state.choice(len(Z), MOST_POINTS, replace=False)]
    weights = half_density_weights(Z)
    found = [_found(Z, weights, name, n_init, random_state) for name in names]
    return min(found, key=lambda r: (r.converged == 0, mutual_information(Z @ r.matrix.T) if len(found) > 1 else 0))


def fixed_point(Z: Floats, random_state: np.random.RandomState) -> Rotation:
    """fastICA with G(u) = u^4, as in the paper: W <- E[(Wz)^3 z^T] - 3 W, made orthogonal, from one random start.

    No weights, and no search for the global optimum; :func:`best_rotation` has both.

    Parameters
    ----------
    Z : array (n, d), whitened
    random_state : RandomState

    References
    ----------
    Hyvarinen (1999), Fast and robust fixed-point algorithms for independent component analysis, Eq. 20, symmetric.
    """
    from sklearn.decomposition import FastICA
    from sklearn.exceptions import ConvergenceWarning

    ica = FastICA(fun="cube", whiten=False, random_state=random_state)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        matrix = ica.fit(Z).components_
    plain = search_near(Z, np.full(len(Z), 1 / len(Z)), fourth_power, matrix)
    stability = float(np.cos(np.radians(turns(matrix, plain))).mean())
    return Rotation(matrix, FASTICA, stability, float(not caught), weighted=False)


def _found(Z: Floats, weights: Floats, name: str, n_init: int, rng: np.random.RandomState) -> Rotation:
    """The best rotation by one contrast, with density weights unless they leave no contrast."""
    contrast, even = CONTRASTS[name], np.full(len(Z), 1 / len(Z))
    matrix, converged = search(Z, weights, contrast, n_init, rng)
    plain = search_near(Z, even, contrast, matrix)
    # Under the weights a long tail can look like a Gaussian: an optimum close to 0 is no evidence.
    weighted = _value(Z @ matrix.T, weights, contrast) >= FAINT * _value(Z @ plain.T, even, contrast)
    if not weighted:
        matrix, converged = search(Z, even, contrast, n_init, rng)
    stability = float(np.cos(np.radians(turns(matrix, plain))).mean())
    return Rotation(matrix, name, stability, converged, bool(weighted))


def search(
    Z: Floats, weights: Floats, contrast: Contrast, n_init: int, rng: np.random.RandomState
) -> tuple[Floats, float]:
    """The global optimum, and the share of starts that converged."""
    n, d = Z.shape
    if d == 2:
        return _turned(_best_angle(Z, weights, contrast, N_ANGLES)), 1.0
    rows = rng.choice(n, START_POINTS, replace=False) if n > START_POINTS else np.arange(n)
    some, w = Z[rows], weights[rows] / weights[rows].sum()
    starts = [np.linalg.qr(rng.standard_normal((d, d)))[0] for _ in range(n_init)]
    ends = [_sweep(some, w, contrast, start, N_ANGLES) for start in starts]
    best = max(ends, key=lambda end: _value(some @ end[0].T, w, contrast))[0]
    return _sweep(Z, weights, contrast, best, 0)[0], float(np.mean([end[1] for end in ends]))


def search_near(Z: Floats, weights: Floats, contrast: Contrast, start: Floats) -> Floats:
    """The optimum that sweeps over whole planes reach from a rotation; with two factors the global one."""
    return _sweep(Z, weights, contrast, start, N_ANGLES)[0]


def turns(A: Floats, B: Floats) -> Floats:
    """Angle in degrees between each row of A and the row of B that is matched with it, ignoring signs.

    >>> import numpy as np
    >>> turns(np.eye(2), np.array([[0.6, 0.8], [0.8, -0.6]])).round(1).tolist()
    [36.9, 36.9]
    """
    C = np.abs(A @ B.T) / np.outer(np.linalg.norm(A, axis=1), np.linalg.norm(B, axis=1))
    return np.degrees(np.arccos(np.clip(C[linear_sum_assignment(-C)], 0, 1)))


def excess_kurtosis(codes: Floats) -> Floats:
    """Excess kurtosis of each column: 0 for a Gaussian, -1.2 for a uniform factor.

    >>> import numpy as np
    >>> excess_kurtosis(np.linspace(0, 1, 10001)[:, None]).round(2).tolist()
    [-1.2]
    """
    Z = codes - codes.mean(axis=0)
    Z = Z / np.maximum(np.abs(Z).max(axis=0), 1e-300)  # the fourth powers of any codes then fit
    return (Z**4).mean(axis=0) / np.maximum((Z**2).mean(axis=0) ** 2, 1e-300) - 3.0


def quarter(n_angles: int) -> Floats:
    """Angles of a quarter circle around 0, in radians."""
    return (np.arange(n_angles) / n_angles - 0.5) * np.pi / 2


def standardised_turns(pair: Floats, weights: Floats, angles: Floats) -> Floats:
    """Both axes of a plane at each angle, (2 angles, n), standardised under the weights; second axes come second."""
    axes = np.concatenate([angles, angles + np.pi / 2])
    directions = np.stack([np.cos(axes), np.sin(axes)], axis=1).astype(pair.dtype)
    centred = pair - weights @ pair
    covariance = (centred * weights[:, None]).T @ centred
    lengths = np.sqrt(np.maximum(np.einsum("ki,ij,kj->k", directions, covariance, directions), 1e-300))
    return (directions / lengths[:, None]) @ centred.T


def _values(pair: Floats, weights: Floats, contrast: Contrast, angles: Floats) -> Floats:
    """The objective in one plane at each angle."""
    negentropy = contrast(standardised_turns(pair, weights, angles)) @ weights
    return negentropy[: len(angles)] ** 2 + negentropy[len(angles) :] ** 2


def _value(S: Floats, weights: Floats, contrast: Contrast) -> float:
    centred = S - weights @ S
    return float(np.sum((contrast(centred / np.sqrt(weights @ centred**2)).T @ weights) ** 2))


def _best_angle(pair: Floats, weights: Floats, contrast: Contrast, n_angles: int) -> float:
    """The best turn in a plane: the highest of a grid, or near 0 without one, then parabolas of shrinking width."""
    angle, step = 0.0, np.radians(1.0)
    if n_angles:
        # Single precision is enough to find the highest peak, and three times as fast.
        values = _values(pair.astype(np.float32), weights.astype(np.float32), contrast, quarter(n_angles))
        angle = highest(values) * np.pi / 2 / n_angles - np.pi / 4
    for _ in range(2 if n_angles else 3):
        angle += step * peak(_values(pair, weights, contrast, angle + step * np.array([-1.0, 0.0, 1.0])))
        step /= 8
    return angle


def highest(values: Floats) -> float:
    """Where a periodic function is largest, in steps of its grid, by parabolas through its peaks.

    >>> highest(np.cos(np.arange(18) * np.pi / 9 - 1.0)) * np.pi / 9
    1.0
    """
    before, after = np.roll(values, 1), np.roll(values, -1)
    bend = before - 2 * values + after
    peaks = np.flatnonzero((values >= before) & (values >= after) & (bend < 0))
    if not len(peaks):
        return float(values.argmax())
    slope = (after[peaks] - before[peaks]) / 2
    best = int((values[peaks] - slope**2 / (2 * bend[peaks])).argmax())
    return float(peaks[best] - slope[best] / bend[peaks[best]])


def peak(values: Floats) -> float:
    """Where the parabola through values at -1, 0 and 1 is largest, within [-1, 1]."""
    bend = values[0] - 2 * values[1] + values[2]
    if bend >= 0:
        return float(np.sign(values[2] - values[0]))
    return float(np.clip((values[0] - values[2]) / (2 * bend), -1, 1))


def _turned(angle: float) -> Floats:
    return np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])


def _sweep(Z: Floats, weights: Floats, contrast: Contrast, start: Floats, n_angles: int) -> tuple[Floats, bool]:
    """Turn every plane to its best angle until none moves; whether that was reached."""
    R, d = start.copy(), Z.shape[1]
    S = Z @ R.T
    for sweep in range(MAX_SWEEPS):
        moved = 0.0
        for a in range(d):
            for b in range(a):
                planes = n_angles if sweep < 2 else 0  # later on the optimum is near
                turn = _turned(_best_angle(S[:, [b, a]], weights, contrast, planes))
                S[:, [b, a]] = S[:, [b, a]] @ turn.T
                R[[b, a]] = turn @ R[[b, a]]
                moved = max(moved, float(np.abs(turn).min()))  # a quarter turn only swaps two axes
        if moved < STILL or d == 2:
            return R, True
    return R, False
