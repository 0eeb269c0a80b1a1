"""Scatter plots: codes against each other, distances before and after, samples beside data."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from unbraid.report.drawing import BLUE, RED, as_rows, figure, named, quiet, some_of


def plot_distances(lengths: ArrayLike, found: ArrayLike, *, title: str = "", most: int = 4000) -> Any:
    """Distances between nearby points in X against their distances in the codes.

    On the diagonal where the codes keep distances (local isometry).

    Parameters
    ----------
    lengths, found : arrays (pairs,)
        Distances in X and in the codes.
    title : str
    most : int
        Pairs that are drawn.

    Returns
    -------
    Figure

    Examples
    --------
    >>> plot_distances([1.0, 2.0], [1.0, 2.1]).axes[0].get_xlabel()
    'distance in X'
    """
    x, y = np.asarray(lengths, float), np.asarray(found, float)
    rows = some_of(len(x), most)
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


def plot_codes(codes: ArrayLike, *, names: Sequence[str] | None = None, most: int = 5000) -> Any:
    """The histogram of each code, and below it the codes against each other; six codes at most.

    A filled rectangle, or any shape with sides parallel to the axes, is what independent codes look like.

    Parameters
    ----------
    codes : array (n, d)
    names : sequence of str, optional
    most : int
        Points that are drawn.

    Returns
    -------
    Figure

    Examples
    --------
    >>> len(plot_codes(np.random.default_rng(0).normal(size=(40, 3))).axes)
    6
    """
    y = as_rows(codes)
    labels = named(names, y.shape[1], "code")
    y = y[some_of(len(y), most)]
    d = min(y.shape[1], 6)
    fig = figure(2.3 * d + 0.4, 2.1 * d + 0.3)
    for (a, b), ax in np.ndenumerate(fig.subplots(d, d, squeeze=False)):
        if b > a:
            ax.remove()
            continue
        if a == b:
            ax.hist(y[:, a], bins=40, color=BLUE)
            ax.set_yticks([])
        else:
            ax.scatter(y[:, b], y[:, a], s=3, color=BLUE, alpha=0.5, linewidths=0)
        if a == d - 1:
            ax.set_xlabel(labels[b], fontsize=9)
        if b == 0 and a > 0:
            ax.set_ylabel(labels[a], fontsize=9)
        quiet(ax)
    return fig


def plot_sampled_points(samples: ArrayLike, X: ArrayLike, labels: ArrayLike | None = None, *, most: int = 2000) -> Any:
    """Data beside what a model draws, in the two directions in which the data vary most; coloured by class.

    Parameters
    ----------
    samples, X : arrays (n, ...)
        Drawn by the model, and observed.
    labels : array (n,), optional
        Class of each sample.
    most : int
        Points drawn of each.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(30, 4))
    >>> [ax.get_title() for ax in plot_sampled_points(X[:10], X).axes]
    ['data', 'samples']
    """
    drawn, data = as_rows(samples), as_rows(X)
    centre = data.mean(axis=0)
    directions = np.linalg.svd(data[some_of(len(data), most)] - centre, full_matrices=False)[2][:2]
    fig = figure(6.2, 3.0)
    axes = fig.subplots(1, 2, sharex=True, sharey=True)
    kinds = None if labels is None else np.unique(np.asarray(labels), return_inverse=True)[1]
    for ax, points, title in zip(axes, (data, drawn), ("data", "samples")):
        rows = some_of(len(points), most)
        colours: Any = {"color": BLUE}
        if title == "samples" and kinds is not None:
            colours = {"c": kinds[rows], "cmap": "tab10" if kinds.max() < 10 else "turbo"}
        ax.scatter(*((points[rows] - centre) @ directions.T).T, s=4, linewidths=0, alpha=0.7, **colours)
        ax.set_title(title, fontsize=10)
        quiet(ax)
    return fig
