"""Sampled manifolds with their true tangent subspaces."""

import numpy as np

GENERATORS = np.array(
    [[[0, 0, 0], [0, 0, -1], [0, 1, 0]], [[0, 0, 1], [0, 0, 0], [-1, 0, 0]], [[0, -1, 0], [1, 0, 0], [0, 0, 0]]]
)


def sphere(n, d, rng):
    """Points of S^d and an orthonormal basis of the tangent space at each."""
    x = rng.normal(size=(n, d + 1))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    return x, np.linalg.eigh(np.eye(d + 1) - x[:, :, None] * x[:, None])[1][:, :, 1:]


def rotations(n, rng):
    """Points of SO(3) as 9 numbers: normalised quaternions are uniform on it."""
    w, x, y, z = sphere(n, 3, rng)[0].T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    points = np.array(rows).transpose(2, 0, 1)
    tangents = np.stack([(points @ g).reshape(n, 9) for g in GENERATORS], axis=2) / np.sqrt(2)
    return points.reshape(n, 9), tangents


def product(names, n, seed=0, ambient=None):
    """A product such as ``["S2", "SO3"]``, turned into ``ambient`` dimensions, and its true subspaces."""
    rng = np.random.default_rng(seed)
    parts = [rotations(n, rng) if name == "SO3" else sphere(n, int(name[1:]), rng) for name in names]
    size = sum(x.shape[1] for x, _ in parts)
    ambient = size if ambient is None else ambient
    turn = np.linalg.qr(rng.normal(size=(ambient, ambient)))[0][:, :size]
    X, subspaces, at = [], [], 0
    for x, tangents in parts:
        columns = turn[:, at : at + x.shape[1]]
        X.append(x @ columns.T)
        subspaces.append(np.einsum("Dd,ndk->nDk", columns, tangents))
        at += x.shape[1]
    return sum(X), subspaces
