"""Color-, Noisy- and Scream-dSprites: the sprites with nuisance colours and backgrounds (Locatello et al. 2019)."""

import os
from pathlib import Path

import numpy as np

from unbraid.datasets.dsprites import SIDE, DSprites

PICTURE = Path(__file__).with_name("the_scream.jpg")


class _Coloured(DSprites):
    """The same five factors; what is added is noise drawn with the random state, not a factor."""

    shape = (SIDE, SIDE, 3)

    def __init__(self) -> None:
        super().__init__("float32")


class ColorDSprites(_Coloured):
    """The sprite in a random colour, each channel uniform in [0.5, 1]: ``color-dsprites``.

    Examples
    --------
    >>> X, factors = ColorDSprites().sample(2, random_state=0)
    >>> X.shape, bool(X[X > 0].min() >= 0.5)
    ((2, 64, 64, 3), True)
    """

    name = "color-dsprites"

    def _render(self, factors: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        colour = rng.uniform(0.5, 1, (len(factors), 1, 1, 3)).astype(np.float32)
        return self.masks(factors)[..., None] * colour


class NoisyDSprites(_Coloured):
    """A white sprite on a background of uniform noise in every pixel and channel: ``noisy-dsprites``.

    Examples
    --------
    >>> X, factors = NoisyDSprites().sample(2, random_state=0)
    >>> float(X.max())
    1.0
    """

    name = "noisy-dsprites"

    def _render(self, factors: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        noise = rng.random((len(factors), *self.shape), dtype=np.float32)
        return np.maximum(self.masks(factors)[..., None], noise)


class ScreamDSprites(_Coloured):
    """A random piece of The Scream in a random tint, its colours inverted inside the sprite: ``scream-dsprites``.

    Parameters
    ----------
    picture : path, optional
        Another picture for the background, at least 64 x 64 pixels. Default: a small copy of The Scream.

    Examples
    --------
    >>> X, factors = ScreamDSprites().sample(2, random_state=0)
    >>> X.shape
    (2, 64, 64, 3)
    """

    name = "scream-dsprites"

    def __init__(self, picture: str | os.PathLike = PICTURE):
        from PIL import Image

        super().__init__()
        try:
            with Image.open(picture) as image:
                self._picture = np.asarray(image.convert("RGB").resize((274, 350)), dtype=np.float32) / 255
        except OSError as error:
            raise ValueError(f"the picture {picture} cannot be read ({error}). Give the path of an image.") from error

    def _render(self, factors: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        height, width, _ = self._picture.shape
        corners = rng.integers((height - SIDE + 1, width - SIDE + 1), size=(len(factors), 2))
        tint = rng.random((len(factors), 1, 1, 3), dtype=np.float32)
        images = np.stack([self._picture[r : r + SIDE, c : c + SIDE] for r, c in corners])
        images = (images + tint) / 2
        masks = self.masks(factors)[..., None]
        return np.abs(masks - images)
