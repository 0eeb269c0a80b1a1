"""Ada-GVAE and Ada-ML-VAE: pairs of rows that differ in a few factors, without saying in which."""

from dataclasses import replace
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor, nn

from unbraid.autoencoders.beta_vae import BetaVAE
from unbraid.autoencoders.decomposition import gaussian_kl
from unbraid.autoencoders.likelihood import FittedGaussian, Likelihood
from unbraid.autoencoders.presets import Preset
from unbraid.autoencoders.vae import Posterior
from unbraid.estimator.parameters import Hint, Number
from unbraid.training.batches import Batch
from unbraid.training.trainer import Schedule

GROUPINGS = ("mean", "product")
THRESHOLDS = ("mean", "log")


def half_way(kl: Tensor, threshold: str) -> Tensor:
    r"""Half-way between the largest and the smallest KL of each pair: of the KL itself, or of :math:`\log(1 + KL)`.

    >>> [half_way(torch.tensor([[99.0, 3.0, 0.0]]), name).item() for name in THRESHOLDS]
    [49.5, 9.0]
    """
    most, least = kl.amax(1, keepdim=True), kl.amin(1, keepdim=True)
    return (most + least) / 2 if threshold == "mean" else ((1 + most) * (1 + least)).sqrt() - 1


def shared_codes(mean: Tensor, log_variance: Tensor, threshold: str = "mean") -> Tensor:
    r"""Codes that each pair shares, (batch, n_factors): those of a KL below :func:`half_way`.

    The KL is that of the first row's posterior from the second's, one per code. All posteriors here are
    (2, batch, n_factors), the two rows of a pair along the first axis.

    >>> shared_codes(torch.tensor([[[0.0, 0.0, 0.0]], [[0.1, 2.0, 0.0]]]), torch.zeros(2, 1, 3)).tolist()
    [[True, False, True]]
    """
    distance = (mean[0] - mean[1]) * (-0.5 * log_variance[1]).exp()
    kl = gaussian_kl(distance, log_variance[0] - log_variance[1])
    return kl < half_way(kl, threshold)


def group(mean: Tensor, log_variance: Tensor, grouping: str) -> tuple[Tensor, Tensor]:
    """Mean and log-variance (batch, n_factors) that both rows of a pair get in the codes that they share.

    >>> mean, log_variance = torch.tensor([[[0.0]], [[4.0]]]), torch.tensor([[[1.0]], [[3.0]]]).log()
    >>> [(m.item(), v.exp().item()) for m, v in (group(mean, log_variance, name) for name in GROUPINGS)]
    [(2.0, 2.0), (1.0, 1.5)]
    """
    if grouping == "mean":
        return mean.mean(0), log_variance.exp().mean(0).log()
    precision = (-log_variance).exp()
    return (precision * mean).sum(0) / precision.sum(0), -precision.mean(0).log()


class AdaGVAE(BetaVAE):
    r"""Ada-GVAE: beta-VAE on pairs of rows, whose posteriors are averaged in the codes that they share.

    For rows that come in pairs which differ in some factors but not in all: two frames of a video, one object before
    and after. Which factors changed need not be known; it is found out for each pair, by the KL between the two
    posteriors in each code. If every subset of factors changes in some pairs, the factors are identifiable up to
    order and a function of each. The loss is the mean of the two rows' beta-VAE losses after averaging.

    Parameters
    ----------
    n_factors : int
    grouping : "mean" or "product"
        "mean" is Ada-GVAE: the mean of the means and of the variances. "product" is Ada-ML-VAE: means weighted by
        their precision, and the harmonic mean of the variances; this is the product of the two Gaussians with twice
        its variance, as in the authors' code, so that equal posteriors are left as they are.
    threshold : "mean" or "log"
        A code is shared if its KL lies below half-way between the largest and the smallest of the pair: of the KL
        ("mean", the paper's), or of log(1 + KL). A KL grows with the square of a change, so one factor that is coded to
        a pixel can hide a change of shape or size beside it; "log" sees both.
    beta : float
        Weight of the KL.
    noise : float
        Least standard deviation of the decoder's noise, in standard deviations of the data; the noise itself is the
        error of the reconstruction while that is larger. With a noise of 1, as VAEs usually have it, the factors of few
        features are not worth coding. It has no meaning for images with the Bernoulli likelihood.
    **settings
        See :class:`~unbraid.autoencoders.base.AutoencoderEstimator`. A batch has ``batch_size`` pairs; the learning
        rate falls to 0 along half a cosine.

    Attributes
    ----------
    As of :class:`VAE`; ``history_`` has ``shared``, the share of the codes that were averaged, in place of the KL's
    decomposition.

    References
    ----------
    Locatello et al. (2020), Weakly-supervised disentanglement without compromises, "Practical adaptive algorithms".

    Examples
    --------
    >>> import numpy as np, unbraid as ub
    >>> data = ub.datasets.load("shapes-xy", image_size=32)
    >>> (first, _), (second, _) = data.sample_pairs(50, shared="x", random_state=0)
    >>> X, pairs = np.concatenate([first, second]), np.arange(100).reshape(2, 50).T
    >>> ub.AdaGVAE(n_factors=3, max_steps=20, random_state=0).fit(X, pairs=pairs).transform(X).shape
    (100, 3)
    """

    _parameter_constraints = {
        "grouping": GROUPINGS,
        "threshold": THRESHOLDS,
        "noise": (Number(above=0), Hint("Try 0.02.")),
    }

    def __init__(
        self, n_factors: int = 10, *, grouping: str = "mean", threshold: str = "mean", beta: float = 1.0,
        noise: float = 0.02, **settings: Any,
    ):  # fmt: skip
        super().__init__(n_factors, beta=beta, **settings)
        self.grouping = grouping
        self.threshold = threshold
        self.noise = noise

    def fit(self, X: Any, y: Any = None, *, pairs: Any = None, covariates: Any = None) -> Self:
        """Train on pairs of rows of X.

        Parameters
        ----------
        X : array or memory map (n, features), (n, height, width) or (n, height, width, channels), or Observations
        y : ignored
        pairs : array of int, (m, 2) or (n,)
            Row numbers, or one number per row that both rows of a pair have. Rows without a pair are not learned from.
        covariates : array (n,) or (n, c), optional
            As of :meth:`VAE.fit`.

        Returns
        -------
        self
        """
        return super().fit(self._observed(X, pairs=pairs, covariates=covariates))

    def fit_transform(self, X: Any, y: Any = None, *, pairs: Any = None, covariates: Any = None) -> np.ndarray:
        """``fit``, then ``transform`` of the same rows."""
        return self.fit(X, pairs=pairs, covariates=covariates).transform(X)

    def _schedule(self, preset: Preset) -> Schedule:
        return replace(super()._schedule(preset), decay="cosine")

    def _gaussian(self) -> Likelihood:
        return FittedGaussian(self.noise)

    def _posterior(self, networks: nn.ModuleDict, batch: Batch, n_points: int) -> Posterior:
        assert batch.partner is not None, "the table says that this method needs pairs"
        x = torch.cat([batch.x, batch.partner])
        own = [part.unflatten(0, (2, -1)) for part in networks["encoder"](x).chunk(2, dim=1)]
        shared, common = shared_codes(own[0], own[1], self.threshold), group(own[0], own[1], self.grouping)
        mean, log_variance = (torch.where(shared, c, o).flatten(0, 1) for c, o in zip(common, own))
        noise = torch.cat([batch.noise(mean.shape[1]) for _ in range(2)])
        posterior = self._drawn(networks, batch, x, mean, log_variance, noise, n_points)
        posterior.terms["shared"] = shared.float().mean()
        return posterior
