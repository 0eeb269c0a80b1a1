"""The StyleGAN2 generator (Karras et al. 2020) in plain torch: any device, no custom kernels."""

import math

import torch
from torch import nn
from torch.nn import functional as F

GAIN = math.sqrt(2)  # of leaky ReLU, so that it keeps the variance


def _leaky(x: torch.Tensor) -> torch.Tensor:
    return F.leaky_relu(x, 0.2) * GAIN


def _filter(channels: int, like: torch.Tensor) -> torch.Tensor:
    """The binomial filter [1, 3, 3, 1] in two dimensions, one copy per channel, with the gain of doubling the size."""
    line = torch.tensor([1.0, 3.0, 3.0, 1.0], dtype=like.dtype, device=like.device)
    square = torch.outer(line, line)
    return (4 * square / square.sum()).expand(channels, 1, 4, 4)


def _doubled(image: torch.Tensor) -> torch.Tensor:
    """Twice the size: zeros between the pixels, then the filter."""
    n, c, h, w = image.shape
    spread = image.new_zeros(n, c, h, 2, w, 2)
    spread[:, :, :, 0, :, 0] = image
    return F.conv2d(F.pad(spread.reshape(n, c, 2 * h, 2 * w), (2, 1, 2, 1)), _filter(c, image), groups=c)


class ScaledLinear(nn.Module):
    """A linear layer whose stored weights have unit variance; the scale is applied when it runs."""

    def __init__(self, n_in: int, n_out: int, rate: float = 1.0, bias: float = 0.0):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(n_out, n_in) / rate)
        self.bias = nn.Parameter(torch.full((n_out,), bias))
        self.scale, self.rate = rate / math.sqrt(n_in), rate

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.linear(x, self.weight * self.scale, self.bias * self.rate)


class Mapping(nn.Module):
    """z to w: normalised, then leaky linear layers that learn at a hundredth of the rate."""

    w_avg: torch.Tensor

    def __init__(self, latent_size: int, n_layers: int):
        super().__init__()
        self.n_layers = n_layers
        for i in range(n_layers):
            self.add_module(f"fc{i}", ScaledLinear(latent_size, latent_size, rate=0.01))
        self.register_buffer("w_avg", torch.zeros(latent_size))

    def forward(self, z: torch.Tensor) -> torch.Tensor:
        w = z * torch.rsqrt(z.square().mean(dim=1, keepdim=True) + 1e-8)
        for i in range(self.n_layers):
            w = _leaky(getattr(self, f"fc{i}")(w))
        return w


def _modulated(
    x: torch.Tensor, weight: torch.Tensor, style: torch.Tensor, up: bool = False, demodulate: bool = True
) -> torch.Tensor:
    """A convolution whose input channels are scaled by each image's style (groups: one image each)."""
    n, c_in, h, w = x.shape
    c_out, size = weight.shape[0], weight.shape[2]
    kernels = weight * style[:, None, :, None, None]
    if demodulate:
        kernels = kernels * torch.rsqrt(kernels.square().sum(dim=(2, 3, 4), keepdim=True) + 1e-8)
    x = x.reshape(1, n * c_in, h, w)
    if not up:
        out = F.conv2d(x, kernels.reshape(n * c_out, c_in, size, size), padding=size // 2, groups=n)
        return out.reshape(n, c_out, h, w)
    kernels = kernels.transpose(1, 2).reshape(n * c_in, c_out, size, size)
    out = F.conv_transpose2d(x, kernels, stride=2, groups=n).reshape(n, c_out, 2 * h + 1, 2 * w + 1)
    return F.conv2d(F.pad(out, (1, 1, 1, 1)), _filter(c_out, x), groups=c_out)


class StyledConv(nn.Module):
    """Modulated convolution, noise, bias, leaky ReLU; doubles the size with ``up``."""

    noise_const: torch.Tensor

    def __init__(self, n_in: int, n_out: int, latent_size: int, side: int, up: bool = False):
        super().__init__()
        self.up = up
        self.affine = ScaledLinear(latent_size, n_in, bias=1.0)
        self.weight = nn.Parameter(torch.randn(n_out, n_in, 3, 3))
        self.noise_strength = nn.Parameter(torch.zeros([]))
        self.bias = nn.Parameter(torch.zeros(n_out))
        self.register_buffer("noise_const", torch.randn(side, side))

    def forward(self, x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        x = _modulated(x, self.weight, self.affine(w), up=self.up)
        return _leaky(x + self.noise_const * self.noise_strength + self.bias[:, None, None])


class ToRGB(nn.Module):
    """Features to colours: a modulated 1 x 1 convolution without demodulation."""

    def __init__(self, n_in: int, channels: int, latent_size: int):
        super().__init__()
        self.affine = ScaledLinear(latent_size, n_in, bias=1.0)
        self.weight = nn.Parameter(torch.randn(channels, n_in, 1, 1))
        self.bias = nn.Parameter(torch.zeros(channels))

    def forward(self, x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        style = self.affine(w) / math.sqrt(self.weight.shape[1])
        return _modulated(x, self.weight, style, demodulate=False) + self.bias[:, None, None]


class Block(nn.Module):
    """One resolution: two styled convolutions (one at 4 x 4) and the colours it adds."""

    def __init__(self, n_in: int, n_out: int, latent_size: int, side: int, channels: int):
        super().__init__()
        if n_in == 0:
            self.const = nn.Parameter(torch.randn(n_out, side, side))
        else:
            self.conv0 = StyledConv(n_in, n_out, latent_size, side, up=True)
        self.conv1 = StyledConv(n_out, n_out, latent_size, side)
        self.torgb = ToRGB(n_out, channels, latent_size)

    def forward(
        self, x: torch.Tensor | None, image: torch.Tensor | None, w: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        x = self.const.expand(len(w), -1, -1, -1) if x is None else self.conv0(x, w)
        x = self.conv1(x, w)
        colours = self.torgb(x, w)
        return x, colours if image is None else _doubled(image) + colours


class Synthesis(nn.Module):
    """w to images in about [-1, 1], coarse to fine, each resolution adding its colours (skip architecture)."""

    def __init__(self, latent_size: int, image_size: int, channels: int, width: int, widest: int):
        super().__init__()
        self.sides = [4 << i for i in range(image_size.bit_length() - 2)]
        before = 0
        for side in self.sides:
            after = min(width // side, widest)
            self.add_module(f"b{side}", Block(before, after, latent_size, side, channels))
            before = after

    def forward(self, w: torch.Tensor) -> torch.Tensor:
        x = image = None
        for side in self.sides:
            x, image = getattr(self, f"b{side}")(x, image, w)
        assert image is not None
        return image


class StyleGAN2Generator(nn.Module):
    """StyleGAN2's generator: ``synthesis(mapping(z))``, noise held fixed.

    Its parameters carry the names of NVIDIA's PyTorch code; ``stylegan2_checkpoints`` beside it reads that layout and
    rosinality's.

    Parameters
    ----------
    image_size : int
        A power of two.
    latent_size : int
    n_mapping : int
        Layers of the mapping network; 8 in the paper.
    channels : int
        Of the image.
    width, widest : int
        A resolution has ``min(width / side, widest)`` channels; the paper's large networks have 32768 and 512.

    References
    ----------
    Karras, Laine, Aittala, Hellsten, Lehtinen, Aila (2020), configuration F.

    Examples
    --------
    >>> network = StyleGAN2Generator(image_size=16, latent_size=8, n_mapping=2, width=128, widest=8)
    >>> network(torch.zeros(2, 8)).shape
    torch.Size([2, 3, 16, 16])
    """

    def __init__(
        self,
        image_size: int = 256,
        latent_size: int = 512,
        n_mapping: int = 8,
        channels: int = 3,
        width: int = 32768,
        widest: int = 512,
    ):
        super().__init__()
        if image_size < 4 or image_size & (image_size - 1):
            raise ValueError(f"image_size={image_size!r} must be a power of two, at least 4.")
        self.latent_size, self.image_size = latent_size, image_size
        self.mapping = Mapping(latent_size, n_mapping)
        self.synthesis = Synthesis(latent_size, image_size, channels, width, widest)

    def forward(self, z: torch.Tensor, truncation: float = 1.0) -> torch.Tensor:
        w = self.mapping(z)
        return self.synthesis(self.mapping.w_avg.lerp(w, truncation) if truncation != 1 else w)
