"""Convolutional GIN flows with little around the convolutions: one kernel for clamp, scale and shift, and a gradient
of whole blocks.

Optional, like :mod:`~unbraid.networks.fused`, whose exp and atan it shares: it computes what
:class:`~unbraid.networks.flow.Flow` computes with torch, to float32 accuracy. The convolutions are torch's.
"""

from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from unbraid.networks.coupling import ATAN, ConvCoupling, DenseCoupling, Downsample
from unbraid.networks.flow import Flow
from unbraid.networks.fused_kernel import TILE, Array, atan, exp, jit


def supports(flow: Flow) -> bool:
    """Whether this computes the flow: convolutional GIN blocks with the authors' clamp."""
    couplings = [layer for layer in flow.layers if isinstance(layer, ConvCoupling | DenseCoupling)]
    return any(isinstance(layer, ConvCoupling) for layer in couplings) and all(
        layer.affine.kind == "gin" and layer.affine.clamp == "atan" and layer.affine.limit <= 2 for layer in couplings
    )


@jit
def _gather(x: Array, rows: Array, u: Array) -> None:
    """u (pixels, channels) from the given rows of x (channels, pixels)."""
    for start in range(0, len(u), TILE):
        for i in range(len(rows)):
            row = x[rows[i]]
            for t in range(start, min(start + TILE, len(u))):
                u[t, i] = row[t]


@jit
def _scatter(g: Array, rows: Array, x: Array) -> None:
    """The gradient of :func:`_gather`, added to x."""
    for start in range(0, len(g), TILE):
        for i in range(len(rows)):
            row = x[rows[i]]
            for t in range(start, min(start + TILE, len(g))):
                row[t] += g[t, i]


@jit
def _scale_shift(x: Array, rows: Array, a: Array, limit: float, y: Array, e: Array) -> None:
    """y = x exp(s) + t for some rows of x; y and e = exp(s) are (channels, pixels), a is (pixels, 2 channels)."""
    c, n = y.shape
    scale, inverse, share = np.float32(limit * ATAN), np.float32(1 / limit), np.float32(1 / c)
    raw, mean = np.empty((2 * c, TILE), np.float32), np.empty(TILE, np.float32)
    for start in range(0, n, TILE):
        size = min(TILE, n - start)
        for o in range(2 * c):
            for t in range(size):
                raw[o, t] = a[start + t, o]
        mean[:] = np.float32(0)
        for o in range(c):
            for t in range(size):
                raw[o, t] = scale * atan(inverse * raw[o, t])
            for t in range(size):
                mean[t] += raw[o, t]
        for o in range(c):
            part_x, part_y = x[rows[o], start : start + size], y[o, start : start + size]
            part_e = e[o, start : start + size]
            for t in range(size):
                part_e[t] = exp(raw[o, t] - share * mean[t])
            for t in range(size):
                part_y[t] = part_x[t] * part_e[t] + raw[c + o, t]


@jit
def _scale_shift_gradient(
    x: Array, rows: Array, a: Array, limit: float, e: Array, dy: Array, dx: Array, da: Array
) -> None:
    """da, and rows of dx, from dy; in the shapes of :func:`_scale_shift`."""
    c, n = dy.shape
    inverse, share = np.float32(1 / limit), np.float32(1 / c)
    raw, ds = np.empty((c, TILE), np.float32), np.empty((c, TILE), np.float32)
    mean = np.empty(TILE, np.float32)
    for start in range(0, n, TILE):
        size = min(TILE, n - start)
        for o in range(c):
            for t in range(size):
                raw[o, t] = a[start + t, o]
        mean[:] = np.float32(0)
        for o in range(c):
            part_x, part_dx = x[rows[o], start : start + size], dx[rows[o], start : start + size]
            part_e, part_dy = e[o, start : start + size], dy[o, start : start + size]
            for t in range(size):
                part_dx[t] = part_dy[t] * part_e[t]
            for t in range(size):
                ds[o, t] = part_dx[t] * part_x[t]
            for t in range(size):
                mean[t] += share * ds[o, t]
            for t in range(size):
                da[start + t, c + o] = part_dy[t]
        for o in range(c):
            for t in range(size):
                v = inverse * raw[o, t]
                ds[o, t] = (ds[o, t] - mean[t]) * np.float32(ATAN) / (np.float32(1) + v * v)
            for t in range(size):
                da[start + t, o] = ds[o, t]


@jit
def _mask(g: Array, h: Array) -> None:
    """g = 0 where h is not above 0, in place: the gradient of max(0, .)."""
    for i in range(len(g)):
        g[i] = g[i] if h[i] > np.float32(0) else np.float32(0)


def _pixels(x: Tensor) -> np.ndarray:
    """A tensor (batch, channels, height, width) with channels last in memory as (pixels, channels), a view."""
    return x.permute(0, 2, 3, 1).contiguous().flatten(0, 2).numpy()


def _images(x: np.ndarray, shape: tuple[int, ...]) -> Tensor:
    """Pixels (n, channels) of images (batch, height, width) as :func:`_pixels` takes them, a view."""
    return torch.from_numpy(x).view(*shape, x.shape[1]).permute(0, 3, 1, 2)


class _Half:
    """One half of a block: rows of x changed by the sub-network of rows of ``source``."""

    def __init__(self, p: tuple[Tensor, ...], limit: float, shape: tuple[int, ...]):
        self.p, self.limit, self.shape = p, limit, shape

    def forward(self, x: np.ndarray, rows: np.ndarray, source: np.ndarray, source_rows: np.ndarray, y: Any) -> None:
        w1, b1, w2, b2, w3, b3 = self.p
        u = np.empty((x.shape[1], len(source_rows)), np.float32)
        _gather(source, source_rows, u)
        self.u = _images(u, self.shape)
        self.h1 = F.conv2d(self.u, w1, b1, padding=1).relu_()
        self.h2 = F.conv2d(self.h1, w2, b2, padding=1).relu_()
        self.a = _pixels(F.conv2d(self.h2, w3, b3, padding=1))
        self.x, self.rows, self.source_rows = x, rows, source_rows
        self.e = np.empty_like(y)
        _scale_shift(x, rows, self.a, self.limit, y, self.e)

    def backward(self, dy: np.ndarray, dx: np.ndarray, dsource: np.ndarray | None) -> tuple[Tensor, ...]:
        """Gradients of the parameters; fills rows of dx and adds to dsource."""
        w1, _, w2, _, w3, _ = self.p
        da = np.empty_like(self.a)
        _scale_shift_gradient(self.x, self.rows, self.a, self.limit, self.e, dy, dx, da)
        g, *third = _convolution_gradient(_images(da, self.shape), self.h2, w3)
        _mask(_pixels(g).ravel(), _pixels(self.h2).ravel())
        g, *second = _convolution_gradient(g, self.h1, w2)
        _mask(_pixels(g).ravel(), _pixels(self.h1).ravel())
        g, *first = _convolution_gradient(g, self.u, w1, dsource is not None)
        if dsource is not None:
            _scatter(_pixels(g), self.source_rows, dsource)
        return (*first, *second, *third)


def _convolution_gradient(g: Tensor, h: Tensor, w: Tensor, by_input: bool = True) -> tuple[Tensor, Tensor, Tensor]:
    """Of a 3 x 3 convolution by its input, weight and bias."""
    one = [1, 1]
    return torch.ops.aten.convolution_backward(
        g, h, w, [len(w)], one, one, one, False, [0, 0], 1, [by_input, True, True]
    )


class _Block(torch.autograd.Function):
    """A block of one model on (channels, batch, height, width)."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, layer: ConvCoupling, model: int, *p: Tensor) -> Tensor:
        rows = layer.permutations[model].numpy()
        first, second = rows[: layer.first], rows[layer.first :]
        halves = [_Half(q, layer.affine.limit, tuple(x.shape[1:])) for q in (p[:6], p[6:])]
        data = x.detach().contiguous().flatten(1).numpy()
        y = np.empty_like(data)
        y1 = y[: layer.first]
        halves[0].forward(data, first, data, second, y1)
        halves[1].forward(data, second, y1, np.arange(layer.first), y[layer.first :])
        ctx.halves, ctx.first = halves, layer.first
        return torch.from_numpy(y).view(x.shape)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Any, ...]:
        dy = grads[0].contiguous().flatten(1).numpy()
        dx, dy1 = np.empty_like(dy), dy[: ctx.first].copy()
        first, second = ctx.halves
        of_second = second.backward(dy[ctx.first :], dx, dy1)
        of_first = first.backward(dy1, dx, dx if ctx.needs_input_grad[0] else None)
        return (torch.from_numpy(dx).view(grads[0].shape), None, None, *of_first, *of_second)


class FusedImages:
    """``flow.forward`` with fused blocks, differentiable once.

    >>> from unbraid.networks.flow import conv_flow
    >>> rng = np.random.default_rng(0)
    >>> flow = conv_flow((1, 4, 4), rng)
    >>> theta, x = flow.initial(rng), flow.lay_out(torch.ones(3, 1, 4, 4))
    >>> bool(torch.allclose(FusedImages(flow)(theta, x)[0], flow.forward(theta, x)[0]))
    True
    """

    def __init__(self, flow: Flow):
        if not supports(flow):
            raise ValueError("fused blocks compute convolutional GIN flows with clamp='atan' only.")
        self.flow = flow

    def __call__(self, theta: Tensor, x: Tensor) -> tuple[Tensor, None]:
        parameters = self.flow.unflatten(theta)
        images = [layer for layer in self.flow.layers if isinstance(layer, ConvCoupling | Downsample)]
        of_models = [list(zip(*(q.unbind() for q in p))) for p in parameters[: len(images)]]
        models = []
        for k, one in enumerate(x.unbind()):
            for layer, each in zip(images, of_models):
                if isinstance(layer, ConvCoupling):
                    one = _Block.apply(one, layer, k, *each[k])
                else:
                    one = layer.forward([], one.unsqueeze(0))[0].squeeze(0)
            models.append(one)
        x = torch.stack(models)
        for layer, p in zip(self.flow.layers[len(images) :], parameters[len(images) :]):
            x, _ = layer.forward(p, x)
        return x, None
