"""IRMAE: linear layers that make the codes low-rank."""

from typing import Any

import numpy as np
import torch
from torch import nn

from unbraid.autoencoders.autoencoder import Autoencoder
from unbraid.autoencoders.presets import Preset
from unbraid.autoencoders.summary import low_rank
from unbraid.estimator.parameters import COUNT, Hint
from unbraid.estimator.summary import Summary
from unbraid.networks.autoencoder import initialise, linear_bottleneck
from unbraid.training.batches import Points
from unbraid.training.encoder import SUMMARY


class IRMAE(Autoencoder):
    r"""Implicit rank-minimising autoencoder: an autoencoder with linear layers between encoder and decoder.

    :math:`D(W_l \cdots W_1 E(x))`: gradient descent on a product of matrices prefers a low rank, so that only as
    many directions of the code carry variance as the data needs (``spectrum_``). The codes are those after the linear
    layers.

    Parameters
    ----------
    n_factors : int
        Width of the bottleneck, larger than needed.
    n_linear : int
        Linear layers; the paper uses 2 to 8.
    **settings
        See :class:`~unbraid.autoencoders.base.AutoencoderEstimator`.

    Attributes
    ----------
    As of :class:`Autoencoder`, and

    spectrum_ : array (n_factors,)
        Singular values of the covariance of the codes, largest first.

    References
    ----------
    Jing, Zbontar, LeCun (2020), Implicit rank-minimizing autoencoder.

    Examples
    --------
    >>> import unbraid as ub
    >>> X = ub.datasets.load("shapes-xy", image_size=32).sample(100, random_state=0)[0]
    >>> ub.IRMAE(n_factors=8, max_steps=20, random_state=0).fit(X).spectrum_.shape
    (8,)
    """

    _parameter_constraints = {
        "n_linear": (*COUNT, Hint("The paper uses 2 to 8.")),
    }

    def __init__(self, n_factors: int = 128, *, n_linear: int = 4, **settings: Any):
        super().__init__(n_factors, **settings)
        self.n_linear = n_linear

    def _networks(self, shape: tuple[int, ...], preset: Preset, generator: torch.Generator) -> nn.ModuleDict:
        networks = super()._networks(shape, preset, generator)
        with torch.random.fork_rng(devices=[]):
            linear = linear_bottleneck(self._n_codes, self.n_linear)
        initialise(linear, preset.initialisation, generator)
        networks["encoder"] = nn.Sequential(networks["encoder"], linear)
        return networks

    def _summary(self) -> Summary:
        return low_rank(super()._summary(), self)

    def _after_training(self, points: Points) -> None:
        codes = self._codes_of(points.rows, SUMMARY).astype(np.float64)
        self.spectrum_ = np.linalg.svd(np.cov(codes.T).reshape(self._n_codes, -1), compute_uv=False)
