"""Do codes fill a product? Effect sizes that need the codes only, and their power to detect a violation.

Permutation tests do not help: with enough points every good fit is "significantly" dependent. So the size of the
departure decides, with thresholds that good fits meet.
"""

from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree
from scipy.special import betaincinv, ndtr
from scipy.stats import rankdata

from unbraid.trust.table import FIGURES

Floats = NDArray[np.float64]

N_BINS = 12
POWER_POINTS = (50, 100, 200, 500, 1000, 2000)
PLENTY = 1000  # points with which chance leaves no empty regions of that size

IN_CORNERS = {2: 0.0947, 3: 0.1473, 4: 0.1829, 5: 0.2086, 6: 0.2292, 7: 0.2459, 8: 0.2596}  # of 2e7 draws
MISSING, BY_CHANCE = 0.44, 2.8  # share of the corners that good codes have; standard deviations
GROSS = 7.0  # emptiness and raggedness, relative to chance, of 1000 good codes

ANGLES = 45
LOGCOSH = 0.374567207491438  # mean of log cosh of a standard normal
LOGCOSH_VARIANCE = 0.00632787  # its variance after standardisation
CUBE_VARIANCE = 6.0  # of the cube of a standard normal, likewise
CHANCE = 10.0  # 95 % of Gaussian pairs stay below


def dependence(codes: Floats) -> float:
    r"""Largest mutual information (nats) of two codes: in :math:`b^2` bins of equal counts, minus :math:`(b-1)^2/2n`.

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
    if codes.shape[1] == 1:
        return 0.0
    found, chance = _pairwise_information(codes, N_BINS)
    return float(found.max() - chance)


def mutual_information(codes: Floats, n_bins: int = N_BINS) -> float:
    """Mean mutual information (nats) between pairs of codes, in bins of equal counts.

    >>> z = np.random.default_rng(0).uniform(size=(5000, 2))
    >>> mutual_information(z) < 0.02 < mutual_information(z @ [[1.0, 1.0], [-1.0, 1.0]])
    True
    """
    if codes.shape[1] == 1:
        return 0.0
    return float(_pairwise_information(codes, n_bins)[0].mean())


def _pairwise_information(codes: Floats, n_bins: int) -> tuple[Floats, float]:
    """Mutual information of every pair of codes in bins of equal counts, and its mean under independence."""
    n, d = codes.shape
    n_bins = max(2, min(n_bins, int((n / 8) ** 0.5)))
    ranks = np.argsort(np.argsort(codes, axis=0), axis=0) * n_bins // n
    found = []
    for a in range(d):
        for b in range(a):
            joint = np.bincount(ranks[:, a] * n_bins + ranks[:, b], minlength=n_bins**2) / n
            product = np.outer(np.bincount(ranks[:, a], minlength=n_bins), np.bincount(ranks[:, b], minlength=n_bins))
            ratio = joint / np.maximum(product.ravel() / n**2, 1e-300)
            found.append(float(np.sum(joint[joint > 0] * np.log(ratio[joint > 0]))))
    return np.array(found), (n_bins - 1) ** 2 / (2 * n)


def raggedness(codes: Floats, rng: np.random.RandomState) -> float:
    """How far the support of the codes is from that of permuted codes, in the ranks of each code.

    The .97 quantile of the distance from permuted codes to the nearest code, divided by that from permuted codes to
    the nearest of another permutation. A product has 1, up to chance.

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
    permuted codes, minus .05.

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


def mean_emptiness(codes: Floats, rng: np.random.RandomState) -> float:
    """Mean of three measurements of :func:`emptiness`, each with other points of the box."""
    return float(np.mean([emptiness(codes, rng) for _ in range(3)]))


def corners(codes: Floats) -> float:
    r"""How many codes lie in the corners of their box, relative to independent codes: 1 for a product, 0 for a ball.

    The ranks of each code get the law of a coordinate of the uniform ball: :math:`(1 + x_i) / 2 \sim B(a, a)`, with
    :math:`a = (d + 1) / 2`. The corner is where :math:`|x| > 1`; the share of a product there depends on d alone.

    Parameters
    ----------
    codes : array (n, d)
        d from 2 to 8.

    Returns
    -------
    float

    Examples
    --------
    >>> z = np.random.default_rng(0).uniform(-1, 1, size=(2000, 2))
    >>> corners(z**3) > 0.9, corners(z[(z**2).sum(axis=1) < 1]) < 0.2
    (True, True)
    """
    n, d = codes.shape
    x = 2 * betaincinv((d + 1) / 2, (d + 1) / 2, (rankdata(codes, axis=0) - 0.5) / n) - 1
    return float(np.mean(np.square(x).sum(axis=1) > 1) / IN_CORNERS[d])


def unfilled(codes: Floats, rng: np.random.RandomState) -> float:
    r"""How far the codes are from filling a box, relative to what good codes may be.

    The larger of two figures. One is what is missing in the :func:`corners`, :math:`1 - c`, over
    :math:`\max(.44, 2.8 s)` with s its standard deviation by chance: it sees disks and balls. The other is emptiness
    over what chance allows, plus twice the raggedness beyond 1, over :math:`7 \sqrt{n / 1000}`: it sees triangles and
    L shapes, and passes what a conformal map makes of a square.

    Parameters
    ----------
    codes : array (n, d)
    rng : numpy.random.RandomState

    Returns
    -------
    float

    Examples
    --------
    >>> z = np.random.default_rng(0).uniform(-1, 1, size=(400, 2))
    >>> disk, triangle = z[(z**2).sum(axis=1) < 1], z[z.sum(axis=1) < 0]
    >>> unfilled(z, np.random.RandomState(0)) < 0.5
    True
    >>> [unfilled(some, np.random.RandomState(0)) > 1 for some in (disk, triangle)]
    [True, True]
    """
    n, d = codes.shape
    if d == 1:
        return 0.0
    some = codes if n <= PLENTY else codes[np.sort(rng.permutation(n)[:PLENTY])]
    empty = emptiness(some, rng) / hollow(len(some)) + 2 * (raggedness(some, rng) - 1)
    found = empty / (GROSS * (len(some) / PLENTY) ** 0.5)
    if d not in IN_CORNERS:
        return found
    chance = ((1 / IN_CORNERS[d] - 1) / n) ** 0.5
    return max(found, (1 - corners(codes)) / max(MISSING, BY_CHANCE * chance))


def hollow(n: int) -> float:
    """The emptiness that n points of a product may have: few points leave empty regions by chance.

    >>> hollow(250) / hollow(4000)
    2.0
    """
    return FIGURES["emptiness"].limit() * max(1.0, (PLENTY / n) ** 0.5)


def separability(codes: Floats) -> float:
    r"""How much the rotation of the least separable pair of codes matters, relative to chance.

    A pair, rotated by :math:`\theta` and standardised to :math:`u`, differs from a Gaussian pair by

    .. math:: J(\theta) = n \sum_{i=1}^2 \frac{(E \log\cosh u_i - E \log\cosh \nu)^2}{.0063} + \frac{(E u_i^3)^2}{6},

    with :math:`\nu` a standard normal: the contrast of ICA, and skewness. Its range over
    :math:`\theta` is what ICA relies on; a pair with rotational symmetry, Gaussian or not, has a constant J, up to
    chance. The range is divided by 10, which 95 % of Gaussian pairs do not exceed, with any number of points.

    Parameters
    ----------
    codes : array (n, d)

    Returns
    -------
    float
        The minimum over pairs; infinite for a single code.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> separability(rng.uniform(size=(1000, 2))) > 5 > 1 > separability(rng.normal(size=(1000, 2)))
    True
    """
    pairs = combinations(range(codes.shape[1]), 2)
    return min((_swing(codes[:, [a, b]]) / CHANCE for a, b in pairs), default=np.inf)


def _swing(pair: Floats) -> float:
    """Range of J of a pair over rotations of its whitened values."""
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


def near_gaussian(kurtosis: Floats, n: int) -> NDArray[np.bool_]:
    """Factors whose excess kurtosis is below 0.1 or within two standard errors, sqrt(24 / n), of zero."""
    return np.abs(kurtosis) < max(FIGURES["kurtosis"].limit(), 2 * (24 / max(n, 1)) ** 0.5)


def power_of(key: str, n: int, d: int) -> float:
    """How often a clear violation by n points of d factors is detected; the nearest simulated number of factors counts.

    The violations: two factors of correlation .6 (dependence), a ball (raggedness, emptiness), Gaussian factors
    (separability), a torus (edge). ``benchmarks/calibrate_power.py`` makes the table.

    >>> power_of("raggedness", 2000, 2), power_of("raggedness", 100, 2) < 0.5
    (1.0, True)
    """
    power = FIGURES[key].power
    shares = power[min(power, key=lambda known: abs(int(known) - d))]
    return float(np.interp(np.log(n), np.log(POWER_POINTS), shares))


def ball(n: int, d: int, rng: np.random.RandomState) -> Floats:
    """Uniform points of a ball, which a test of support should detect."""
    directions = rng.standard_normal((n, d))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    return directions * rng.random_sample((n, 1)) ** (1 / d)


def dependent(n: int, d: int, rng: np.random.RandomState, correlation: float = 0.6) -> Floats:
    """Uniform codes, the first two correlated, which a test of dependence should detect."""
    normal = rng.standard_normal((n, d))
    normal[:, 1] = correlation * normal[:, 0] + (1 - correlation**2) ** 0.5 * normal[:, 1]
    return ndtr(normal)


def _permuted(values: Floats, rng: np.random.RandomState) -> Floats:
    return np.column_stack([rng.permutation(column) for column in values.T])


def _gaps(queries: Floats, points: Floats) -> Floats:
    return np.asarray(cKDTree(points, leafsize=16).query(queries)[0])
