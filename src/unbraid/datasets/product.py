"""Products of spheres and rotation groups: the state spaces of Pfau et al. (2020)."""

import re
from collections.abc import Sequence

import numpy as np

from unbraid.datasets.base import Dataset, RandomState, count, generator


class _Sphere:
    """S^n in R^(n + 1)."""

    def __init__(self, n: int):
        self.dim, self.n_features = n, n + 1

    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        points = rng.standard_normal((n, self.n_features))
        return points / np.linalg.norm(points, axis=1, keepdims=True)

    def error(self, points: np.ndarray) -> np.ndarray:
        return np.abs(np.linalg.norm(points, axis=1) - 1)

    def tangents(self, points: np.ndarray) -> np.ndarray:
        """Columns 1.. of the Householder reflection that takes the first axis to the point: all orthogonal to it."""
        axis = np.where(points[:, :1] < 0, 1.0, -1.0)
        v = points.copy()
        v[:, :1] -= axis
        reflection = np.eye(self.n_features) - 2 * v[:, :, None] * v[:, None, :] / (v**2).sum(axis=1)[:, None, None]
        return reflection[:, :, 1:]


class _Rotations:
    """SO(n) as matrices in R^(n n), row by row."""

    def __init__(self, n: int):
        self.n, self.dim, self.n_features = n, n * (n - 1) // 2, n * n

    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        return rotations(n, self.n, rng).reshape(n, -1)

    def error(self, points: np.ndarray) -> np.ndarray:
        R = points.reshape(-1, self.n, self.n)
        return np.abs(R @ R.transpose(0, 2, 1) - np.eye(self.n)).max(axis=(1, 2)) + np.abs(np.linalg.det(R) - 1)

    def tangents(self, points: np.ndarray) -> np.ndarray:
        """R A / sqrt 2 over the basis A = E_ij - E_ji of skew matrices, orthonormal in the Frobenius product."""
        i, j = np.triu_indices(self.n, 1)
        skew = np.zeros((self.dim, self.n, self.n))
        skew[np.arange(self.dim), i, j], skew[np.arange(self.dim), j, i] = 1, -1
        moved = points.reshape(-1, 1, self.n, self.n) @ skew / np.sqrt(2)
        return moved.reshape(len(points), self.dim, -1).transpose(0, 2, 1)


def rotations(n: int, size: int, rng: np.random.Generator) -> np.ndarray:
    """``n`` uniform rotation matrices of SO(size): the Q of a Gaussian matrix, signs fixed (Mezzadri 2007).

    >>> R = rotations(2, 3, np.random.default_rng(0))
    >>> np.allclose(R @ R.transpose(0, 2, 1), np.eye(3)), np.linalg.det(R).round(6)
    (True, array([1., 1.]))
    """
    q, r = np.linalg.qr(rng.standard_normal((n, size, size)))
    q = q * np.sign(np.diagonal(r, axis1=1, axis2=2))[:, None, :]
    q[:, :, 0] *= np.linalg.det(q)[:, None]
    return q


class ProductManifold(Dataset):
    """Uniform points on a product of spheres and rotation groups, rotated into a larger space: ``product-manifold``.

    The factors are the states themselves: unit vectors and rotation matrices, concatenated. Use it for methods that
    find submanifolds, such as GEOMANCER; :meth:`tangents` gives the true answer.

    Parameters
    ----------
    manifolds : sequence of str
        "S1", "S2", ... and "SO2", "SO3", ...: one per factor.
    n_features : int, optional
        Dimension of the observations. Default: that of the states, so the rotation stays within them.
    rotate : bool
        Rotate the states by a random orthonormal frame, so that no coordinate belongs to one factor.
    noise : float
        Standard deviation of Gaussian noise on every feature.
    random_state : int
        Seed of the rotation.

    Examples
    --------
    >>> data = ProductManifold(["S2", "SO3"], n_features=20)
    >>> X, factors = data.sample(5, random_state=0)
    >>> X.shape, factors.shape, [t.shape for t in data.tangents(factors)]
    ((5, 20), (5, 12), [(5, 20, 2), (5, 20, 3)])
    """

    name = "product-manifold"
    dtype: np.dtype = np.dtype(np.float64)

    def __init__(
        self,
        manifolds: Sequence[str] = ("S2", "S2"),
        n_features: int | None = None,
        rotate: bool = True,
        noise: float = 0.0,
        random_state: int = 0,
    ):
        self.manifolds = tuple(manifolds)
        self._parts = [_parse(m) for m in self.manifolds]
        if not self._parts:
            raise ValueError('manifolds is empty; give one or more, such as ["S2", "SO3"].')
        size = sum(p.n_features for p in self._parts)
        n_features = size if n_features is None else n_features
        if n_features < size or noise < 0:
            raise ValueError(
                f"{' x '.join(self.manifolds)} needs n_features >= {size} and noise >= 0; received "
                f"n_features={n_features}, noise={noise}."
            )
        self.dims = tuple(p.dim for p in self._parts)
        self.shape, self.noise = (n_features,), noise
        names = [f"{m}_{i}" for i, m in enumerate(self.manifolds)]
        ends = np.cumsum([p.n_features for p in self._parts])
        self._groups = {name: slice(int(e) - p.n_features, int(e)) for name, p, e in zip(names, self._parts, ends)}
        self.factor_names = tuple(f"{k}.{i}" for k, p in zip(names, self._parts) for i in range(p.n_features))
        self.factor_ranges = ((-1.0, 1.0),) * size
        if all(part.dim == 2 and part.n_features == 3 for part in self._parts):
            self.factor_kinds = ("sphere",) * len(self._parts)
        if rotate:
            normal = generator(random_state).standard_normal((n_features, n_features))
            self._frame = np.linalg.qr(normal)[0][:, :size]
        else:
            self._frame = np.eye(n_features, size)

    @property
    def factor_groups(self) -> dict[str, slice]:
        return dict(self._groups)

    def sample_factors(self, n: int, random_state: RandomState = None) -> np.ndarray:
        rng = generator(random_state)
        return np.concatenate([part.sample(count(n), rng) for part in self._parts], axis=1)

    def tangents(self, factors: np.ndarray) -> list[np.ndarray]:
        """True tangent subspaces at given states: an orthonormal basis (n, n_features, dim) for each manifold."""
        factors = self._check_factors(factors)
        return [
            self._frame[:, columns] @ part.tangents(factors[:, columns])
            for part, columns in zip(self._parts, self._groups.values())
        ]

    def _check_factors(self, factors: np.ndarray) -> np.ndarray:
        factors = super()._check_factors(factors)
        for (name, columns), part in zip(self._groups.items(), self._parts):
            error = part.error(factors[:, columns]).max(initial=0)
            if error > 1e-5:
                raise ValueError(f"the columns of {name} are not on the manifold: they deviate by {error:.2g}.")
        return factors

    def _render(self, factors: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        X = factors @ self._frame.T
        if self.noise:
            X += self.noise * rng.standard_normal(X.shape)
        return X


def _parse(name: str) -> _Sphere | _Rotations:
    match = re.fullmatch(r"(SO?)\(?(\d+)\)?", str(name))
    size = int(match[2]) if match else 0
    if match and match[1] == "S" and size >= 1:
        return _Sphere(size)
    if match and match[1] == "SO" and size >= 2:
        return _Rotations(size)
    raise ValueError(f"unknown manifold {name!r}. Valid: S1, S2, ... (spheres) and SO2, SO3, ... (rotations).")
