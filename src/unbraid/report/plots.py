"""Pictures of factors, codes and what lies between them: arrays in, a matplotlib figure out."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unbraid.contract.extras import require
from unbraid.metrics.mcc import correlations
from unbraid.report.drawing import (
    BLUE,
    RED,
    as_pictures,
    as_rows,
    figure,
    is_pictures,
    picture_shape,
    quiet,
    same_rows,
    show_sheet,
)


def plot_factor_maps(
    factors: ArrayLike, codes: ArrayLike, *, factor_names: Sequence[str] | None = None, title: str = ""
) -> Any:
    """Each code as a colour over the true factors, one panel a code.

    A disentangled code changes along one axis only: its bands of colour run parallel to the other. With more than two
    factors a panel takes the two that its code follows most; with one, it shows the code against it.

    Parameters
    ----------
    factors : array (n, number of factors)
    codes : array (n, number of codes)
    factor_names : sequence of str, optional
    title : str

    Returns
    -------
    matplotlib.figure.Figure

    References
    ----------
    Horan, Richardson, Weiss (2021), When is unsupervised disentanglement possible?, figures 3 and 5.

    Examples
    --------
    >>> z = np.random.default_rng(0).uniform(size=(50, 2))
    >>> [ax.get_xlabel() for ax in plot_factor_maps(z, z, factor_names=("x", "y")).axes]
    ['x', 'x']
    """
    z, y = same_rows(factors, codes)
    names = list(factor_names) if factor_names is not None else [f"factor {i + 1}" for i in range(z.shape[1])]
    correlation = correlations(z, y)
    fig = figure(2.35 * y.shape[1], 2.75 if title else 2.5)
    for j, ax in enumerate(fig.subplots(1, y.shape[1], squeeze=False)[0]):
        best = int(np.argmax(np.abs(correlation[:, j])))
        label = f"code {j + 1}: {names[best]}, r = {correlation[best, j]:+.3f}"
        if z.shape[1] == 1:
            ax.scatter(z[:, 0], y[:, j], s=4, color=BLUE, linewidths=0)
            ax.set(xlabel=names[0], ylabel=f"code {j + 1}")
        else:
            a, b = np.sort(np.argsort(-np.abs(correlation[:, j]), kind="stable")[:2])
            ax.scatter(z[:, a], z[:, b], c=_clipped(y[:, j]), cmap="turbo", s=6, linewidths=0)
            ax.set(xlabel=names[a], ylabel=names[b])
            ax.set_box_aspect(1)
        ax.set_title(label, fontsize=8)
        quiet(ax)
    if title:
        fig.suptitle(title, fontsize=11, fontweight="bold")
    return fig


def plot_distances(
    lengths: ArrayLike, found: ArrayLike, *, title: str = "", most: int = 4000, random_state: int = 0
) -> Any:
    """Distances between nearby points in X against their distances in the codes.

    On the diagonal where the codes keep distances (local isometry).

    Examples
    --------
    >>> plot_distances([1.0, 2.0], [1.0, 2.1]).axes[0].get_xlabel()
    'distance in X'
    """
    x, y = np.asarray(lengths, float), np.asarray(found, float)
    if len(x) > most:
        rows = np.random.RandomState(random_state).choice(len(x), most, replace=False)
        x, y = x[rows], y[rows]
    fig = figure(3.0, 3.0)
    ax = fig.subplots()
    top = float(max(np.quantile(x, 0.999), np.quantile(y, 0.999), 1e-300)) * 1.05
    ax.plot([0, top], [0, top], color=RED, linewidth=1)
    ax.scatter(x, y, s=3, color=BLUE, alpha=0.35, linewidths=0)
    ax.set(xlabel="distance in X", ylabel="distance in the codes", xlim=(0, top), ylim=(0, top))
    ax.set_title(title, fontsize=10)
    ax.set_box_aspect(1)
    quiet(ax)
    return fig


def plot_images(images: ArrayLike, *, columns: int = 12) -> Any:
    """A grid of images (n, height, width[, channels]).

    Examples
    --------
    >>> len(plot_images(np.zeros((5, 4, 4)), columns=3).axes)
    1
    """
    pictures = as_pictures(images)
    columns = min(columns, len(pictures))
    n_rows = -(-len(pictures) // columns)
    padded = np.ones((n_rows * columns, *pictures.shape[1:]))
    padded[: len(pictures)] = pictures
    fig = figure(0.75 * columns, 0.75 * n_rows * pictures.shape[1] / pictures.shape[2])
    show_sheet(fig.subplots(), padded.reshape(n_rows, columns, *pictures.shape[1:]))
    return fig


def plot_traversals(rows: ArrayLike, values: ArrayLike, *, names: Sequence[str] | None = None) -> Any:
    """Data along each code, the other codes held in the middle.

    Parameters
    ----------
    rows : array (codes, steps, height, width[, channels]) or (codes, steps, features)
        Images make one strip a code; other data one panel of curves a code.
    values : array (codes, steps)
        The code at each step.
    names : sequence of str, optional
        What to call each row; "code 1" and so on where left out.

    Examples
    --------
    >>> plot_traversals(np.zeros((2, 5, 4, 4)), np.zeros((2, 5))).axes[0].get_ylabel()
    'code 1'
    """
    data, steps = np.asarray(rows), np.asarray(values, float)
    n_codes, n_steps = data.shape[:2]
    names = [f"code {j + 1}" for j in range(n_codes)] if names is None else names
    if not is_pictures(data.shape[2:]):
        return _curves(data.reshape(n_codes, n_steps, -1), steps, names)
    pictures = as_pictures(data.reshape(-1, *data.shape[2:])).reshape(n_codes, n_steps, *picture_shape(data.shape[2:]))
    fig = figure(0.95 * n_steps, 1.15 * n_codes * data.shape[2] / data.shape[3])
    for j, ax in enumerate(fig.subplots(n_codes, 1, squeeze=False)[:, 0]):
        show_sheet(ax, pictures[j][None])
        width = data.shape[3] + 1
        ax.set_xticks([(s + 0.5) * width for s in range(n_steps)], [f"{v:.3g}" for v in steps[j]])
        ax.set_ylabel(names[j], fontsize=9)
        ax.tick_params(length=0, labelsize=7)
    return fig


def plot_codes(codes: ArrayLike, *, most: int = 5000, random_state: int = 0) -> Any:
    """Codes against each other (above the diagonal left out) and the histogram of each.

    A filled rectangle, or any shape with sides parallel to the axes, is what independent codes look like.

    Examples
    --------
    >>> len(plot_codes(np.random.default_rng(0).normal(size=(40, 3))).axes)
    6
    """
    y = as_rows(codes)
    if len(y) > most:
        y = y[np.random.RandomState(random_state).choice(len(y), most, replace=False)]
    d = min(y.shape[1], 6)
    fig = figure(2.3 * d + 0.4, 2.1 * d + 0.3)
    grid = fig.subplots(d, d, squeeze=False)
    for a in range(d):
        for b in range(d):
            ax = grid[a, b]
            if b > a:
                ax.remove()
                continue
            if a == b:
                ax.hist(y[:, a], bins=40, color=BLUE)
                ax.set_yticks([])
            else:
                ax.scatter(y[:, b], y[:, a], s=3, color=BLUE, alpha=0.5, linewidths=0)
            if a == d - 1:
                ax.set_xlabel(f"code {b + 1}", fontsize=9)
            if b == 0 and a > 0:
                ax.set_ylabel(f"code {a + 1}", fontsize=9)
            quiet(ax)
    return fig


def plot_selection(
    n_neighbors: ArrayLike, scores: ArrayLike, groups: ArrayLike, *, chosen: int, excluded: ArrayLike | None = None
) -> Any:
    """Score of every setting tried, over the size of the neighbourhoods, one line a PCA size.

    Parameters
    ----------
    n_neighbors, scores, groups : arrays (settings,)
        ``groups`` are the PCA sizes.
    chosen : int
        Which setting was kept.
    excluded : array (settings,) of bool, optional
        Settings that could not be chosen; drawn as crosses.

    Examples
    --------
    >>> plot_selection([8, 14], [0.9, 0.95], [5, 5], chosen=1).axes[0].get_xlabel()
    'neighbours k'
    """
    k, score, group = np.asarray(n_neighbors), np.asarray(scores, float), np.asarray(groups)
    out = np.zeros(len(k), bool) if excluded is None else np.asarray(excluded, bool)
    fig = figure(5.2, 3.0)
    ax = fig.subplots()
    sizes = np.unique(group)
    require("matplotlib", "plots")
    from matplotlib import colormaps

    for size, colour in zip(sizes, colormaps["viridis"](np.linspace(0.1, 0.85, len(sizes)))):
        rows = np.flatnonzero(group == size)
        rows = rows[np.argsort(k[rows])]
        ax.plot(k[rows], score[rows], ".-", color=colour, linewidth=1, label=f"{size} components")
    if out.any():
        ax.scatter(k[out], score[out], marker="x", color=RED, zorder=3, label="excluded")
    ax.scatter(k[chosen], score[chosen], s=90, facecolors="none", edgecolors=RED, zorder=4, label="chosen")
    ax.set_xscale("log")
    ticks = np.unique(k)
    ax.set_xticks(ticks, [str(t) for t in ticks])
    ax.minorticks_off()
    ax.set(xlabel="neighbours k", ylabel="score")
    ax.legend(fontsize=7, frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
    quiet(ax)
    return fig


def _curves(rows: NDArray, values: NDArray[np.float64], names: Sequence[str]) -> Any:
    from matplotlib import colormaps

    fig = figure(4.2 * min(2, len(rows)), 2.6 * -(-len(rows) // 2))
    grid = fig.subplots(-(-len(rows) // 2), min(2, len(rows)), squeeze=False)
    for j, ax in enumerate(grid.ravel()):
        if j >= len(rows):
            ax.remove()
            continue
        colours = colormaps["turbo"](np.linspace(0.05, 0.95, rows.shape[1]))
        for curve, value, colour in zip(rows[j], values[j], colours):
            ax.plot(curve, color=colour, linewidth=1, marker="." if len(curve) < 30 else "", label=f"{value:.3g}")
        ax.set(xlabel="feature")
        ax.set_title(f"along {names[j]}", fontsize=9)
        quiet(ax)
    return fig


def _clipped(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Values between their 1st and 99th percentile: one stray point does not take all the colour."""
    low, high = np.quantile(values, [0.01, 0.99])
    return np.clip(values, low, high)
