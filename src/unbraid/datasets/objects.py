"""Objects that move on their own: images that are sums of one part per object."""

from typing import Any

import numpy as np

from unbraid.datasets.base import Continuous, RandomState, count, generator
from unbraid.datasets.shapes import image_shape

OBJECTS = ("ball", "square", "ring")
RADIUS, EDGE = 0.12, 0.06  # shares of the image's side
MOVES = ("up", "freely")
SUPPORTS = ("all", "corner")


class Objects(Continuous):
    """Two objects that move, each on its own: ``two-objects``.

    An image is the sum of the images of the objects, so that a decoder which adds parts can find one part per object.

    Parameters
    ----------
    image_size : int
        A side of 8 pixels or more.
    objects : tuple of two of "ball", "square", "ring"
        Which objects there are.
    moves : "up" or "freely"
        Up and down in a lane of its own (one factor per object), or anywhere in its half of the image (two).
    support : "all" or "corner"
        All combinations of the objects' first factors, or only those in which one of them is below the middle: an
        L. The rest is for extrapolation.

    References
    ----------
    Lachapelle, Mahajan, Mitliagkas, Lacoste-Julien (2023), Additive decoders for latent variables identification and
    Cartesian-product extrapolation, section 4: balls that move up (scalar latents) or freely (blocks).

    Examples
    --------
    >>> Objects(image_size=16).observe([[0.0, 1.0]])[0].round(1)[[2, 13]][:, [4, 11]]
    array([[1., 0.],
           [0., 1.]], dtype=float32)
    """

    name = "two-objects"

    def __init__(
        self, image_size: int = 32, objects: tuple[str, str] = ("ball", "ball"), moves: str = "up", support: str = "all"
    ):
        self.shape = image_shape(image_size)[:2]
        if len(objects) != 2 or not set(objects) <= set(OBJECTS):
            raise ValueError(f"objects={objects!r} must be two of {', '.join(OBJECTS)}.")
        for name, value, allowed in (("moves", moves, MOVES), ("support", support, SUPPORTS)):
            if value not in allowed:
                raise ValueError(f"{name}={value!r} must be one of {', '.join(allowed)}.")
        self.objects, self.moves, self.support = tuple(objects), moves, support
        axes = ("y",) if moves == "up" else ("y", "x")
        self.factor_names = tuple(f"{axis} of object {i}" for i in (1, 2) for axis in axes)
        self.factor_ranges = ((0.0, 1.0),) * len(self.factor_names)

    def sample_factors(self, n: int, random_state: RandomState = None) -> np.ndarray:
        rng, n = generator(random_state), count(n)
        factors = super().sample_factors(n, rng)
        while self.support == "corner" and (outside := self.unseen(factors)).any():
            factors[outside] = super().sample_factors(int(outside.sum()), rng)
        return factors

    def unseen(self, factors: np.ndarray) -> np.ndarray:
        """Which combinations do not occur with ``support="corner"``."""
        return np.asarray((factors[:, [0, self.n_factors // 2]] > 0.5).all(axis=1))

    def _render(self, factors: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        per_object = np.split(factors, 2, axis=1)
        images = [self._object(kind, i, at) for i, (kind, at) in enumerate(zip(self.objects, per_object, strict=True))]
        return np.clip(sum(images), 0, 1).astype(np.float32)

    def _object(self, kind: str, number: int, at: np.ndarray) -> Any:
        """Images of one object, in its half of the image."""
        side, room = self.shape[0], RADIUS + EDGE / 2
        places = (np.arange(side) + 0.5) / side
        y = room + (1 - 2 * room) * at[:, 0]
        x = 0.5 * number + (0.25 if self.moves == "up" else room + (0.5 - 2 * room) * at[:, 1])
        dy, dx = places[None, :, None] - y[:, None, None], places[None, None, :] - np.reshape(x, (-1, 1, 1))
        away = np.maximum(np.abs(dy), np.abs(dx)) if kind == "square" else np.hypot(dy, dx)
        if kind == "ring":
            return np.clip((RADIUS / 3 - np.abs(away - RADIUS * 2 / 3)) / EDGE + 0.5, 0, 1)
        return np.clip((RADIUS - away) / EDGE + 0.5, 0, 1)
