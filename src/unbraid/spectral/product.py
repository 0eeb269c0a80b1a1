"""Do codes fill a product? Three effect sizes of codes alone, and how often they would notice one that does not.

Permutation tests are of no use here: with enough points every good fit is "significantly" dependent. So figures decide
that say how large the departure is, against thresholds that good fits keep.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm, rankdata

from unbraid.manifold.neighbors import NeighborSearch
from unbraid.spectral.selection import strongest_dependence

Floats = NDArray[np.float64]

DEPENDENT, RAGGED, HOLLOW = 0.05, 1.4, 0.045  # above these, codes are no product
PLENTY = 1000  # points with which chance leaves no hollows of that size


def dependence(codes: Floats) -> float:
    r"""Largest mutual information (nats) of two codes: in :math:`b^2` bins of equal counts, less :math:`(b-1)^2/2n`.

    Parameters
    ----------
    codes : array (n, d)

    Returns
    -------
    float
        Near 0 for independent codes; 0 for a single one.

    Examples
    --------
    >>> z = np.random.default_rng(0).uniform(size=(2000, 2))
    >>> dependence(z) < 0.02, dependence(z @ [[1.0, 1.0], [-1.0, 1.0]]) > 0.1
    (True, True)
    """
    return strongest_dependence(codes)


def raggedness(codes: Floats, rng: np.random.RandomState) -> float:
    """How far the support of the codes is from that of permuted codes, in the ranks of each code.

    The .97 quantile of the distance from permuted codes to the nearest code, over that from permuted codes to the
    nearest of another permutation. A product has 1, up to chance.

    Parameters
    ----------
    codes : array (n, d)
    rng : numpy.random.RandomState
        Draws the permutations.

    Returns
    -------
    float

    Examples
    --------
    >>> z = np.random.default_rng(0).uniform(size=(2000, 2))
    >>> raggedness(z, np.random.RandomState(0)) < 1.1 < 2 < raggedness(z[z.sum(axis=1) < 1], np.random.RandomState(0))
    True
    """
    if codes.shape[1] == 1:
        return 1.0
    ranks = rankdata(codes, axis=0) / len(codes)
    first, second = _permuted(ranks, rng), _permuted(ranks, rng)
    return float(np.quantile(_gaps(first, ranks), 0.97) / max(np.quantile(_gaps(first, second), 0.97), 1e-12))


def emptiness(codes: Floats, rng: np.random.RandomState) -> float:
    """Share of the codes' box (1 to 99 % of each) that is empty although permuted codes would fill it.

    The share of uniform points in the box that are farther from the codes than the .95 quantile of their distance to
    permuted codes, less .05.

    Parameters
    ----------
    codes : array (n, d)
    rng : numpy.random.RandomState
        Draws the points and the permutation.

    Returns
    -------
    float

    Examples
    --------
    >>> z = np.random.default_rng(0).uniform(-1, 1, size=(4000, 2))
    >>> disk = z[(z**2).sum(axis=1) < 1]
    >>> emptiness(z, np.random.RandomState(0)) < 0.03 < 0.045 < emptiness(disk, np.random.RandomState(0))
    True
    """
    if codes.shape[1] == 1:
        return 0.0
    low, high = np.quantile(codes, [0.01, 0.99], axis=0)
    scaled = (codes - low) / np.maximum(high - low, 1e-300)
    box = rng.random_sample((max(2000, len(codes)), codes.shape[1]))
    usual = np.quantile(_gaps(box, _permuted(scaled, rng)), 0.95)
    return float(np.mean(_gaps(box, scaled) > usual) - 0.05)


def hollow(n: int) -> float:
    """The emptiness that n points of a product may have: with few of them chance leaves hollows.

    >>> hollow(250) / hollow(4000)
    2.0
    """
    return HOLLOW * max(1.0, (PLENTY / n) ** 0.5)


def ball(n: int, d: int, rng: np.random.RandomState) -> Floats:
    """Uniform points of a ball: what a test of support should notice."""
    directions = rng.standard_normal((n, d))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    return directions * rng.random_sample((n, 1)) ** (1 / d)


def dependent(n: int, d: int, rng: np.random.RandomState, correlation: float = 0.6) -> Floats:
    """Uniform codes, the first two of them correlated: what a test of dependence should notice."""
    normal = rng.standard_normal((n, d))
    normal[:, 1] = correlation * normal[:, 0] + (1 - correlation**2) ** 0.5 * normal[:, 1]
    return norm.cdf(normal)


def _permuted(values: Floats, rng: np.random.RandomState) -> Floats:
    return np.column_stack([rng.permutation(column) for column in values.T])


def _gaps(queries: Floats, points: Floats) -> Floats:
    return NeighborSearch(points).query(queries, 1)[0][:, 0]
