"""Encoders and decoders of the autoencoders, and FactorVAE's discriminator.

Images come and go as (batch, channels, height, width) in channels_last memory, vectors as (batch, features).
"""

import math
from collections.abc import Callable
from functools import partial
from itertools import pairwise

import torch
from torch import Generator, Tensor, nn

Shape = tuple[int, ...]

STRIDE = 16  # all image networks shrink a side by this


class Patches(nn.Module):
    """A convolution whose stride equals its kernel, as one matrix product.

    Takes and gives (batch, height, width, channels).

    >>> Patches(3, 8, 4)(torch.zeros(2, 16, 8, 3)).shape
    torch.Size([2, 4, 2, 8])
    """

    def __init__(self, n_in: int, n_out: int, side: int):
        super().__init__()
        self.side = side
        self.linear = nn.Linear(n_in * side * side, n_out)

    def forward(self, x: Tensor) -> Tensor:
        n, h, w, c = x.shape
        k = self.side
        x = x.view(n, h // k, k, w // k, k, c).transpose(2, 3)
        return self.linear(x.reshape(n, h // k, w // k, k * k * c))


class Unpatches(nn.Module):
    """The transpose of :class:`Patches`: each pixel becomes a square of pixels.

    >>> Unpatches(8, 3, 4)(torch.zeros(2, 4, 2, 8)).shape
    torch.Size([2, 16, 8, 3])
    """

    def __init__(self, n_in: int, n_out: int, side: int):
        super().__init__()
        self.side, self.n_out = side, n_out
        self.linear = nn.Linear(n_in, n_out * side * side)

    def forward(self, x: Tensor) -> Tensor:
        n, h, w, _ = x.shape
        k = self.side
        x = self.linear(x).view(n, h, w, k, k, self.n_out).transpose(2, 3)
        return x.reshape(n, h * k, w * k, self.n_out)


class Permute(nn.Module):
    """Reorder the axes."""

    def __init__(self, *order: int):
        super().__init__()
        self.order = order

    def forward(self, x: Tensor) -> Tensor:
        return x.permute(*self.order)


class Heads(nn.Module):
    """Linear maps of one input, side by side: a mean and a log-variance are two layers, not one of twice the width.

    They differ in the bounds of Glorot's initialisation only.
    """

    def __init__(self, n_in: int, *n_out: int):
        super().__init__()
        self.parts = nn.ModuleList(nn.Linear(n_in, n) for n in n_out)

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([part(x) for part in self.parts], dim=1)


def dense(sizes: list[int], activation: Callable[[], nn.Module]) -> list[nn.Module]:
    """Linear layers, each followed by the activation."""
    return [layer for a, b in pairwise(sizes) for layer in (nn.Linear(a, b), activation())]


def paper_encoder(shape: Shape, *n_out: int) -> nn.Module:
    """The study's encoder: four convolutions of stride 2, a layer of 256, the heads.

    >>> sum(p.numel() for p in paper_encoder((1, 64, 64), 10, 10).parameters())
    309204
    """
    channels, height, width = shape
    pixels = (height // STRIDE) * (width // STRIDE)
    return nn.Sequential(
        nn.Conv2d(channels, 32, 4, 2, 1), nn.ReLU(),
        nn.Conv2d(32, 32, 4, 2, 1), nn.ReLU(),
        nn.Conv2d(32, 64, 2, 2), nn.ReLU(),
        nn.Conv2d(64, 64, 2, 2), nn.ReLU(),
        nn.Flatten(), nn.Linear(64 * pixels, 256), nn.ReLU(), Heads(256, *n_out),
    )  # fmt: skip


def paper_decoder(shape: Shape, n_in: int) -> nn.Module:
    """The study's decoder: 256, 1024 (for 64 x 64), four transposed convolutions of stride 2; logits.

    >>> sum(p.numel() for p in paper_decoder((1, 64, 64), 10).parameters())
    381313
    """
    channels, height, width = shape
    h, w = height // STRIDE, width // STRIDE
    return nn.Sequential(
        nn.Linear(n_in, 256), nn.ReLU(), nn.Linear(256, 64 * h * w), nn.ReLU(), nn.Unflatten(1, (64, h, w)),
        nn.ConvTranspose2d(64, 64, 4, 2, 1), nn.ReLU(),
        nn.ConvTranspose2d(64, 32, 4, 2, 1), nn.ReLU(),
        nn.ConvTranspose2d(32, 32, 4, 2, 1), nn.ReLU(),
        nn.ConvTranspose2d(32, channels, 4, 2, 1),
    )  # fmt: skip


def paper_dense_encoder(shape: Shape, *n_out: int) -> nn.Module:
    """The study's other encoder: two layers of 1200, ReLU."""
    return nn.Sequential(nn.Flatten(), *dense([math.prod(shape), 1200, 1200], nn.ReLU), Heads(1200, *n_out))


def paper_dense_decoder(shape: Shape, n_in: int) -> nn.Module:
    """The study's other decoder: three layers of 1200, tanh; logits."""
    n = math.prod(shape)
    return nn.Sequential(*dense([n_in, 1200, 1200, 1200], nn.Tanh), nn.Linear(1200, n), nn.Unflatten(1, shape))


class Broadcast(nn.Module):
    """Spatial broadcast decoder on patches: the codes and a place make the 4 x 4 pixels of that place.

    One small network for all places, so that moving an object is moving along a code: position comes out disentangled
    far more often than from a decoder that begins with a dense layer (Watters et al. 2019).

    >>> Broadcast((1, 32, 64), 5, 16)(torch.zeros(2, 5)).shape
    torch.Size([2, 1, 32, 64])
    """

    def __init__(self, shape: Shape, n_in: int, width: int, side: int = 4):
        super().__init__()
        self.shape, self.side = shape, side
        channels, height, width_px = shape
        rows, columns = (torch.linspace(-1, 1, n // side) for n in (height, width_px))
        self.register_buffer("places", torch.cartesian_prod(rows, columns), persistent=False)
        self.codes = nn.Linear(n_in, width)
        self.place = nn.Linear(2, width, bias=False)
        self.hidden = nn.Linear(width, width)
        self.pixels = nn.Linear(width, channels * side * side)

    def forward(self, z: Tensor) -> Tensor:
        channels, height, width = self.shape
        k, n = self.side, z.shape[0]
        x = torch.relu(self.codes(z)[:, None] + self.place(self.places)[None])
        x = self.pixels(torch.relu(self.hidden(x)))
        x = x.view(n, height // k, width // k, k, k, channels).transpose(2, 3)
        return x.reshape(n, height, width, channels).permute(0, 3, 1, 2)


def small_encoder(shape: Shape, *n_out: int) -> nn.Module:
    """For CPUs: two dense layers.

    >>> sum(p.numel() for p in small_encoder((1, 64, 64), 10, 10).parameters())
    543508
    """
    return nn.Sequential(nn.Flatten(), *dense([math.prod(shape), 128, 128], nn.ReLU), Heads(128, *n_out))


def small_decoder(shape: Shape, n_in: int) -> nn.Module:
    """For CPUs: :class:`Broadcast` for images, two dense layers for vectors."""
    if len(shape) > 1:
        return Broadcast(shape, n_in, 64)
    return nn.Sequential(*dense([n_in, 128, 128], nn.ReLU), nn.Linear(128, shape[0]))


def patch_encoder(shape: Shape, *n_out: int) -> nn.Module:
    """For CPUs and rich images: patches of 4 x 4, patches of 4 x 4 of these, a layer of 128.

    >>> sum(p.numel() for p in patch_encoder((1, 64, 64), 10, 10).parameters())
    150500
    """
    channels, height, width = shape
    first = 16 if channels == 1 else 32
    n = 64 * (height // STRIDE) * (width // STRIDE)
    return nn.Sequential(
        Permute(0, 2, 3, 1), Patches(channels, first, 4), nn.ReLU(), Patches(first, 64, 4), nn.ReLU(),
        nn.Flatten(), nn.Linear(n, 128), nn.ReLU(), Heads(128, *n_out),
    )  # fmt: skip


def patch_decoder(shape: Shape, n_in: int) -> nn.Module:
    """The mirror of :func:`patch_encoder`."""
    channels, height, width = shape
    first = 16 if channels == 1 else 32
    h, w = height // STRIDE, width // STRIDE
    return nn.Sequential(
        *dense([n_in, 128, 64 * h * w], nn.ReLU), nn.Unflatten(1, (h, w, 64)),
        Unpatches(64, first, 4), nn.ReLU(), Unpatches(first, channels, 4), Permute(0, 3, 1, 2),
    )  # fmt: skip


class Additive(nn.Module):
    """A sum of decoders, each of its own block of codes (Lachapelle et al. 2023, Eq. 4).

    >>> Additive([small_decoder((3,), 2), small_decoder((3,), 2)], 2)(torch.zeros(5, 4)).shape
    torch.Size([5, 3])
    """

    def __init__(self, parts: list[nn.Module], size: int):
        super().__init__()
        self.parts, self.size = nn.ModuleList(parts), size

    def parts_of(self, z: Tensor) -> list[Tensor]:
        """What each decoder adds."""
        return [part(block) for part, block in zip(self.parts, z.split(self.size, dim=1), strict=True)]

    def forward(self, z: Tensor) -> Tensor:
        return torch.stack(self.parts_of(z)).sum(0)


def discriminator(n_in: int, widths: tuple[int, ...]) -> nn.Module:
    """FactorVAE's: leaky ReLU of slope 0.2 and two logits.

    >>> sum(p.numel() for p in discriminator(10, (1000,) * 6).parameters())
    5018002
    """
    sizes = [n_in, *widths]
    return nn.Sequential(*dense(sizes, partial(nn.LeakyReLU, 0.2)), nn.Linear(sizes[-1], 2))


def linear_bottleneck(n: int, depth: int) -> nn.Module:
    """IRMAE's square linear layers without bias."""
    return nn.Sequential(*(nn.Linear(n, n, bias=False) for _ in range(depth)))


def initialise(module: nn.Module, scheme: str, generator: Generator) -> None:
    """Draw all weights from ``generator``: "glorot" (TensorFlow's: biases 0) or "torch" (U(+-1/sqrt(fan in)))."""
    for layer in module.modules():
        if not isinstance(layer, nn.Linear | nn.Conv2d | nn.ConvTranspose2d):
            continue
        if scheme == "glorot":
            nn.init.xavier_uniform_(layer.weight, generator=generator)
            if layer.bias is not None:
                nn.init.zeros_(layer.bias)
        else:
            nn.init.kaiming_uniform_(layer.weight, a=math.sqrt(5), generator=generator)
            if layer.bias is not None:
                bound = 1 / math.sqrt(nn.init._calculate_fan_in_and_fan_out(layer.weight)[0])
                nn.init.uniform_(layer.bias, -bound, bound, generator=generator)
