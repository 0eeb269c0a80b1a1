"""Can two codes be told from their rotations? Not if both are Gaussian, or round together, however many points."""

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

ANGLES = 45
LOGCOSH = 0.374567207491438  # mean of log cosh of a standard normal
LOGCOSH_VARIANCE = 0.00632787  # its variance beyond what standardising takes away
CUBE_VARIANCE = 6.0  # of the cube of a standard normal, likewise
CHANCE = 10.0  # what 95 % of Gaussian pairs stay below
GAUSSIAN, CLEAR = 1.0, 1.3  # below the first they cannot be told from Gaussians, above the second they can
FEWEST = 250  # points with which a law as near to the Gaussian as a triangle is told from it in most draws


def separability(codes: Floats) -> float:
    r"""How much the rotation of the least separable pair of codes matters, against chance.

    Of a pair, turned by :math:`\theta` and standardised to :math:`u`, what tells it from a Gaussian pair is

    .. math:: J(\theta) = n \sum_{i=1}^2 \frac{(E \log\cosh u_i - E \log\cosh \nu)^2}{.0063} + \frac{(E u_i^3)^2}{6},

    with :math:`\nu` a standard normal: the contrast of ICA, and skewness. How far it rises and falls over
    :math:`\theta` is what any ICA has to go by; a pair that is round, Gaussian or not, has the same J on all sides, up
    to chance. It is divided by 10, below which 95 % of Gaussian pairs stay with any number of points.

    Parameters
    ----------
    codes : array (n, d)

    Returns
    -------
    float
        The least over pairs; infinite for a single code.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> separability(rng.uniform(size=(1000, 2))) > 5 > 1 > separability(rng.normal(size=(1000, 2)))
    True
    """
    pairs = combinations(range(codes.shape[1]), 2)
    return min((_swing(codes[:, [a, b]]) / CHANCE for a, b in pairs), default=np.inf)


def _swing(pair: Floats) -> float:
    """Largest less smallest J of a pair, over rotations of its whitened values."""
    centred = pair - pair.mean(axis=0)
    values, vectors = np.linalg.eigh(centred.T @ centred / len(pair))
    white = centred @ vectors / np.sqrt(np.maximum(values, 1e-300))
    theta = np.linspace(0, np.pi / 2, ANGLES, endpoint=False)
    turned = np.concatenate([white @ [np.cos(theta), np.sin(theta)], white @ [-np.sin(theta), np.cos(theta)]], axis=1)
    contrast = np.square(np.mean(_logcosh(turned), axis=0) - LOGCOSH) / LOGCOSH_VARIANCE
    each = len(pair) * (contrast + np.square(np.mean(turned**3, axis=0)) / CUBE_VARIANCE)
    return float(np.ptp(each[:ANGLES] + each[ANGLES:]))


def _logcosh(u: Floats) -> Floats:
    return np.logaddexp(u, -u) - np.log(2)
