"""Rotating things: an object on a turntable, and a patch that rotates and moves. One factor is circular."""

import os

import numpy as np

from unbraid.datasets.base import Continuous
from unbraid.datasets.rendered import RenderedObject

TILT = np.radians(20)  # the camera looks down on the table
WIDTH = 0.22  # of the patch, in half sides of the image


class Turntable(Continuous):
    """An object on a turntable under a lamp that swings: yaw all the way round, and light: ``turntable``.

    Parameters
    ----------
    mesh : str or path
        As of ``rendered-object``: "blob", "bunny", "dragon", "spot", or a mesh file.
    image_size : int
        Side in pixels.
    light : float
        Range in degrees over which the lamp swings about the vertical; with 0 it is fixed, and yaw is the only factor.
    folder : path, optional
        Where the named meshes are; by default the data folder.

    Examples
    --------
    >>> table = Turntable(image_size=16, light=0)
    >>> X, factors = table.sample(2, random_state=0)
    >>> X.shape, table.factor_names, table.factor_kinds
    ((2, 16, 16), ('yaw',), ('circle',))
    """

    name = "turntable"

    def __init__(
        self,
        mesh: str | os.PathLike = "blob",
        image_size: int = 64,
        light: float = 120.0,
        folder: str | os.PathLike | None = None,
    ):
        if not 0 <= light <= 180:
            raise ValueError(f"light is a range in degrees, 0 to 180; received {light!r}.")
        self._object = RenderedObject(mesh, image_size, folder=folder)
        half = np.radians(light) / 2
        n = 2 if light else 1
        self.factor_names = ("yaw", "light")[:n]
        self.factor_ranges = ((-np.pi, np.pi), (-half, half))[:n]
        self.factor_kinds = ("circle", "interval")[:n]
        self.shape = self._object.shape

    def _render(self, factors: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        yaw = factors[:, 0]
        swing = factors[:, 1] if factors.shape[1] > 1 else np.zeros(len(factors))
        cos, sin, zero, one = np.cos(yaw), np.sin(yaw), np.zeros_like(yaw), np.ones_like(yaw)
        turn = np.stack([cos, zero, sin, zero, one, zero, -sin, zero, cos], axis=1).reshape(-1, 3, 3)
        c, s = np.cos(TILT), np.sin(TILT)
        pose = np.array([[1, 0, 0], [0, c, -s], [0, s, c]]) @ turn
        lamp = np.stack([np.sin(swing), np.full_like(swing, 0.6), np.cos(swing)], axis=1) / np.sqrt(1.36)
        return self._object.observe(np.concatenate([pose.reshape(-1, 9), lamp], axis=1))


class TurningPatch(Continuous):
    r"""A patch that rotates about its centre and moves, on grey: ``turning-patch``.

    With polar coordinates around the middle,

    .. math:: I = \tfrac12 + \tfrac14 e^{-r^2/2} \left(a_2 r^2 \cos 2\varphi + a_5 r^5 \cos 5\varphi\right).

    Only a full turn leaves it unchanged, and because 2 and 5 differ by more than 2, the squared length of a step
    is the same at every angle and place, and turning is orthogonal to moving: exactly a product of a circle and one or
    two intervals.

    Parameters
    ----------
    image_size : int
        Side in pixels.
    moves : {0, 1, 2}
        Whether it stays, moves along x, or along x and y.
    pivot : float
        Distance of the pivot from the middle, in half sides of the image. Off the middle there is no product: turning
        moves the patch too.

    Examples
    --------
    >>> patch = TurningPatch(moves=2)
    >>> X, factors = patch.sample(3, random_state=0)
    >>> X.shape, patch.factor_kinds
    ((3, 32, 32), ('circle', 'interval', 'interval'))
    """

    name = "turning-patch"

    def __init__(self, image_size: int = 32, moves: int = 1, pivot: float = 0.0):
        if moves not in (0, 1, 2) or image_size < 16 or not 0 <= pivot <= 0.3:
            raise ValueError(
                f"moves is 0, 1 or 2, image_size at least 16 and pivot within [0, 0.3]; received {moves!r}, "
                f"{image_size!r} and {pivot!r}."
            )
        self.pivot = pivot
        self.factor_names = ("angle", "x", "y")[: 1 + moves]
        self.factor_ranges = ((-np.pi, np.pi), (-0.15, 0.15), (-0.15, 0.15))[: 1 + moves]
        self.factor_kinds = ("circle", "interval", "interval")[: 1 + moves]
        self.shape = (image_size, image_size)

    def _render(self, factors: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        line = (np.arange(self.shape[0]) + 0.5) / self.shape[0] * 2 - 1
        out = np.empty((len(factors), *self.shape), np.float32)
        for image, (angle, *place) in zip(out, factors):
            x, y = (*place, 0.0, 0.0)[:2]
            turn = np.exp(1j * angle)
            middle = x + 1j * y + self.pivot * turn
            point = ((line + 1j * line[::-1, None]) - middle) / WIDTH / turn
            envelope = np.exp(-np.square(np.abs(point)) / 2)
            image[:] = 0.5 + 0.25 * envelope * (point**2 + 0.08 * point**5).real
        return out
