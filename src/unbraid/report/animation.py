"""Traversals that move: all codes side by side in one GIF."""

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unbraid.report.drawing import as_pictures, as_rows, is_pictures, named
from unbraid.report.traversal import Base, Decode, Order, Span, shown_codes, traversals

LABEL, SLIDER, GAP = 14, 6, 6  # pixels above, below and between the images


def save_traversal_gif(
    path: str | os.PathLike,
    decode: Decode,
    codes: ArrayLike,
    *,
    n_steps: int = 15,
    span: Span = (-2.0, 2.0),
    base: Base = "mean",
    order: Order = None,
    most: int | None = None,
    names: Sequence[str] | None = None,
    columns: int = 5,
    height: int = 96,
    milliseconds: int = 80,
) -> Path:
    """All codes side by side, each moving to and fro, with a slider below each image.

    The GIF has ``2 * n_steps - 2`` frames and repeats for ever.

    Parameters
    ----------
    path : path
        Ending in .gif.
    decode, codes, n_steps, span, base, order, most, names
        As in :func:`plot_traversals`; ``decode`` must give images.
    columns : int
        Images side by side.
    height : int
        Pixels that an image is enlarged to, by a whole number.
    milliseconds : int
        Per frame.

    Returns
    -------
    Path

    Examples
    --------
    >>> import tempfile
    >>> square = lambda z: np.clip(z, 0, 1)[:, :, None] * np.ones((1, 2, 2))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_traversal_gif(folder + "/codes.gif", square, np.eye(2), n_steps=3).name
    'codes.gif'
    """
    from PIL import Image

    path = Path(path)
    if path.suffix.lower() != ".gif":
        raise ValueError(f"path is {str(path)!r}; it must end in .gif.")
    shown = shown_codes(codes, order, most)
    rows = traversals(decode, codes, n_steps=n_steps, span=span, base=base, which=shown.tolist())
    if not is_pictures(rows.shape[2:]):
        raise ValueError(
            f"decode gave observations of shape {rows.shape[2:]}; a GIF needs images (height, width[, channels])."
        )
    pictures = as_pictures(rows, 2)
    scale = max(1, round(height / pictures.shape[2]))
    large = np.round(255 * pictures.repeat(scale, axis=2).repeat(scale, axis=3)).astype(np.uint8)
    labels = named(names, as_rows(codes).shape[1], "code")
    there = [_frame(large[:, s], s / (n_steps - 1), [labels[j] for j in shown], columns) for s in range(n_steps)]
    frames = [Image.fromarray(frame) for frame in there + there[-2:0:-1]]
    path.parent.mkdir(parents=True, exist_ok=True)
    frames[0].save(path, save_all=True, append_images=frames[1:], duration=milliseconds, loop=0)
    return path


def _frame(images: NDArray[np.uint8], position: float, names: Sequence[str], columns: int) -> NDArray[np.uint8]:
    """One frame: each image with its name above and a slider at ``position`` in [0, 1] below."""
    from PIL import Image, ImageDraw

    n, height, width = images.shape[:3]
    columns = min(columns, n)
    n_rows = -(-n // columns)
    tile_height, tile_width = LABEL + height + SLIDER + GAP, width + GAP
    colour = images.ndim == 4
    sheet = Image.new("RGB" if colour else "L", (columns * tile_width + GAP, n_rows * tile_height + GAP), "white")
    draw = ImageDraw.Draw(sheet)
    for k, (image, name) in enumerate(zip(images, names)):
        left, top = GAP + k % columns * tile_width, GAP + k // columns * tile_height
        draw.text((left, top), name, fill="black")
        sheet.paste(Image.fromarray(image[..., :3] if colour else image), (left, top + LABEL))
        middle = top + LABEL + height + SLIDER // 2
        knob = left + round(position * (width - 1))
        draw.line((left, middle, left + width - 1, middle), fill="lightgrey")
        draw.rectangle((knob - 1, middle - 2, knob + 1, middle + 2), fill="black")
    return np.asarray(sheet)
