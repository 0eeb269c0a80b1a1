"""Sheets of images: the data, reconstructions, samples, interpolation strips, and grids around a point."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unbraid.report.drawing import as_images, as_pictures, as_rows, figure, show_sheet
from unbraid.report.traversal import Decode

CORNERS = np.array([[[0.12, 0.30, 0.75], [0.10, 0.70, 0.55]], [[0.80, 0.15, 0.35], [0.98, 0.80, 0.20]]])


def plot_samples(images: ArrayLike, *, names: Sequence[Any] | None = None, title: str = "") -> Any:
    """Samples (styles, classes, height, width[, channels]): one style per row, one class per column.

    Parameters
    ----------
    images : array (styles, classes, height, width[, channels])
    names : sequence, optional
        Of the classes.
    title : str

    Returns
    -------
    Figure

    Examples
    --------
    >>> [t.get_text() for t in plot_samples(np.zeros((2, 3, 4, 4)), names="abc").axes[0].get_xticklabels()]
    ['a', 'b', 'c']
    """
    pictures = as_pictures(images, 2)
    n_rows, n_columns = pictures.shape[:2]
    fig = figure(max(0.45 * n_columns, 1.5), 0.45 * n_rows + 0.4)
    ax = fig.subplots()
    show_sheet(ax, pictures, columns=range(n_columns) if names is None else names)
    ax.set_title(title, fontsize=9)
    return fig


def plot_reconstructions(X: ArrayLike, reconstructions: ArrayLike | Mapping[str, ArrayLike], *, n: int = 10) -> Any:
    """The truth above, what came back below, the mean squared error of a pixel beside it.

    Parameters
    ----------
    X : array (m, height, width[, channels])
        Bytes, or floats in [0, 1].
    reconstructions : array like X, or mapping from names to such arrays
        One row per model. The error is that of all m images, of which the first n are drawn.
    n : int

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> X = np.zeros((3, 4, 4))
    >>> plot_reconstructions(X, {"AE": X + 0.5}).axes[1].get_yticklabels()[0].get_text()
    'AE\\nerror 0.25'
    """
    truth = _unit(X)
    models = reconstructions if isinstance(reconstructions, Mapping) else {"decoded": reconstructions}
    rows = [("truth", truth)]
    for name, values in models.items():
        decoded = _unit(values)
        if decoded.shape != truth.shape:
            raise ValueError(f"{name} has shape {decoded.shape} and X {truth.shape}; they must be the same images.")
        rows.append((f"{name}\nerror {np.mean(np.square(decoded - truth)):.3g}", decoded))
    return _strips([(label, [images[:n]]) for label, images in rows])[0]


def _unit(images: ArrayLike) -> NDArray[np.float64]:
    """Images as floats, bytes divided by 255."""
    values = as_images(images)
    return values / (255.0 if values.dtype == np.uint8 else 1.0)


def _strips(rows: list[tuple[str, list[NDArray]]], panels: bool = False) -> tuple[Any, list[Any]]:
    """Rows of images in groups with a gap between them; with ``panels``, an empty square axes ends each row."""
    first = rows[0][1]
    height, width = first[0].shape[1:3]
    ratios = [len(group) for group in first] + [1.3 * height / width] * panels
    fig = figure(0.85 * sum(ratios) + 1.3, len(rows) * 0.9 * height / width + 0.3, "compressed")
    grid = fig.subplots(len(rows), len(ratios), squeeze=False, width_ratios=ratios)
    for (label, groups), axes in zip(rows, grid):
        for ax, images in zip(axes, groups):
            show_sheet(ax, np.clip(images, 0, 1)[None])
        axes[0].set_yticks([height / 2], [label], fontsize=8)
    return fig, list(grid[:, -1])


def interpolate(decode: Decode, left: ArrayLike, right: ArrayLike, *, n_steps: int = 9) -> NDArray:
    """Decoded observations on the straight line between two codes, both ends included.

    Parameters
    ----------
    decode : callable
        From codes (m, n_factors) to observations (m, ...).
    left, right : arrays (n_factors,)
    n_steps : int

    Returns
    -------
    array (n_steps, ...)

    Examples
    --------
    >>> interpolate(lambda z: z, [0.0, 0.0], [4.0, 2.0], n_steps=3)
    array([[0., 0.],
           [2., 1.],
           [4., 2.]])
    """
    a, b = np.asarray(left, np.float64), np.asarray(right, np.float64)
    if a.ndim != 1 or a.shape != b.shape:
        raise ValueError(f"left has shape {a.shape} and right {b.shape}; both must be one code, (n_factors,).")
    return np.asarray(decode(np.linspace(a, b, n_steps)))


def plot_interpolation(
    decode: Decode | Mapping[str, Decode],
    left: Any,
    right: Any,
    *,
    n_steps: int = 9,
    ends: tuple[ArrayLike, ArrayLike] | None = None,
    codes: Any = None,
    factors: ArrayLike | None = None,
) -> Any:
    """Strips between two codes, one model above the other, the real end images left and right.

    A model whose codes are factors passes smoothly along the data; an entangled one jumps or fades.

    Parameters
    ----------
    decode : callable, or mapping from names to callables
    left, right : array (n_factors,), or mapping from the same names to such arrays
        Each model's codes of the two end images.
    n_steps : int
    ends : (image, image), optional
        The two true images, drawn at the ends of each strip.
    codes : array (n, n_factors), or mapping from the same names, optional
        Drawn to the right of each strip, the way taken as a line. With more than two codes, the two that change most
        between the ends.
    factors : array (n, number of factors), optional
        Colours of the codes: by the first two factors.

    Returns
    -------
    matplotlib.figure.Figure

    References
    ----------
    Horan, Richardson, Weiss (2021), When is unsupervised disentanglement possible?, figure 8.

    Examples
    --------
    >>> decode = lambda z: z[:, :1, None] * np.ones((4, 4))
    >>> fig = plot_interpolation({"AE": decode, "HAE": decode}, dict.fromkeys(["AE", "HAE"], [0.0]),
    ...                          dict.fromkeys(["AE", "HAE"], [1.0]), n_steps=5)
    >>> [ax.get_yticklabels()[0].get_text() for ax in fig.axes]
    ['AE', 'HAE']
    """
    models = decode if isinstance(decode, Mapping) else {"": decode}
    each_left, each_right, each_codes = (_by_name(v, models, what) for v, what in
                                         ((left, "left"), (right, "right"), (codes, "codes")))  # fmt: skip
    first, last = ([], []) if ends is None else ([_unit(np.asarray(end)[None])] for end in ends)
    rows = []
    for name, function in models.items():
        strip = _unit(interpolate(function, each_left[name], each_right[name], n_steps=n_steps))
        rows.append((name, [*first, strip, *last]))
    fig, panels = _strips(rows, panels=codes is not None)
    if codes is not None:
        for name, ax in zip(models, panels):
            way = np.linspace(each_left[name], each_right[name], n_steps)
            shown = np.sort(np.argsort(-np.abs(way[-1] - way[0]), kind="stable")[:2])
            _embedding(ax, as_rows(each_codes[name])[:, shown], factors)
            ax.plot(*way[:, shown].T, ".-", color="black", markersize=3, linewidth=0.8)
    return fig


def _by_name(value: Any, models: Mapping[str, Any], what: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        return dict.fromkeys(models, value)
    missing = [name for name in models if name not in value]
    if missing:
        raise ValueError(f"{what} has no entry for {missing}; it has {list(value)}, and every model needs one.")
    return value


def code_grid(
    decode: Decode, code: ArrayLike, epsilon: float | tuple[float, float], n: int, dimensions: tuple[int, int] = (0, 1)
) -> NDArray:
    """Decoded observations around a code: ``[i, j]`` lies i epsilon along one dimension and j along another.

    Parameters
    ----------
    decode : callable
        From codes (n, d) to observations.
    code : array (d,)
        The corner of the grid.
    epsilon : float or (float, float)
        Steps along the two dimensions.
    n : int
        Points along each side.
    dimensions : (int, int)
        The codes that are moved.

    Returns
    -------
    array (n, n, ...)

    Examples
    --------
    >>> code_grid(lambda z: z, [1.0, 1.0], (0.5, 2.0), 2)[1, 1]
    array([1.5, 3. ])
    """
    points = _grid_points(code, epsilon, n, dimensions)
    decoded = np.asarray(decode(points.reshape(n * n, -1)))
    return decoded.reshape(n, n, *decoded.shape[1:])


def _grid_points(code: ArrayLike, epsilon: Any, n: int, dimensions: tuple[int, int]) -> NDArray[np.float64]:
    start = np.asarray(code, np.float64)
    if start.ndim != 1 or len(start) < 2:
        raise ValueError(f"code has shape {start.shape}; a grid needs one code of at least two numbers.")
    steps = np.broadcast_to(np.asarray(epsilon, np.float64), 2)
    points = np.tile(start, (n, n, 1))
    points[:, :, dimensions[0]] += steps[0] * np.arange(n)[:, None]
    points[:, :, dimensions[1]] += steps[1] * np.arange(n)
    return points


def plot_grid(
    decode: Decode,
    code: ArrayLike,
    epsilon: float | tuple[float, float],
    n: int = 5,
    *,
    dimensions: tuple[int, int] = (0, 1),
    codes: ArrayLike | None = None,
    factors: ArrayLike | None = None,
    title: str = "",
) -> Any:
    """Images around a chosen point (upper left): down the first dimension changes, across the second.

    Parameters
    ----------
    decode : callable
        From codes (m, n_factors) to images (m, height, width[, channels]).
    code : array (n_factors,)
    epsilon : float or (float, float)
        Change from one image to the next, in both dimensions or in each.
    n : int
        Images down and across.
    dimensions : (int, int)
        Which two numbers of the code change.
    codes : array (m, n_factors), optional
        The embedding, drawn to the right with the points of the grid in it.
    factors : array (m, number of factors), optional
        Colours of the embedding: by the first two factors.
    title : str

    Returns
    -------
    matplotlib.figure.Figure

    References
    ----------
    Horan, Richardson, Weiss (2021), When is unsupervised disentanglement possible?, figure 7.

    Examples
    --------
    >>> len(plot_grid(lambda z: z[:, :, None], [0.0, 0.0], 0.5, 3, codes=np.eye(2)).axes)
    2
    """
    pictures = as_pictures(code_grid(decode, code, epsilon, n, dimensions), 2)
    side = max(2.2, 0.6 * n)
    fig = figure(side * (1 if codes is None else 1.9), side * pictures.shape[2] / pictures.shape[3] + 0.4, "compressed")
    axes = fig.subplots(1, 1 if codes is None else 2, squeeze=False)[0]
    show_sheet(axes[0], pictures)
    axes[0].set_ylabel(f"code {dimensions[0] + 1} \N{RIGHTWARDS ARROW}", fontsize=8, rotation=270, labelpad=10)
    axes[0].set_xlabel(f"code {dimensions[1] + 1} \N{RIGHTWARDS ARROW}", fontsize=8)
    axes[0].set_title(title, fontsize=9)
    if codes is not None:
        _embedding(axes[1], as_rows(codes)[:, list(dimensions)], factors)
        points = _grid_points(code, epsilon, n, dimensions).reshape(n * n, -1)[:, list(dimensions)]
        axes[1].plot(*points.T, "s", color="black", markersize=2.5)
        axes[1].plot(*points[0], "s", color="white", markeredgecolor="black", markersize=4)
    return fig


def _embedding(ax: Any, points: NDArray[np.float64], factors: ArrayLike | None) -> None:
    """A scatter of one or two codes, coloured by up to two factors."""
    if points.shape[1] == 1:
        points = np.c_[points, np.zeros(len(points))]
    colours = "#9db4cc" if factors is None else factor_colours(as_rows(factors))
    ax.scatter(*points.T, c=colours, s=3, linewidths=0)
    ax.set(xticks=[], yticks=[])
    ax.set_box_aspect(1)


def factor_colours(factors: NDArray[np.float64]) -> NDArray[np.float64]:
    """One colour per row that changes evenly with the first two factors.

    >>> factor_colours(np.array([[0.0, 0.0], [1.0, 1.0]]))[0]
    array([0.12, 0.3 , 0.75])
    """
    pair = factors[:, :2] if factors.shape[1] > 1 else np.repeat(factors, 2, axis=1)
    low, high = pair.min(axis=0), pair.max(axis=0)
    a, b = ((pair - low) / np.where(high > low, high - low, 1.0)).T[:, :, None]
    return (1 - a) * ((1 - b) * CORNERS[0, 0] + b * CORNERS[0, 1]) + a * ((1 - b) * CORNERS[1, 0] + b * CORNERS[1, 1])
