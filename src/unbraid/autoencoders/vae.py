"""The variational autoencoder, and what the methods that change its penalty share."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor, nn

from unbraid.autoencoders.base import AutoencoderEstimator
from unbraid.autoencoders.decomposition import decompose, gaussian_kl
from unbraid.autoencoders.summary import variational
from unbraid.estimator.summary import Summary
from unbraid.runtime.determinism import check_random_state
from unbraid.training.batches import Batch, Points
from unbraid.training.encoder import SUMMARY
from unbraid.training.trainer import Loss, Schedule


@dataclass
class Posterior:
    """The encoder's output for a batch, codes drawn from it, and the loss terms to write down."""

    batch: Batch
    mean: Tensor
    log_variance: Tensor
    codes: Tensor
    reconstruction: Tensor
    kl_per_dimension: Tensor
    n_points: int
    terms: dict[str, Tensor]

    @property
    def kl(self) -> Tensor:
        return self.kl_per_dimension.sum()


class VAE(AutoencoderEstimator):
    r"""Variational autoencoder: minimises :math:`E_{q(z|x)}[-\log p(x|z)] + KL(q(z|x) \| p(z))`.

    The baseline of the family. q(z|x) is a Gaussian with diagonal covariance, p(z) a standard normal. Its codes
    reconstruct well and are not disentangled by design.

    Parameters
    ----------
    n_factors : int
        Number of codes; superfluous ones are switched off by the KL term.
    **settings
        See :class:`~unbraid.autoencoders.base.AutoencoderEstimator`.

    Attributes
    ----------
    kl_ : array (n_factors,)
        Mean KL of each code, in nats; near 0 where the code is switched off.
    history_ : list of dict
        Every ``log_every`` steps: ``loss``, ``reconstruction``, ``kl`` and ``kl_per_dimension`` (means since the last
        record), ``index_code_mi``, ``total_correlation``, ``dimension_wise_kl`` (of that step's batch), and what a
        method adds.
    weights_ : dict of arrays
    n_steps_, stopped_, likelihood_, row_shape_, unit_, center_, scale_

    References
    ----------
    Kingma, Welling (2014), Auto-Encoding Variational Bayes, Eq. 10.

    Examples
    --------
    >>> import unbraid as ub
    >>> X = ub.datasets.load("shapes-xy", image_size=32).sample(100, random_state=0)[0]
    >>> model = ub.VAE(n_factors=3, max_steps=20, random_state=0).fit(X)
    >>> model.transform(X).shape, model.inverse_transform([[0, 0, 0]]).shape
    ((100, 3), (1, 32, 32))
    """

    _n_heads = 2
    _image_likelihood = "bernoulli"
    _recognises = True

    def fit(self, X: Any, y: Any = None, *, covariates: Any = None) -> Self:
        """Train on X.

        Parameters
        ----------
        X : array or memory map (n, features), (n, height, width) or (n, height, width, channels), a Dataset, or
            Observations
            Sides of images must be divisible by 16. NaN, or masked, is a missing value.
        y : ignored
        covariates : array (n,) or (n, c), optional
            Batch, session, day: levels or numbers, which encoder and decoder take as inputs. New rows need theirs:
            ``transform(Observations(X, covariates=...))``.

        Returns
        -------
        self
        """
        return super().fit(self._observed(X, covariates=covariates))

    def fit_transform(self, X: Any, y: Any = None, *, covariates: Any = None) -> np.ndarray:
        """``fit``, then ``transform`` of the same rows."""
        return self.fit(X, covariates=covariates).transform(X)

    def _objective(self, batch: Batch, networks: nn.ModuleDict, points: Points, schedule: Schedule) -> Iterator[Loss]:
        posterior = self._posterior(networks, batch, points.n)
        value = posterior.reconstruction + self._penalty(posterior, schedule)
        yield Loss("model", value, {"loss": value} | posterior.terms)

    def _penalty(self, posterior: Posterior, schedule: Schedule) -> Tensor:
        """What is added to the reconstruction loss."""
        return posterior.kl

    def _posterior(self, networks: nn.ModuleDict, batch: Batch, n_points: int) -> Posterior:
        mean, log_variance = networks["encoder"](batch.x).chunk(2, dim=1)
        noise = batch.noise(mean.shape[1])
        posterior = self._drawn(networks, batch, batch.x, mean, log_variance, noise, n_points)
        if batch.log:
            with torch.no_grad():
                codes = posterior.codes.float()
                parts = decompose(codes, mean.float(), log_variance.float(), n_points, "stratified")
            posterior.terms |= vars(parts)
        return posterior

    def _drawn(
        self, networks: nn.ModuleDict, batch: Batch, x: Tensor, mean: Tensor, log_variance: Tensor, noise: Tensor,
        n_points: int,
    ) -> Posterior:  # fmt: skip
        """Codes drawn from the posterior of rows x, and their losses."""
        codes = mean + (0.5 * log_variance).exp() * noise
        reconstruction = self._reconstruction(networks, codes, x).mean()
        kl = gaussian_kl(mean, log_variance).mean(0)
        terms = {"reconstruction": reconstruction, "kl": kl.sum(), "kl_per_dimension": kl}
        return Posterior(batch, mean, log_variance, codes, reconstruction, kl, n_points, terms)

    def _summary(self) -> Summary:
        return variational(super()._summary(), self)

    def _after_training(self, points: Points) -> None:
        mean, log_variance = np.split(self._encoded(points.rows, SUMMARY), 2, axis=1)
        self.kl_ = gaussian_kl(torch.from_numpy(mean), torch.from_numpy(log_variance)).double().mean(0).numpy()

    def encode(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Means and log-variances of q(z|x), (n, n_factors) each."""
        mean, log_variance = np.split(self._encoded(self._new_rows(X)), 2, axis=1)
        return mean, log_variance

    def sample_codes(self, X: Any, random_state: Any = None) -> np.ndarray:
        """One draw from q(z|x) for each row of X: the "sampled representation" of the large study."""
        mean, log_variance = self.encode(X)
        noise = check_random_state(random_state).standard_normal(mean.shape).astype(mean.dtype)
        return mean + np.exp(0.5 * log_variance) * noise

    def sample(self, n: int = 1, random_state: Any = None) -> np.ndarray:
        """New data: codes from the prior, decoded."""
        codes = check_random_state(random_state).standard_normal((n, self._n_codes))
        return self.inverse_transform(codes)
