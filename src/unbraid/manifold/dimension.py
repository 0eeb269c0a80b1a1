"""Intrinsic dimension: how many directions the data have around a typical point.

Nearest-neighbour counts (:func:`levina_bickel`, :func:`two_nn`) are exact on clean data but useless under noise. The
local spectrum shows a gap at the right place as soon as the neighbourhood is wider than the noise. So the spectrum
decides, at the smallest neighbourhood where it has a gap, and the counts are reported as well. If there is no gap, or
the scales contradict each other, the estimate is not clear.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.utils import check_array

from unbraid.manifold.neighbors import Floats, distinct_rows
from unbraid.manifold.reduction import FINEST, LARGEST_SIDE, fit_reduction
from unbraid.manifold.spectra import NoiseFloor, doubt_of, flat_ratios, has_structure, local_spectra
from unbraid.runtime.determinism import check_random_state
from unbraid.trust.table import FIGURES

FEWEST, FIRST_SCALE = 6, 12
LARGEST_SAMPLE = 30_000
CLEAR_GAP = FIGURES["dimension_gap"].limit()
EARLY_GAP = FIGURES["dimension_gap"].limit("small neighbourhoods")  # where curvature does not matter yet
NOISY = 4.0  # times the noise variance: largest eigenvalue allowed beyond a gap of wide neighbourhoods
LARGEST_BATCH = 256_000  # neighbours processed at a time


@dataclass(frozen=True)
class DimensionEstimate:
    """The result of :func:`estimate_dimension`.

    Attributes
    ----------
    dim : int
        The dimension; the best guess if the verdict is "cannot tell", and 0 if it is "no structure".
    value : float
        Mean over points of the local count; near ``dim`` when the points agree.
    interval : tuple of int
        The smallest and the largest dimension that some neighbourhood size suggests; equal if all agree.
    gap : float
        Ratio of the eigenvalues before and after ``dim``, over that of a flat sample, at the scale that decided.
    scale : int
        Size of the neighbourhoods that decided.
    clear : bool
        Whether the verdict is "clear".
    methods : dict of float
        ``local_pca``, ``levina_bickel`` and ``two_nn``.
    verdict : {"clear", "cannot tell", "no structure"}
    reason : str
        Why it is not clear.
    noise : float
        Standard deviation of the noise per feature; 0 where there are too few features to tell.
    """

    dim: int
    value: float
    interval: tuple[float, float]
    gap: float
    scale: int
    clear: bool
    methods: dict[str, float]
    verdict: str = ""
    reason: str = ""
    noise: float = 0.0

    def __str__(self) -> str:
        figures = ", ".join(f"{name} {value:.2f}" for name, value in self.methods.items())
        if self.clear:
            return f"dimension {self.dim}: gap of {self.gap:.3g} among {self.scale} neighbours ({figures})"
        if self.verdict == "no structure":
            return f"no structure: {self.reason} ({figures})"
        low, high = self.interval
        return f"dimension {self.dim}, cannot tell ({low} to {high}): {self.reason} ({figures})"


def estimate_dimension(X: Any, *, max_dim: int = 10, n_points: int = 256, random_state: Any = 0) -> DimensionEstimate:
    r"""Estimate the dimension of the manifold that the rows of ``X`` lie on.

    A PCA keeps the components above the noise, whose variance :math:`s^2` is read off the Marchenko-Pastur law where
    there are 15 features or more. Around each of ``n_points`` points the covariance of the nearest :math:`k` points has
    the eigenvalues :math:`\lambda_1 \ge \lambda_2 \ge \dots`: :math:`d` of size :math:`r^2/(d+2)` along the manifold,
    those of its curvature of size :math:`r^4`, those of noise constant. With geometric means over the points, each
    scale :math:`k = 12, 24, 48, \dots` proposes

    .. math:: \hat d_k = \arg\max_d \frac{\lambda_d / \max(\lambda_{d+1}, s^2)}{\rho_d(k)},

    where :math:`\rho_d(k)` is the same ratio of :math:`k` points of a flat ball of dimension :math:`d + 1`, among those
    :math:`d` whose :math:`\lambda_d` is at least half of what a flat ball explains. The first scale with a gap of 2 or
    more (1.75 up to a sixteenth of the points) decides.

    The verdict is "no structure" if the features are independent of each other, like white noise. It is "cannot
    tell", with the reason, if no scale shows a gap, the next scale disagrees, the points lie in groups, the
    neighbourhoods that decide are hollow (a whole sphere), or more than noise is left beyond the gap.

    Parameters
    ----------
    X : array-like of shape (n_samples, ...)
        Data; trailing axes are flattened.
    max_dim : int
        The largest dimension considered.
    n_points : int
        Points whose neighbourhoods are examined.
    random_state : int, RandomState, Generator or None
        Chooses these points.

    Returns
    -------
    DimensionEstimate

    References
    ----------
    Little, Maggioni, Rosasco (2017), multiscale singular values. Marchenko, Pastur (1967). Levina, Bickel (2004), eq.
    8, averaged as MacKay and Ghahramani (2005). Facco et al. (2017), TwoNN.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(1000, 4))
    >>> estimate_dimension(X / np.linalg.norm(X, axis=1, keepdims=True)).dim
    3
    >>> estimate_dimension(np.random.default_rng(0).normal(size=(1000, 50))).verdict
    'no structure'
    """
    X = np.asarray(X)
    X = check_array(X.reshape(len(X), -1) if X.ndim > 2 else X, dtype=np.float64, ensure_min_samples=4)
    rng = check_random_state(random_state)
    X = X if len(X) <= LARGEST_SAMPLE else X[rng.permutation(len(X))[:LARGEST_SAMPLE]]
    X = X[distinct_rows(X)[0]]
    wide = min(X.shape) > LARGEST_SIDE
    reduction = fit_reduction(X[rng.permutation(len(X))[:LARGEST_SIDE]] if wide else X.copy(), n_components=None)
    reduction = reduction.truncated(min(2 * max_dim + 1, reduction.size_for(FINEST)))
    structured = len(X) < FEWEST or has_structure(X, rng)
    settings: dict[str, Any] = {"max_dim": max_dim, "n_points": n_points, "random_state": rng}
    return dimension_of(reduction(X), reduction.floor, reduction.left_out, structured, **settings)


def dimension_of(
    P: Floats,
    floor: NoiseFloor,
    left_out: float | None,
    structured: bool,
    *,
    max_dim: int = 10,
    n_points: int = 256,
    random_state: Any = 0,
) -> DimensionEstimate:
    """:func:`estimate_dimension` of principal components.

    Parameters
    ----------
    P : array (n, components)
        Principal components, above the noise.
    floor : NoiseFloor
    left_out : float
        Variance of the first component that is not in P; None if P has every direction of the data.
    structured : bool
        Result of :func:`~unbraid.manifold.spectra.has_structure` on the data.
    max_dim, n_points, random_state
        As in :func:`estimate_dimension`.
    """
    if max_dim < 1:
        raise ValueError(f"max_dim must be at least 1, got {max_dim}.")
    rng = check_random_state(random_state)
    P = P[distinct_rows(P)[0]][:, : 2 * max_dim + 1]
    if len(P) < FEWEST:
        raise ValueError(
            f"{len(P)} distinct points are too few to estimate a dimension; {FEWEST} are needed. "
            "Specify the dimension, or provide more data."
        )
    rows = rng.permutation(len(P))[:n_points]
    distances = cdist(P[rows], P)
    closest = np.sort(np.partition(distances, min(20, len(P) - 1), axis=1)[:, : min(21, len(P))], axis=1)[:, 1:]
    methods = {"levina_bickel": levina_bickel(closest), "two_nn": two_nn(closest)}
    noise = floor.variance**0.5
    filled = left_out is None and floor.variance == 0
    if not structured and not (filled and P.shape[1] <= max_dim):
        return _no_structure(max_dim, methods, noise)
    beyond = 0.0 if filled else max(floor.edge, left_out or 0.0, 1e-12 * float(P.var(axis=0)[0]))
    proposals = _proposals(P, distances, floor.variance, beyond, max_dim)
    chosen, following, seen = _decide(proposals, len(P), floor.variance)
    if chosen is None:
        return _unclear(seen, methods, P.shape[1], max_dim, filled, noise)
    reason, said = doubt_of(P, distances, chosen.k, chosen.dim, floor.variance), [chosen.dim]
    if following and following.dim != chosen.dim and following.gap >= CLEAR_GAP:
        said.append(following.dim)
        reason = f"neighbourhoods of {chosen.k} points say {said[0]}, those of {following.k} say {said[1]}"
    dim, counted = chosen.dim, methods["levina_bickel"]
    if floor.variance == 0 and dim - counted > max(1.0, 0.25 * counted):
        # On clean data the count of neighbours is right, and a wide neighbourhood sees curvature.
        dim = max(1, round(counted))
        said.append(dim)
        reason = f"neighbourhoods of {chosen.k} points say {chosen.dim}, but neighbours are counted as in {counted:.1f}"
    return _estimate(chosen, dim, said, chosen.gap, reason, methods, noise)


def levina_bickel(distances: np.ndarray) -> float:
    r"""Maximum-likelihood dimension from sorted distances to the nearest :math:`k` points, one row per point.

    .. math:: \hat d^{-1} = \frac{1}{n (k - 1)} \sum_i \sum_{j<k} \log \frac{T_k(i)}{T_j(i)}

    Examples
    --------
    >>> u = np.sort(np.random.default_rng(0).uniform(size=(4000, 30)), axis=1)
    >>> round(levina_bickel(u ** (1 / 3)), 1)
    3.0
    """
    logs = np.log(np.maximum(distances, np.finfo(float).tiny))
    return float((distances.shape[1] - 1) / (logs[:, -1:] - logs[:, :-1]).sum(axis=1).mean())


def two_nn(distances: np.ndarray) -> float:
    r"""Dimension from the ratio :math:`\mu` of the second to the first neighbour's distance: :math:`n/\sum\log\mu`.

    Examples
    --------
    >>> u = np.sort(np.random.default_rng(0).uniform(size=(20000, 2)), axis=1)
    >>> round(two_nn(u ** (1 / 2)), 1)
    2.0
    """
    near = np.maximum(distances[:, :2], np.finfo(float).tiny)
    return float(1 / np.log(near[:, 1] / near[:, 0]).mean())


@dataclass(frozen=True)
class _Proposal:
    """Result of neighbourhoods of k points: a dimension, its gap, the mean eigenvalue beyond it, counts per point."""

    k: int
    dim: int
    gap: float
    beyond: float
    counts: Floats


def _scales(n: int) -> list[int]:
    """12, 24, ... up to a quarter of the points, then half, then all."""
    scales = [min(FIRST_SCALE, n)]
    while 2 * scales[-1] <= n // 4:
        scales.append(2 * scales[-1])
    return scales + [k for k in (n // 2, n) if k > scales[-1]]


def _proposals(P: Floats, distances: Floats, noise: float, beyond: float, max_dim: int) -> Iterator[_Proposal]:
    for k in _scales(len(P)):
        some = distances[: max(16, LARGEST_BATCH // k)]
        near = np.argpartition(some, k - 1, axis=1)[:, :k] if k < len(P) else np.tile(np.arange(k), (1, 1))
        yield _proposal(local_spectra(P[near]), k, noise, beyond, max_dim)


def _proposal(values: Floats, k: int, noise: float, beyond: float, max_dim: int) -> _Proposal:
    values = np.maximum(values, 1e-12 * values[:, :1])
    mean = np.exp(np.log(values).mean(axis=0))
    filled = beyond == 0  # a filled space shows no gap at its end
    after = np.append(mean[1:], mean[-1] if filled else beyond)
    dims = np.arange(1, max(1, min(max_dim, len(mean), k // 2)) + 1)
    gaps = np.zeros(len(dims))
    for d in dims.tolist():
        flat = 0.5 * flat_ratios(k, d)[1] * max(mean[0] - noise, 0)
        if mean[d - 1] - noise >= flat and mean[d - 1] > noise:
            gaps[d - 1] = mean[d - 1] / max(after[d - 1], noise) / flat_ratios(k, d + 1)[0]
    best = int(gaps.argmax())
    threshold = np.sqrt(mean[best] * max(after[best], noise))
    return _Proposal(k, best + 1, float(gaps.max()), float(after[best]), (values > threshold).sum(axis=1).astype(float))


def _decide(
    proposals: Iterator[_Proposal], n: int, noise: float
) -> tuple[_Proposal | None, _Proposal | None, list[_Proposal]]:
    """The first scale with a clear gap, the next one if it is still local, and all scales up to there."""
    seen = []
    for found in proposals:
        seen.append(found)
        clear = found.gap >= (EARLY_GAP if found.k <= n / 16 else CLEAR_GAP)
        if clear and (found.beyond <= NOISY * noise or found.k <= max(FIRST_SCALE, n / 8)):
            following = next(proposals, None)
            return found, following if following and following.k <= n / 4 else None, seen
    return None, None, seen


def _unclear(
    seen: list[_Proposal], methods: dict[str, float], size: int, max_dim: int, filled: bool, noise: float
) -> DimensionEstimate:
    """No scale shows a gap: the count of neighbours is the guess on clean data, the largest gap under noise."""
    widest = max(seen, key=lambda found: found.gap)
    counted = int(np.clip(round(methods["levina_bickel"]), 1, min(max_dim, size)))
    dim = widest.dim if noise else counted
    reason = "no neighbourhood size shows a gap in its spectrum"
    if filled and dim == size:
        reason = f"the points fill all {size} directions, so the features may be the factors, or be noise"
    gap = min(widest.gap, float(np.nextafter(CLEAR_GAP, 0)))
    return _estimate(widest, dim, [dim, counted, widest.dim], gap, reason, methods, noise)


def _estimate(
    at: _Proposal, dim: int, said: list[int], gap: float, reason: str, methods: dict[str, float], noise: float
) -> DimensionEstimate:
    """The estimate at one scale; clear if there is no reason for doubt."""
    value, verdict = float(at.counts.mean()), "cannot tell" if reason else "clear"
    figures = {"local_pca": value, **methods}
    return DimensionEstimate(dim, value, (min(said), max(said)), gap, at.k, not reason, figures, verdict, reason, noise)


def _no_structure(max_dim: int, methods: dict[str, float], noise: float) -> DimensionEstimate:
    reason = "the features are as independent of each other as if each had been shuffled by itself, like white noise"
    figures = {"local_pca": 0.0, **methods}
    return DimensionEstimate(0, 0.0, (0, max_dim), 1.0, 0, False, figures, "no structure", reason, noise)
