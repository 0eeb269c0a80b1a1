"""What every picture is drawn with: an empty figure, quiet axes, images between black and white, sheets of images."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

BLUE, RED, GREY = "#1f4e79", "#c0392b", "#8a8f98"


def figure(width: float, height: float, layout: Literal["constrained", "compressed"] = "constrained") -> Any:
    """An empty figure that belongs to no window; ``layout="compressed"`` suits axes that keep their aspect."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout=layout)


def chart(width: float, height: float) -> tuple[Any, Any]:
    """A figure with one quiet axes."""
    fig = figure(width, height)
    ax = fig.subplots()
    quiet(ax)
    return fig, ax


def panels(n: int, columns: int, width: float, height: float) -> tuple[Any, list[Any]]:
    """A figure of ``n`` axes of this size, at most ``columns`` side by side."""
    columns = min(columns, n)
    n_rows = -(-n // columns)
    fig = figure(width * columns, height * n_rows)
    axes = fig.subplots(n_rows, columns, squeeze=False).ravel()
    for ax in axes[n:]:
        ax.remove()
    return fig, list(axes[:n])


def is_pictures(shape: Sequence[int]) -> bool:
    """Whether an observation of this shape is a grey or colour image."""
    return len(shape) == 2 or (len(shape) == 3 and shape[2] in (1, 3, 4))


def as_images(images: ArrayLike, n_axes: int = 1) -> NDArray:
    """Images with their values as they are, one channel taken away; an error where the shape is of something else.

    Of an array with more axes before the height, ``n_axes`` says how many.

    >>> as_images(np.zeros((5, 4, 4, 1))).shape
    (5, 4, 4)
    """
    values = np.asarray(images)
    if not is_pictures(values.shape[n_axes:]):
        raise ValueError(
            f"images must be (n, height, width) or (n, height, width, channels); received shape {values.shape}."
        )
    return values.reshape(*values.shape[:n_axes], *picture_shape(values.shape[n_axes:]))


def as_pictures(images: ArrayLike, n_axes: int = 1) -> NDArray[np.float64]:
    """Images with values in [0, 1]: 0..255 is divided by 255, any other range is stretched; see :func:`as_images`.

    >>> as_pictures(np.array([[[0, 255]]], dtype=np.uint8))
    array([[[0., 1.]]])
    """
    pictures = as_images(images, n_axes)
    whole = pictures.dtype == np.uint8
    pictures = pictures.astype(np.float64)
    low, high = float(pictures.min()), float(pictures.max())
    if whole or (low >= -64 and 2 < high <= 320):  # decoded bytes overshoot a little
        pictures = pictures / 255
    elif low < -0.5 or high > 1.5:
        pictures = (pictures - low) / max(high - low, 1e-300)
    return np.clip(pictures, 0, 1)


def picture_shape(shape: Sequence[int]) -> tuple[int, ...]:
    """Shape of an image as it is drawn: one channel is none."""
    return tuple(shape[:2]) if len(shape) == 3 and shape[2] == 1 else tuple(shape)


def in_grid(pictures: NDArray, columns: int, blank: float) -> NDArray:
    """Pictures (n, ...) as (rows, columns, ...), the last row filled up with ``blank``."""
    n_rows = -(-len(pictures) // columns)
    padded = np.full((n_rows * columns, *pictures.shape[1:]), blank, pictures.dtype)
    padded[: len(pictures)] = pictures
    return padded.reshape(n_rows, columns, *pictures.shape[1:])


def tiled(grid: NDArray) -> NDArray:
    """Pictures (rows, columns, height, width[, channels]) as one.

    >>> tiled(np.arange(4).reshape(1, 2, 2, 1))
    array([[0, 2],
           [1, 3]])
    """
    n_rows, n_columns, height, width = grid.shape[:4]
    return grid.swapaxes(1, 2).reshape(n_rows * height, n_columns * width, *grid.shape[4:])


def show_sheet(
    ax: Any, grid: NDArray[np.float64], *, rows: Sequence[Any] | None = None, columns: Sequence[Any] | None = None
) -> None:
    """Draw pictures (rows, columns, height, width[, channels]), a thin white line between them, with their labels."""
    n_rows, n_columns, height, width = grid.shape[:4]
    spaced = np.ones((n_rows, n_columns, height + 1, width + 1, *grid.shape[4:]))
    spaced[:, :, :height, :width] = grid
    ax.imshow(tiled(spaced)[:-1, :-1], cmap="gray", vmin=0, vmax=1, interpolation="nearest")
    ax.set(xticks=[], yticks=[])
    if rows is not None:
        ax.set_yticks([(i + 0.5) * (height + 1) - 1 for i in range(n_rows)], rows)
    if columns is not None:
        ax.set_xticks([(i + 0.5) * (width + 1) - 1 for i in range(n_columns)], columns)
    ax.tick_params(length=0, labelsize=7)
    ax.spines[:].set_visible(False)


def some_of(n: int, most: int, random_state: int = 0) -> NDArray[np.intp]:
    """At most ``most`` of ``n`` row numbers, drawn at random; all of them, in order, where there are no more."""
    return np.arange(n) if n <= most else np.random.RandomState(random_state).choice(n, most, replace=False)


def named(names: Sequence[str] | None, n: int, what: str) -> list[str]:
    """The names given, or "code 1", "code 2" and so on; an error where there are too few.

    >>> named(None, 2, "code")
    ['code 1', 'code 2']
    """
    if names is None:
        return [f"{what} {i + 1}" for i in range(n)]
    if len(names) != n:
        raise ValueError(f"{len(names)} name(s) were given for {n} {what}s; give one per {what}.")
    return [str(name) for name in names]


def as_rows(values: ArrayLike) -> NDArray[np.float64]:
    """Values (n, ...) as a matrix (n, features)."""
    rows = np.asarray(values, dtype=np.float64)
    return rows.reshape(len(rows), -1)


def same_rows(factors: ArrayLike, codes: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Both as matrices of as many rows."""
    z, y = as_rows(factors), as_rows(codes)
    if len(z) != len(y):
        raise ValueError(f"factors have {len(z)} rows and codes {len(y)}; they must describe the same points.")
    return z, y


def quiet(ax: Any) -> None:
    """Take away what draws the eye from the data: two spines and the black of the rest."""
    ax.tick_params(which="both", labelsize=7, color=GREY, labelcolor="#444")
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(GREY)


def plot_images(images: ArrayLike, *, columns: int = 12) -> Any:
    """A grid of images (n, height, width[, channels]).

    Parameters
    ----------
    images : array (n, height, width[, channels])
    columns : int
        Images side by side.

    Returns
    -------
    Figure

    Examples
    --------
    >>> len(plot_images(np.zeros((5, 4, 4)), columns=3).axes)
    1
    """
    pictures = as_pictures(images)
    grid = in_grid(pictures, min(columns, len(pictures)), 1.0)
    n_rows, n_columns, height, width = grid.shape[:4]
    fig = figure(0.75 * n_columns, 0.75 * n_rows * height / width)
    show_sheet(fig.subplots(), grid)
    return fig
