"""What a decoder makes of a code of which one number moves: arrays, strips of images or curves, panels by class."""

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unbraid.report.drawing import as_pictures, as_rows, figure, is_pictures, named, panels, quiet, show_sheet

Decode = Callable[[NDArray[np.float64]], ArrayLike]
Span = tuple[float, float] | Literal["quantiles"]
Base = Literal["mean", "median"] | int | ArrayLike
Order = Literal["spread"] | ArrayLike | None


def traversal_values(
    codes: ArrayLike, *, n_steps: int = 9, span: Span = (-2.0, 2.0), angles: Sequence[int] = ()
) -> NDArray[np.float64]:
    """Values that each code takes on its way, evenly spaced.

    Parameters
    ----------
    codes : array (n, n_factors)
    n_steps : int
    span : (low, high) or "quantiles"
        The same two values for every code, which suits codes that were pressed towards N(0, 1); or the 3rd and the
        97th percentile of each code, which suits any other.
    angles : sequence of int
        Codes that wrap around: they go once round, from -pi to pi, so the last observation is the first again.

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
    values = np.linspace(low, high, n_steps).T
    values[list(angles)] = np.linspace(-np.pi, np.pi, n_steps)
    return values


def traversals(
    decode: Decode,
    codes: ArrayLike,
    *,
    n_steps: int = 9,
    span: Span = (-2.0, 2.0),
    base: Base = "mean",
    which: Sequence[int] | None = None,
    angles: Sequence[int] = (),
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
    which : sequence of int, optional
        The codes that move, one after the other; all of them where left out.
    angles : sequence of int
        See :func:`traversal_values`.

    Returns
    -------
    array (codes that move, n_steps, ...)
        ``[j, s]`` is the base with the j-th of these at its s-th value, decoded.

    Examples
    --------
    >>> traversals(lambda z: 10 * z, [[0.0, 1.0], [2.0, 3.0]], n_steps=3)[1]
    array([[ 10., -20.],
           [ 10.,   0.],
           [ 10.,  20.]])
    """
    moved = range(as_rows(codes).shape[1]) if which is None else which
    values = traversal_values(codes, n_steps=n_steps, span=span, angles=angles)
    points = np.tile(_base_code(as_rows(codes), base), (len(moved), n_steps, 1))
    for row, j in enumerate(moved):
        points[row, :, j] = values[j]
    decoded = np.asarray(decode(points.reshape(-1, points.shape[2])))
    return decoded.reshape(len(moved), n_steps, *decoded.shape[1:])


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


def shown_codes(codes: ArrayLike, order: Order = None, most: int | None = None) -> NDArray[np.intp]:
    """Numbers of the codes to show, in their order; ``order`` and ``most`` as in :func:`plot_traversals`.

    >>> shown_codes(np.eye(3), [0.1, 5.0, 0.2], 2)
    array([1, 2])
    """
    rows = as_rows(codes)
    n_codes = rows.shape[1]
    if order is None:
        return np.arange(n_codes)[:most]
    if isinstance(order, str):
        if order != "spread":
            raise ValueError(f"order is {order!r}; it must be None, 'spread' or one number per code, such as its KL.")
        order = rows.std(axis=0)
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
    base: Base = "mean",
    order: Order = None,
    most: int | None = None,
    names: Sequence[str] | None = None,
    angles: Sequence[int] = (),
) -> Any:
    """Data along each code, the others held still: one strip of images per code, or one panel of curves.

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
        One per code; "code 1" and so on where left out.
    angles : sequence of int
        As in :func:`traversal_values`.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> fig = plot_traversals(lambda z: z[:, :, None], np.eye(3), order=[0.1, 5.0, 0.2], most=2)
    >>> [ax.get_ylabel() for ax in fig.axes]
    ['code 2', 'code 3']
    """
    shown = shown_codes(codes, order, most)
    rows = traversals(decode, codes, n_steps=n_steps, span=span, base=base, which=shown.tolist(), angles=angles)
    values = traversal_values(codes, n_steps=n_steps, span=span, angles=angles)[shown]
    labels = np.array(named(names, as_rows(codes).shape[1], "code"))[shown].tolist()
    return (_strips if is_pictures(rows.shape[2:]) else _curves)(rows, values, labels)


def _strips(rows: NDArray, values: NDArray[np.float64], names: Sequence[str]) -> Any:
    n_codes, n_steps, height, width = rows.shape[:4]
    pictures = as_pictures(rows, 2)
    fig = figure(0.95 * n_steps, 1.15 * n_codes * height / width)
    for j, ax in enumerate(fig.subplots(n_codes, 1, squeeze=False)[:, 0]):
        show_sheet(ax, pictures[j][None], columns=[f"{v:.3g}" for v in values[j]])
        ax.set_ylabel(names[j], fontsize=9)
    return fig


def _curves(rows: NDArray, values: NDArray[np.float64], names: Sequence[str]) -> Any:
    from matplotlib import colormaps

    fig, axes = panels(len(rows), 2, 4.2, 2.6)
    colours = colormaps["viridis"](np.linspace(0.05, 0.95, rows.shape[1]))
    for j, ax in enumerate(axes):
        for curve, value, colour in zip(rows[j].reshape(len(colours), -1), values[j], colours):
            ax.plot(curve, color=colour, linewidth=1, marker="." if len(curve) < 30 else "", label=f"{value:.3g}")
        ax.set(xlabel="feature")
        ax.set_title(f"along {names[j]}", fontsize=9)
        quiet(ax)
    return fig


def heat_map(images: NDArray, values: NDArray) -> NDArray:
    """Absolute change of each pixel between -1 and +1 standard deviations of a traversal (steps, height, width).

    Parameters
    ----------
    images : array (steps, height, width[, channels])
    values : array (steps,)
        Of the code that is moved, in standard deviations.

    Returns
    -------
    array (height, width)

    Examples
    --------
    >>> heat_map(np.stack([np.full((1, 1), v) for v in (-1.0, 0.0, 1.0)]), np.array([-1.0, 0.0, 1.0]))
    array([[2.]])
    """
    low, high = (int(np.argmin(np.abs(values - v))) for v in (-1, 1))
    change = np.abs(images[high] - images[low])
    return change if change.ndim == 2 else change.mean(-1)


def plot_class_traversal(
    images: NDArray, values: NDArray, *, title: str = "", names: Sequence[Any] | None = None
) -> Any:
    """One code moved in every class, as in GIN's paper: one class per row, and the heat map of the change at its end.

    Parameters
    ----------
    images : array (classes, steps, height, width[, channels])
    values : array (steps,)
        In standard deviations.
    title : str
    names : sequence, optional
        Of the classes; their numbers where left out.
    """
    n_classes, n_steps = images.shape[:2]
    grid = as_pictures(images, 2)
    fig = figure(0.42 * (n_steps + 2), 0.42 * n_classes + 0.5)
    left, right = fig.subplots(1, 2, width_ratios=(n_steps, 1))
    labels = [f"{v:+g}" if i in (0, n_steps // 2, n_steps - 1) else "" for i, v in enumerate(values)]
    show_sheet(left, grid, rows=range(n_classes) if names is None else names, columns=labels)
    right.imshow(np.concatenate([heat_map(np.clip(row, 0, 1), values) for row in grid]), cmap="magma")
    right.set(xticks=[], yticks=[])
    left.set_title(title, fontsize=9)
    return fig
