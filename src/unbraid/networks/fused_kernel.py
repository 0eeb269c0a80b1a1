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
    p = p * v - np.float32(0.0161657367)
    p = p * v + np.float32(0.0429096138)
    p = p * v - np.float32(0.0752896400)
    p = p * v + np.float32(0.1065626393)
    p = p * v - np.float32(0.1420889944)
    p = p * v + np.float32(0.1999355085)
    p = p * v - np.float32(0.3333314528)
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
def _linear(
    w: Array, transposed: bool, bias: Array, u: Array, out: Array, n_in: int, n_out: int, size: int, relu: bool
) -> None:
    """out = w u + bias, or w' u (no bias) where transposed; then max(0, .) where relu.

    Two rows of the result (the last two again where their number is odd) and five of u at a time, to load less than
    is computed.
    """
    for pair in range(0, n_out, 2):
        o = min(pair, n_out - 2)
        q = o + 1
        c, d = (np.float32(0), np.float32(0)) if transposed else (bias[o], bias[q])
        i = n_in % 5
        if i:
            out[o, :size], out[q, :size] = c, d
        for r in range(i):
            a0, b0 = (w[r, o], w[r, q]) if transposed else (w[o, r], w[q, r])
            for t in range(size):
                out[o, t] += a0 * u[r, t]
                out[q, t] += b0 * u[r, t]
        while i < n_in:
            if transposed:
                a0, a1, a2, a3, a4 = w[i, o], w[i + 1, o], w[i + 2, o], w[i + 3, o], w[i + 4, o]
                b0, b1, b2, b3, b4 = w[i, q], w[i + 1, q], w[i + 2, q], w[i + 3, q], w[i + 4, q]
            else:
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
def _size(n_in: int, n_out: int, hidden: int) -> int:
    """Parameters of the sub-network of one half of a block."""
    return hidden * (n_in + 1) + hidden * (hidden + 1) + 2 * n_out * (hidden + 1)


@jit
def _layers(theta: Array, at: int, n_in: int, n_out: int, hidden: int) -> tuple:
    """Weights and biases of the three layers of a sub-network whose parameters begin at ``at``, as views."""
    first, second = at + hidden * (n_in + 1), at + hidden * (n_in + hidden + 2)
    end = at + _size(n_in, n_out, hidden)
    return (
        theta[at : first - hidden].reshape((hidden, n_in)), theta[first - hidden : first],
        theta[first : second - hidden].reshape((hidden, hidden)), theta[second - hidden : second],
        theta[second : end - 2 * n_out].reshape((2 * n_out, hidden)), theta[end - 2 * n_out : end],
    )  # fmt: skip


@jit
def _couple(
    theta: Array, at: int, n_in: int, n_out: int, hidden: int, limit: float, u: Array, x: Array, y: Array, h1: Array,
    h2: Array, a: Array, e: Array, known: bool, mean: Array, size: int,
) -> None:  # fmt: skip
    """y = x exp(s) + t with (s, t) from u; keeps h1, h2 and the raw s in a, and exp(s) in e, unless ``known``."""
    w1, b1, w2, b2, w3, b3 = _layers(theta, at, n_in, n_out, hidden)
    _linear(w1, False, b1, u, h1, n_in, hidden, size, True)
    _linear(w2, False, b2, h1, h2, hidden, hidden, size, True)
    _linear(w3, False, b3, h2, a, hidden, 2 * n_out, size, False)
    if not known:
        scale, inverse, part = np.float32(limit * ATAN), np.float32(1 / limit), np.float32(1 / n_out)
        mean[:] = np.float32(0)
        for o in range(n_out):
            for t in range(size):
                e[o, t] = scale * atan(inverse * a[o, t])
            for t in range(size):
                mean[t] += e[o, t]
        for o in range(n_out):
            for t in range(size):
                e[o, t] = exp(e[o, t] - part * mean[t])
    for o in range(n_out):
        for t in range(size):
            y[o, t] = x[o, t] * e[o, t] + a[n_out + o, t]


@jit
def _accumulate(g: Array, u: Array, dw: Array, db: Array, n_out: int, n_in: int, size: int) -> None:
    """dw += g u', db += g 1."""
    for o in range(n_out):
        total = np.float32(0)
        for t in range(size):
            total += g[o, t]
        db[o] += total
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
def _uncouple(
    theta: Array, grad: Array, at: int, n_in: int, n_out: int, hidden: int, limit: float, u: Array, x: Array, h1: Array,
    h2: Array, a: Array, e: Array, dy: Array, dx: Array, du: Array, work: Array, size: int,
) -> None:  # fmt: skip
    """Gradient of :func:`_couple`: adds to grad, dx = dy exp(s), du = what reaches u through the sub-network."""
    w1, _, w2, _, w3, _ = _layers(theta, at, n_in, n_out, hidden)
    dw1, db1, dw2, db2, dw3, db3 = _layers(grad, at, n_in, n_out, hidden)
    ga, g1, g2, mean = work[: 2 * n_out], work[-2 * hidden - 1 : -hidden - 1], work[-hidden - 1 : -1], work[-1]
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
    none = theta[:0]
    _accumulate(ga, h2, dw3, db3, 2 * n_out, hidden, size)
    _linear(w3, True, none, ga, g2, 2 * n_out, hidden, size, False)
    for o in range(hidden):
        for t in range(size):
            g2[o, t] = g2[o, t] if h2[o, t] > np.float32(0) else np.float32(0)
    _accumulate(g2, h1, dw2, db2, hidden, hidden, size)
    _linear(w2, True, none, g2, g1, hidden, hidden, size, False)
    for o in range(hidden):
        for t in range(size):
            g1[o, t] = g1[o, t] if h1[o, t] > np.float32(0) else np.float32(0)
    _accumulate(g1, u, dw1, db1, hidden, n_in, size)
    _linear(w1, True, none, g1, du, hidden, n_in, size, False)


@jit
def _tile(
    theta: Array, permutations: Array, hidden: int, limit: float, current: Array, saved: Array, exps: Array,
    known: bool, mean: Array, size: int,
) -> None:  # fmt: skip
    """Codes of one tile in place; ``saved`` (blocks, rows, tile) keeps what the gradient needs, ``exps`` the scales.

    Without ``known`` scales, ``saved`` has one block, which all use in turn: the first pass needs none afterwards.
    """
    blocks, d = permutations.shape
    first, second = d // 2, d - d // 2
    n1, n2 = _size(second, first, hidden), _size(first, second, hidden)
    for b in range(blocks):
        s, e, at = saved[b % len(saved)], exps[b], b * (n1 + n2)
        for i in range(d):
            row = current[permutations[b, i]]
            for t in range(size):
                s[i, t] = row[t]
        i = d + first
        j = i + 2 * hidden
        y1, h1, h2, a, e1 = s[d:i], s[i : i + hidden], s[i + hidden : j], s[j : j + 2 * first], e[:first]
        _couple(theta, at, second, first, hidden, limit, s[first:d], s[:first], y1, h1, h2, a, e1, known, mean, size)
        i = j + 2 * first
        j = i + 2 * hidden
        h1, h2, a, e2 = s[i : i + hidden], s[i + hidden : j], s[j:], e[first:]
        _couple(
            theta,
            at + n1,
            first,
            second,
            hidden,
            limit,
            y1,
            s[first:d],
            current[first:],
            h1,
            h2,
            a,
            e2,
            known,
            mean,
            size,
        )
        for i in range(first):
            for t in range(size):
                current[i, t] = y1[i, t]


@jit
def _tile_gradient(
    theta: Array, permutations: Array, hidden: int, limit: float, dy: Array, dx: Array, du: Array, saved: Array,
    exps: Array, grad: Array, work: Array, size: int,
) -> None:  # fmt: skip
    """Adds the parameters' gradient of one tile to ``grad``; ``dy`` is the gradient of its codes and is used up."""
    blocks, d = permutations.shape
    first, second = d // 2, d - d // 2
    n1, n2 = _size(second, first, hidden), _size(first, second, hidden)
    for b in range(blocks - 1, -1, -1):
        s, e, at = saved[b], exps[b], b * (n1 + n2)
        i = d + first + 2 * hidden + 2 * first
        j = i + 2 * hidden
        h1, h2, a, e2 = s[i : i + hidden], s[i + hidden : j], s[j:], e[first:]
        y1, x1, x2 = s[d : d + first], s[:first], s[first:d]
        g1, g2, dx2 = dy[:first], dy[first:], dx[first:]
        _uncouple(theta, grad, at + n1, first, second, hidden, limit, y1, x2, h1, h2, a, e2, g2, dx2, du, work, size)
        for i in range(first):
            for t in range(size):
                g1[i, t] += du[i, t]
        i = d + first
        j = i + 2 * hidden
        h1, h2, a, e1 = s[i : i + hidden], s[i + hidden : j], s[j : j + 2 * first], e[:first]
        _uncouple(theta, grad, at, second, first, hidden, limit, x2, x1, h1, h2, a, e1, g1, dx[:first], du, work, size)
        for i in range(d):
            row = dy[permutations[b, i]]
            for t in range(size):
                row[t] = dx[i, t] + (du[i - first, t] if i >= first else np.float32(0))


@jit
def run(
    theta: Array, permutations: Array, hidden: int, limit: float, x: Array, z: Array, exps: Array, dz: Array,
    grad: Array,
) -> None:  # fmt: skip
    """Codes z of one model and its scales ``exps`` or, where ``dz`` has the gradient of z, that of the parameters.

    The gradient computes the other activations of a tile again: cheaper than writing them to memory and reading them.
    """
    blocks, d = permutations.shape
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
