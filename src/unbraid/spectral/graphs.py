"""Spectral models as torch modules, for export: a projection, the nearest anchors, and their affine maps."""

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from unbraid.export.graphs import Graphs

EXAMPLES = 16


def _buffer(value: Any) -> Tensor:
    return torch.from_numpy(np.asarray(value, np.float64).copy())


class LocalMapsGraph(nn.Module):
    """Blend the affine maps of the nearest anchors, as ``LocalMaps`` does: gathers and products, in float64."""

    sources: Tensor
    targets: Tensor
    maps: Tensor
    scale: Tensor

    def __init__(self, sources: Any, targets: Any, maps: Any, scale: Any, width: int):
        super().__init__()
        self.width = width
        for name, value in {"sources": sources, "targets": targets, "maps": maps, "scale": scale}.items():
            self.register_buffer(name, _buffer(value))

    def forward(self, queries: Tensor) -> Tensor:
        scaled, anchors = queries / self.scale, self.sources / self.scale
        squares = (scaled**2).sum(1, keepdim=True) - 2 * scaled @ anchors.T + (anchors**2).sum(1)
        near = squares.topk(self.width, dim=1, largest=False).indices
        gaps = queries[:, None] - self.sources[near]
        distances = ((gaps / self.scale) ** 2).sum(2).sqrt()
        farthest = distances.max(dim=1, keepdim=True).values
        floor = 1e-8 * farthest + 1e-300
        weights = (torch.maximum(distances, floor) / farthest.clamp(min=1e-300)) ** -4
        local = self.targets[near] + (self.maps[near] @ gaps[..., None])[..., 0]
        return (weights[..., None] * local).sum(1) / weights.sum(1, keepdim=True)


class Encoder(nn.Module):
    """Rows, on the scale of counts if they are such, to codes: a product, then the local maps if there are any."""

    mean: Tensor
    components: Tensor
    weights: Tensor

    def __init__(self, model: Any, mean: Any, components: Any, local: nn.Module | None = None):
        super().__init__()
        self.register_buffer("mean", _buffer(mean))
        self.register_buffer("components", _buffer(components))
        self.local = local or nn.Identity()
        self.counts = model.counts_ is not None
        self.total = model.counts_.total if self.counts else 0.0
        self.register_buffer("weights", _buffer(model.counts_.weights if self.counts else 1.0))

    def forward(self, rows: Tensor) -> Tensor:
        x = rows.flatten(1).double()
        if self.total:
            x = x * (self.total / x.sum(1, keepdim=True).clamp(min=1))
        x = x.clamp(min=0).sqrt() * self.weights if self.counts else x
        return self.local((x - self.mean) @ self.components.T).float()


class Decoder(Encoder):
    """Codes to rows: the local maps backwards if there are any, then a product."""

    def __init__(self, model: Any, mean: Any, components: Any, local: nn.Module | None = None):
        super().__init__(model, mean, components, local)
        self.row_shape, self.is_picture = tuple(model.row_shape_), model.is_picture_

    def forward(self, codes: Tensor) -> Tensor:
        x = self.local(codes.double()) @ self.components + self.mean
        x = (x.clamp(min=0) / self.weights) ** 2 if self.counts else x
        rows = x.float().reshape(-1, *self.row_shape)
        return rows.clamp(0, 1) if self.is_picture else rows


def spectral_graphs(model: Any) -> Graphs:
    """PCA and the local maps; rows between anchors, a third of the way from each of some to its nearest other."""
    maps = model.maps_
    m = maps.points.shape[1]
    reduction = model.reduction_.truncated(m)
    forward = LocalMapsGraph(maps.points, maps.codes, maps.forward, np.ones(m), maps._width)
    backward = LocalMapsGraph(maps.codes, maps.points, maps.backward, maps._code_scale, maps._width)
    chosen = np.linspace(0, len(maps.points) - 1, EXAMPLES).astype(int)
    points = maps.points[chosen] + (maps.points[maps.near[chosen, 1]] - maps.points[chosen]) / 3
    rows = model._decoded(model.reduction_.inverse(points)).astype(np.float32)
    decoder = Decoder(model, reduction.mean, reduction.decoding, backward)
    return Graphs(Encoder(model, reduction.mean, reduction.components, forward), decoder, rows)


def linear_graphs(model: Any) -> Graphs:
    """One product each way; rows of codes of unit variance, as the codes of PCA+ICA are."""
    codes = np.random.default_rng(0).normal(size=(EXAMPLES, model.n_factors_))
    rows = model.inverse_transform(codes).astype(np.float32)
    return Graphs(Encoder(model, model.mean_, model.components_), Decoder(model, model.mean_, model.mixing_.T), rows)
