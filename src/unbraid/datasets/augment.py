"""Affine and noise augmentations of images for self-supervised training, in compiled batches."""

from itertools import combinations
from typing import Any

import numpy as np

from unbraid.datasets.base import RandomState, generator
from unbraid.runtime.kernels import njit

KINDS = ("translation", "rotation", "scaling")


@njit(fastmath=True)
def _warp(images: Any, inverse: Any, out: Any) -> None:  # pragma: no cover - compiled
    """Bilinear sampling of (n, height, width, channels) at inverse (n, 2, 3) of each pixel; black outside."""
    n, height, width, channels = images.shape
    for i in range(n):
        for row in range(height):
            for column in range(width):
                x = inverse[i, 0, 0] * column + inverse[i, 0, 1] * row + inverse[i, 0, 2]
                y = inverse[i, 1, 0] * column + inverse[i, 1, 1] * row + inverse[i, 1, 2]
                left, top = int(np.floor(x)), int(np.floor(y))
                a, b = x - left, y - top
                for corner in range(4):
                    r, c = top + corner // 2, left + corner % 2
                    if 0 <= r < height and 0 <= c < width:
                        share = (b if corner // 2 else 1 - b) * (a if corner % 2 else 1 - a)
                        for channel in range(channels):
                            out[i, row, column, channel] += share * images[i, r, c, channel]


class Affine:
    """Random translation, rotation and scaling about the image's centre, drawn independently for every image.

    Parameters
    ----------
    kinds : tuple of "translation", "rotation", "scaling"
        Which of them to apply.
    translation : float
        Largest shift along each axis, as a share of the side.
    rotation : (low, high)
        Degrees, counter-clockwise.
    scaling : (low, high)
        Factor of the size, drawn uniformly.
    noise : float
        Standard deviation of Gaussian noise added to the result.

    Examples
    --------
    >>> turn = Affine(kinds=("rotation",), rotation=(90, 90))
    >>> turn(np.array([[[1.0, 0.0], [0.0, 0.0]]]), random_state=0).round(3)
    array([[[0., 0.],
            [1., 0.]]], dtype=float32)
    """

    def __init__(
        self,
        kinds: tuple[str, ...] = KINDS,
        translation: float = 0.1,
        rotation: tuple[float, float] = (0.0, 5.0),
        scaling: tuple[float, float] = (0.8, 1.25),
        noise: float = 0.0,
    ):
        wrong = [k for k in kinds if k not in KINDS]
        if wrong:
            raise ValueError(f"unknown transformation {wrong[0]!r}. Valid: {', '.join(KINDS)}.")
        if translation < 0 or noise < 0 or not 0 < scaling[0] <= scaling[1] or rotation[0] > rotation[1]:
            raise ValueError(
                "translation >= 0, noise >= 0, 0 < low <= high for scaling and low <= high for rotation; received "
                f"{translation}, {noise}, {scaling} and {rotation}."
            )
        self.kinds, self.translation, self.rotation = tuple(kinds), translation, rotation
        self.scaling, self.noise = scaling, noise

    def __call__(self, X: np.ndarray, random_state: RandomState = None) -> np.ndarray:
        """Augmented images, float32, of the shape of ``X``: (n, height, width) or (n, height, width, channels)."""
        X = np.asarray(X)
        if X.ndim not in (3, 4):
            raise ValueError(f"affine maps need images (n, height, width[, channels]); received shape {X.shape}.")
        rng = generator(random_state)
        images = X.reshape(*X.shape[:3], -1).astype(np.float32)
        out = np.zeros_like(images)
        _warp(images, self._inverse(len(X), X.shape[1], X.shape[2], rng), out)
        if self.noise:
            out += self.noise * rng.standard_normal(out.shape, dtype=np.float32)
        return out.reshape(X.shape)

    def _inverse(self, n: int, height: int, width: int, rng: np.random.Generator) -> np.ndarray:
        """Where each output pixel looks in the input, (n, 2, 3); every quantity is drawn, used or not."""
        shift = rng.uniform(-self.translation, self.translation, (n, 2)) * [width, height]
        angle = np.radians(rng.uniform(*self.rotation, n))
        size = rng.uniform(*self.scaling, n)
        shift = shift * ("translation" in self.kinds)
        angle = angle * ("rotation" in self.kinds)
        size = size if "scaling" in self.kinds else np.ones(n)
        cos, sin = np.cos(angle) / size, np.sin(angle) / size
        middle = np.array([(width - 1) / 2, (height - 1) / 2])
        linear = np.stack([np.stack([cos, -sin], axis=1), np.stack([sin, cos], axis=1)], axis=1)
        offset = middle - np.einsum("nij,nj->ni", linear, middle + shift)
        return np.concatenate([linear, offset[:, :, None]], axis=2)


class AffineSets:
    """Each image and seven augmented versions of it: the three transformations and all their combinations.

    The recipe of self-supervised GIN on EMNIST: translation in [-.1, .1]^2, rotation in [0, 5] degrees and scaling in
    [.8, 1.25], each uniform, then Gaussian noise on the whole set. ``SelfSupervisedGIN("affine")`` takes it with
    ``noise=0``, as it adds its own noise in every step.

    Parameters
    ----------
    noise : float
        Standard deviation; the paper's by default.
    **ranges
        Of :class:`Affine`.

    References
    ----------
    Anonymous (2020), Self-supervised disentangled representation learning, section 4.3 (eight members, noise) and
    Appendix B (uniform ranges).

    Examples
    --------
    >>> AffineSets()(np.zeros((4, 28, 28)), random_state=0).shape
    (4, 8, 28, 28)
    """

    def __init__(self, noise: float = 0.01, **ranges: Any) -> None:
        kinds = [c for size in (0, 1, 2, 3) for c in combinations(KINDS, size)]
        self.parts = [Affine(kinds=kind, noise=noise, **ranges) for kind in kinds]

    def __call__(self, X: np.ndarray, random_state: RandomState = None) -> np.ndarray:
        """Sets (n, 8, ...) for images (n, ...), the original first."""
        rng = generator(random_state)
        return np.stack([part(X, rng) for part in self.parts], axis=1)
