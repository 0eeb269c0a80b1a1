"""A ray-cast room similar to Shapes3D: one object on a floor between walls."""

import colorsys

import numpy as np

from unbraid.datasets.finite import Grid
from unbraid.datasets.raycast import cast_room

HUES = np.array([colorsys.hsv_to_rgb(h / 10, 1.0, 1.0) for h in range(10)], dtype=np.float32)
SCALES = np.linspace(0.75, 1.25, 8)
ANGLES = np.radians(np.linspace(-30, 30, 15))
SHAPES = ("cube", "cylinder", "sphere", "capsule")


class Room(Grid):
    """480,000 images of an object in a room, with Shapes3D's six factors and their order: ``room``.

    Ten hues each of floor, wall and object, eight sizes, four shapes (cube, cylinder, sphere, capsule) and fifteen
    directions of view. It replaces Shapes3D where that file is not available; the images are similar, not equal.
    An image is linear in the three colours, so a ray-cast view is cached and recoloured for other hues.

    Parameters
    ----------
    image_size : int
        Side in pixels.
    samples : int
        Rays per pixel along each side, for smooth edges.
    keep : int
        Views to cache; all 480 take 31 MB at 64 x 64.

    Examples
    --------
    >>> room = Room(image_size=16)
    >>> X = room.observe([[0, 3, 6, 4, 2, 7]])
    >>> X.shape, room.factor_names[:3]
    ((1, 16, 16, 3), ('floor_hue', 'wall_hue', 'object_hue'))
    """

    name = "room"
    factor_names = ("floor_hue", "wall_hue", "object_hue", "scale", "shape", "orientation")
    factor_sizes = (10, 10, 10, 8, 4, 15)

    def __init__(self, image_size: int = 64, samples: int = 2, keep: int = 480):
        if image_size < 8 or samples < 1 or keep < 1:
            raise ValueError(
                f"image_size >= 8, samples >= 1 and keep >= 1; received {image_size}, {samples} and {keep}."
            )
        self.shape = (image_size, image_size, 3)
        self.samples, self.keep = samples, keep
        self._views: dict[tuple[int, int, int], np.ndarray] = {}

    def _view(self, scale: int, shape: int, angle: int) -> np.ndarray:
        """Brightness of floor, wall, object and highlight in every pixel: (height * width, 4)."""
        key = (scale, shape, angle)
        view = self._views.pop(key, None)
        if view is None:
            view = cast_room(shape, SCALES[scale], ANGLES[angle], self.shape[0], self.samples).reshape(-1, 4)
        self._views[key] = view  # at the end: the first is the one that was not used for longest
        if len(self._views) > self.keep:
            del self._views[next(iter(self._views))]
        return view

    def _render(self, factors: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        out = np.empty((len(factors), *self.shape), dtype=np.float32)
        colours = np.ones((4, 3), dtype=np.float32)
        for image, row in zip(out, factors.tolist()):
            colours[:3] = HUES[row[:3]]
            np.matmul(self._view(*row[3:]), colours, out=image.reshape(-1, 3))
        return np.clip(out, 0, 1, out=out)
