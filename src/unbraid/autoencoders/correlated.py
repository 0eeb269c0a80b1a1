"""What the VAEs with evidence share: posteriors, noise and a start that let them find what their theorem promises."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from unbraid.autoencoders.likelihood import FittedGaussian, Likelihood
from unbraid.autoencoders.presets import Preset
from unbraid.autoencoders.vae import VAE
from unbraid.estimator.parameters import Hint, Number
from unbraid.networks.autoencoder import Heads
from unbraid.networks.linear import AroundLinear, last_linear, vanish
from unbraid.networks.seen import Seen
from unbraid.runtime.determinism import check_random_state
from unbraid.spectral.evidence import linear_codes
from unbraid.training.batches import Points
from unbraid.training.encoder import SUMMARY
from unbraid.training.trainer import Schedule

START_ROWS = 10_000  # from which the linear start is computed
START_LOG_VARIANCE = -4.0  # of the posteriors


def triangle(log_variance: Tensor, below: Tensor) -> Tensor:
    r"""Factors L of the posteriors' covariances :math:`L L^T`, (batch, n, n).

    The diagonal is :math:`s_i = e^{l_i / 2}`; row i below it is ``below`` times :math:`s_i`.

    >>> triangle(torch.zeros(1, 2), torch.tensor([[3.0]])).tolist()
    [[[1.0, 0.0], [3.0, 1.0]]]
    """
    n = log_variance.shape[1]
    unit = torch.eye(n, device=below.device, dtype=below.dtype).repeat(len(below), 1, 1)
    rows, columns = torch.tril_indices(n, n, -1)
    unit[:, rows, columns] = below
    return (0.5 * log_variance).exp()[:, :, None] * unit


def kl_terms(
    mean: Tensor, variance: Tensor, log_variance: Tensor, prior: tuple[Tensor, Tensor] | None = None
) -> Tensor:
    r"""KL of Gaussians from independent Gaussians (mean and log-variance; None is standard normal), a term per code.

    :math:`\frac12 ((LL^T)_{ii} + (m_i - \mu_i)^2) / \sigma_i^2 - \frac12 + \log \sigma_i - \log L_{ii}`, of the
    marginal variances :math:`(LL^T)_{ii}` and ``log_variance`` = :math:`2 \log L_{ii}`. The terms sum up to the KL.

    >>> kl_terms(torch.ones(1), torch.ones(1), torch.zeros(1)).item()
    0.5
    """
    if prior is None:
        return 0.5 * (variance + mean.square() - 1 - log_variance)
    square = (variance + (mean - prior[0]).square()) * (-prior[1]).exp()
    return 0.5 * (square - 1 + prior[1] - log_variance)


class Drawn(NamedTuple):
    """Posteriors of a batch: means, marginal variances, twice the log of L's diagonal; codes, reconstruction loss."""

    mean: Tensor
    variance: Tensor
    log_variance: Tensor
    codes: Tensor
    reconstruction: Tensor


class CorrelatedVAE(VAE):
    r"""Base of the VAEs with evidence: posteriors with a full covariance, noise that fits, and a linear start.

    A diagonal posterior costs :math:`\frac12 (\sum_i \log (J^T J)_{ii} - \log \det J^T J)` nats, with the decoder's
    Jacobian J, however small the noise is (Reizinger et al. 2022): it prefers decoders whose Jacobian has orthogonal
    columns to the true one. With a noise of 1, as VAEs usually have it, few features are cheaper to ignore than to
    code; here it is the error of the reconstruction. Encoder and decoder of vectors start as the linear maps that the
    evidence determines, plus networks that are 0.

    Parameters
    ----------
    n_factors : int
    noise : float
        Least standard deviation of the decoder's noise, in standard deviations of the data.
    **settings
        See :class:`~unbraid.autoencoders.base.AutoencoderEstimator`.
    """

    _parameter_constraints = {"noise": (Number(above=0), Hint("Try 0.02."))}

    def __init__(self, n_factors: int = 10, *, noise: float = 0.02, **settings: Any):
        super().__init__(n_factors, **settings)
        self.noise = noise

    def _linear_case(self, points: Points, rng: np.random.Generator) -> tuple[np.ndarray, str, Any]:
        """Row numbers, and the rotation of :mod:`unbraid.spectral.evidence` that unmixes them, with its evidence."""
        raise NotImplementedError

    @property
    def _head_sizes(self) -> tuple[int, ...]:
        n = self._n_codes
        return (n, n, n * (n - 1) // 2) if n > 1 else (n, n)

    def _networks(self, shape: tuple[int, ...], preset: Preset, generator: torch.Generator) -> nn.ModuleDict:
        networks = super()._networks(shape, preset, generator)
        if self.encoder is not None:
            return networks
        *_, last = networks["encoder"].children()
        assert isinstance(last, Heads), "the encoders of all presets end with their heads"
        heads = [part for part in last.parts if isinstance(part, nn.Linear)]
        for part in heads[1:]:
            vanish(part)
        nn.init.constant_(heads[1].bias, START_LOG_VARIANCE)
        if len(shape) > 1:
            return networks
        vanish(heads[0])
        vanish(last_linear(networks["decoder"]))
        with torch.random.fork_rng(devices=[]):
            networks["encoder"] = AroundLinear(networks["encoder"], self._encoder_shape(shape)[0], self._n_codes)
            networks["decoder"] = AroundLinear(networks["decoder"], self._n_codes + self._n_beside, shape[0])
        return networks

    def _train(self, networks: nn.ModuleDict, points: Points, schedule: Schedule, preset: Preset, seed: int) -> None:
        encoder, decoder = networks["encoder"], networks["decoder"]
        inner = encoder.network if isinstance(encoder, Seen) else encoder
        if isinstance(inner, AroundLinear) and isinstance(decoder, AroundLinear):
            rows, rotation, given = self._linear_case(points, np.random.default_rng([seed, 2]))
            x = points.with_beside(points.to_tensor(points.stored(rows)), rows)
            seen = (encoder.view(x) if isinstance(encoder, Seen) else x).double().numpy()
            n_data, q = self._network_shape[0], self._n_beside
            data, known = seen[:, :n_data], seen[:, seen.shape[1] - q :]
            slopes = np.linalg.lstsq(known, data - data.mean(0), rcond=None)[0]  # of the covariates, (q, n_data)
            matrix, shift = linear_codes(data - known @ slopes, self._n_codes, rotation, given)
            marks = np.zeros((len(matrix), seen.shape[1] - q - n_data))
            inner.start(np.hstack([matrix, marks, -matrix @ slopes.T]), shift)
            decoder.start(np.hstack([np.linalg.pinv(matrix), slopes.T]), data.mean(0))
        super()._train(networks, points, schedule, preset, seed)

    def _schedule(self, preset: Preset) -> Schedule:
        return replace(super()._schedule(preset), decay="cosine")

    def _gaussian(self) -> Likelihood:
        return FittedGaussian(self.noise)

    def _draw(self, networks: nn.ModuleDict, x: Tensor, noise: Tensor) -> Drawn:
        """Posteriors of rows x, codes drawn from them, and their reconstruction loss.

        Where there is little noise, the gradient of one draw is nearly all chance: two opposite codes are drawn of each
        row, so that what is linear in the draw cancels.
        """
        mean, log_variance, L = self._split(networks["encoder"](x))
        drawn = (L @ noise[:, :, None]).squeeze(2)
        codes = mean + drawn
        if self.likelihood_ != "bernoulli":
            codes, x = torch.cat([codes, mean - drawn]), torch.cat([x, x])
        reconstruction = self._reconstruction(networks, codes, x).mean()
        return Drawn(mean, L.square().sum(2), log_variance, codes, reconstruction)

    def _split(self, encoded: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Means, twice the log of the factors' diagonals, and the factors of the covariances."""
        n = self._n_codes
        mean, log_variance, below = encoded.split((n, n, n * (n - 1) // 2), dim=1)
        return mean, log_variance, triangle(log_variance, below)

    def _prior_of(self, points: Points) -> tuple[Tensor, Tensor] | None:
        """Mean and log-variance of the prior of the first rows; None is a standard normal."""
        return None

    @torch.no_grad()
    def _after_training(self, points: Points) -> None:
        mean, _, L = self._split(torch.from_numpy(self._encoded(points.rows, SUMMARY)))
        variance = L.square().sum(2)
        self.kl_ = kl_terms(mean, variance, variance.log(), self._prior_of(points)).double().mean(0).numpy()

    def encode(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Means and log-variances of each code under q(z|x), (n, n_factors) each."""
        mean, covariance = self.encode_correlated(X)
        return mean, np.log(np.diagonal(covariance, axis1=1, axis2=2))

    def encode_correlated(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Means (n, n_factors) and covariances (n, n_factors, n_factors) of q(z|x)."""
        mean, _, L = self._split(torch.from_numpy(self._encoded(self._new_rows(X))))
        return mean.numpy(), (L @ L.mT).numpy()

    def sample_codes(self, X: Any, random_state: Any = None) -> np.ndarray:
        """One draw from q(z|x) for each row of X."""
        mean, _, L = self._split(torch.from_numpy(self._encoded(self._new_rows(X))))
        noise = check_random_state(random_state).standard_normal(mean.shape).astype(mean.numpy().dtype)
        return (mean + (L @ torch.from_numpy(noise)[:, :, None]).squeeze(2)).numpy()
