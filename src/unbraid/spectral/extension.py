"""Local affine maps between data and codes: new points, their errors, and decoding.

At each anchor a (a training point, or a landmark) with neighbours N(a), tangent basis V_a and the matrix A_a that fits
the codes of N(a) to their tangent coordinates,

    y(x) = sum_a w_a(x) [y_a + A_a V_a^T (x - x_a)]          over the nearest anchors, w_a(x) ~ 1 / |x - x_a|^4,

which passes through every anchor. The spread of the brackets around y(x) estimates the error.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unbraid.manifold.neighbors import Floats, Indices, NeighborSearch
from unbraid.runtime.kernels import njit
from unbraid.saving.persistence import Persistent
from unbraid.spectral.local_frames import tangent_bases

BLEND = 3  # anchors whose maps are blended at a new point


@dataclass(eq=False)
class LocalMaps(Persistent):
    """Affine maps at anchors, fitted when they are first needed.

    Attributes
    ----------
    points : array (a, m)
        Anchors in the reduced space.
    codes : array (a, d)
    near : array (a, k)
        Neighbourhood of each anchor, itself first.
    reach : float
        Median distance of an anchor to its nearest other anchor.
    forward : array (a, d, m)
        Derivative of the codes by the data.
    backward : array (a, m, d)
        Derivative of the data by the codes, along the tangent space.
    """

    points: Floats
    codes: Floats
    near: NDArray[np.intp]
    reach: float

    def _get_state(self) -> dict[str, Any]:
        return {k: self.__dict__[k] for k in ("points", "codes", "near", "reach")}

    def after(self, mean: Floats, matrix: Floats) -> "LocalMaps":
        """The same maps with the codes ``(code - mean) @ matrix.T``."""
        return LocalMaps(self.points, np.ascontiguousarray((self.codes - mean) @ matrix.T), self.near, self.reach)

    @cached_property
    def forward(self) -> Floats:
        return self._in_parts(self.derivatives)

    @cached_property
    def backward(self) -> Floats:
        def inverted(near: NDArray[np.intp]) -> Floats:
            V, A = self._fits(near)
            return V @ np.linalg.pinv(A, rcond=1e-6).transpose(0, 2, 1)

        return self._in_parts(inverted)

    def _in_parts(self, function: Callable[[NDArray[np.intp]], Floats]) -> Floats:
        step = max(1, 20_000_000 // (self.near.shape[1] * max(self.codes.shape[1], self.points.shape[1])))
        parts = [function(self.near[i : i + step]) for i in range(0, len(self.near), step)]
        return np.ascontiguousarray(np.concatenate(parts))

    def derivatives(self, near: NDArray[np.intp]) -> Floats:
        """Derivatives (n, d, m) of the codes by the data in the given neighbourhoods."""
        V, A = self._fits(near)
        return (V @ A).transpose(0, 2, 1)

    def _fits(self, near: NDArray[np.intp]) -> tuple[Floats, Floats]:
        """Tangent bases, and least squares of the codes in their coordinates (n, tangent, code)."""
        d = self.codes.shape[1]
        V = tangent_bases(self.points, near, d)
        T = (self.points[near] - self.points[near[:, :1]]) @ V
        C = self.codes[near] - self.codes[near[:, :1]]
        T = T - T.mean(axis=1, keepdims=True)
        C = C - C.mean(axis=1, keepdims=True)
        gram = T.transpose(0, 2, 1) @ T
        ridge = 1e-10 * np.trace(gram, axis1=1, axis2=2)[:, None, None] + 1e-300
        return V, np.linalg.solve(gram + ridge * np.eye(d), T.transpose(0, 2, 1) @ C)

    @cached_property
    def _by_point(self) -> NeighborSearch:
        return NeighborSearch(self.points)

    @cached_property
    def _by_code(self) -> NeighborSearch:
        return NeighborSearch(self.codes / self._code_scale)

    @cached_property
    def _code_scale(self) -> Floats:
        return np.maximum(self.codes.std(axis=0), 1e-300)

    def __call__(self, P: Floats) -> Floats:
        """Codes of points of the reduced space."""
        return self._blend(self._by_point.query(P, self._width), P, self.points, self.codes, self.forward)[0]

    def error(self, P: Floats) -> Floats:
        """Root mean square spread of the local predictions, in units of each code's standard deviation.

        Maps one step apart disagree by curvature times step times distance; the error of a map grows with the square
        of the distance. So beyond one step (the usual distance between anchors) the spread is scaled up.
        """
        found = self._by_point.query(P, self._width)
        _, spread = self._blend(found, P, self.points, self.codes, self.forward)
        beyond = np.maximum(1.0, found[0][:, 0] / max(self.reach, 1e-300))
        return beyond * np.sqrt((spread / self._code_scale**2).mean(axis=1))

    def inverse(self, codes: Floats) -> Floats:
        """Points of the reduced space with the given codes."""
        near = self._by_code.query(codes / self._code_scale, self._width)
        return self._blend(near, codes, self.codes, self.points, self.backward)[0]

    @property
    def _width(self) -> int:
        return min(BLEND, len(self.points))

    @staticmethod
    def _blend(
        found: tuple[Floats, Indices], queries: Floats, sources: Floats, targets: Floats, maps: Floats
    ) -> tuple[Floats, Floats]:
        mean = np.empty((len(queries), targets.shape[1]))
        spread = np.empty_like(mean)
        _blend_maps(np.ascontiguousarray(queries, np.float64), found, (sources, targets, maps), mean, spread)
        return mean, spread


def local_maps(points: Floats, codes: Floats, near: NDArray[np.intp], distances: Floats) -> LocalMaps:
    """Maps at every point; a neighbourhood of 4 d + 4 points, or 12, fixes an affine map well enough."""
    k = min(near.shape[1], max(4 * codes.shape[1] + 4, 12))
    near = np.ascontiguousarray(near[:, :k])
    reach = float(np.median(distances[:, 1]))
    return LocalMaps(np.ascontiguousarray(points), np.ascontiguousarray(codes), near, reach)


@njit(nogil=True)
def _blend_maps(queries: Floats, found: tuple, anchors: tuple, mean: Floats, spread: Floats) -> None:
    (distances, near), (sources, targets, maps) = found, anchors
    n, q = near.shape
    out, width = targets.shape[1], sources.shape[1]
    weights = np.empty(q)
    local = np.empty((q, out))
    for i in range(n):
        total = 0.0
        floor = 1e-8 * distances[i, q - 1] + 1e-300
        for a in range(q):
            r = max(distances[i, a], floor) / max(distances[i, q - 1], 1e-300)
            weights[a] = 1.0 / (r * r * r * r)
            total += weights[a]
            s = near[i, a]
            for c in range(out):
                value = targets[s, c]
                for f in range(width):
                    value += maps[s, c, f] * (queries[i, f] - sources[s, f])
                local[a, c] = value
        for c in range(out):
            value = 0.0
            for a in range(q):
                value += weights[a] * local[a, c]
            mean[i, c] = value / total
            square = 0.0
            for a in range(q):
                square += (local[a, c] - mean[i, c]) ** 2
            spread[i, c] = square / q
