"""The presets: the protocol of the large study to the letter, and light versions of it for CPUs."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from torch import nn

from unbraid.networks import autoencoder as nets
from unbraid.training import encoder


@dataclass(frozen=True, kw_only=True)
class Preset(encoder.Preset):
    """Networks and settings of a protocol; an estimator's own parameters take precedence.

    Attributes
    ----------
    decoder : callable ``(shape, n_in)``
    discriminator : widths of FactorVAE's hidden layers
    discriminator_learning_rate : its Adam's
    estimator : of the total correlation in beta-TCVAE
    counts_twice : whether FactorVAE's step counter goes up by two an update, as in the study's code
    """

    decoder: Callable[..., nn.Module]
    discriminator: tuple[int, ...]
    discriminator_learning_rate: float
    estimator: str
    counts_twice: bool


_paper = partial(
    Preset, initialisation="glorot", max_steps=300_000, learning_rate=1e-4, discriminator=(1000,) * 6,
    discriminator_learning_rate=1e-4, estimator="weighted", counts_twice=True,
)  # fmt: skip
_light = partial(
    Preset, initialisation="torch", max_steps=10_000, learning_rate=1e-3, discriminator=(256,) * 3,
    discriminator_learning_rate=1e-3, estimator="stratified", counts_twice=False,
)  # fmt: skip

PRESETS = {
    "small": _light(encoder=nets.small_encoder, decoder=nets.small_decoder),
    "patches": _light(encoder=nets.patch_encoder, decoder=nets.patch_decoder, for_images=True),
    "paper": _paper(encoder=nets.paper_encoder, decoder=nets.paper_decoder, for_images=True),
    "paper-dense": _paper(encoder=nets.paper_dense_encoder, decoder=nets.paper_dense_decoder),
}
DISCRIMINATOR_BETAS = (0.5, 0.9)  # of its Adam; all else has the usual ones
