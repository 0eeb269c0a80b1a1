"""The presets: the protocol of the large study to the letter, and light versions of it for CPUs."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from torch import nn

from unbraid.networks import autoencoder as nets


@dataclass(frozen=True)
class Preset:
    """Networks and settings of a protocol; an estimator's own parameters take precedence.

    Attributes
    ----------
    encoder, decoder : callables ``(shape, *n_out)`` and ``(shape, n_in)``
    initialisation : "glorot" or "torch"
    max_steps, learning_rate : the loop's and Adam's
    discriminator : widths of FactorVAE's hidden layers
    discriminator_learning_rate : its Adam's
    estimator : of the total correlation in beta-TCVAE
    counts_twice : whether FactorVAE's step counter goes up by two an update, as in the study's code
    """

    encoder: Callable[..., nn.Module]
    decoder: Callable[..., nn.Module]
    initialisation: str
    max_steps: int
    learning_rate: float
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
    "small": _light(nets.small_encoder, nets.small_decoder),
    "patches": _light(nets.patch_encoder, nets.patch_decoder),
    "paper": _paper(nets.paper_encoder, nets.paper_decoder),
    "paper-dense": _paper(nets.paper_dense_encoder, nets.paper_dense_decoder),
}
BATCH_SIZE = 64
DISCRIMINATOR_BETAS = (0.5, 0.9)  # of its Adam; all else has the usual ones
FOR_IMAGES = ("paper", "patches")


def preset_of(name: str, shape: tuple[int, ...]) -> Preset:
    """The preset for points of this shape; the study's convolutions need images."""
    if name in FOR_IMAGES and len(shape) == 1:
        raise ValueError(
            f"preset={name!r} needs images (n, height, width) or (n, height, width, channels); rows of X are vectors "
            f"of {math.prod(shape)} numbers. Use 'small' or 'paper-dense'."
        )
    return PRESETS[name]


def shape_of(row_shape: tuple[int, ...]) -> tuple[int, ...]:
    """The networks' shape of a point; sides of images must be divisible by 16."""
    if len(row_shape) == 1:
        return row_shape
    if len(row_shape) > 3:
        raise ValueError(
            f"X has rows of shape {row_shape}; it must be (n, features), (n, height, width) or (n, height, width, "
            "channels). Flatten the rows: X.reshape(len(X), -1)."
        )
    height, width = row_shape[:2]
    if height % nets.STRIDE or width % nets.STRIDE:
        up = tuple(-(-side // nets.STRIDE) * nets.STRIDE for side in (height, width))
        raise ValueError(
            f"images are {height} x {width}, and both sides must be divisible by {nets.STRIDE}. Pad or resize them to "
            f"{up[0]} x {up[1]}, or flatten them: X.reshape(len(X), -1)."
        )
    return (row_shape[2] if len(row_shape) == 3 else 1, height, width)
