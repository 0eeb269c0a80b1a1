"""InfoMEC: modularity, explicitness and compactness in terms of information."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import digamma

from unbraid.metrics.arrays import check
from unbraid.metrics.logistic import fit_logistic


@dataclass(frozen=True)
class InfoMEC:
    """InfoM, InfoE, InfoC and the matrix they come from. ``float()`` gives InfoM.

    Attributes
    ----------
    infom, infoe, infoc : float
        Modularity, explicitness and compactness, each between 0 and 1.
    nmi : ndarray (n_factors, n_codes)
        Mutual information over the entropy of the factor.
    active : ndarray of bool (n_codes,)
        Codes with a range of at least a twentieth of the largest one; the others do not count for InfoM and InfoC.
    """

    infom: float
    infoe: float
    infoc: float
    nmi: np.ndarray
    active: np.ndarray

    def __float__(self) -> float:
        return self.infom


def infomec(factors: ArrayLike, codes: ArrayLike, *, n_neighbors: int = 10, n_bins: int = 20) -> InfoMEC:
    r"""InfoMEC: modularity (InfoM), explicitness (InfoE) and compactness (InfoC).

    With :math:`N_{kd} = I(v_k; z_d) / H(v_k)` over the active codes,

    .. math:: \mathrm{InfoM} = \frac{\operatorname{mean}_d \frac{\max_k N_{kd}}{\sum_k N_{kd}} - \frac1K}{1 - \frac1K},
              \quad
              \mathrm{InfoC} = \frac{\operatorname{mean}_k \frac{\max_d N_{kd}}{\sum_d N_{kd}} - \frac1D}{1 - \frac1D},
              \quad
              \mathrm{InfoE} = \operatorname{mean}_k \left(1 - \frac{H(v_k \mid z)}{\log |v_k|}\right)

    The mutual information of continuous codes comes from nearest neighbours, without bins; codes with tied values are
    treated as the mixture they are. The conditional entropy in InfoE is that of logistic regression (classes weighted
    alike, no penalty, in sample), so it counts the information that is linearly usable.

    Parameters
    ----------
    factors : array (n_samples, n_factors)
        Integers are classes; floats are cut into ``n_bins`` bins. Constant factors are left out.
    codes : array (n_samples, n_codes)
    n_neighbors : int
        Neighbours in the estimate of mutual information.
    n_bins : int
        Bins of equal width for continuous factors.

    Returns
    -------
    InfoMEC

    References
    ----------
    Hsu et al. 2023, "Disentanglement via latent quantization", section 5; mutual information: Ross 2014 and, for
    ties, Gao et al. 2017.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> factors = rng.integers(0, 4, size=(1000, 2))
    >>> infomec(factors, factors + 0.1 * rng.random(factors.shape)).infom > 0.9
    True
    """
    truth, z = check(factors, codes, min_samples=4)
    labels = truth.varying().classes(n_bins)
    reach = np.ptp(z, axis=0)
    active = (reach > 0) & (reach > reach.max() / 20)
    nmi = _normalised_information(labels, z, n_neighbors)
    if not active.any():
        return InfoMEC(0.0, 0.0, 0.0, nmi, active)
    pruned = nmi[:, active]
    return InfoMEC(_concentration(pruned), _explicitness(labels, z), _concentration(pruned.T), nmi, active)


def _concentration(nmi: np.ndarray) -> float:
    """Mean over columns of largest/sum, moved so that an even column is 0 and a pure one 1."""
    n = len(nmi)
    if n == 1:
        return 1.0 if nmi.any() else 0.0
    total = nmi.sum(axis=0)
    share = np.divide(nmi.max(axis=0), total, out=np.full(nmi.shape[1], 1 / n), where=total > 0)
    return float(np.clip((share.mean() - 1 / n) / (1 - 1 / n), 0, 1))


def _explicitness(labels: np.ndarray, codes: np.ndarray) -> float:
    z = codes[:, np.ptp(codes, axis=0) > 0]
    z = (z - z.mean(axis=0)) / z.std(axis=0)
    z = z[:, np.lexsort(z[: min(len(z), 64)])]  # the order of the codes must not reach the solver
    rows, scores = np.arange(len(z)), []
    for v in labels.T:
        model = fit_logistic(z, v, C=np.inf, balanced=True, tol=1e-4, max_iter=100)
        scores.append(1 + model.log_proba(z)[rows, v].mean() / np.log(v.max() + 1))
    return float(np.clip(np.mean(scores), 0, 1))


def _normalised_information(labels: np.ndarray, codes: np.ndarray, k: int) -> np.ndarray:
    nmi = np.zeros((labels.shape[1], codes.shape[1]))
    for d, code in enumerate(codes.T):
        if np.ptp(code) == 0:
            continue
        order = np.argsort(code, kind="stable")
        for f, v in enumerate(labels.T):
            p = np.bincount(v) / len(v)
            nmi[f, d] = mixed_information(v[order], code[order], k) / -(p * np.log(p)).sum()
    return nmi


def mixed_information(labels: np.ndarray, x: np.ndarray, k: int) -> float:
    """Mutual information in nats of classes and a number, ``x`` in order; classes of one sample are left out.

    >>> x = np.arange(1000) / 1000
    >>> round(mixed_information((x > 0.5).astype(int), x, 10), 1)  # log 2
    0.7
    """
    counts = np.bincount(labels)
    keep = counts[labels] > 1
    if not keep.all():
        labels, x = labels[keep], x[keep]
        counts = np.bincount(labels, minlength=len(counts))
    if len(x) < 2:
        return 0.0
    by_class = np.argsort(labels, kind="stable")
    radius, inside = np.empty(len(x)), np.empty(len(x))
    start = 0
    for count in counts[counts > 0]:
        rows = by_class[start : start + count]
        radius[rows], inside[rows] = _neighbour(x[rows], min(k, count - 1))
        start += count
    tied = radius == 0
    reach = np.where(tied, 0, np.nextafter(radius, 0))
    around = np.searchsorted(x, x + reach, side="right") - np.searchsorted(x, x - reach, side="left")
    own = counts[labels]
    value = digamma(len(x)) + np.mean(digamma(inside) - digamma(own) - digamma(np.maximum(around, 1)))
    return float(max(value, 0))


def _neighbour(x: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Distance to the k-th neighbour of each point of a sorted array, and k (or the ties, where it is 0)."""
    n = len(x)
    best = np.full(n, np.inf)
    for left in range(k + 1):  # windows of k + 1 points around each point
        low = np.arange(n) - left
        valid = (low >= 0) & (low + k < n)
        i = np.flatnonzero(valid)
        best[i] = np.minimum(best[i], np.maximum(x[i] - x[low[i]], x[low[i] + k] - x[i]))
    ties = np.searchsorted(x, x, side="right") - np.searchsorted(x, x, side="left")
    return best, np.where(best == 0, ties, k)
