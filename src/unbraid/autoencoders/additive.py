"""Autoencoders whose decoder is a sum of parts, one part for each block of codes."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from torch import nn

from unbraid.autoencoders.autoencoder import Autoencoder
from unbraid.autoencoders.base import AutoencoderEstimator
from unbraid.autoencoders.presets import PRESETS
from unbraid.autoencoders.summary import of_parts
from unbraid.autoencoders.vae import VAE
from unbraid.estimator.parameters import COUNT
from unbraid.estimator.summary import Summary
from unbraid.networks.autoencoder import Additive
from unbraid.runtime.progress import bar
from unbraid.training.batches import Batches, Points
from unbraid.training.trainer import Schedule, Trainer
from unbraid.trust.table import FIGURES
from unbraid.trust.warnings import warn

MEASURED = 1000  # rows whose parts are looked at after the training
START = 400  # steps of each start, at most a fifth of all: a part that is folded then has 3 to 10 times the loss
STRIDE = 1_000_003  # between the seeds of starts
RATE = 4e-3  # of Adam: at the light presets' 1e-3, two balls folded a part in one of three runs


class SumOfParts(AutoencoderEstimator):
    """What both share: the decoder, and what its parts are worth.

    Parameters
    ----------
    n_factors : int
        Number of codes, over all blocks.
    block_size : int
        Codes that make one part together: 1 where each part of the data has one factor, 2 for an object that moves
        freely in a plane.
    n_init : int
        Random starts of 400 steps each, of which the one with the lowest loss is trained on: from some a part is folded
        onto itself and stays so.
    **settings
        See :class:`~unbraid.autoencoders.base.AutoencoderEstimator`; the likelihood is Gaussian, and the
        learning rate of the light presets 4e-3.
    """

    _presets = PRESETS | {name: replace(PRESETS[name], learning_rate=RATE) for name in ("small", "patches")}
    takes_gaps = False  # its parts are measured on complete rows
    _recognises = False
    _image_likelihood = "gaussian"  # of the sum itself, not of its logits
    _parameter_constraints = {
        "block_size": COUNT,
        "n_init": COUNT,
        "encoder": (None,),
        "decoder": (None,),
        "likelihood": ("auto", "gaussian"),
        "counts": ("given",),
    }

    def __init__(self, n_factors: int = 2, *, block_size: int = 1, n_init: int = 8, **settings: Any):
        super().__init__(n_factors, **settings)
        self.block_size = block_size
        self.n_init = n_init

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.n_factors % self.block_size:
            raise ValueError(
                f"n_factors={self.n_factors} codes cannot be split into blocks of block_size={self.block_size}. Choose "
                "a multiple of it."
            )

    def _parts(self, shape: tuple[int, ...], preset: Any) -> dict[str, nn.Module]:
        parts = [preset.decoder(shape, self.block_size) for _ in range(self.n_factors // self.block_size)]
        return {"encoder": preset.encoder(shape, *self._head_sizes), "decoder": Additive(parts, self.block_size)}

    def _train(self, networks: nn.ModuleDict, points: Points, schedule: Schedule, preset: Any, seed: int) -> None:
        resumes = self.checkpoint is not None and Path(self.checkpoint).exists()  # from one that was chosen then
        if self.n_init > 1 and not resumes:
            networks = self._best_start(networks, points, schedule, preset, seed)
        super()._train(networks, points, schedule, preset, seed)

    def _best_start(
        self, first: nn.ModuleDict, points: Points, schedule: Schedule, preset: Any, seed: int
    ) -> nn.ModuleDict:
        """Of several networks, trained for a while, those with the lowest loss in the second half of it."""
        steps = max(1, min(START, schedule.max_steps // 5))
        short, device, losses = replace(schedule, max_steps=steps, log_every=max(1, steps // 2)), self._device(), []
        with bar("starts", total=self.n_init * steps, show=self.progress) as advance:
            for i in range(self.n_init):
                generator = torch.Generator().manual_seed((seed + i * STRIDE) % 2**63)
                networks = first
                if i:
                    networks = self._whole(self._networks(self._network_shape, preset, generator), points)
                objective = partial(self._objective, networks=networks, points=points, schedule=short)
                source = Batches(points, schedule.batch_size, seed, device)
                trainer = Trainer(networks, self._groups(preset), objective, source, short, device)
                records = []
                for step in range(steps):
                    records.append(trainer.step(step))
                    advance(1)
                losses.append(((records[-1] or {})["loss"], i, networks))  # the last step is recorded
        return min(losses, key=lambda found: found[:2])[2]

    def _after_training(self, points: Points) -> None:
        super()._after_training(points)
        decoder = self._network["decoder"]
        with torch.no_grad():
            x = self._to_network(np.concatenate([points.rows.clean(b) for b in points.rows.stored(most=MEASURED)]))
            codes = self._network["encoder"](x.float())[:, : self._n_codes]
            parts = torch.stack(decoder.parts_of(codes)).flatten(2).double()
        x = x.double().flatten(1)
        total = x.var(0).sum().clamp_min(1e-300)
        self.part_shares_ = (parts.var(1).sum(-1) / total).numpy()
        self.explained_ = float(1 - (x - parts.sum(0)).square().mean(0).sum() / total)
        if self.explained_ < FIGURES["additive_fit"].limit():
            warn("UB130", share=100 * self.explained_)

    def _summary(self) -> Summary:
        return of_parts(super()._summary(), self)


class AdditiveAutoencoder(SumOfParts, Autoencoder):
    r"""Autoencoder with an additive decoder: minimises :math:`\frac12 \|\sum_B D_B(E_B(x)) - x\|^2`.

    For data that are sums of parts, one for each block of factors: objects that do not hide each other,
    overlapping spectra, programmes of genes. If every part bends enough, the blocks are identified without any
    evidence. Factors may be dependent, and combinations that were never seen are decoded right.

    Parameters
    ----------
    n_factors : int
        Number of codes, over all blocks.
    block_size : int
        Codes that make one part together: 1 where each part has one factor, 2 for an object that moves in a plane.
        Within a block the codes are not identified.
    n_init : int
        Random starts of 400 steps each, of which the one with the lowest loss is trained on.
    **settings
        See :class:`~unbraid.autoencoders.base.AutoencoderEstimator`; the likelihood is Gaussian, and the
        learning rate of the light presets 4e-3.

    Attributes
    ----------
    part_shares_ : array (n_factors / block_size,)
        Variance of each part, as a share of that of the data: near 0 where a block is not used.
    explained_ : float
        Share of the variance of the data that the sum of parts explains.
    history_ : list of dict
        ``loss`` and ``reconstruction`` every ``log_every`` steps.
    weights_ : dict of arrays
    n_steps_, stopped_, likelihood_, row_shape_, unit_, center_, scale_

    References
    ----------
    Lachapelle, Mahajan, Mitliagkas, Lacoste-Julien (2023), Additive decoders for latent variables identification and
    Cartesian-product extrapolation, theorems 1 to 3.

    Examples
    --------
    >>> import warnings, unbraid as ub
    >>> X = ub.datasets.load("two-objects", image_size=16).sample(100, random_state=0)[0]
    >>> with warnings.catch_warnings(action="ignore"):  # so short a training explains little
    ...     model = ub.AdditiveAutoencoder(2, max_steps=20, random_state=0).fit(X)
    >>> model.transform(X).shape, model.part_shares_.shape
    ((100, 2), (2,))
    """


class AdditiveVAE(SumOfParts, VAE):
    r"""VAE with an additive decoder: minimises :math:`E_q[-\log p(x | \sum_B D_B(z_B))] + KL(q(z|x) \| p(z))`.

    As :class:`AdditiveAutoencoder`, with a prior that switches off blocks which the data do not need, so that
    ``n_factors`` may be too large. The noise of the decoder has variance 1 in the unit of the data.

    Parameters
    ----------
    n_factors : int
        Number of codes, over all blocks; superfluous ones are switched off by the KL term.
    block_size : int
        Codes that make one part together.
    n_init : int
        Random starts of 400 steps each, of which the one with the lowest loss is trained on.
    **settings
        See :class:`~unbraid.autoencoders.base.AutoencoderEstimator`; the likelihood is Gaussian, and the
        learning rate of the light presets 4e-3.

    Attributes
    ----------
    part_shares_, explained_
        As of :class:`AdditiveAutoencoder`.
    kl_ : array (n_factors,)
        Mean KL of each code, in nats; near 0 where the code is switched off.
    history_, weights_, n_steps_, stopped_, likelihood_, row_shape_, unit_, center_, scale_
        As of :class:`VAE`.

    References
    ----------
    Lachapelle et al. (2023), as of :class:`AdditiveAutoencoder`. Moinfar, Theis (2024), Unsupervised deep disentangled
    representation of single-cell omics: such a decoder for gene programmes.

    Examples
    --------
    >>> import warnings, unbraid as ub
    >>> X = ub.datasets.load("two-objects", image_size=16).sample(100, random_state=0)[0]
    >>> with warnings.catch_warnings(action="ignore"):  # so short a training explains little
    ...     model = ub.AdditiveVAE(4, block_size=2, max_steps=20, random_state=0).fit(X)
    >>> model.part_shares_.shape, model.kl_.shape
    ((2,), (4,))
    """

    def fit(self, X: Any, y: Any = None) -> Self:  # type: ignore[override]  # its parts take no covariates
        """Train on X, as :meth:`AdditiveAutoencoder.fit`."""
        return AutoencoderEstimator.fit(self, X)

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:  # type: ignore[override]
        """``fit``, then ``transform`` of the same rows."""
        return self.fit(X).transform(X)
