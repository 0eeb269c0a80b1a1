"""White and coloured squares on black: the two simple manifolds of Horan et al. (2021)."""

from typing import Any

import numpy as np

from unbraid.datasets.base import Continuous


def image_shape(image_size: Any) -> tuple[int, ...]:
    """(height, width) or (height, width, 3) from a side length or a shape.

    >>> image_shape(64), image_shape((256, 256, 3))
    ((64, 64), (256, 256, 3))
    """
    shape = (image_size, image_size) if np.ndim(image_size) == 0 else tuple(image_size)
    whole = all(isinstance(s, int | np.integer) for s in shape)
    side = shape[0] if shape else 0
    if not whole or side < 8 or shape not in ((side, side), (side, side, 3)):
        raise ValueError(
            f"image_size is a side of 8 pixels or more, or (side, side) or (side, side, 3); received {image_size!r}."
        )
    return tuple(int(s) for s in shape)


class _Squares(Continuous):
    """A square with soft edges; each pixel holds the exact integral of it, at any sub-pixel position."""

    def __init__(self, shape: tuple[int, ...], dtype: Any, square: float, edge: float):
        self.shape, self.dtype = shape, np.dtype(dtype)
        if self.dtype not in (np.dtype(np.float32), np.dtype(np.float64), np.dtype(np.uint8)):
            raise ValueError(f"dtype is float32, float64 or uint8; received {self.dtype}.")
        if not (0 <= edge <= square and square > 0 and square + edge < 1):
            raise ValueError(
                f"square and edge are shares of the image's side with 0 <= edge <= square and square + edge < 1; "
                f"received square={square}, edge={edge}."
            )
        self.square, self.edge = square, edge

    def _coverage(self, position: np.ndarray) -> np.ndarray:
        """Share of each pixel of a line that the square covers; positions 0 and 1 touch the borders."""
        n = self.shape[0]
        side, edge = self.square * n, max(self.edge * n, 1e-9)
        start = (edge / 2 + position * (n - side - edge))[:, None]
        pixels = np.arange(n + 1)
        return np.clip(np.diff(_ramp(pixels - start, edge) - _ramp(pixels - start - side, edge), axis=1), 0, 1)

    def _paint(self, rows: np.ndarray, columns: np.ndarray, colour: np.ndarray | None) -> np.ndarray:
        """Images in blocks, so that large ones need little more memory than the result."""
        kind: Any = np.float64 if self.dtype == np.float64 else np.float32
        top = 255 if self.dtype == np.uint8 else 1
        out = np.empty((len(rows), *self.shape), dtype=self.dtype)
        for start in range(0, len(rows), 64):
            part = slice(start, start + 64)
            images: np.ndarray = (top * rows[part, :, None]).astype(kind) * columns[part, None, :].astype(kind)
            if colour is not None:
                images = images[..., None] * colour[part, None, None, :].astype(kind)
            elif len(self.shape) == 3:
                images = images[..., None]
            out[part] = np.rint(images) if self.dtype == np.uint8 else images
        return out


def _ramp(t: np.ndarray, width: float) -> np.ndarray:
    """Integral of a step at 0 that rises linearly over ``width``."""
    u = t / width + 0.5
    return width * np.where(u < 0, 0, np.where(u > 1, u - 0.5, u * np.abs(u) / 2))


class ShapesXY(_Squares):
    """A white square whose position is uniform: ``shapes-xy``.

    Its edges are exact at any sub-pixel position, so the images are a smooth, locally isometric function of (x, y).
    An edge of 0 is a crisp square; HLLE + ICA still reaches an MCC of .998 there, and .999 with the default.

    Parameters
    ----------
    image_size : int, or (side, side), or (side, side, 3)
        Pixels; the paper uses 3000 samples of 64 x 64 and 256 x 256 x 3.
    dtype : "float32", "float64" or "uint8"
        Images in [0, 1], or in 0..255.
    square, edge : float
        Side of the square and width of its edges, as shares of the image's side.

    References
    ----------
    Horan, Richardson, Weiss (2021), When is unsupervised disentanglement possible?, figure 3.

    Examples
    --------
    >>> X = ShapesXY(image_size=16, edge=0).observe([[0.0, 1.0]])
    >>> float(X[0, -4:, :4].min()), float(X.sum())
    (1.0, 16.0)
    """

    name = "shapes-xy"
    factor_names = ("x", "y")
    factor_ranges = ((0.0, 1.0), (0.0, 1.0))

    def __init__(self, image_size: Any = 64, dtype: Any = "float32", square: float = 1 / 4, edge: float = 1 / 16):
        super().__init__(image_shape(image_size), dtype, square, edge)

    def _render(self, factors: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return self._paint(self._coverage(factors[:, 1]), self._coverage(factors[:, 0]), None)


class ShapesXC(_Squares):
    r"""A square that moves along the diagonal and changes colour: ``shapes-xc``.

    The colour is :math:`(\cos \frac{\pi c}{2}, 0, \sin \frac{\pi c}{2})`, red to blue at constant brightness (norm)
    and speed, so that a step in position costs the same at every colour. The soft edge keeps the diagonal from being
    many times longer than the colour: with crisp edges the manifold is a thin, crumpled strip whose second factor
    HLLE cannot see at 3000 samples.

    Parameters
    ----------
    image_size : int, or (side, side, 3)
    dtype : "float32", "float64" or "uint8"
    square, edge : float
        Side of the square and width of its edges, as shares of the image's side.

    Examples
    --------
    >>> ShapesXC(image_size=16).observe([[0.5, 1.0]])[0, 8, 8].round(3)
    array([0., 0., 1.], dtype=float32)
    """

    name = "shapes-xc"
    factor_names = ("position", "colour")
    factor_ranges = ((0.0, 1.0), (0.0, 1.0))

    def __init__(self, image_size: Any = 64, dtype: Any = "float32", square: float = 3 / 8, edge: float = 1 / 8):
        super().__init__((*image_shape(image_size)[:2], 3), dtype, square, edge)

    def _render(self, factors: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        line = self._coverage(factors[:, 0])
        angle = np.pi / 2 * factors[:, 1]
        return self._paint(line, line, np.stack([np.cos(angle), np.zeros_like(angle), np.sin(angle)], axis=1))
