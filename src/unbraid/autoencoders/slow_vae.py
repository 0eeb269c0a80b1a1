"""SlowVAE: rows in the order of time, whose factors mostly stay as they are and sometimes jump."""

import math
from collections.abc import Iterator
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor, nn

from unbraid.autoencoders.correlated import START_ROWS, CorrelatedVAE, kl_terms
from unbraid.autoencoders.presets import Preset
from unbraid.autoencoders.summary import in_time
from unbraid.data.order import steps
from unbraid.estimator.parameters import Number
from unbraid.estimator.summary import Summary
from unbraid.networks.prior import LaplaceSteps
from unbraid.spectral.ica import excess_kurtosis
from unbraid.training.batches import Batch, Points
from unbraid.training.encoder import SUMMARY
from unbraid.training.trainer import Group, Loss, Schedule
from unbraid.trust.table import FIGURES
from unbraid.trust.warnings import warn


def mean_absolute(mean: Tensor, variance: Tensor) -> Tensor:
    r"""E abs(d) of :math:`d \sim N(m, s^2)`, a folded normal.

    :math:`s \sqrt{2 / \pi}\, e^{-m^2 / 2 s^2} + m\, \mathrm{erf}(m / (s \sqrt 2))`

    >>> mean_absolute(torch.tensor([0.0, 9.0]), torch.tensor([1.0, 1.0])).tolist()
    [0.7978..., 9.0]
    """
    ratio = mean / (2 * variance).sqrt()
    return (2 * variance / math.pi).sqrt() * (-ratio.square()).exp() + mean * torch.erf(ratio)


def transition_kl(
    mean: Tensor, variance: Tensor, log_variance: Tensor, rate: Tensor, share: Tensor | float = 1.0
) -> Tensor:
    r""":math:`E_{q(z_{t-1})} KL(q(z_t) \| \mathrm{Laplace}(r z_{t-1}, \lambda))`, a term per pair and code.

    Means, marginal variances and twice the logs of the diagonals of the covariances' factors L are (2, batch,
    n_factors), the earlier row first. In closed form, as the difference of two Gaussians is one:
    :math:`\lambda E|z_t - r z_{t-1}| - \log(\lambda / 2) - \frac12 \log(2 \pi e) - \log L_{ii}`.
    """
    distance = mean_absolute(mean[1] - share * mean[0], variance[1] + share**2 * variance[0])
    return rate * distance - (rate / 2).log() - 0.5 * (log_variance[1] + math.log(2 * math.pi * math.e))


class SlowVAE(CorrelatedVAE):
    r"""SlowVAE: the ELBO of consecutive rows with sparse transitions.

    .. math:: E_q[-\log p(x_t|z_t)\, p(x_{t-1}|z_{t-1})] + KL(q(z_{t-1}|x_{t-1}) \| N(0, 1))
              + \gamma\, E_{q(z_{t-1})} KL(q(z_t|x_t) \| \prod_i \tfrac{\lambda}{2} e^{-\lambda |z_{t,i} - z_{t-1,i}|})

    For videos and other recordings in which, from one row to the next, most factors hardly change and few change much:
    objects that move now and then. If the factors move by independent Laplace steps they are identifiable up to order
    and sign. Gaussian steps leave a rotation free.

    Parameters
    ----------
    n_factors : int
    rate : float or "learned"
        :math:`\lambda` of the Laplace steps, whose mean size is 1 / rate in units of the prior's standard deviation.
        "learned" learns a rate for each code, and the share r of it that stays, :math:`z_t = r z_{t-1}` plus a step:
        for sources that return to their mean.
    gamma : float
        Weight of the transitions' KL; 1 is a bound of the likelihood. Rate and gamma are the paper's, for images.
    noise : float
        Least standard deviation of the decoder's noise, in standard deviations of the data; the noise itself is the
        error of the reconstruction while that is larger. It has no meaning for images with the Bernoulli likelihood.
    **settings
        See :class:`~unbraid.autoencoders.base.AutoencoderEstimator`. A batch has ``batch_size`` pairs of consecutive
        rows; the learning rate falls to 0 along half a cosine.

    Attributes
    ----------
    autocorrelation_ : array (n_factors,)
        Of each code, one step apart.
    step_kurtosis_ : array (n_factors,)
        Excess kurtosis of the steps of each code.
    kl_, history_, weights_, n_steps_, stopped_, likelihood_, row_shape_, unit_, center_, scale_
        As of :class:`VAE`; ``history_`` has ``transition``, the KL of the steps, in place of the KL's decomposition.

    References
    ----------
    Klindt, Schott, Sharma et al. (2021), Towards nonlinear disentanglement in natural data with temporal sparse coding,
    the ELBO of section 3.3. Their code takes the steps in both directions and around the posterior's mean; here they
    are as in the paper, with an exact expectation over the earlier code, and posteriors have a full covariance.

    Examples
    --------
    >>> import numpy as np, unbraid as ub
    >>> X = np.cumsum(np.random.default_rng(0).laplace(size=(200, 2)), axis=0)
    >>> ub.SlowVAE(n_factors=2, max_steps=20, random_state=0).fit(X, time=np.arange(200)).transform(X).shape
    (200, 2)
    """

    _parameter_constraints = {"rate": (Number(above=0), "learned"), "gamma": (Number(0),)}

    def __init__(self, n_factors: int = 10, *, rate: float | str = 6.0, gamma: float = 10.0, **settings: Any):
        super().__init__(n_factors, **settings)
        self.rate = rate
        self.gamma = gamma

    def fit(self, X: Any, y: Any = None, *, time: Any = None, covariates: Any = None) -> Self:
        """Train on consecutive rows of X.

        Parameters
        ----------
        X : array or memory map (n, features), (n, height, width) or (n, height, width, channels), or Observations
        y : ignored
        time : array (n,)
            When each row was observed: numbers or dates, in any order. Rows farther apart than 1.5 usual steps are not
            consecutive, so several recordings may follow each other with a gap
            (:meth:`unbraid.Observations.recordings`).
        covariates : array (n,) or (n, c), optional
            As of :meth:`VAE.fit`.

        Returns
        -------
        self
        """
        return super().fit(self._observed(X, time=time, covariates=covariates))

    def fit_transform(self, X: Any, y: Any = None, *, time: Any = None, covariates: Any = None) -> np.ndarray:
        """``fit``, then ``transform`` of the same rows."""
        return self.fit(X, time=time, covariates=covariates).transform(X)

    def _points(self, X: Any) -> Points:
        points = super()._points(X)
        points.pairs = steps(points.known["time"])
        return points

    def _networks(self, shape: tuple[int, ...], preset: Preset, generator: torch.Generator) -> nn.ModuleDict:
        networks = super()._networks(shape, preset, generator)
        if self.rate == "learned":
            networks["steps"] = LaplaceSteps(self._n_codes)
        return networks

    def _groups(self, preset: Preset) -> dict[str, Group]:
        model = super()._groups(preset)["model"]
        more = ("steps",) if self.rate == "learned" else ()
        return {"model": model._replace(networks=(*model.networks, *more))}

    def _objective(self, batch: Batch, networks: nn.ModuleDict, points: Points, schedule: Schedule) -> Iterator[Loss]:
        assert batch.partner is not None, "the steps of time are pairs"
        noise = torch.cat([batch.noise(self._n_codes) for _ in range(2)])
        drawn = self._draw(networks, torch.cat([batch.x, batch.partner]), noise)
        pair = [part.unflatten(0, (2, -1)) for part in drawn[:3]]
        kl = kl_terms(*(part[0] for part in pair)).mean(0)
        steps = networks["steps"]() if "steps" in networks else (torch.tensor(self.rate),)
        transition = transition_kl(*pair, *steps).sum(1).mean()
        value = 2 * drawn.reconstruction + kl.sum() + self.gamma * transition
        terms = {"reconstruction": drawn.reconstruction, "kl": kl.sum(), "kl_per_dimension": kl}
        yield Loss("model", value, {"loss": value, "transition": transition} | terms)

    def _linear_case(self, points: Points, rng: np.random.Generator) -> tuple[np.ndarray, str, Any]:
        """Sources that return to their mean start unmixed by their autocorrelations, others by their sparse steps.

        Where the mixing bends, autocorrelations mislead less, but all codes of one fixed rate have the same.
        """
        assert points.pairs is not None
        if self.rate == "learned":
            time = points.known["time"]
            middle = np.argsort(time, kind="stable")[max(0, (points.n - START_ROWS) // 2) :][:START_ROWS]
            return middle, "time", time[middle]
        some = points.pairs[np.sort(rng.permutation(len(points.pairs))[: START_ROWS // 2])]
        return some.ravel(), "pairs", np.arange(some.size).reshape(-1, 2)

    def _after_training(self, points: Points) -> None:
        super()._after_training(points)
        assert points.pairs is not None
        codes = self._codes_of(points.rows, SUMMARY).astype(np.float64)
        self.autocorrelation_, self.step_kurtosis_ = moves(codes, points.pairs[(points.pairs < len(codes)).all(axis=1)])
        self._warn(len(points.pairs))

    def _warn(self, n_steps: int) -> None:
        """Of codes that carry information: do they remember the row before, and are their steps sparse?"""
        used = self.kl_ > FIGURES["code_information"].limit()
        usual = max(FIGURES["code_memory"].limit(), 2 / math.sqrt(n_steps))
        random = used & (self.autocorrelation_ < usual)
        if random.any():
            values = self.autocorrelation_[random].round(2).tolist()
            warn("UB125", stacklevel=5, codes=_named(random), correlation=values, usual=usual)
        dense = used & (self.step_kurtosis_ < FIGURES["step_kurtosis"].limit())
        if dense.any():
            limit = FIGURES["step_kurtosis"].limit()
            warn("UB122", stacklevel=5, count=int(dense.sum()), of=int(used.sum()), limit=limit)

    def _summary(self) -> Summary:
        return in_time(super()._summary(), self)


def moves(codes: np.ndarray, pairs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Autocorrelation of each code over these pairs of rows, and excess kurtosis of its steps; 0 of a constant code.

    >>> codes = np.array([[0.0], [1.0], [1.0], [2.0], [0.0]])
    >>> [float(part[0].round(3)) for part in moves(codes, np.array([[0, 1], [1, 2], [2, 3], [3, 4]]))]
    [-0.5, -1.0]
    """
    before, after = codes[pairs[:, 0]], codes[pairs[:, 1]]
    centred = [part - part.mean(0) for part in (before, after)]
    spread = np.sqrt((centred[0] ** 2).sum(0) * (centred[1] ** 2).sum(0))
    step = after - before
    correlation = np.divide((centred[0] * centred[1]).sum(0), spread, out=np.zeros_like(spread), where=spread > 0)
    return correlation, np.where(np.ptp(step, axis=0) > 0, excess_kurtosis(step), 0.0)


def _named(codes: np.ndarray) -> str:
    """Codes by their numbers, counted from 1."""
    return "codes " + ", ".join(str(i + 1) for i in np.flatnonzero(codes))
