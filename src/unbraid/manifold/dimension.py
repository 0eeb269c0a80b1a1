"""How many directions the data has around a typical point: shared by the estimators with an automatic size.

Nearest-neighbour counts (:func:`levina_bickel`, :func:`two_nn`) are exact on clean data and useless under noise,
where every point is its own cloud; the local spectrum shows a gap at the right place as soon as the neighbourhood is
wider than the noise. So the spectrum decides, at the smallest neighbourhood where it speaks, and the counts stand
beside it.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.decomposition import PCA
from sklearn.utils import check_array

from unbraid.contract.randomness import check_random_state
from unbraid.manifold.distinct import distinct_rows
from unbraid.manifold.neighbors import nearest

FEWEST, FIRST_SCALE, LARGEST_SCALE = 6, 12, 768
LARGEST_SAMPLE = 30_000
CLEAR_GAP = 2.0


@dataclass(frozen=True)
class DimensionEstimate:
    """The result of :func:`estimate_dimension`.

    Attributes
    ----------
    dim : int
        The dimension.
    value : float
        Mean over points of the local count; near ``dim`` when the points agree.
    interval : tuple of float
        Where the middle two thirds of the local counts lie.
    gap : float
        Ratio of the eigenvalues before and after ``dim``, at the scale that decided.
    scale : int
        Size of the neighbourhoods that decided.
    clear : bool
        Whether some scale showed a gap. Without one, ``dim`` is the rounded ``levina_bickel`` figure.
    methods : dict of float
        ``local_pca``, ``levina_bickel`` and ``two_nn``.
    """

    dim: int
    value: float
    interval: tuple[float, float]
    gap: float
    scale: int
    clear: bool
    methods: dict[str, float]

    def __str__(self) -> str:
        figures = ", ".join(f"{name} {value:.2f}" for name, value in self.methods.items())
        if self.clear:
            return f"dimension {self.dim}: gap of {self.gap:.3g} among {self.scale} neighbours ({figures})"
        return f"dimension {self.dim}, unclear: no gap in the local spectrum ({figures})"


def estimate_dimension(X: Any, *, max_dim: int = 10, n_points: int = 256, random_state: Any = 0) -> DimensionEstimate:
    r"""Estimate the dimension of the manifold that the rows of ``X`` lie on.

    Around each of ``n_points`` points the covariance of the nearest :math:`m` points has the eigenvalues
    :math:`\lambda_1 \ge \lambda_2 \ge \dots`: :math:`d` of size :math:`r^2/(d+2)` along the manifold, those of its
    curvature of size :math:`r^4`, those of noise constant. With geometric means over the points, each scale
    :math:`m = 12, 24, 48, \dots` proposes

    .. math:: \hat d_m = \arg\max_d \lambda_d / \lambda_{d+1}

    among those :math:`d` whose :math:`\lambda_d` is as large as sampling from a flat :math:`d`-ball explains
    (half the Marchenko-Pastur edge ratio). The first scale with a ratio of 2 or more decides. Data with more than
    ``2 max_dim + 1`` features are projected on that many principal components first, which keep the dimension
    (Whitney) and drop noise and the fine edges of images.

    Use it to choose a number of factors, or to see that there is no clear one (``clear`` is then False).

    Parameters
    ----------
    X : array-like of shape (n_samples, ...)
        Data; trailing axes are flattened.
    max_dim : int
        The largest dimension considered.
    n_points : int
        Points whose neighbourhoods are looked at.
    random_state : int, RandomState, Generator or None
        Chooses these points.

    Returns
    -------
    DimensionEstimate

    References
    ----------
    Little, Maggioni, Rosasco (2017), multiscale singular values. Levina, Bickel (2004), eq. 8, averaged as MacKay and
    Ghahramani (2005). Facco et al. (2017), TwoNN.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(1000, 4))
    >>> estimate_dimension(X / np.linalg.norm(X, axis=1, keepdims=True)).dim
    3
    """
    X = np.asarray(X)
    X = check_array(X.reshape(len(X), -1) if X.ndim > 2 else X, dtype=np.float64, ensure_min_samples=4)
    if max_dim < 1:
        raise ValueError(f"max_dim must be at least 1, got {max_dim}.")
    rng = check_random_state(random_state)
    X = X if len(X) <= LARGEST_SAMPLE else X[rng.permutation(len(X))[:LARGEST_SAMPLE]]
    X = X[distinct_rows(X)[0]]
    if len(X) < FEWEST:
        raise ValueError(
            f"{len(X)} different points are too few to estimate a dimension, {FEWEST} are needed. "
            "Give the dimension instead, or more data."
        )
    X = _project(X, 2 * max_dim + 1, rng)
    widest = min(len(X) - 1, max(FIRST_SCALE, min(LARGEST_SCALE, len(X) // 4)))
    distances, neighbors = nearest(X, widest, rng.permutation(len(X))[:n_points])
    spectra = {m: _local_spectra(X, neighbors[:, :m], max_dim) for m in _scales(neighbors.shape[1])}
    dim, scale, gap = _first_gap(spectra)
    methods = {"levina_bickel": levina_bickel(distances[:, :20]), "two_nn": two_nn(distances)}
    clear = gap >= CLEAR_GAP
    if not clear:
        dim = int(np.clip(round(methods["levina_bickel"]), 1, min(max_dim, X.shape[1])))
    counts = _local_counts(spectra[scale], dim)
    low, high = np.quantile(counts, [1 / 6, 5 / 6])
    value = float(counts.mean())
    return DimensionEstimate(dim, value, (float(low), float(high)), gap, scale, clear, {"local_pca": value, **methods})


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


def _project(X: np.ndarray, n_components: int, rng: np.random.RandomState) -> np.ndarray:
    X = X - X.mean(axis=0)
    if X.shape[1] <= n_components:
        return X
    n_components = min(n_components, len(X))
    return PCA(n_components, svd_solver="randomized", random_state=rng).fit_transform(X)


def _scales(largest: int) -> list[int]:
    scales = [min(FIRST_SCALE, largest)]
    while 2 * scales[-1] <= largest:
        scales.append(2 * scales[-1])
    return scales


def _local_spectra(X: np.ndarray, neighbors: np.ndarray, max_dim: int) -> np.ndarray:
    """Leading ``max_dim + 1`` eigenvalues of each neighbourhood's covariance, as parts of its trace."""
    covariances = np.stack([np.cov(X[near], rowvar=False).reshape(X.shape[1], -1) for near in neighbors])
    values = np.linalg.eigvalsh(covariances)[:, ::-1][:, : max_dim + 1]
    values = np.pad(values, [(0, 0), (0, max_dim + 1 - values.shape[1])])
    return np.maximum(values / np.trace(covariances, axis1=1, axis2=2)[:, None], 1e-12)


def _first_gap(spectra: dict[int, np.ndarray]) -> tuple[int, int, float]:
    """Dimension, scale and ratio of the first clear gap; of the largest one when none is clear."""
    best = (1, next(iter(spectra)), 0.0)
    for m, values in spectra.items():
        mean = np.exp(np.log(values).mean(axis=0))
        dims = np.arange(1, min(len(mean) - 1, m // 2) + 1)
        edge = np.sqrt(dims / m)
        flat = mean[dims - 1] >= 0.5 * ((1 - edge) / (1 + edge)) ** 2 * mean[0]
        ratios = np.where(flat, mean[dims - 1] / mean[dims], 0)
        d = int(dims[ratios.argmax()])
        found = (d, m, float(ratios.max()))
        if _stands_out(ratios, d):
            return found
        best = max(best, found, key=lambda f: f[2])
    return best[0], best[1], min(best[2], np.nextafter(CLEAR_GAP, 0))


def _stands_out(ratios: np.ndarray, d: int) -> bool:
    """A gap is clear when it is large, and larger than those that the sample's chance makes before it."""
    before = ratios[: d - 1].max(initial=1.0)
    return bool(ratios[d - 1] >= CLEAR_GAP and ratios[d - 1] >= 1.25 * before)


def _local_counts(values: np.ndarray, dim: int) -> np.ndarray:
    mean = np.exp(np.log(values).mean(axis=0))
    return (values > np.sqrt(mean[dim - 1] * mean[dim])).sum(axis=1).astype(float)
