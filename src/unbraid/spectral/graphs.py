"""Spectral models as torch modules, for export: a projection, the nearest anchors, and their affine maps."""

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

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


class SpectralEncoder(nn.Module):
    """Rows to codes: PCA, then the local maps."""

    mean: Tensor
    components: Tensor

    def __init__(self, model: Any):
        super().__init__()
        maps = model.maps_
        m = maps.points.shape[1]
        self.register_buffer("mean", _buffer(model.reduction_.mean))
        self.register_buffer("components", _buffer(model.reduction_.components[:m]))
        self.local = LocalMapsGraph(maps.points, maps.codes, maps.forward, np.ones(m), maps._width)

    def forward(self, rows: Tensor) -> Tensor:
        flat = rows.flatten(1).double()
        return self.local((flat - self.mean) @ self.components.T).float()


class SpectralDecoder(nn.Module):
    """Codes to rows: the local maps backwards, then out of the PCA."""

    mean: Tensor
    components: Tensor

    def __init__(self, model: Any):
        super().__init__()
        maps = model.maps_
        self.register_buffer("mean", _buffer(model.reduction_.mean))
        self.register_buffer("components", _buffer(model.reduction_.components[: maps.points.shape[1]]))
        self.local = LocalMapsGraph(maps.codes, maps.points, maps.backward, maps._code_scale, maps._width)
        self.row_shape, self.is_picture = tuple(model.row_shape_), model.is_picture_

    def forward(self, codes: Tensor) -> Tensor:
        rows = self.local(codes.double()) @ self.components + self.mean
        rows = rows.float().reshape(-1, *self.row_shape)
        return rows.clamp(0, 1) if self.is_picture else rows


def example_rows(model: Any) -> np.ndarray:
    """Between anchors: a third of the way from each of some to its nearest other."""
    maps = model.maps_
    chosen = np.linspace(0, len(maps.points) - 1, EXAMPLES).astype(int)
    other = maps.near[chosen, 1]
    points = maps.points[chosen] + (maps.points[other] - maps.points[chosen]) / 3
    return model._decoded(model.reduction_.inverse(points)).astype(np.float32)


class LinearEncoder(nn.Module):
    """PCA+ICA: one product."""

    mean: Tensor
    components: Tensor

    def __init__(self, model: Any):
        super().__init__()
        self.register_buffer("mean", _buffer(model.mean_))
        self.register_buffer("components", _buffer(model.components_))

    def forward(self, rows: Tensor) -> Tensor:
        return ((rows.flatten(1).double() - self.mean) @ self.components.T).float()


class LinearDecoder(nn.Module):
    """And back."""

    mean: Tensor
    mixing: Tensor

    def __init__(self, model: Any):
        super().__init__()
        self.register_buffer("mean", _buffer(model.mean_))
        self.register_buffer("mixing", _buffer(model.mixing_))
        self.row_shape, self.is_picture = tuple(model.row_shape_), model.is_picture_

    def forward(self, codes: Tensor) -> Tensor:
        rows = (codes.double() @ self.mixing.T + self.mean).float().reshape(-1, *self.row_shape)
        return rows.clamp(0, 1) if self.is_picture else rows


def linear_rows(model: Any) -> np.ndarray:
    """Rows of codes of unit variance, as the codes of PCA+ICA are."""
    return model.inverse_transform(np.random.default_rng(0).normal(size=(EXAMPLES, model.n_factors_))).astype(
        np.float32
    )
