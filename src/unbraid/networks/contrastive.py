"""Parts of contrastive learning: a deep encoder, what may follow it, and learned functions of single codes."""

import math

import torch
import torch.nn.functional as F
from torch import Generator, Tensor, nn

from unbraid.networks.autoencoder import Heads, Shape, dense

UNITS = 16  # softplus units of a function of one code


def deep_encoder(shape: Shape, *n_out: int) -> nn.Module:
    """Three dense layers of 128 with leaky ReLUs, deep enough to undo a network of three layers.

    >>> sum(p.numel() for p in deep_encoder((5,), 5).parameters())
    34437
    """
    return nn.Sequential(nn.Flatten(), *dense([math.prod(shape), 128, 128, 128], nn.LeakyReLU), Heads(128, *n_out))


class OnSphere(nn.Module):
    """Codes of length 1."""

    def forward(self, codes: Tensor) -> Tensor:
        return F.normalize(codes, dim=1)


class Squares(nn.Module):
    """The square of each code."""

    def forward(self, codes: Tensor) -> Tensor:
        return codes.square()


class Marginal(nn.Module):
    r"""A sum of smooth functions of single codes.

    .. math:: g(c) = \sum_i \sum_k v_{ik}\,\mathrm{softplus}(w_{ik} c_i + b_{ik})

    It begins as 0: all v do.

    >>> Marginal(3, torch.Generator().manual_seed(0))(torch.ones(4, 3)).tolist()
    [0.0, 0.0, 0.0, 0.0]
    """

    def __init__(self, n_codes: int, generator: Generator):
        super().__init__()
        self.slope = nn.Parameter(torch.randn(n_codes, UNITS, generator=generator))
        self.place = nn.Parameter(torch.randn(n_codes, UNITS, generator=generator))
        self.weight = nn.Parameter(torch.zeros(n_codes, UNITS))

    def forward(self, codes: Tensor) -> Tensor:
        return (F.softplus(codes[:, :, None] * self.slope + self.place) * self.weight).sum((1, 2))
