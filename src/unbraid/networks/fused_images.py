"""Convolutional GIN flows in compiled kernels: convolutions, clamp, scale and shift of a block, and its gradient.

Optional, like :mod:`~unbraid.networks.fused`, whose exp and atan it shares: it computes what
:class:`~unbraid.networks.flow.Flow` computes with torch, to float32 accuracy. The images of a batch lie in lanes
(:mod:`~unbraid.networks.fused_convolution`) through all blocks of a resolution; the fully connected blocks are torch's.
"""

from itertools import groupby
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from unbraid.networks import fused_convolution as conv
from unbraid.networks.coupling import ATAN, ConvCoupling, DenseCoupling, Downsample
from unbraid.networks.flow import Flow
from unbraid.networks.fused_kernel import TILE, Array, add_sums, exp_scales, jit, mask


def supports(flow: Flow) -> bool:
    """Whether this computes the flow: convolutional GIN blocks with the authors' clamp."""
    couplings = [layer for layer in flow.layers if isinstance(layer, ConvCoupling | DenseCoupling)]
    convolutional = any(isinstance(layer, ConvCoupling) for layer in couplings)
    return convolutional and all(layer.affine.has_kernel for layer in couplings)


@jit
def _scale_shift(x: Array, rows: Array, a: Array, limit: float, y: Array, e: Array) -> None:
    """y = x exp(s) + t for some rows of x, with s and t from a; all are (channels, numbers), and e = exp(s)."""
    c, n = y.shape
    mean = np.empty(TILE, np.float32)
    for start in range(0, n, TILE):
        size = min(TILE, n - start)
        exp_scales(a, limit, e, mean, start, size)
        for o in range(c):
            part_x, part_y = x[rows[o], start : start + size], y[o, start : start + size]
            part_e, part_t = e[o, start : start + size], a[c + o, start : start + size]
            for t in range(size):
                part_y[t] = part_x[t] * part_e[t] + part_t[t]


@jit
def _scale_shift_gradient(
    x: Array, rows: Array, a: Array, limit: float, e: Array, dy: Array, dx: Array, da: Array
) -> None:
    """da, and rows of dx, from dy; in the shapes of :func:`_scale_shift`."""
    c, n = dy.shape
    inverse, share = np.float32(1 / limit), np.float32(1 / c)
    mean = np.empty(TILE, np.float32)
    for start in range(0, n, TILE):
        size = min(TILE, n - start)
        mean[:] = np.float32(0)
        for o in range(c):
            part_x, part_dx = x[rows[o], start : start + size], dx[rows[o], start : start + size]
            part_e, part_dy = e[o, start : start + size], dy[o, start : start + size]
            ds, dt = da[o, start : start + size], da[c + o, start : start + size]
            for t in range(size):
                part_dx[t] = part_dy[t] * part_e[t]
            for t in range(size):
                ds[t] = part_dx[t] * part_x[t]
            for t in range(size):
                mean[t] += share * ds[t]
            for t in range(size):
                dt[t] = part_dy[t]
        for o in range(c):
            ds, part_a = da[o, start : start + size], a[o, start : start + size]
            for t in range(size):
                v = inverse * part_a[t]
                ds[t] = (ds[t] - mean[t]) * np.float32(ATAN) / (np.float32(1) + v * v)


@jit
def _forward(layers: tuple, values: tuple, x: Array, rows: Array, limit: float, y: Array, start: int, e: Array) -> None:
    """Channels of y from ``start``, x exp(s) + t of some rows of x, with the sub-network of the first of ``values``.

    All are (chunks, channels, numbers); the layers' outputs, which follow in ``values``, and e are for the gradient.
    """
    for c in range(len(x)):
        for k in range(3):
            floor = np.float32(0) if k < 2 else np.float32(-np.inf)
            conv.convolve(values[k][c], layers[k], floor, values[k + 1][c])
        _scale_shift(x[c], rows, values[3][c], limit, y[c, start : start + len(rows)], e[c])


@jit
def _backward(
    layers: tuple, values: tuple, channels: tuple, x: Array, rows: Array, limit: float, e: Array, dy: Array, start: int,
    stripes: tuple, dx: Array, dsource: Array, n_source: int, dws: tuple, dbs: tuple,
) -> None:  # fmt: skip
    """Gradient of :func:`_forward`: rows of dx, and added to dsource and to the sums ``dws`` and ``dbs``.

    ``channels`` are those of ``values`` that each layer reads; the first ``n_source`` of the first have a gradient.
    ``layers`` are the transposed ones.
    """
    n, nothing = x.shape[2], np.float32(-np.inf)
    du = np.empty((len(layers[0][4]), n), np.float32)
    g1, g2 = np.empty(values[1].shape[1:], np.float32), np.empty(values[2].shape[1:], np.float32)
    da = np.zeros(values[3].shape[1:], np.float32)  # the channels that fill the last group stay 0
    grads = du, g1, g2, da
    for c in range(len(x)):
        _scale_shift_gradient(x[c], rows, values[3][c], limit, e[c], dy[c, start : start + len(rows)], dx[c], da)
        for k in range(2, -1, -1):
            conv.weight_gradient(grads[k + 1], values[k][c], channels[k], stripes, dws[k])
            add_sums(grads[k + 1], dbs[k], n)
            if k or n_source:
                conv.convolve(grads[k + 1], layers[k], nothing, grads[k])
            if k:
                mask(grads[k], values[k][c], n)
        for i in range(n_source):
            row, more = dsource[c, channels[0][i]], du[i]
            for t in range(n):
                row[t] += more[t]


class _Half:
    """One half of a block: ``rows`` of x changed by the sub-network of channels ``inputs`` of ``source``."""

    def __init__(self, p: tuple[Tensor, ...], limit: float, size: tuple[int, int], inputs: np.ndarray):
        arrays = [q.detach().numpy() for q in p]
        self.weights, self.biases = arrays[::2], arrays[1::2]
        self.limit, self.size = limit, size
        self.inputs = inputs, *(np.arange(w.shape[1]) for w in self.weights[1:])  # channels that each layer reads

    def forward(self, x: np.ndarray, rows: np.ndarray, source: np.ndarray, y: np.ndarray, start: int) -> None:
        parts = zip(self.inputs, self.weights, self.biases)
        layers = tuple(conv.layer_of(self.size, *part) for part in parts)
        chunks, _, n = x.shape
        values = source, *(np.empty((chunks, conv.round_up(len(b)), n), np.float32) for b in self.biases)
        e = np.empty((chunks, len(rows), n), np.float32)
        _forward(layers, values, x, rows, self.limit, y, start, e)
        self.x, self.rows, self.start, self.values, self.e = x, rows, start, values, e

    def backward(self, dy: np.ndarray, dx: np.ndarray, dsource: np.ndarray | None) -> tuple[Tensor, ...]:
        """Gradients of the parameters; fills rows of dx and adds to dsource."""
        layers = tuple(conv.transposed_layer_of(self.size, w) for w in self.weights)
        pairs = tuple(_even(inputs) for inputs in self.inputs)
        sizes = [conv.round_up(len(w)) * len(read) * 9 for w, read in zip(self.weights, pairs)]
        dws = tuple(np.zeros(n * conv.VECTOR, np.float32) for n in sizes)
        dbs = tuple(np.zeros(conv.round_up(len(w)), np.float32) for w in self.weights)
        target, n_source = (dx, 0) if dsource is None else (dsource, len(self.inputs[0]))
        _backward(
            layers, self.values, pairs, self.x, self.rows, self.limit, self.e, dy, self.start,
            conv.stripes_of(*self.size), dx, target, n_source, dws, dbs,
        )  # fmt: skip
        weights = (conv.unpack(dw, *w.shape[:2]) for dw, w in zip(dws, self.weights))
        biases = (db[: len(w)] for db, w in zip(dbs, self.weights))
        return tuple(torch.from_numpy(each) for pair in zip(weights, biases) for each in pair)


def _even(channels: np.ndarray) -> np.ndarray:
    """Channels in whole pairs, with the last again where it has no partner."""
    return np.append(channels, channels[-1:].repeat(-len(channels) % conv.COLUMNS))


class _Block(torch.autograd.Function):
    """A block of one model on (chunks, channels, pixels x LANES)."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, layer: ConvCoupling, model: int, size: tuple[int, int], *p: Tensor) -> Tensor:
        rows = layer.permutations[model].numpy()
        first, second = rows[: layer.first], rows[layer.first :]
        data = x.detach().contiguous().numpy()
        y = np.empty_like(data)
        limit = layer.affine.limit
        halves = _Half(p[:6], limit, size, second), _Half(p[6:], limit, size, np.arange(layer.first))
        halves[0].forward(data, first, data, y, 0)
        halves[1].forward(data, second, y, y, layer.first)
        ctx.halves = halves
        return torch.from_numpy(y)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Any, ...]:
        dy = grads[0].numpy().copy()
        dx = np.empty_like(dy)
        first, second = ctx.halves
        of_second = second.backward(dy, dx, dy)
        of_first = first.backward(dy, dx, dx if ctx.needs_input_grad[0] else None)
        return (torch.from_numpy(dx), None, None, None, *of_first, *of_second)


def _to_lanes(x: Tensor) -> Tensor:
    """(channels, batch, height, width) as (chunks, channels, pixels x LANES), with images of zeros at the end."""
    channels, batch = x.shape[:2]
    filled = F.pad(x.flatten(2), (0, 0, 0, -batch % conv.LANES))
    return filled.unflatten(1, (-1, conv.LANES)).permute(1, 0, 3, 2).reshape(-1, channels, filled.shape[2] * conv.LANES)


def _from_lanes(x: Tensor, shape: torch.Size) -> Tensor:
    """Back to ``shape``, (channels, batch, height, width)."""
    images = x.unflatten(2, (-1, conv.LANES)).permute(1, 0, 3, 2).flatten(1, 2)
    return images[:, : shape[1]].reshape(shape)


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
        self.flow = flow

    def __call__(self, theta: Tensor, x: Tensor) -> tuple[Tensor, None]:
        parameters = self.flow.unflatten(theta)
        images = [layer for layer in self.flow.layers if isinstance(layer, ConvCoupling | Downsample)]
        of_models = [list(zip(*(q.unbind() for q in p))) for p in parameters[: len(images)]]
        x = torch.stack([
            self._blocks(images, [p[k] if p else () for p in of_models], k, one) for k, one in enumerate(x.unbind())
        ])  # fmt: skip
        for layer, p in zip(self.flow.layers[len(images) :], parameters[len(images) :]):
            x, _ = layer.forward(p, x)
        return x, None

    def _blocks(self, images: list, parameters: list, model: int, x: Tensor) -> Tensor:
        """The convolutional part of one model on (channels, batch, height, width)."""
        for is_coupling, run in groupby(zip(images, parameters), key=lambda pair: isinstance(pair[0], ConvCoupling)):
            lanes = _to_lanes(x) if is_coupling else x.unsqueeze(0)
            for layer, p in run:
                if is_coupling:
                    lanes = _Block.apply(lanes, layer, model, tuple(x.shape[2:]), *p)
                else:
                    lanes, _ = layer.forward([], lanes)
            x = _from_lanes(lanes, x.shape) if is_coupling else lanes.squeeze(0)
        return x
