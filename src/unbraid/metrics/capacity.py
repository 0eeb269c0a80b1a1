"""DCI-ES: disentanglement, completeness, informativeness, and how easily codes can be used, and how many there are."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from unbraid.metrics.arrays import Split, choose, split
from unbraid.metrics.importance import dci
from unbraid.metrics.logistic import standardise
from unbraid.metrics.trees import BACKENDS, canonical_ranks, without_codes

_FOURIER = tuple(2**t - 1 for t in range(9))  # random features added to the codes; capacity log2(1 + features)
_DEPTHS = (1, 2, 3, 4, 6, 8, 12, 16)
_RIDGE = 1e-4  # of the mean square of a feature
_CLEAR = 3  # standard errors


@dataclass(frozen=True)
class LossCapacity:
    """Loss of probes of growing capacity, for each factor.

    Attributes
    ----------
    capacity : ndarray (n_probes,)
        Increasing.
    loss : ndarray (n_probes, n_factors)
        Lowest test loss up to each capacity: error rate of a discrete factor, squared error of a continuous one.
    baseline : ndarray (n_factors,)
        Loss without codes, by the most frequent class or the mean.
    per_factor : ndarray (n_factors,)
        Explicitness of each factor, from -1 to 1.
    size : float
        Number of factors over number of codes.
    probe : str
    """

    capacity: np.ndarray
    loss: np.ndarray
    baseline: np.ndarray
    per_factor: np.ndarray
    size: float
    probe: str

    @property
    def explicitness(self) -> float:
        """Mean over factors."""
        return float(self.per_factor.mean())

    def __float__(self) -> float:
        return self.explicitness


@dataclass(frozen=True)
class DCIES:
    """The five scores, and what they come from. ``float()`` gives explicitness.

    Attributes
    ----------
    disentanglement, completeness, informativeness : float
        Those of :func:`unbraid.metrics.dci`.
    explicitness : float
        Ease of use, from -1 to 1: 1 if the weakest probe does as well as any, 0 if the loss falls in step with the
        capacity.
    size : float
        Number of factors over number of codes.
    importance : ndarray (n_codes, n_factors)
    curve : LossCapacity
    backend : str
    """

    disentanglement: float
    completeness: float
    informativeness: float
    explicitness: float
    size: float
    importance: np.ndarray
    curve: LossCapacity
    backend: str

    def __float__(self) -> float:
        return self.explicitness


def dci_es(
    factors: ArrayLike,
    codes: ArrayLike,
    factors_test: ArrayLike | None = None,
    codes_test: ArrayLike | None = None,
    *,
    probe: str = "fourier",
    backend: str = "gbt",
    test_size: float | int = 1 / 3,
    random_state: int | None = 0,
) -> DCIES:
    r"""DCI, and how much capacity it takes to use the codes (explicitness E) and how many there are (size S).

    Probes of growing capacity :math:`\kappa_1 < \dots < \kappa_T` predict factor k. With :math:`\ell_t` the lowest loss
    up to :math:`\kappa_t`, :math:`\ell^*` the lowest of all and :math:`\ell^b` the loss without codes,

    .. math:: E_k = 1 - \frac{\sum_{t<T} \left(\frac{\ell_t + \ell_{t+1}}2 - \ell^*\right) (\kappa_{t+1} - \kappa_t)}
              {\frac12 (\kappa_T - \kappa_1) \, \ell^b}, \qquad E = \operatorname{mean}_k E_k, \qquad S = \frac KL

    for K factors that vary and L codes. Use it to compare representations that are equally informative: the one
    with the larger E needs a simpler model on top. It depends on the family of probes:

    "fourier" begins with a linear probe and adds 1, 3, 7, ..., 255 random Fourier features of the codes (capacity:
    log2 of one more than their number), with ridge regression on numbers and a linear discriminant between classes.
    "trees" are 100 extremely randomised trees of depth 1 to 16 (capacity: depth), for which no code is linear. The
    paper's third family, multilayer perceptrons, is left out.

    By the formula, codes without information about a factor have E = 1, because their curve is flat. Here a factor
    counts 0 if its best probe does not beat the loss without codes by more than 3 standard errors.

    Parameters
    ----------
    factors, codes, factors_test, codes_test
        As for :func:`~unbraid.metrics.dci`.
    probe : {"fourier", "trees"}
        Family of probes for explicitness.
    backend, test_size, random_state
        As for :func:`~unbraid.metrics.dci`.

    Returns
    -------
    DCIES
        The five scores.

    References
    ----------
    Eastwood et al. 2023, "DCI-ES: an extended disentanglement framework with connections to identifiability",
    section 4, with a lowest possible loss of 0; random features: Rahimi & Recht 2007.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> factors = rng.uniform(-1, 1, size=(600, 2))
    >>> linear = dci_es(factors, factors @ [[1, 1, 0], [1, -1, 2]], backend="extra_trees")
    >>> round(linear.explicitness, 3), round(linear.size, 3)
    (1.0, 0.667)
    >>> dci_es(factors, np.sin(5 * factors), backend="extra_trees").explicitness < 0.9
    True
    """
    arrays = factors, codes, factors_test, codes_test
    rows: Any = {"test_size": test_size, "random_state": random_state}
    curve = loss_capacity(*arrays, probe=probe, **rows)
    found = dci(*arrays, backend=backend, **rows)
    scores = found.disentanglement, found.completeness, found.informativeness, curve.explicitness, curve.size
    return DCIES(*scores, found.importance, curve, backend)


def loss_capacity(
    factors: ArrayLike,
    codes: ArrayLike,
    factors_test: ArrayLike | None = None,
    codes_test: ArrayLike | None = None,
    *,
    probe: str = "fourier",
    test_size: float | int = 1 / 3,
    random_state: int | None = 0,
) -> LossCapacity:
    """Explicitness and size alone, without the trees of :func:`dci_es`.

    Parameters
    ----------
    factors, codes, factors_test, codes_test, probe, test_size, random_state
        As for :func:`dci_es`.

    Returns
    -------
    LossCapacity
        The curve of each factor and its explicitness.

    References
    ----------
    Eastwood et al. 2023, as in :func:`dci_es`.

    Examples
    --------
    >>> factors = np.random.default_rng(0).integers(0, 4, size=(600, 2))
    >>> loss_capacity(factors, -2.0 * factors).explicitness
    1.0
    """
    choose(probe, ("fourier", "trees"), "probe")
    parts = split(factors, codes, factors_test, codes_test, test_size=test_size, random_state=random_state)
    probes = _fourier(parts, random_state) if probe == "fourier" else _trees(parts, random_state)
    steps = np.log2(1 + np.array(_FOURIER)) if probe == "fourier" else np.array(_DEPTHS, dtype=float)
    guesses = [without_codes(v, discrete) for v, discrete in zip(parts.factors.values.T, parts.factors.discrete)]
    without = _losses(parts, np.array(guesses))
    baseline = without.mean(axis=0)
    losses = np.array([_losses(parts, predicted) for predicted in probes])  # (n_probes, n_test, n_factors)
    if not len(losses):  # every code is constant
        losses = np.repeat(without[None], len(steps), axis=0)
    mean = losses.mean(axis=1)
    # Every family contains the probe that ignores the codes.
    lowest = np.minimum(np.minimum.accumulate(mean, axis=0), baseline)
    scores = np.zeros(len(baseline))
    for k in range(len(baseline)):
        gain = without[:, k] - losses[mean[:, k].argmin(), :, k]
        if gain.mean() > _CLEAR * gain.std() / np.sqrt(len(gain)):
            scores[k] = curve_explicitness(steps, lowest[:, k], baseline[k])
    return LossCapacity(steps, lowest, baseline, scores, len(baseline) / parts.codes.shape[1], probe)


def curve_explicitness(capacity: np.ndarray, loss: np.ndarray, baseline: float) -> float:
    """E of one curve of lowest losses so far.

    >>> steps = np.arange(5.0)
    >>> curve_explicitness(steps, np.zeros(5), 1.0), curve_explicitness(steps, 1 - steps / 4, 1.0)
    (1.0, 0.0)
    """
    area = np.sum(((loss[:-1] + loss[1:]) / 2 - loss[-1]) * np.diff(capacity))
    return float(1 - area / (0.5 * (capacity[-1] - capacity[0]) * baseline))


def _losses(parts: Split, predicted: np.ndarray) -> np.ndarray:
    """Loss of each test row and factor: wrong or not, or the squared error."""
    difference = parts.factors_test.values - predicted
    return np.where(parts.factors.discrete, difference != 0, difference**2)


def _fourier(parts: Split, random_state: int | None) -> Iterator[np.ndarray]:
    """Predictions (n_test, n_factors) from the codes and the first of the random features."""
    z, z_test = standardise(parts.codes, parts.codes_test)
    n_codes = z.shape[1]
    if not n_codes:
        return
    z, z_test = _oriented(z, z_test)
    rng = np.random.default_rng(random_state)
    frequency = rng.normal(size=(_FOURIER[-1], n_codes)).T / np.sqrt(n_codes)
    phase = rng.uniform(0, 2 * np.pi, size=_FOURIER[-1])
    X, X_test = (np.hstack([x, np.sqrt(2) * np.cos(x @ frequency + phase)]) for x in (z, z_test))
    centre = X.mean(axis=0)
    X, X_test = X - centre, X_test - centre
    square = X.T @ X / len(X)
    for m in _FOURIER:
        p = n_codes + m
        yield _linear(parts, X[:, :p], X_test[:, :p], square[:p, :p])


def _oriented(z: np.ndarray, z_test: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mirrored and ordered as the data decide, so that sign and order of the codes do not reach the random features."""
    first = (np.abs(z) > 1e-9).argmax(axis=0)
    sign = np.sign(z[first, np.arange(z.shape[1])])
    order = np.lexsort((z * sign)[:64])
    return (z * sign)[:, order], (z_test * sign)[:, order]


def _linear(parts: Split, X: np.ndarray, X_test: np.ndarray, square: np.ndarray) -> np.ndarray:
    """Ridge regression of numbers, and the linear discriminant with shared covariance of classes."""
    truth, ridge = parts.factors, _RIDGE * np.eye(X.shape[1])
    predicted = np.empty((len(X_test), truth.values.shape[1]))
    for k, v in enumerate(truth.values.T):
        if not truth.discrete[k]:
            weights = np.linalg.solve(square + ridge, X.T @ (v - v.mean()) / len(X))
            predicted[:, k] = X_test @ weights + v.mean()
            continue
        values, labels, counts = np.unique(v, return_inverse=True, return_counts=True)
        means = np.stack([X[labels == c].mean(axis=0) for c in range(len(values))])
        share = counts / len(X)
        within = square - (means.T * share) @ means + ridge
        weights = np.linalg.solve(within, means.T)
        odds = X_test @ weights - 0.5 * np.sum(means.T * weights, axis=0) + np.log(share)
        predicted[:, k] = values[odds.argmax(axis=1)]
    return predicted


def _trees(parts: Split, random_state: int | None) -> Iterator[np.ndarray]:
    """Predictions (n_test, n_factors) of trees of growing depth."""
    X, X_test, _ = canonical_ranks(parts.codes, parts.codes_test)
    if not X.shape[1]:
        return
    for depth in _DEPTHS:
        predicted = np.empty(parts.factors_test.values.shape)
        for k, discrete in enumerate(parts.factors.discrete):
            model = BACKENDS["extra_trees"](discrete, random_state).set_params(max_depth=depth)
            predicted[:, k] = model.fit(X, parts.factors.column(k)).predict(X_test)
        yield predicted
