"""Convolutional GIN flows in compiled kernels: convolutions, clamp, scale and shift of a block, and its gradient.

Optional, like :mod:`~unbraid.networks.fused`, whose exp and atan it shares: it computes what
:class:`~unbraid.networks.flow.Flow` computes with torch, to float32 accuracy. The images of a batch lie in lanes
(:mod:`~unbraid.networks.fused_convolution`) through all blocks of a resolution; the fully connected blocks are torch's.
"""

from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from unbraid.networks.coupling import ATAN, ConvCoupling, DenseCoupling, Downsample
from unbraid.networks.flow import Flow
from unbraid.networks.fused_convolution import (
    COLUMNS,
    LANES,
    VECTOR,
    convolve,
    pack,
    pack_transposed,
    pad,
    round_up,
    stripes_of,
    taps_of,
    unpack,
    weight_gradient,
)
from unbraid.networks.fused_kernel import TILE, Array, atan, exp, jit


def supports(flow: Flow) -> bool:
    """Whether this computes the flow: convolutional GIN blocks with the authors' clamp."""
    couplings = [layer for layer in flow.layers if isinstance(layer, ConvCoupling | DenseCoupling)]
    return any(isinstance(layer, ConvCoupling) for layer in couplings) and all(
        layer.affine.kind == "gin" and layer.affine.clamp == "atan" and layer.affine.limit <= 2 for layer in couplings
    )


@jit
def _scale_shift(x: Array, rows: Array, a: Array, limit: float, y: Array, e: Array) -> None:
    """y = x exp(s) + t for some rows of x, with s and t from a; all are (channels, numbers), and e = exp(s)."""
    c, n = y.shape
    scale, inverse, share = np.float32(limit * ATAN), np.float32(1 / limit), np.float32(1 / c)
    s, mean = np.empty((c, TILE), np.float32), np.empty(TILE, np.float32)
    for start in range(0, n, TILE):
        size = min(TILE, n - start)
        mean[:] = np.float32(0)
        for o in range(c):
            part_a = a[o, start : start + size]
            for t in range(size):
                s[o, t] = scale * atan(inverse * part_a[t])
            for t in range(size):
                mean[t] += s[o, t]
        for o in range(c):
            part_x, part_y = x[rows[o], start : start + size], y[o, start : start + size]
            part_e, part_t = e[o, start : start + size], a[c + o, start : start + size]
            for t in range(size):
                part_e[t] = exp(s[o, t] - share * mean[t])
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
def _mask(g: Array, h: Array) -> None:
    """g = 0 where h is not above 0, in place: the gradient of max(0, .)."""
    for i in range(len(g)):
        g[i] = g[i] if h[i] > np.float32(0) else np.float32(0)


@jit
def _add_sums(g: Array, db: Array) -> None:
    """db += g 1."""
    for o in range(len(db)):
        total = np.float32(0)
        row = g[o]
        for t in range(len(row)):
            total += row[t]
        db[o] += total


@jit
def _forward(
    layers: tuple, source: Array, h1: Array, h2: Array, a: Array, x: Array, rows: Array, limit: float, y: Array,
    start: int, e: Array,
) -> None:  # fmt: skip
    """Channels of y from ``start``, x exp(s) + t of some rows of x, with the sub-network of ``source``.

    All are (chunks, channels, numbers); h1, h2, a and e are kept for the gradient.
    """
    zero, nothing = np.float32(0), np.float32(-np.inf)
    for c in range(len(x)):
        convolve(source[c], layers[0], zero, h1[c])
        convolve(h1[c], layers[1], zero, h2[c])
        convolve(h2[c], layers[2], nothing, a[c])
        _scale_shift(x[c], rows, a[c], limit, y[c, start : start + len(rows)], e[c])


@jit
def _backward(
    layers: tuple, source: Array, inputs: Array, hidden: Array, h1: Array, h2: Array, a: Array, x: Array,
    rows: Array, limit: float, e: Array, dy: Array, start: int, stripes: tuple, dx: Array, dsource: Array,
    n_source: int, sums: tuple,
) -> None:  # fmt: skip
    """Gradient of :func:`_forward`: rows of dx, and added to dsource and to the ``sums`` of weights and biases.

    ``inputs`` and ``hidden`` are the channels that the layers read; the first ``n_source`` of ``inputs`` have a
    gradient. ``layers`` are the transposed ones, from the last to the first.
    """
    nothing = np.float32(-np.inf)
    g1, g2 = np.empty(h1.shape[1:], np.float32), np.empty(h2.shape[1:], np.float32)
    da = np.zeros(a.shape[1:], np.float32)  # the channels that fill the last group stay 0
    du = np.empty((len(layers[2][4]), x.shape[2]), np.float32)
    dw1, db1, dw2, db2, dw3, db3 = sums
    for c in range(len(x)):
        _scale_shift_gradient(x[c], rows, a[c], limit, e[c], dy[c, start : start + len(rows)], dx[c], da)
        weight_gradient(da, h2[c], hidden, stripes, dw3)
        _add_sums(da, db3)
        convolve(da, layers[0], nothing, g2)
        _mask(g2.ravel(), h2[c].ravel())
        weight_gradient(g2, h1[c], hidden, stripes, dw2)
        _add_sums(g2, db2)
        convolve(g2, layers[1], nothing, g1)
        _mask(g1.ravel(), h1[c].ravel())
        weight_gradient(g1, source[c], inputs, stripes, dw1)
        _add_sums(g1, db1)
        if n_source:
            convolve(g1, layers[2], nothing, du)
        for i in range(n_source):
            row, more = dsource[c, inputs[i]], du[i]
            for t in range(len(row)):
                row[t] += more[t]


class _Half:
    """One half of a block: ``rows`` of x changed by the sub-network of channels ``inputs`` of ``source``."""

    def __init__(self, p: tuple[Tensor, ...], limit: float, size: tuple[int, int], inputs: np.ndarray):
        arrays = [q.detach().numpy() for q in p]
        self.weights, self.biases = arrays[::2], arrays[1::2]
        self.limit, self.size, self.inputs = limit, size, inputs

    def forward(self, x: np.ndarray, rows: np.ndarray, source: np.ndarray, y: np.ndarray, start: int) -> None:
        layers = tuple(
            (*taps_of(*self.size, inputs), pack(w), pad(b))
            for inputs, w, b in zip(self._channels(), self.weights, self.biases)
        )
        chunks, _, n = x.shape
        kept = [np.empty((chunks, round_up(len(b)), n), np.float32) for b in self.biases]
        e = np.empty((chunks, len(rows), n), np.float32)
        _forward(layers, source, *kept, x, rows, self.limit, y, start, e)
        self.x, self.rows, self.source, self.start, self.kept, self.e = x, rows, source, start, kept, e

    def backward(self, dy: np.ndarray, dx: np.ndarray, dsource: np.ndarray | None) -> tuple[Tensor, ...]:
        """Gradients of the parameters; fills rows of dx and adds to dsource."""
        layers = tuple(
            (*taps_of(*self.size, tuple(range(len(w)))), pack_transposed(w), np.zeros(round_up(w.shape[1]), np.float32))
            for w in self.weights[::-1]
        )
        n_in = len(self.inputs)
        inputs, hidden = _even(self.inputs), _even(np.arange(len(self.weights[0])))
        sums = tuple(part for w in self.weights for part in _sums(w))
        _backward(
            layers, self.source, inputs, hidden, *self.kept, self.x, self.rows, self.limit, self.e, dy, self.start,
            stripes_of(*self.size), dx, dx if dsource is None else dsource, 0 if dsource is None else n_in, sums,
        )  # fmt: skip
        weights = (unpack(dw, *w.shape[:2]) for dw, w in zip(sums[::2], self.weights))
        biases = (db[: len(w)] for db, w in zip(sums[1::2], self.weights))
        return tuple(torch.from_numpy(each) for pair in zip(weights, biases) for each in pair)

    def _channels(self) -> list[tuple[int, ...]]:
        """That each layer reads."""
        return [tuple(self.inputs.tolist()), *(tuple(range(w.shape[1])) for w in self.weights[1:])]


def _even(channels: np.ndarray) -> np.ndarray:
    """Channels in whole pairs, with the last again where it has no partner."""
    return np.append(channels, channels[-1:].repeat(-len(channels) % COLUMNS))


def _sums(w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Zeros to which :func:`_backward` adds the gradients of a weight and its bias."""
    n_out, n_in = round_up(len(w)), -(-w.shape[1] // COLUMNS) * COLUMNS
    return np.zeros(n_out * n_in * 9 * VECTOR, np.float32), np.zeros(n_out, np.float32)


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
    filled = F.pad(x.flatten(2), (0, 0, 0, -batch % LANES))
    return filled.unflatten(1, (-1, LANES)).permute(1, 0, 3, 2).reshape(-1, channels, filled.shape[2] * LANES)


def _from_lanes(x: Tensor, shape: torch.Size) -> Tensor:
    """Back to ``shape``, (channels, batch, height, width)."""
    images = x.unflatten(2, (-1, LANES)).permute(1, 0, 3, 2).flatten(1, 2)
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
        if not supports(flow):
            raise ValueError("fused blocks compute convolutional GIN flows with clamp='atan' only.")
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
        shape, lanes = x.shape, None
        for layer, p in zip(images, parameters):
            if isinstance(layer, ConvCoupling):
                lanes = _to_lanes(x) if lanes is None else lanes
                lanes = _Block.apply(lanes, layer, model, tuple(shape[2:]), *p)
            else:
                x = x if lanes is None else _from_lanes(lanes, shape)
                x = layer.forward([], x.unsqueeze(0))[0].squeeze(0)
                shape, lanes = x.shape, None
        return x if lanes is None else _from_lanes(lanes, shape)
