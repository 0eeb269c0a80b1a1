"""How a handwritten digit is written, in numbers, and a latent variable described by what it changes."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

Measure = Callable[[np.ndarray], np.ndarray]

PLACES = (("top left", "top", "top right"), ("left", "centre", "right"), ("bottom left", "bottom", "bottom right"))
MOVED = 0.5  # a latent is said to move the digits that it moves half as far as the one it moves most
FIRM = 1.0  # standard deviations of a style; less is not called a change of it


def _shares(images: np.ndarray) -> np.ndarray:
    """Ink that adds up to 1."""
    return images / np.maximum(images.sum((1, 2), keepdims=True), 1e-12)


def place_across(images: np.ndarray) -> np.ndarray:
    """Column of the centre of mass."""
    return (_shares(images) * np.arange(images.shape[2])).sum((1, 2))


def place_down(images: np.ndarray) -> np.ndarray:
    """Row of the centre of mass."""
    return (_shares(images) * np.arange(images.shape[1])[:, None]).sum((1, 2))


def _weights(images: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Ink that adds up to 1, and its columns and rows from the centre of mass."""
    y = np.arange(images.shape[1])[:, None] - place_down(images)[:, None, None]
    x = np.arange(images.shape[2]) - place_across(images)[:, None, None]
    return _shares(images), x, y


def slant(images: np.ndarray) -> np.ndarray:
    """How far the strokes lean: pixels to the left per pixel downwards, by second moments.

    >>> float(slant(np.eye(5)[None])[0]), float(slant(np.eye(5)[None, ::-1])[0])
    (-1.0, 1.0)
    """
    ink, x, y = _weights(images)
    return -(ink * x * y).sum((1, 2)) / np.maximum((ink * y**2).sum((1, 2)), 1e-12)


def ink(images: np.ndarray) -> np.ndarray:
    """Mean of the pixels, which line thickness changes most."""
    return images.mean((1, 2))


def thickness(images: np.ndarray) -> np.ndarray:
    """Width of the strokes: twice the ink over the length of its outline (the total variation).

    >>> bars = np.zeros((2, 20, 20))
    >>> bars[0, :, 9:11] = bars[1, :, 8:12] = 1
    >>> thickness(bars).tolist()
    [2.0, 4.0]
    """
    down, across = np.zeros_like(images), np.zeros_like(images)
    down[:, :-1], across[:, :, :-1] = np.diff(images, axis=1), np.diff(images, axis=2)
    return 2 * images.sum((1, 2)) / np.maximum(np.hypot(down, across).sum((1, 2)), 1e-12)


def height(images: np.ndarray) -> np.ndarray:
    """Standard deviation of the ink over the rows."""
    ink, _, y = _weights(images)
    return np.sqrt((ink * y**2).sum((1, 2)))


def _width(images: np.ndarray, upper: bool) -> np.ndarray:
    """Standard deviation over the columns of the ink above or below the centre of mass."""
    _, _, y = _weights(images)
    ink, x, _ = _weights(images * ((y < 0) if upper else (y > 0)))
    return np.sqrt((ink * x**2).sum((1, 2)))


def width_of_top(images: np.ndarray) -> np.ndarray:
    """Standard deviation over the columns of the ink above the centre of mass."""
    return _width(images, True)


def width_of_bottom(images: np.ndarray) -> np.ndarray:
    """Standard deviation over the columns of the ink below the centre of mass."""
    return _width(images, False)


def bend(images: np.ndarray) -> np.ndarray:
    """How far a digit bends: the ends lie to the right of the middle by this times the squared distance from it.

    The weighted least-squares fit x = a + b y + c y^2 has this c.

    >>> y = np.arange(-4, 5)
    >>> curve = np.zeros((1, 9, 20))
    >>> curve[0, y + 4, 2 + y**2] = 1
    >>> float(bend(curve)[0].round(6))
    1.0
    """
    ink, x, y = _weights(images)
    moments = [(ink * y**k).sum((1, 2)) for k in range(5)]
    left = np.stack([np.stack([moments[i + j] for j in range(3)], -1) for i in range(3)], -2)
    right = np.stack([(ink * x * y**k).sum((1, 2)) for k in range(3)], -1)
    return np.linalg.solve(left + 1e-9 * np.eye(3), right[..., None])[..., 2, 0]


def edge(images: np.ndarray, share: float) -> np.ndarray:
    """The row above which this share of the ink lies.

    >>> bar = np.zeros((1, 28, 28))
    >>> bar[0, 5:15, 14] = 1
    >>> edge(bar, 0.1).round(6).tolist(), edge(bar, 0.9).round(6).tolist()
    ([6.0], [14.0])
    """
    above = np.hstack([np.zeros((len(images), 1)), np.cumsum(_shares(images).sum(2), axis=1)])
    return np.array([np.interp(share, one, np.arange(len(one))) for one in above])


STYLES: dict[str, Measure] = {
    "slant": slant,
    "line thickness": thickness,
    "width of the top half": width_of_top,
    "width of the bottom half": width_of_bottom,
    "height": height,
    "bend": bend,
}


SHIFTS: dict[str, Measure] = {"shift across": place_across, "shift down": place_down}
HALVES: dict[str, tuple[Measure, Measure]] = {
    "height": (lambda images: edge(images, 0.1), lambda images: edge(images, 0.9)),
    "width": (width_of_top, width_of_bottom),
}


def describe(
    moved: np.ndarray, digits: np.ndarray, labels: np.ndarray, styles: Mapping[str, Measure] = STYLES
) -> list[dict[str, Any]]:
    """What each latent does, by its images (latents, 10, 5, height, width) at -2 to 2 and real digits, all in [0, 1].

    ``style`` is the one that changes most from -2 to 2, and by how many standard deviations of real digits of a class
    (the mean over the digits that the latent moves). ``where`` is the ninth of the image with the most change between
    -1 and 1, and ``moves`` are the digits that change at least half as much as the one that changes most.
    ``SHIFTS`` are measured in pixels: real digits are centred and have no spread.
    """
    spread = {name: 1.0 if name in SHIFTS else _spread(style(digits), labels) for name, style in styles.items()}
    return [_described(images, styles, spread) for images in moved]


def _spread(values: np.ndarray, labels: np.ndarray) -> float:
    """Standard deviation within a class."""
    return float(np.sqrt(np.mean([values[labels == c].var() for c in range(10)])))


def _described(images: np.ndarray, styles: Mapping[str, Measure], spread: dict[str, float]) -> dict[str, Any]:
    heat = np.abs(images[:, 3] - images[:, 1])
    size = np.linalg.norm(heat.reshape(len(heat), -1), axis=1)
    moves = np.flatnonzero(size >= MOVED * size.max())
    changes = {name: _change(style, images[moves]) / max(spread[name], 1e-12) for name, style in styles.items()}
    name = max(changes, key=lambda n: abs(changes[n]))
    unit = " px" if name in SHIFTS else ""
    return {
        "where": place_of(heat.mean(0)),
        "moves": "all" if len(moves) == 10 else ", ".join(str(c) for c in moves),
        "style": f"{name} ({abs(changes[name]):.1f}{unit})" if abs(changes[name]) >= FIRM else "none",
        "distance": float(2 * size.mean()),
    }


def _change(style: Measure, images: np.ndarray) -> float:
    """Mean change of a style from -2 to 2, of images (digits, 5, height, width)."""
    return float((style(images[:, 4]) - style(images[:, 0])).mean())


def halves(moved: np.ndarray) -> dict[str, float]:
    """How far the heights, and the widths, of the top and the bottom half have latents of their own.

    Of each half the latent that changes it most counts: its share of what it changes in both, 1 where it moves this
    half only and 0.5 where it moves both alike, as a shift or a scaling does. What no latent changes has 0.
    """
    shares = {}
    for name, measures in HALVES.items():
        changes = np.abs([[_change(measure, images) for measure in measures] for images in moved])
        for half, most in enumerate(changes.argmax(axis=0)):
            share = changes[most, half] / max(changes[most].sum(), 1e-12)
            shares[f"{name} of the {('top', 'bottom')[half]} half"] = float(share)
    return shares


def place_of(heat: np.ndarray) -> str:
    """The ninth of an image that has the most of it.

    >>> heat = np.zeros((28, 28))
    >>> heat[2:6, 20:25] = 1
    >>> place_of(heat)
    'top right'
    """
    sums = [[part.sum() for part in np.array_split(band, 3, axis=1)] for band in np.array_split(heat, 3)]
    row, column = np.unravel_index(int(np.argmax(sums)), (3, 3))
    return PLACES[row][column]
