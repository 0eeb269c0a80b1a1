"""Coupling blocks as plain functions of one flat parameter vector, features first.

K models of one shape are one batched model: parameters are (K, n_parameters), data are (K, features, batch) in a
fully connected block and (K, channels, batch, height, width) in a convolutional one, so that halves are contiguous.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

ATAN = 0.636  # the authors' 2 / pi, to three digits

CLAMPS = {
    "atan": lambda s, c: c * ATAN * torch.atan(s / c),
    "steep-atan": lambda s, c: c * ATAN * torch.atan(s),
    "tanh": lambda s, c: c * torch.tanh(s),
}


SCALES = {
    "mean": lambda s: s - s.mean(1, keepdim=True),
    "last": lambda s: torch.cat((s[:, :-1], -s[:, :-1].sum(1, keepdim=True)), 1),
}


@dataclass(frozen=True)
class Affine:
    """The map of one half given the other: y = x exp(s) + t, with s and t from a sub-network.

    ``kind`` settles the scale: ``nice`` has none (s = 0), ``realnvp`` has s = clamp(a), and ``gin`` makes log|det J| =
    sum s = 0, over features (per pixel over channels on images). ``scale`` says how: ``mean`` subtracts the mean (the
    authors' later code), ``last`` sets the last s to minus the sum of the others (GIN's paper, section 4.1).

    ``clamp`` bounds \\|s\\| by ``limit``: ``atan`` is limit 0.636 atan(s / limit), the authors' code; ``steep-atan`` is
    limit 0.636 atan(s), FrEIA's default; ``tanh`` is limit tanh(s), the paper's Appendix D. Random mixings of
    :mod:`unbraid.datasets.mixing` have the same names.
    """

    kind: str = "gin"
    clamp: str = "atan"
    limit: float = 2.0
    scale: str = "mean"

    @property
    def outputs(self) -> int:
        """Numbers that the sub-network gives for each feature."""
        return 1 if self.kind == "nice" else 2

    @property
    def has_kernel(self) -> bool:
        """Whether the fused kernels compute it: GIN with the clamp and scale of the authors' code, in their range."""
        return (self.kind, self.clamp, self.scale) == ("gin", "atan", "mean") and self.limit <= 2

    def coefficients(self, a: Tensor) -> tuple[Tensor | None, Tensor]:
        if self.kind == "nice":
            return None, a
        s, t = a.chunk(2, 1)
        s = CLAMPS[self.clamp](s, self.limit)
        return (SCALES[self.scale](s) if self.kind == "gin" else s), t

    def forward(self, x: Tensor, a: Tensor) -> tuple[Tensor, Tensor | None]:
        """The new half, and the log-scale where it changes the volume."""
        s, t = self.coefficients(a)
        if s is None:
            return x + t, None
        return torch.addcmul(t, x, s.exp()), (s if self.kind == "realnvp" else None)

    def inverse(self, y: Tensor, a: Tensor) -> Tensor:
        s, t = self.coefficients(a)
        return y - t if s is None else (y - t) * (-s).exp()


class Coupling:
    """One block: permute, split in halves, change the first by the second, then the second by the new first.

    Parameters
    ----------
    features : int
        Features (channels of a convolutional block); the first half has ``features // 2``.
    hidden : int
        Width of the two hidden layers of the sub-networks.
    affine : Affine
    permutations : Tensor of int64, (K, features)
        The fixed permutation of each model.
    """

    kernel: tuple[int, ...] = ()

    def __init__(self, features: int, hidden: int, affine: Affine, permutations: Tensor):
        self.features, self.hidden, self.affine = features, hidden, affine
        self.first, self.second = features // 2, features - features // 2
        self.permutations = permutations
        offset = torch.arange(len(permutations), device=permutations.device)[:, None] * permutations.shape[1]
        self._gather = (permutations + offset).flatten()
        self._gather_back = (permutations.argsort(1) + offset).flatten()

    @property
    def shapes(self) -> list[tuple[int, ...]]:
        """Of the parameters: weight and bias of three layers, for the sub-network of the first, then second half."""
        shapes: list[tuple[int, ...]] = []
        for inputs, outputs in ((self.second, self.first), (self.first, self.second)):
            widths = (inputs, self.hidden, self.hidden, outputs * self.affine.outputs)
            for w_in, w_out in pairwise(widths):
                shapes += [(w_out, w_in, *self.kernel), (w_out,)]
        return shapes

    def forward(self, p: list[Tensor], x: Tensor) -> tuple[Tensor, Tensor | None]:
        """The block's output and its log|det J|, (K, batch), or None where that is 0 by construction."""
        x1, x2 = self.halves(x)
        y1, s1 = self.affine.forward(x1, self.subnet(p[:6], x2))
        y2, s2 = self.affine.forward(x2, self.subnet(p[6:], y1))
        volume = None if s1 is None or s2 is None else self.total(s1) + self.total(s2)
        return torch.cat((y1, y2), 1), volume

    def inverse(self, p: list[Tensor], y: Tensor) -> Tensor:
        y1, y2 = y.split((self.first, self.second), 1)
        x2 = self.affine.inverse(y2, self.subnet(p[6:], y1))
        x1 = self.affine.inverse(y1, self.subnet(p[:6], x2))
        return self.permute(torch.cat((x1, x2), 1), self._gather_back)

    def halves(self, x: Tensor) -> tuple[Tensor, ...]:
        return self.permute(x, self._gather).split((self.first, self.second), 1)

    def with_permutations(self, permutations: Tensor) -> Any:
        """The same block with other permutations, which say how many models."""
        return type(self)(self.features, self.hidden, self.affine, permutations)

    def permute(self, x: Tensor, index: Tensor) -> Tensor:
        return x.flatten(0, 1).index_select(0, index).view(x.shape)

    subnet: Any
    total: Any


class DenseCoupling(Coupling):
    """A fully connected block on (K, features, batch)."""

    def subnet(self, p: list[Tensor], x: Tensor) -> Tensor:
        w1, b1, w2, b2, w3, b3 = p
        h = torch.baddbmm(b1.unsqueeze(2), w1, x).relu_()
        h = torch.baddbmm(b2.unsqueeze(2), w2, h).relu_()
        return torch.baddbmm(b3.unsqueeze(2), w3, h)

    def total(self, s: Tensor) -> Tensor:
        return s.sum(1)


class ConvCoupling(Coupling):
    """A convolutional block on (K, channels, batch, height, width), split and permuted by channels; kernels 3 x 3."""

    kernel = (3, 3)

    def subnet(self, p: list[Tensor], x: Tensor) -> Tensor:
        return torch.stack([self._convolve([q[k] for q in p], x[k]) for k in range(len(x))])

    def _convolve(self, p: list[Tensor], x: Tensor) -> Tensor:
        w1, b1, w2, b2, w3, b3 = p
        h = F.conv2d(_Layout.apply(x, channels_last, channels_first), w1, b1, padding=1).relu_()
        h = F.conv2d(h, w2, b2, padding=1).relu_()
        return _Layout.apply(F.conv2d(h, w3, b3, padding=1), channels_first, channels_last)

    def total(self, s: Tensor) -> Tensor:
        return s.sum((1, 3, 4))


def channels_last(x: Tensor) -> Tensor:
    """(channels, batch, height, width) as (batch, channels, height, width) with the channels together in memory."""
    return x.flatten(1).T.contiguous().view(*x.shape[1:], -1).permute(0, 3, 1, 2)


def channels_first(x: Tensor) -> Tensor:
    """Back again, contiguous."""
    batch, channels, height, width = x.shape
    return x.permute(0, 2, 3, 1).reshape(-1, channels).T.contiguous().view(channels, batch, height, width)


class _Layout(torch.autograd.Function):
    """Convolutions are fastest with channels last, all else with channels first: gradients change layout as well."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, change: Callable[[Tensor], Tensor], back: Callable[[Tensor], Tensor]) -> Tensor:
        ctx.back = back
        return change(x)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None, None]:
        return ctx.back(grads[0]), None, None


class Downsample:
    """Every 2 x 2 patch of a channel becomes four channels of one pixel (Jacobsen et al., 2018); no parameters."""

    shapes: list[tuple[int, ...]] = []

    def forward(self, p: list[Tensor], x: Tensor) -> tuple[Tensor, Tensor | None]:
        patches = x.unflatten(4, (-1, 2)).unflatten(3, (-1, 2))  # K, channels, batch, height, 2, width, 2
        return patches.permute(0, 1, 4, 6, 2, 3, 5).flatten(1, 3).contiguous(), None

    def inverse(self, p: list[Tensor], y: Tensor) -> Tensor:
        patches = y.unflatten(1, (-1, 2, 2))
        return patches.permute(0, 1, 4, 5, 2, 6, 3).flatten(5, 6).flatten(3, 4)


class Flatten:
    """(K, channels, batch, height, width) to (K, features, batch)."""

    shapes: list[tuple[int, ...]] = []

    def __init__(self, shape: tuple[int, int, int]):
        self.shape = shape

    def forward(self, p: list[Tensor], x: Tensor) -> tuple[Tensor, Tensor | None]:
        return x.permute(0, 1, 3, 4, 2).flatten(1, 3), None

    def inverse(self, p: list[Tensor], y: Tensor) -> Tensor:
        return y.unflatten(1, self.shape).permute(0, 1, 4, 2, 3).contiguous()
