"""Compiled 3 x 3 convolutions of small images and their gradients, on batches in lanes.

Images are (chunks, channels, pixels, LANES): the innermost axis holds LANES images of the batch. A convolution is then,
for every pixel, a product of weights (outputs, taps x inputs) with contiguous vectors, without padding: taps outside
the image are left out. Two intrinsics hold the accumulators in vector registers, which numba's loops do not.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from llvmlite import ir
from numba import extending
from numba.core import types

from unbraid.networks.fused_kernel import Array, jit

VECTOR = 8  # numbers of a register of 256 bits
PARTS = 3
LANES = VECTOR * PARTS
ROWS, COLUMNS = 4, 2  # ROWS x PARTS or ROWS x COLUMNS accumulators, of 16 registers
STRIPE = 48  # pixels of ROWS + COLUMNS channels that stay in the first-level cache
OFFSETS = tuple((dy, dx) for dy in (-1, 0, 1) for dx in (-1, 0, 1))

_integer, _vector = ir.IntType(64), ir.VectorType(ir.FloatType(), VECTOR)
_contract = ("contract",)
intrinsic: Any = extending.intrinsic  # its types take no account of the context that it adds


def round_up(channels: int) -> int:
    """To whole groups of ROWS: the channels that :func:`convolve` writes.

    >>> round_up(6)
    8
    """
    return -(-channels // ROWS) * ROWS


def _address(context: Any, builder: Any, array: Any, kind: Any) -> Any:
    return context.make_array(kind)(context, builder, array).data


def _load(builder: Any, base: Any, at: Any) -> Any:
    return builder.load(builder.bitcast(builder.gep(base, [at]), _vector.as_pointer()), align=4)


def _store(builder: Any, value: Any, base: Any, at: Any) -> None:
    builder.store(value, builder.bitcast(builder.gep(base, [at]), _vector.as_pointer()), align=4)


def _spread(builder: Any, number: Any) -> Any:
    """A number in all places of a vector."""
    undefined = ir.Constant(_vector, ir.Undefined)
    one = builder.insert_element(undefined, number, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(one, undefined, ir.Constant(ir.VectorType(ir.IntType(32), VECTOR), None))


def _multiply_add(builder: Any, a: Any, b: Any, c: Any) -> Any:
    return builder.fadd(builder.fmul(a, b, flags=_contract), c, flags=_contract)


def _accumulate(builder: Any, start: list, n: Any, step: Callable[[Any, list], list]) -> list:
    """Vectors after ``step(k, vectors)`` for k = 0 to n - 1, n at least 1, kept in registers."""
    before, body, after = builder.block, builder.append_basic_block("step"), builder.append_basic_block("done")
    builder.branch(body)
    builder.position_at_end(body)
    k, vectors = builder.phi(_integer), [builder.phi(_vector) for _ in start]
    results = step(k, vectors)
    following = builder.add(k, _integer(1))
    for phi, first, next_ in zip([k, *vectors], [_integer(0), *start], [following, *results]):
        phi.add_incoming(first, before)
        phi.add_incoming(next_, body)
    builder.cbranch(builder.icmp_signed("<", following, n), body, after)
    builder.position_at_end(after)
    return results


@intrinsic
def _outputs(
    typing: Any, x: Any, x_at: Any, taps: Any, t_at: Any, n: Any, w: Any, w_at: Any, bias: Any, b_at: Any, floor: Any,
    out: Any, out_at: Any, plane: Any,
) -> Any:  # fmt: skip
    """out[out_at + r plane + lane] = max(floor, bias[b_at + r] + sum_k w[w_at + w_k + r] x[x_at + x_k + lane]).

    For ROWS numbers r and all lanes, with (x_k, w_k) the n pairs of ``taps`` from t_at; NaN comes through.
    """
    signature = types.void(x, types.int64, taps, types.int64, types.int64, w, types.int64, bias, types.int64,
                           types.float32, out, types.int64, types.int64)  # fmt: skip

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        x, taps, w, bias, out = (_address(context, builder, args[i], signature.args[i]) for i in (0, 2, 5, 7, 10))
        x_at, t_at, n, w_at, b_at, floor, out_at, plane = (args[i] for i in (1, 3, 4, 6, 8, 9, 11, 12))

        def number(base: Any, at: Any, r: int) -> Any:
            return builder.load(builder.gep(base, [builder.add(at, _integer(r))]))

        def step(k: Any, sums: list) -> list:
            pair = builder.add(t_at, builder.shl(k, _integer(1)))
            from_x, from_w = builder.add(x_at, number(taps, pair, 0)), builder.add(w_at, number(taps, pair, 1))
            lanes = [_load(builder, x, builder.add(from_x, _integer(VECTOR * i))) for i in range(PARTS)]
            weights = [_spread(builder, number(w, from_w, r)) for r in range(ROWS)]
            pairs = [(weight, lane) for weight in weights for lane in lanes]
            return [_multiply_add(builder, *pair, total) for pair, total in zip(pairs, sums)]

        start = [_spread(builder, number(bias, b_at, r)) for r in range(ROWS) for _ in range(PARTS)]
        least = _spread(builder, floor)
        for i, total in enumerate(_accumulate(builder, start, n, step)):
            at = builder.add(out_at, builder.mul(plane, _integer(i // PARTS)))
            total = builder.select(builder.fcmp_ordered("<", total, least), least, total)
            _store(builder, total, out, builder.add(at, _integer(VECTOR * (i % PARTS))))
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def _products(
    typing: Any, g: Any, g_at: Any, plane: Any, x: Any, x_at: Any, x_next: Any, pixels: Any, p_at: Any, n: Any,
    out: Any, out_at: Any,
) -> Any:  # fmt: skip
    """out[out_at + (r, c), :] += sum over pixels and parts of g[g_at + r plane + pixel] x[x_at or x_next + pixel].

    For ROWS numbers r and the two c, on vectors; over n of ``pixels`` from p_at.
    """
    signature = types.void(g, types.int64, types.int64, x, types.int64, types.int64, pixels, types.int64, types.int64,
                           out, types.int64)  # fmt: skip

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        g, x, pixels, out = (_address(context, builder, args[i], signature.args[i]) for i in (0, 3, 6, 9))
        g_at, plane, x_at, x_next, p_at, n, out_at = (args[i] for i in (1, 2, 4, 5, 7, 8, 10))
        rows = [builder.add(g_at, builder.mul(plane, _integer(r))) for r in range(ROWS)]

        def step(k: Any, sums: list) -> list:
            pixel = builder.load(builder.gep(pixels, [builder.add(p_at, k)]))
            for i in range(PARTS):
                at = builder.add(pixel, _integer(VECTOR * i))
                right = [_load(builder, x, builder.add(start, at)) for start in (x_at, x_next)]
                left = [_load(builder, g, builder.add(start, at)) for start in rows]
                pairs = [(a, b) for a in left for b in right]
                sums = [_multiply_add(builder, *pair, total) for pair, total in zip(pairs, sums)]
            return sums

        places = [builder.add(out_at, _integer(VECTOR * i)) for i in range(ROWS * COLUMNS)]
        start = [_load(builder, out, place) for place in places]
        for total, place in zip(_accumulate(builder, start, n, step), places):
            _store(builder, total, out, place)
        return context.get_dummy_value()

    return signature, generate


def _inside(height: int, width: int) -> Array:
    """Which taps of a pixel lie in the image, (9, pixels)."""
    y, x = np.divmod(np.arange(height * width), width)
    return np.array([(y + dy >= 0) & (y + dy < height) & (x + dx >= 0) & (x + dx < width) for dy, dx in OFFSETS])


@lru_cache(maxsize=256)
def taps_of(height: int, width: int, rows: tuple[int, ...]) -> tuple[Array, Array, Array]:
    """What :func:`convolve` reads at each pixel, where channel ``rows[i]`` of x is input i.

    Pixels are of up to nine kinds by the borders they touch. Returns the kind of each pixel, the number of taps of each
    kind, and its pairs (place in x, place in the weights).
    """
    found, kinds = np.unique(_inside(height, width), axis=1, return_inverse=True)
    counts, pairs = found.sum(0) * len(rows), np.zeros((found.shape[1], 9 * len(rows), 2), np.int64)
    planes = np.array(rows) * height * width * LANES
    for kind, n in enumerate(counts):
        taps = np.flatnonzero(found[:, kind]).tolist()
        pairs[kind, :n] = [
            (plane + _shift(t, width), (9 * i + t) * ROWS) for i, plane in enumerate(planes) for t in taps
        ]
    return kinds.ravel(), counts, pairs


def _shift(tap: int, width: int) -> int:
    dy, dx = OFFSETS[tap]
    return (dy * width + dx) * LANES


@lru_cache(maxsize=32)
def stripes_of(height: int, width: int) -> tuple[Array, Array, Array]:
    """For :func:`weight_gradient`: places of the pixels that have a tap, (9, pixels), where each stripe begins among
    them, (9, stripes + 1), and the taps' shifts."""
    edges = np.arange(0, height * width + STRIPE, STRIPE)
    pixels, starts = np.zeros((9, height * width), np.int64), np.zeros((9, len(edges)), np.int64)
    for t, tap in enumerate(_inside(height, width)):
        inside = np.flatnonzero(tap)
        pixels[t, : len(inside)] = inside * LANES
        starts[t] = np.searchsorted(inside, edges)
    return pixels, starts, np.array([_shift(t, width) for t in range(9)])


def layer_of(size: tuple[int, int], inputs: Array, w: Array, bias: Array) -> tuple:
    """As :func:`convolve` reads it: the taps, the weights as (groups, inputs, taps, ROWS), flat, and the bias.

    w is (outputs, inputs, 3, 3); outputs beyond them, up to whole groups, have weights and biases of 0.
    """
    n_out, n_in = w.shape[:2]
    packed = np.zeros((round_up(n_out), n_in, 9), np.float32)
    packed[:n_out] = w.reshape(n_out, n_in, 9)
    flat = np.ascontiguousarray(packed.reshape(-1, ROWS, n_in, 9).transpose(0, 2, 3, 1)).ravel()
    return (*taps_of(*size, tuple(inputs.tolist())), flat, np.pad(bias, (0, round_up(n_out) - n_out)))


def transposed_layer_of(size: tuple[int, int], w: Array) -> tuple:
    """That of the gradient by the input: inputs and outputs exchanged, taps reversed."""
    turned = w.transpose(1, 0, 2, 3)[:, :, ::-1, ::-1]
    return layer_of(size, np.arange(len(w)), turned, np.zeros(len(turned), np.float32))


@jit
def convolve(x: Array, layer: tuple, floor: np.float32, out: Array) -> None:
    """out = max(floor, w * x + bias) of one chunk, (channels, pixels x LANES).

    A layer is what :func:`layer_of` gives.
    """
    kinds, counts, taps, w, bias = layer
    n, longest = len(kinds), taps.shape[1]
    for p in range(n):
        kind = kinds[p]
        for group in range(len(bias) // ROWS):
            _outputs(
                x, p * LANES, taps, kind * longest * 2, counts[kind], w, group * longest * ROWS, bias, group * ROWS,
                floor, out, (group * ROWS * n + p) * LANES, n * LANES,
            )  # fmt: skip


@jit
def weight_gradient(g: Array, x: Array, rows: Array, stripes: tuple, dw: Array) -> None:
    """Adds the gradient of one chunk to dw, flat (output groups, input pairs, taps, ROWS, COLUMNS, VECTOR).

    g is the gradient of the convolution's outputs, (channels, pixels x LANES) in whole groups; rows are the channels
    of x that it read, an even number.
    """
    pixels, starts, shifts = stripes
    n, plane, pairs = pixels.shape[1], g.shape[1], len(rows) // COLUMNS
    for stripe in range(starts.shape[1] - 1):
        for group in range(len(g) // ROWS):
            for pair in range(pairs):
                left, right = rows[COLUMNS * pair] * plane, rows[COLUMNS * pair + 1] * plane
                for t in range(9):
                    begin, end = starts[t, stripe], starts[t, stripe + 1]
                    if begin < end:
                        _products(
                            g, group * ROWS * plane, plane, x, left + shifts[t], right + shifts[t], pixels,
                            t * n + begin, end - begin, dw, ((group * pairs + pair) * 9 + t) * ROWS * COLUMNS * VECTOR,
                        )  # fmt: skip


@jit
def _add_up(dw: Array, sums: Array) -> None:
    """Sums over VECTOR numbers each."""
    for i in range(len(sums)):
        total = np.float32(0)
        for t in range(VECTOR):
            total += dw[VECTOR * i + t]
        sums[i] = total


def unpack(dw: np.ndarray, n_out: int, n_in: int) -> np.ndarray:
    """The sums of :func:`weight_gradient` as (outputs, inputs, 3, 3)."""
    pairs = -(-n_in // COLUMNS)
    sums = np.empty(len(dw) // VECTOR, np.float32)
    _add_up(dw, sums)
    w = sums.reshape(-1, pairs, 9, ROWS, COLUMNS).transpose(0, 3, 1, 4, 2)
    return np.ascontiguousarray(w.reshape(-1, pairs * COLUMNS, 3, 3)[:n_out, :n_in])
