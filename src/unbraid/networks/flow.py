"""Whole flows: a chain of coupling blocks with exact inverse and log-determinant, K models at once."""

from math import prod

import numpy as np
import torch
from torch import Tensor

from unbraid.networks.coupling import Affine, ConvCoupling, Coupling, DenseCoupling, Downsample, Flatten


class Flow:
    """K flows of one architecture, as functions of their parameters (K, n_parameters).

    :meth:`forward` and :meth:`inverse` work in the layout that is fast: codes are (K, n_features, batch), and data
    are the same for a fully connected flow and (K, channels, batch, height, width) for a convolutional one.
    :meth:`encode` and :meth:`decode` take rows.

    Parameters
    ----------
    layers : list
        Blocks with ``shapes``, ``forward(parameters, x)`` and ``inverse(parameters, y)``.
    shape : tuple of int
        Of one data point: (features,) or (channels, height, width).
    n_models : int
        K.
    """

    def __init__(self, layers: list, shape: tuple[int, ...], n_models: int):
        self.layers, self.shape, self.n_models = layers, shape, n_models
        self.n_features = prod(shape)
        self.sizes = [prod(s) for layer in layers for s in layer.shapes]
        self.n_parameters = sum(self.sizes)

    def initial(self, rng: np.random.Generator, *, identity: bool = True) -> Tensor:
        """Random parameters, (K, n_parameters): uniform in +-1/sqrt(fan in), as torch has it.

        With ``identity`` the last layer of every sub-network is 0 and the flow starts as the identity (up to the
        permutations); starting elsewhere costs MCC.
        """
        columns = []
        for layer in self.layers:
            for i, shape in enumerate(layer.shapes):
                last = i % 6 >= 4
                fan_in = prod(layer.shapes[i - i % 2][1:])
                values = rng.uniform(-1, 1, (self.n_models, prod(shape))) / np.sqrt(fan_in)
                if getattr(layer, "start", None) is not None:
                    values[:] = layer.start.ravel()
                columns.append(np.zeros_like(values) if last and identity else values)
        return torch.from_numpy(np.concatenate(columns, 1).astype(np.float32))

    def unflatten(self, theta: Tensor) -> list[list[Tensor]]:
        """The flat vectors as the parameters of each layer, each (K, *shape)."""
        parts = iter(theta.split(self.sizes, dim=1))
        return [[next(parts).unflatten(1, shape) for shape in layer.shapes] for layer in self.layers]

    def forward(self, theta: Tensor, x: Tensor) -> tuple[Tensor, Tensor | None]:
        """Codes (K, n_features, batch) and log|det J| (K, batch), None where it is 0 by construction."""
        volume = None
        for layer, p in zip(self.layers, self.unflatten(theta)):
            x, change = layer.forward(p, x)
            if change is not None:
                volume = change if volume is None else volume + change
        return x, volume

    def inverse(self, theta: Tensor, z: Tensor) -> Tensor:
        """Data of codes (K, n_features, batch)."""
        for layer, p in zip(self.layers[::-1], self.unflatten(theta)[::-1]):
            z = layer.inverse(p, z)
        return z

    def lay_out(self, rows: Tensor) -> Tensor:
        """Rows (batch, *shape), the same for every model, in the layout of :meth:`forward`."""
        first = rows.transpose(0, 1).contiguous()
        return first.expand(self.n_models, *first.shape)

    @torch.no_grad()
    def encode(self, theta: Tensor, rows: Tensor, *, batch_size: int = 4096) -> tuple[Tensor, Tensor]:
        """Codes (K, n, n_features) and log|det J| (K, n) of rows (n, *shape)."""
        codes, volumes = [], []
        for part in rows.split(batch_size):
            z, volume = self.forward(theta, self.lay_out(part))
            codes.append(z.transpose(1, 2))
            volumes.append(z.new_zeros(self.n_models, len(part)) if volume is None else volume)
        return torch.cat(codes, 1), torch.cat(volumes, 1)

    @torch.no_grad()
    def decode(self, theta: Tensor, codes: Tensor, *, batch_size: int = 4096) -> Tensor:
        """Rows (K, n, *shape) of codes (K, n, n_features)."""
        parts = (part.transpose(1, 2).contiguous() for part in codes.split(batch_size, dim=1))
        return torch.cat([self.inverse(theta, part).transpose(1, 2) for part in parts], 1)

    @property
    def permutations(self) -> list[Tensor]:
        """Of each coupling block, (K, features)."""
        return [layer.permutations for layer in self.layers if isinstance(layer, Coupling)]

    def with_permutations(self, permutations: list[Tensor]) -> "Flow":
        """The same architecture with other permutations, one tensor per coupling block; they say how many models."""
        rest, layers = iter(permutations), list(self.layers)
        for i, layer in enumerate(layers):
            if isinstance(layer, Coupling):
                layers[i] = layer.with_permutations(next(rest))
        return type(self)(layers, self.shape, len(permutations[0]))

    def select(self, *models: int) -> "Flow":
        """The flow of one of the K models, or of several."""
        return self.with_permutations([p[list(models)] for p in self.permutations])

    def to(self, device: torch.device) -> "Flow":
        """The flow for parameters and data on a device."""
        return self.with_permutations([p.to(device) for p in self.permutations])


def _permutations(rng: np.random.Generator, n_models: int, n: int) -> Tensor:
    return torch.from_numpy(np.stack([rng.permutation(n) for _ in range(n_models)]))


def dense_flow(
    n_features: int,
    rng: np.random.Generator,
    *,
    n_blocks: int = 8,
    hidden: int | None = None,
    affine: Affine | None = None,
    n_models: int = 1,
) -> Flow:
    """Fully connected blocks, as for the papers' artificial data (10 features, 8 blocks: 4,480 parameters).

    ``hidden=None`` takes half the features and at least 10, the papers' widths for 10 and for 784.

    >>> dense_flow(10, np.random.default_rng(0)).n_parameters
    4480
    """
    hidden = max(10, n_features // 2) if hidden is None else hidden
    affine = affine or Affine()
    layers = [
        DenseCoupling(n_features, hidden, affine, _permutations(rng, n_models, n_features)) for _ in range(n_blocks)
    ]
    return Flow(layers, (n_features,), n_models)


def conv_flow(
    shape: tuple[int, int, int],
    rng: np.random.Generator,
    *,
    n_blocks: tuple[int, int, int] = (4, 4, 2),
    hidden: tuple[int, int, int | None] = (16, 32, None),
    affine: Affine | None = None,
    n_models: int = 1,
) -> Flow:
    """Downsample, convolutions, downsample, convolutions, flatten, fully connected blocks (the papers' EMNIST network).

    >>> conv_flow((1, 28, 28), np.random.default_rng(0)).n_parameters
    2620192
    """
    channels, height, width = shape
    if height % 4 or width % 4:
        raise ValueError(
            f"images of {height} x {width} cannot be downsampled twice. Pad or crop them to multiples of 4, or "
            "flatten them to rows for the fully connected network."
        )
    affine = affine or Affine()
    layers: list = []
    for blocks, width_hidden in zip(n_blocks[:2], hidden[:2]):
        channels *= 4
        layers.append(Downsample())
        layers += [
            ConvCoupling(channels, int(width_hidden or 16), affine, _permutations(rng, n_models, channels))
            for _ in range(blocks)
        ]
    layers.append(Flatten((channels, height // 4, width // 4)))
    n_features = prod(shape)
    dense = dense_flow(n_features, rng, n_blocks=n_blocks[2], hidden=hidden[2], affine=affine, n_models=n_models)
    return Flow(layers + dense.layers, shape, n_models)
