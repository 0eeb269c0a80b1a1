"""The compiled kernel of small fully connected GIN flows: codes and gradient in one pass over tiles of the batch.

exp and atan are polynomials, so that the loops run on vector units.
"""

import numpy as np

from unbraid.networks.coupling import ATAN
from unbraid.runtime.kernels import njit

Array = np.ndarray
TILE = 256  # points whose activations stay in the first-level cache

# reassociation and fused multiply-add only: NaN and infinity must come through
jit = njit(fastmath={"reassoc", "contract", "arcp", "nsz"}, nogil=True, error_model="numpy")


@jit
def atan(x: np.float32) -> np.float32:
    """Abramowitz and Stegun 4.4.49, error below 2e-8."""
    a = abs(x)
    big = a > np.float32(1)
    u = np.float32(1) / a if big else a
    v = u * u
    p = np.float32(0.0028662257)
    for c in (-0.0161657367, 0.0429096138, -0.0752896400, 0.1065626393, -0.1420889944, 0.1999355085, -0.3333314528):
        p = p * v + np.float32(c)
    p = p * v * u + u
    p = np.float32(1.5707963267948966) - p if big else p
    return -p if x < np.float32(0) else p


@jit
def exp(x: np.float32) -> np.float32:
    """Taylor's series of exp(x / 4) to the fourth power; for abs(x) up to 4."""
    u = np.float32(0.25) * x
    p = np.float32(1 / 3628800)
    for c in (362880, 40320, 5040, 720, 120, 24, 6, 2, 1, 1):
        p = p * u + np.float32(1 / c)
    p = p * p
    return p * p


@jit
def _linear(w: Array, bias: Array, u: Array, out: Array, size: int, relu: bool) -> None:
    """out = w u + bias; then max(0, .) where relu.

    Two rows of the result (the last two again where their number is odd) and five of u at a time, to load less than
    is computed.
    """
    n_out, n_in = w.shape
    for pair in range(0, n_out, 2):
        o = min(pair, n_out - 2)
        q = o + 1
        c, d = bias[o], bias[q]
        i = n_in % 5
        if i:
            out[o, :size], out[q, :size] = c, d
        for r in range(i):
            a0, b0 = w[o, r], w[q, r]
            for t in range(size):
                out[o, t] += a0 * u[r, t]
                out[q, t] += b0 * u[r, t]
        while i < n_in:
            a0, a1, a2, a3, a4 = w[o, i], w[o, i + 1], w[o, i + 2], w[o, i + 3], w[o, i + 4]
            b0, b1, b2, b3, b4 = w[q, i], w[q, i + 1], w[q, i + 2], w[q, i + 3], w[q, i + 4]
            if i == 0:
                for t in range(size):
                    u0, u1, u2, u3, u4 = u[i, t], u[i + 1, t], u[i + 2, t], u[i + 3, t], u[i + 4, t]
                    out[o, t] = c + a0 * u0 + a1 * u1 + a2 * u2 + a3 * u3 + a4 * u4
                    out[q, t] = d + b0 * u0 + b1 * u1 + b2 * u2 + b3 * u3 + b4 * u4
            else:
                for t in range(size):
                    u0, u1, u2, u3, u4 = u[i, t], u[i + 1, t], u[i + 2, t], u[i + 3, t], u[i + 4, t]
                    out[o, t] += a0 * u0 + a1 * u1 + a2 * u2 + a3 * u3 + a4 * u4
                    out[q, t] += b0 * u0 + b1 * u1 + b2 * u2 + b3 * u3 + b4 * u4
            i += 5
        if relu:
            for t in range(size):
                out[o, t] = max(out[o, t], np.float32(0))
                out[q, t] = max(out[q, t], np.float32(0))


@jit
def mask(g: Array, h: Array, size: int) -> None:
    """g = 0 where h is not above 0, in place: the gradient of max(0, .)."""
    for o in range(len(g)):
        for t in range(size):
            g[o, t] = g[o, t] if h[o, t] > np.float32(0) else np.float32(0)


@jit
def add_sums(g: Array, db: Array, size: int) -> None:
    """db += g 1."""
    for o in range(len(db)):
        total = np.float32(0)
        for t in range(size):
            total += g[o, t]
        db[o] += total


@jit
def _accumulate(g: Array, u: Array, dw: Array, size: int) -> None:
    """dw += g u'."""
    n_out, n_in = dw.shape
    for o in range(n_out):
        i = 0
        while i + 5 <= n_in:
            t0 = t1 = t2 = t3 = t4 = np.float32(0)
            for t in range(size):
                v = g[o, t]
                t0 += v * u[i, t]
                t1 += v * u[i + 1, t]
                t2 += v * u[i + 2, t]
                t3 += v * u[i + 3, t]
                t4 += v * u[i + 4, t]
            dw[o, i] += t0
            dw[o, i + 1] += t1
            dw[o, i + 2] += t2
            dw[o, i + 3] += t3
            dw[o, i + 4] += t4
            i += 5
        while i < n_in:
            total = np.float32(0)
            for t in range(size):
                total += g[o, t] * u[i, t]
            dw[o, i] += total
            i += 1


@jit
def exp_scales(a: Array, limit: float, e: Array, mean: Array, start: int, size: int) -> None:
    """e = exp(s) for ``size`` numbers from ``start``, s the clamped first rows of a less their mean."""
    scale, inverse, part = np.float32(limit * ATAN), np.float32(1 / limit), np.float32(1 / len(e))
    mean[:] = np.float32(0)
    for o in range(len(e)):
        raw, s = a[o, start : start + size], e[o, start : start + size]
        for t in range(size):
            s[t] = scale * atan(inverse * raw[t])
        for t in range(size):
            mean[t] += s[t]
    for o in range(len(e)):
        s = e[o, start : start + size]
        for t in range(size):
            s[t] = exp(s[t] - part * mean[t])


@jit
def _layer(theta: Array, at: int, n_in: int, n_out: int) -> tuple:
    """Weight and bias of a layer whose parameters begin at ``at``, as views, and where they end."""
    middle = at + n_out * n_in
    return theta[at:middle].reshape((n_out, n_in)), theta[middle : middle + n_out], middle + n_out


@jit
def _half(theta: Array, half: int, d: int, hidden: int) -> tuple:
    """Weights and biases of the three layers of the sub-network of one half, from the parameters of a block."""
    first, second = d // 2, d - d // 2
    n_in, n_out = (first, second) if half else (second, first)
    at = half * (hidden * (second + hidden + 2) + 2 * first * (hidden + 1))
    w1, b1, at = _layer(theta, at, n_in, hidden)
    w2, b2, at = _layer(theta, at, hidden, hidden)
    w3, b3, at = _layer(theta, at, hidden, 2 * n_out)
    return (w1, w2, w3), (b1, b2, b3)


@jit
def _values(saved: Array, half: int, d: int, hidden: int) -> tuple:
    """Views of what is saved of one half: the input, hidden and output values of its sub-network, and x.

    The rows are the permuted input, the new first half, and for each half the hidden values and outputs.
    """
    first = d // 2
    u, x = (saved[d : d + first], saved[first:d]) if half else (saved[first:d], saved[:first])
    at = d + first + half * 2 * (hidden + first)
    h1, h2, a = saved[at : at + hidden], saved[at + hidden : at + 2 * hidden], saved[at + 2 * hidden :]
    return (u, h1, h2, a[: 2 * len(x)]), x


@jit
def _gradient(
    weights: tuple, dws: tuple, dbs: tuple, values: tuple, x: Array, e: Array, limit: float, dy: Array, dx: Array,
    du: Array, work: Array, size: int,
) -> None:  # fmt: skip
    """Of y = x exp(s) + t: adds to dws and dbs, dx = dy exp(s), du = what reaches u through the sub-network."""
    n_out, hidden, a = len(x), len(values[1]), values[3]
    grads = du, work[-2 * hidden - 1 : -hidden - 1], work[-hidden - 1 : -1], work[: 2 * n_out]
    ga, mean = grads[3], work[-1]
    mean[:] = np.float32(0)
    for o in range(n_out):
        for t in range(size):
            dx[o, t] = dy[o, t] * e[o, t]
            ga[o, t] = dx[o, t] * x[o, t]
            ga[n_out + o, t] = dy[o, t]
            mean[t] += ga[o, t]
    part, inverse = np.float32(1 / n_out), np.float32(1 / limit)
    for o in range(n_out):
        for t in range(size):
            v = inverse * a[o, t]
            ga[o, t] = (ga[o, t] - part * mean[t]) * np.float32(ATAN) / (np.float32(1) + v * v)
    for k in range(2, -1, -1):
        transposed = weights[k].T
        _accumulate(grads[k + 1], values[k], dws[k], size)
        add_sums(grads[k + 1], dbs[k], size)
        _linear(transposed, np.zeros(len(transposed), np.float32), grads[k + 1], grads[k], size, False)
        if k:
            mask(grads[k], values[k], size)


@jit
def _tile(
    theta: Array, permutations: Array, hidden: int, limit: float, current: Array, saved: Array, exps: Array,
    known: bool, mean: Array, size: int,
) -> None:  # fmt: skip
    """Codes of one tile in place; ``saved`` (blocks, rows, tile) keeps what the gradient needs, ``exps`` the scales.

    Every half is y = x exp(s) + t, with s and t from the sub-network of the other. Without ``known`` scales, ``saved``
    has one block, which all use in turn: the first pass needs none afterwards.
    """
    blocks, d = permutations.shape
    first = d // 2
    for b in range(blocks):
        s = saved[b % len(saved)]
        for i in range(d):
            row = current[permutations[b, i]]
            for t in range(size):
                s[i, t] = row[t]
        for half in range(2):
            values, x = _values(s, half, d, hidden)
            weights, biases = _half(theta[b], half, d, hidden)
            e, y = (exps[b, first:], current[first:]) if half else (exps[b, :first], s[d : d + first])
            a, n_out = values[3], len(x)
            for k in range(3):
                _linear(weights[k], biases[k], values[k], values[k + 1], size, k < 2)
            if not known:
                exp_scales(a, limit, e, mean, 0, size)
            for o in range(n_out):
                for t in range(size):
                    y[o, t] = x[o, t] * e[o, t] + a[n_out + o, t]
        for i in range(first):
            for t in range(size):
                current[i, t] = s[d + i, t]


@jit
def _tile_gradient(
    theta: Array, permutations: Array, hidden: int, limit: float, dy: Array, dx: Array, du: Array, saved: Array,
    exps: Array, grad: Array, work: Array, size: int,
) -> None:  # fmt: skip
    """Adds the parameters' gradient of one tile to ``grad``; ``dy`` is the gradient of its codes and is used up."""
    blocks, d = permutations.shape
    first = d // 2
    for b in range(blocks - 1, -1, -1):
        for half in (1, 0):
            values, x = _values(saved[b], half, d, hidden)
            weights, (dws, dbs) = _half(theta[b], half, d, hidden)[0], _half(grad[b], half, d, hidden)
            rows = slice(first, d) if half else slice(0, first)
            _gradient(weights, dws, dbs, values, x, exps[b, rows], limit, dy[rows], dx[rows], du, work, size)
            source = dy[:first] if half else dx[first:]
            for i in range(len(source)):
                for t in range(size):
                    source[i, t] += du[i, t]
        for i in range(d):
            row = dy[permutations[b, i]]
            for t in range(size):
                row[t] = dx[i, t]


@jit
def run(
    theta: Array, permutations: Array, hidden: int, limit: float, x: Array, z: Array, exps: Array, dz: Array,
    grad: Array,
) -> None:  # fmt: skip
    """Codes z of one model and its scales ``exps`` or, where ``dz`` has the gradient of z, that of the parameters.

    The gradient computes the other activations of a tile again: cheaper than writing them to memory and reading them.
    """
    blocks, d = permutations.shape
    theta, grad = theta.reshape((blocks, -1)), grad.reshape((blocks, -1))
    known = dz.size > 0
    saved = np.empty((blocks if known else 1, 3 * d + d // 2 + 4 * hidden, TILE), np.float32)
    current, dx, du = np.empty((d, TILE), np.float32), np.empty((d, TILE), np.float32), np.empty((d, TILE), np.float32)
    work = np.empty((d + 1 + 2 * hidden + 1, TILE), np.float32)
    for start in range(0, x.shape[1], TILE):
        size = min(TILE, x.shape[1] - start)
        current[:, :size] = x[:, start : start + size]
        scales = exps[start // TILE]
        _tile(theta, permutations, hidden, limit, current, saved, scales, known, work[-1], size)
        if known:
            current[:, :size] = dz[:, start : start + size]
            _tile_gradient(theta, permutations, hidden, limit, current, dx, du, saved, scales, grad, work, size)
        else:
            z[:, start : start + size] = current[:, :size]
