"""Mean correlation coefficient."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment
from scipy.stats import rankdata

from unbraid.metrics.arrays import check, choose, split
from unbraid.metrics.kinds import kind_correlations


@dataclass(frozen=True)
class Matching:
    """Which code matches which factor.

    Attributes
    ----------
    factor, code : ndarray of int
        Code ``code[i]`` is matched with factor ``factor[i]``; all of the shorter side are matched.
    correlation : ndarray
        Signed correlation of each matched pair; negative if the code is mirrored.
    """

    factor: np.ndarray
    code: np.ndarray
    correlation: np.ndarray


def match(factors: ArrayLike, codes: ArrayLike, *, kind: str = "pearson") -> Matching:
    """The one-to-one matching of factors and codes with the largest sum of absolute correlations.

    Parameters
    ----------
    factors : array (n_samples, n_factors)
    codes : array (n_samples, n_codes)
    kind : {"pearson", "spearman"}

    Returns
    -------
    Matching
        Which code matches which factor, and their correlations.

    References
    ----------
    Kuhn 1955, "The Hungarian method for the assignment problem".

    Examples
    --------
    >>> import numpy as np
    >>> factors = np.random.default_rng(0).normal(size=(500, 2))
    >>> match(factors, -factors[:, ::-1]).code
    array([1, 0])
    """
    truth, z = check(factors, codes)
    return _match(correlations(truth.values, z, kind))


def mcc(
    factors: ArrayLike,
    codes: ArrayLike,
    factors_test: ArrayLike | None = None,
    codes_test: ArrayLike | None = None,
    *,
    kind: str = "pearson",
    kinds: Sequence[str] | None = None,
    code_kinds: Sequence[str] | None = None,
    weak: bool = False,
    test_size: float | int | None = None,
    random_state: int | None = 0,
) -> float:
    r"""Mean correlation coefficient: each factor against its own code, one to one.

    .. math:: \mathrm{MCC} = \frac1K \max_\pi \sum_{k} |\operatorname{corr}(v_k, z_{\pi(k)})|

    The score of nonlinear ICA: 1 when the codes are the factors up to order, sign and scale (``kind="pearson"``) or
    up to monotone maps (``"spearman"``). A factor without a code of its own counts 0. In sample, the matching is
    chosen on the points it is scored on; with test arrays or a ``test_size`` it is chosen on the training rows and
    scored on the others. The weak MCC first maps codes and factors by canonical correlation analysis (fitted on the
    training rows), so it is 1 when the codes are any invertible linear map of the factors.

    Parameters
    ----------
    factors : array (n_samples, n_factors)
        Discrete factors enter with their class numbers.
    codes : array (n_samples, n_codes)
    factors_test, codes_test : arrays, optional
        Score out of sample, on these.
    kind : {"pearson", "spearman"}
    kinds : sequence of {"interval", "circle", "sphere"}, optional
        What the factors are: one column per interval, one angle in radians per circle, a unit vector in three columns
        per sphere. Each is then matched with a code of its own kind only. Circles are compared by the circular
        correlation of Fisher and Lee, which ignores rotation and mirroring; spheres by the best rotation.
    code_kinds : sequence of str, optional
        What the codes are, such as ``kinds_`` of :class:`~unbraid.ProductManifold`. Default: "interval" for every
        column, for methods without other kinds: none of them then matches an angle.
    weak : bool
        Score after canonical correlation analysis.
    test_size : float or int, optional
        Score out of sample, on this share (or number) of the rows.
    random_state : int
        Draws the test rows.

    Returns
    -------
    float
        Between 0 and 1.

    References
    ----------
    Hyvarinen & Morioka 2016, "Unsupervised feature extraction by time-contrastive learning"; weak and out of sample:
    Khemakhem et al. 2020, "ICE-BeeM", section 4. Circles: Fisher & Lee 1983, "A correlation coefficient for circular
    data", eq. 2.

    Examples
    --------
    >>> import numpy as np
    >>> factors = np.random.default_rng(0).uniform(size=(500, 2))
    >>> round(mcc(factors, 1 - 3 * factors[:, ::-1]), 6)
    1.0
    >>> rotated = factors @ np.array([[1, -1], [1, 1]])
    >>> round(mcc(factors, rotated), 1), round(mcc(factors, rotated, weak=True), 6)
    (0.7, 1.0)

    An angle and a height, recovered as a mirrored and shifted angle and a height:

    >>> angle, height = 2 * np.pi * factors.T
    >>> codes = np.stack([height, 1 - angle], axis=1)
    >>> round(mcc(factors * 2 * np.pi, codes, kinds=["circle", "interval"], code_kinds=["interval", "circle"]), 6)
    1.0
    """
    choose(kind, ("pearson", "spearman"), "kind")
    if kinds is not None:
        if weak or not (factors_test is None and codes_test is None and test_size is None):
            raise ValueError("kinds cannot be combined with weak=True or test rows; leave one of them out.")
        truth, z = check(factors, codes)
        table = np.abs(kind_correlations(truth.values, z, kinds, code_kinds, lambda v, z: correlations(v, z, kind)))
        return float(_match(table).correlation.sum() / len(table))
    if code_kinds is not None:
        raise ValueError("code_kinds needs kinds, those of the factors; give both.")
    if factors_test is None and codes_test is None and test_size is None:
        truth, z = check(factors, codes)
        v = truth.varying().values
        v_test, z_test = v, z
    else:
        parts = split(factors, codes, factors_test, codes_test, test_size=test_size or 0.5, random_state=random_state)
        v, z, v_test, z_test = parts.factors.values, parts.codes, parts.factors_test.values, parts.codes_test
        if len(z_test) < 2:
            raise ValueError("a correlation needs at least 2 test rows.")
    n_factors = v.shape[1]
    if weak:
        to_v, to_z = _cca(v, z)
        v, z, v_test, z_test = v @ to_v, z @ to_z, v_test @ to_v, z_test @ to_z
    if not z.shape[1]:
        return 0.0
    pairs = _match(correlations(v, z, kind))
    matched = np.abs(correlations(v_test, z_test, kind)[pairs.factor, pairs.code])
    return float(matched.sum() / n_factors)


def correlations(factors: np.ndarray, codes: np.ndarray, kind: str = "pearson") -> np.ndarray:
    """Correlation of every factor with every code, (n_factors, n_codes); a constant column correlates with none."""
    if choose(kind, ("pearson", "spearman"), "kind") == "spearman":
        factors, codes = rankdata(factors, axis=0), rankdata(codes, axis=0)
    return np.clip(_standardise(factors).T @ _standardise(codes), -1, 1)


def _standardise(columns: np.ndarray) -> np.ndarray:
    """Centred columns of unit norm. What rounding leaves of a constant column is no variation."""
    spread = np.ptp(columns, axis=0)
    moving = spread > 0
    centred = (columns - columns.mean(axis=0)) / np.where(moving, spread, 1)
    norm = np.linalg.norm(centred, axis=0)
    return np.where(moving, centred / np.where(moving, norm, 1), 0)


def _match(correlation: np.ndarray) -> Matching:
    rows, columns = linear_sum_assignment(np.abs(correlation), maximize=True)
    return Matching(rows, columns, correlation[rows, columns])


def _cca(factors: np.ndarray, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Linear maps of factors and codes to their canonical variates (Bjorck & Golub 1973)."""
    white_v, white_z = _whitening(factors), _whitening(codes)
    left, _, right = np.linalg.svd((_centred(factors) @ white_v).T @ (_centred(codes) @ white_z))
    n = min(white_v.shape[1], white_z.shape[1])
    return white_v @ left[:, :n], white_z @ right[:n].T


def _centred(columns: np.ndarray) -> np.ndarray:
    return columns - columns.mean(axis=0)


def _whitening(columns: np.ndarray) -> np.ndarray:
    """Map of the columns to orthonormal ones, without the directions in which they do not vary."""
    scale = np.ptp(columns, axis=0)
    scale = np.where(scale > 0, scale, 1)
    _, s, vt = np.linalg.svd(_centred(columns) / scale, full_matrices=False)
    keep = s > s[0] * max(columns.shape) * np.finfo(float).eps
    return vt[keep].T / s[keep] / scale[:, None]
