"""Charts of numbers: codes and distances as points, spectra and where they break off, scores of settings."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from unbraid.report.drawing import BLUE, RED, as_rows, chart, figure, named, quiet, some_of


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
    fig, ax = chart(3.0, 3.0)
    top = float(max(np.quantile(x, 0.999), np.quantile(y, 0.999), 1e-300)) * 1.05
    ax.plot([0, top], [0, top], color=RED, linewidth=1)
    ax.scatter(x, y, s=3, color=BLUE, alpha=0.35, linewidths=0)
    ax.set(xlabel="distance in X", ylabel="distance in the codes", xlim=(0, top), ylim=(0, top))
    ax.set_title(title, fontsize=10)
    ax.set_box_aspect(1)
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
            colours = {"c": kinds[rows], "cmap": "tab10" if kinds.max() < 10 else "viridis"}
        ax.scatter(*((points[rows] - centre) @ directions.T).T, s=4, linewidths=0, alpha=0.7, **colours)
        ax.set_title(title, fontsize=10)
        quiet(ax)
    return fig


def plot_spectrum(
    values: ArrayLike,
    n_kept: int,
    *,
    information: ArrayLike | None = None,
    name: str = "standard deviation",
    most: int = 100,
) -> Any:
    """Values in decreasing order on a log scale, a dotted line after those kept; below, the information in each.

    Parameters
    ----------
    values : array (n_codes,)
        What codes are ordered by, such as the ``importance_`` of a flow.
    n_kept : int
        How many are kept.
    information : array (n_codes,), optional
        Nats that each code carries, in the order of ``values``.
    name : str
        What the values are.
    most : int
        Codes drawn.

    Examples
    --------
    >>> plot_spectrum(np.array([2.0, 1.0, 0.01, 0.01]), 2).axes[0].get_yscale()
    'log'
    """
    order = np.argsort(-np.asarray(values, float), kind="stable")[:most]
    panels = [(name, np.asarray(values, float)[order])]
    if information is not None:
        panels.append(("information (nats)", np.asarray(information, float)[order]))
    fig = figure(6.4, 2.6 * len(panels))
    axes = fig.subplots(len(panels), 1, squeeze=False)[:, 0]
    for ax, (label, shown) in zip(axes, panels):
        ax.plot(np.arange(1, len(order) + 1), shown, ".-", color=BLUE, markersize=4, linewidth=0.8)
        ax.axvline(n_kept + 0.5, color=RED, linestyle=":", linewidth=1.2)
        ax.set(ylabel=label, xlim=(0, len(order) + 1))
        quiet(ax)
    axes[0].set_yscale("log")
    axes[0].set_title(f"{n_kept} of {np.size(values)} kept", fontsize=10)
    axes[-1].set_xlabel("code")
    return fig


def plot_eigenvalues(values: ArrayLike, n_submanifolds: int, *, scale: float | None = None) -> Any:
    """Lowest eigenvalues of the connection Laplacian, those below the gap apart, on a log scale.

    Parameters
    ----------
    values : array
        ``spectrum_`` of a :class:`~unbraid.Geomancer`.
    n_submanifolds : int
        One more than there are eigenvalues below the gap.
    scale : float, optional
        First nonzero eigenvalue of the scalar Laplacian, drawn as a line.

    Examples
    --------
    >>> plot_eigenvalues(np.array([1e-4, 0.05, 0.06]), 2).axes[0].get_xlabel()
    'eigenvalue'
    """
    shown = np.maximum(np.asarray(values, float), 1e-7)
    order = np.arange(1, len(shown) + 1)
    below = order < n_submanifolds
    fig, ax = chart(5, 3.6)
    ax.plot(order[below], shown[below], "o", color=RED, label=f"below the gap: {below.sum()}")
    ax.plot(order[~below], shown[~below], "o", color=BLUE, label="above")
    if 0 < below.sum() < len(shown):
        ax.axhspan(shown[below].max(), shown[~below].min(), color="0.92")
    if scale is not None:
        ax.axhline(scale, color="0.5", lw=1, ls="--", label="first scalar eigenvalue")
    ax.set(
        yscale="log",
        xlabel="eigenvalue",
        ylabel="value",
        title=f"{n_submanifolds} submanifold{'s' * (n_submanifolds > 1)}",
        xticks=order,
    )
    ax.legend(fontsize=8)
    return fig


def plot_selection(
    n_neighbors: ArrayLike, scores: ArrayLike, groups: ArrayLike, *, chosen: int, excluded: ArrayLike | None = None
) -> Any:
    """Score of every setting tried, over the size of the neighbourhoods, one line per PCA size.

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
    fig, ax = chart(5.2, 3.0)
    sizes = np.unique(group)
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
    return fig
