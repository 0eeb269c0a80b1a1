"""InfoMEC: modularity, explicitness and compactness in terms of information."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import digamma

from unbraid.metrics.arrays import Factors, check
from unbraid.metrics.information import tabulate
from unbraid.metrics.logistic import fit_logistic, standardise
from unbraid.runtime.kernels import njit


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
    discrete_codes : bool
        Whether the codes were taken as classes.
    """

    infom: float
    infoe: float
    infoc: float
    nmi: np.ndarray
    active: np.ndarray
    discrete_codes: bool

    def __float__(self) -> float:
        return self.infom


def infomec(
    factors: ArrayLike,
    codes: ArrayLike,
    *,
    discrete_codes: bool | Literal["auto"] = "auto",
    n_neighbors: int = 10,
    n_bins: int = 20,
) -> InfoMEC:
    r"""InfoMEC: modularity (InfoM), explicitness (InfoE) and compactness (InfoC).

    With :math:`N_{kd} = I(v_k; z_d) / H(v_k)` over the active codes,

    .. math:: \mathrm{InfoM} = \frac{\operatorname{mean}_d \frac{\max_k N_{kd}}{\sum_k N_{kd}} - \frac1K}{1 - \frac1K},
              \quad
              \mathrm{InfoC} = \frac{\operatorname{mean}_k \frac{\max_d N_{kd}}{\sum_d N_{kd}} - \frac1D}{1 - \frac1D},
              \quad
              \mathrm{InfoE} = \operatorname{mean}_k \left(1 - \frac{H(v_k \mid z)}{\log |v_k|}\right)

    The mutual information of continuous codes comes from nearest neighbours, without bins; codes with tied values are
    treated as the mixture they are. That of discrete codes (quantised latents) comes from counts. The conditional
    entropy in InfoE is that of logistic regression (balanced classes, no penalty, in sample), so it counts the
    information that is linearly usable: from the codes themselves, or from one indicator per value of a discrete code.

    Parameters
    ----------
    factors : array (n_samples, n_factors)
        Integers are classes; floats are cut into ``n_bins`` bins. Constant factors are left out.
    codes : array (n_samples, n_codes)
    discrete_codes : bool or "auto"
        Whether the values of a code are classes. "auto": if every code has at most 100 values, which occur four times
        each on average. Compare scores of one mode only.
    n_neighbors : int
        Neighbours in the estimate of mutual information; discrete codes need none.
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
    >>> infomec(factors, (factors * [3, 1]) % 4).infoe > 0.99  # classes in another order
    True
    """
    if discrete_codes not in (True, False, "auto"):
        raise ValueError(f"discrete_codes={discrete_codes!r} is unknown; allowed are True, False and 'auto'.")
    truth, z = check(factors, codes, min_samples=4)
    labels = truth.varying().classes(n_bins)
    reach = np.ptp(z, axis=0)
    active = (reach > 0) & (reach > reach.max() / 20)
    discrete = _few_values(z) if discrete_codes == "auto" else bool(discrete_codes)
    if discrete:
        classes = Factors(z, np.full(z.shape[1], True)).classes()
        nmi, features = tabulate(labels, classes).normalised.T, _indicators(classes)
    else:
        nmi, features = _normalised_information(labels, z, n_neighbors), z
    if not active.any():
        return InfoMEC(0.0, 0.0, 0.0, nmi, active, discrete)
    pruned = nmi[:, active]
    return InfoMEC(
        _concentration(pruned), _explicitness(labels, features), _concentration(pruned.T), nmi, active, discrete
    )


def _few_values(codes: np.ndarray) -> bool:
    most = min(100, len(codes) / 4)
    # Some rows first: they are enough to recognise a continuous code.
    return all(len(np.unique(column[:500])) <= most and len(np.unique(column)) <= most for column in codes.T)


def _indicators(classes: np.ndarray) -> np.ndarray:
    """One column for each value of each code, 1 where the code has it."""
    return np.hstack([np.eye(column.max() + 1)[column] for column in classes.T])


def _concentration(nmi: np.ndarray) -> float:
    """Mean over columns of largest/sum, moved so that an even column is 0 and a pure one 1."""
    n = len(nmi)
    if n == 1:
        return 1.0 if nmi.any() else 0.0
    total = nmi.sum(axis=0)
    share = np.divide(nmi.max(axis=0), total, out=np.full(nmi.shape[1], 1 / n), where=total > 0)
    return float(np.clip((share.mean() - 1 / n) / (1 - 1 / n), 0, 1))


def _explicitness(labels: np.ndarray, codes: np.ndarray) -> float:
    (z,) = standardise(codes)
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
    >>> round(mixed_information((x > 0.5).astype(int), np.round(x), 10), 2)  # log 2
    0.69
    >>> round(mixed_information(np.arange(1000) % 2, x, 10), 1)
    0.0
    """
    counts = np.bincount(labels)
    keep = counts[labels] > 1
    labels, x = labels[keep], x[keep]
    if len(x) < 2:
        return 0.0
    counts = np.bincount(labels, minlength=len(counts))
    by_class = np.argsort(labels, kind="stable")
    ends = np.concatenate([[0], np.cumsum(counts)])
    psi = np.concatenate([[0.0], digamma(np.arange(1, len(x) + 1))])
    return max(float(psi[-1] + _neighbour_term(x, x[by_class], ends, psi, k)), 0.0)


@njit()
def _neighbour_term(x: np.ndarray, grouped: np.ndarray, ends: np.ndarray, psi: np.ndarray, k: int) -> float:
    """Mean of psi(k_i) - psi(N_class) - psi(m_i): m_i points are closer than the k-th neighbour in the same class."""
    total = 0.0
    for c in range(len(ends) - 1):
        own = grouped[ends[c] : ends[c + 1]]
        reach = min(k, len(own) - 1)
        low = 0  # the window own[low : low + reach + 1] holds the neighbours, and only moves up
        for value in own:
            while low + reach + 1 < len(own) and own[low + reach + 1] - value < value - own[low]:
                low += 1
            radius = max(value - own[low], own[low + reach] - value)
            inside = reach
            if radius > 0:
                radius = np.nextafter(radius, 0.0)
            else:
                inside = np.searchsorted(own, value, side="right") - np.searchsorted(own, value, side="left")
            total += psi[inside] - psi[len(own)] - psi[_within(x, value, radius)]
    return total / len(x)


@njit()
def _within(x: np.ndarray, value: float, radius: float) -> np.integer:
    """Points of the sorted x no farther than ``radius``: value + radius is rounded, so its ends are looked at again."""
    high = np.searchsorted(x, value + radius, side="right")
    while high > 0 and x[high - 1] - value > radius:
        high -= 1
    while high < len(x) and x[high] - value <= radius:
        high += 1
    low = np.searchsorted(x, value - radius, side="left")
    while low < len(x) and value - x[low] > radius:
        low += 1
    while low > 0 and value - x[low - 1] <= radius:
        low -= 1
    return high - low
