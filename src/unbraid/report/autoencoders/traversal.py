"""What a decoder makes of a code of which one number moves: arrays, a still figure, a GIF."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unbraid.report import plots
from unbraid.report.drawing import as_pictures, as_rows, is_pictures

Decode = Callable[[NDArray[np.float64]], ArrayLike]
Span = tuple[float, float] | Literal["quantiles"]

LABEL, SLIDER, GAP = 14, 6, 6  # pixels above, below and between the images of a GIF


def traversal_values(codes: ArrayLike, *, n_steps: int = 9, span: Span = (-2.0, 2.0)) -> NDArray[np.float64]:
    """Values that each code takes on its way, evenly spaced.

    Parameters
    ----------
    codes : array (n, n_factors)
    n_steps : int
    span : (low, high) or "quantiles"
        The same two values for every code, which suits codes that were pressed towards N(0, 1); or the 3rd and the
        97th percentile of each code, which suits any other.

    Returns
    -------
    array (n_factors, n_steps)

    Examples
    --------
    >>> traversal_values([[0.0, 0.0], [1.0, 10.0]], n_steps=3)
    array([[-2.,  0.,  2.],
           [-2.,  0.,  2.]])
    """
    rows = as_rows(codes)
    if n_steps < 2:
        raise ValueError(f"n_steps is {n_steps}; a traversal needs at least 2.")
    if isinstance(span, str):
        if span != "quantiles":
            raise ValueError(f"span is {span!r}; it must be (low, high) or 'quantiles'.")
        low, high = np.quantile(rows, [0.03, 0.97], axis=0)
    else:
        low, high = (np.full(rows.shape[1], float(end)) for end in span)
    return np.linspace(low, high, n_steps).T


def traversals(
    decode: Decode,
    codes: ArrayLike,
    *,
    n_steps: int = 9,
    span: Span = (-2.0, 2.0),
    base: Literal["mean", "median"] | int | ArrayLike = "mean",
) -> NDArray:
    """Decoded observations along each code, the others held at ``base``.

    Parameters
    ----------
    decode : callable
        From codes (m, n_factors) to observations (m, ...): an estimator's ``inverse_transform``.
    codes : array (n, n_factors)
        Of the data; their mean, median or one row is where the traversals start, and their quantiles may bound them.
    n_steps : int
    span : (low, high) or "quantiles"
        See :func:`traversal_values`.
    base : "mean", "median", int or array (n_factors,)
        The code in which one number at a time is replaced. An int picks a row of ``codes``.

    Returns
    -------
    array (n_factors, n_steps, ...)
        ``[j, s]`` is the base with its number j at the s-th value, decoded.

    Examples
    --------
    >>> traversals(lambda z: 10 * z, [[0.0, 1.0], [2.0, 3.0]], n_steps=3)[1]
    array([[ 10., -20.],
           [ 10.,   0.],
           [ 10.,  20.]])
    """
    values = traversal_values(codes, n_steps=n_steps, span=span)
    start = _base_code(as_rows(codes), base)
    points = np.tile(start, (len(values), n_steps, 1))
    for j, steps in enumerate(values):
        points[j, :, j] = steps
    decoded = np.asarray(decode(points.reshape(-1, len(start))))
    return decoded.reshape(len(values), n_steps, *decoded.shape[1:])


def _base_code(codes: NDArray[np.float64], base: Any) -> NDArray[np.float64]:
    if isinstance(base, str):
        if base not in ("mean", "median"):
            raise ValueError(f"base is {base!r}; it must be 'mean', 'median', a row number or a code.")
        return codes.mean(axis=0) if base == "mean" else np.median(codes, axis=0)
    if np.ndim(base) == 0:
        return codes[int(base)]
    start = np.asarray(base, np.float64)
    if start.shape != codes.shape[1:]:
        raise ValueError(f"base has shape {start.shape}; a code has {codes.shape[1:]}.")
    return start


def _chosen(codes: NDArray[np.float64], order: Any, most: int | None) -> NDArray[np.intp]:
    """Numbers of the codes to show, in which order."""
    n_codes = codes.shape[1]
    if order is None:
        return np.arange(n_codes)[:most]
    if isinstance(order, str):
        if order != "spread":
            raise ValueError(f"order is {order!r}; it must be None, 'spread' or one number a code, such as its KL.")
        order = codes.std(axis=0)
    weights = np.asarray(order, np.float64)
    if weights.shape != (n_codes,):
        raise ValueError(f"order has shape {weights.shape}; there are {n_codes} codes.")
    return np.argsort(-weights, kind="stable")[:most]


def plot_traversals(
    decode: Decode,
    codes: ArrayLike,
    *,
    n_steps: int = 9,
    span: Span = (-2.0, 2.0),
    base: Literal["mean", "median"] | int | ArrayLike = "mean",
    order: Literal["spread"] | ArrayLike | None = None,
    most: int | None = None,
    names: Sequence[str] | None = None,
) -> Any:
    """One code a row, its value below each image.

    A disentangled code changes one property of the image; a dead one changes nothing.

    Parameters
    ----------
    decode, codes, n_steps, span, base
        As in :func:`traversals`.
    order : "spread", array (n_factors,) or None
        Rows by decreasing standard deviation of the codes, by decreasing values given (for instance the KL of each
        code), or as the codes come.
    most : int, optional
        Rows at most.
    names : sequence of str, optional
        One a code; "code 1" and so on where left out.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> fig = plot_traversals(lambda z: z[:, :, None], np.eye(3), order=[0.1, 5.0, 0.2], most=2)
    >>> [ax.get_ylabel() for ax in fig.axes]
    ['code 2', 'code 3']
    """
    shown = _chosen(as_rows(codes), order, most)
    rows = traversals(decode, codes, n_steps=n_steps, span=span, base=base)[shown]
    values = traversal_values(codes, n_steps=n_steps, span=span)[shown]
    return plots.plot_traversals(rows, values, names=[f"code {j + 1}" if names is None else names[j] for j in shown])


def save_traversal_gif(
    path: str | os.PathLike,
    decode: Decode,
    codes: ArrayLike,
    *,
    n_steps: int = 15,
    span: Span = (-2.0, 2.0),
    base: Literal["mean", "median"] | int | ArrayLike = "mean",
    order: Literal["spread"] | ArrayLike | None = None,
    most: int | None = None,
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
    decode, codes, n_steps, span, base, order, most
        As in :func:`plot_traversals`; ``decode`` must give images.
    columns : int
        Images side by side.
    height : int
        Pixels that an image is enlarged to, by a whole number.
    milliseconds : int
        A frame.

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
    shown = _chosen(as_rows(codes), order, most)
    rows = traversals(decode, codes, n_steps=n_steps, span=span, base=base)[shown]
    if not is_pictures(rows.shape[2:]):
        raise ValueError(
            f"decode gave observations of shape {rows.shape[2:]}; a GIF needs images (height, width[, channels])."
        )
    pictures = as_pictures(rows.reshape(-1, *rows.shape[2:]))
    scale = max(1, round(height / pictures.shape[1]))
    large = np.round(255 * pictures.repeat(scale, axis=1).repeat(scale, axis=2)).astype(np.uint8)
    large = large.reshape(len(shown), n_steps, *large.shape[1:])
    there = [_frame(large[:, s], s / (n_steps - 1), [f"code {j + 1}" for j in shown], columns) for s in range(n_steps)]
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
