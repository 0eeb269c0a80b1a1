"""Can two codes be told from their rotations? Not if both are Gaussian, however many points there are."""

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

ANGLES, DRAWS = 45, 19
LOGCOSH = 0.374567207491438  # mean of log cosh of a standard normal
GAUSSIAN, CLEAR = 1.0, 1.5  # below the first they cannot be told from Gaussians, above the second they can


def separability(codes: Floats, rng: np.random.RandomState) -> float:
    r"""How far the least separable pair of codes is from a Gaussian pair.

    Of a pair, :math:`J = \max_\theta \sum_i (E \log\cosh u_i - E \log\cosh \nu)^2` over its rotations :math:`u`, with
    :math:`\nu` a standard normal: what ICA has to go by. It is divided by the largest J of 19 Gaussian pairs with as
    many points, and the least over pairs is returned: about 0.5 for Gaussian factors, 2 and more for factors that ICA
    can tell apart.

    Parameters
    ----------
    codes : array (n, d)
    rng : numpy.random.RandomState
        Draws the Gaussian pairs.

    Returns
    -------
    float
        Infinite for a single code.

    Examples
    --------
    >>> rng = np.random.RandomState(0)
    >>> separability(rng.uniform(size=(1000, 2)), rng) > 5 > 1.2 > separability(rng.normal(size=(1000, 2)), rng)
    True
    """
    n, d = codes.shape
    if d == 1:
        return np.inf
    chance = max(_contrast(rng.standard_normal((n, 2))) for _ in range(DRAWS))
    return min(_contrast(codes[:, [a, b]]) for a, b in combinations(range(d), 2)) / chance


def _contrast(pair: Floats) -> float:
    """J of a pair, over rotations of its whitened values."""
    centred = pair - pair.mean(axis=0)
    values, vectors = np.linalg.eigh(centred.T @ centred / len(pair))
    white = centred @ vectors / np.sqrt(np.maximum(values, 1e-300))
    theta = np.linspace(0, np.pi / 2, ANGLES, endpoint=False)
    turned = np.concatenate([white @ [np.cos(theta), np.sin(theta)], white @ [-np.sin(theta), np.cos(theta)]], axis=1)
    away = np.square(np.mean(_logcosh(turned), axis=0) - LOGCOSH)
    return float((away[:ANGLES] + away[ANGLES:]).max())


def _logcosh(u: Floats) -> Floats:
    return np.logaddexp(u, -u) - np.log(2)
