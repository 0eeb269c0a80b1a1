"""Spectra with the place where they break off, and scores over the settings that were tried."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from unbraid.report.drawing import BLUE, RED, figure, quiet


def plot_spectrum(
    values: ArrayLike,
    n_kept: int,
    *,
    information: ArrayLike | None = None,
    name: str = "standard deviation",
    most: int = 100,
) -> Any:
    """Values in decreasing order on a log scale, a dotted line after those that count; information of each below.

    Parameters
    ----------
    values : array (n_codes,)
        What codes are ordered by, such as the ``importance_`` of a flow.
    n_kept : int
        How many count.
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
    axes[0].set_title(f"{n_kept} of {np.size(values)} count", fontsize=10)
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
    fig = figure(5, 3.6)
    ax = fig.subplots()
    ax.plot(order[below], shown[below], "o", color=RED, label=f"below the gap: {below.sum()}")
    ax.plot(order[~below], shown[~below], "o", color=BLUE, label="above")
    if 0 < below.sum() < len(shown):
        ax.axhspan(shown[below].max(), shown[~below].min(), color="0.92")
    if scale is not None:
        ax.axhline(scale, color="0.5", lw=1, ls="--", label="first scalar eigenvalue")
    ax.set(yscale="log", xlabel="eigenvalue", ylabel="value", title=f"{n_submanifolds} submanifold(s)", xticks=order)
    ax.legend(fontsize=8)
    quiet(ax)
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
    fig = figure(5.2, 3.0)
    ax = fig.subplots()
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
    quiet(ax)
    return fig
