"""Codes over the true factors: point by point, as means over a grid, and the two planes side by side."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unbraid.metrics.kinds import circular_correlation, columns_of
from unbraid.metrics.matching import correlations, match
from unbraid.report.drawing import BLUE, figure, named, panels, quiet, same_rows


def plot_factor_maps(
    factors: ArrayLike,
    codes: ArrayLike,
    *,
    factor_names: Sequence[str] | None = None,
    code_names: Sequence[str] | None = None,
    title: str = "",
    columns: int = 5,
    kinds: Sequence[str] = (),
    factor_kinds: Sequence[str] = (),
) -> Any:
    """Each code as a colour over the true factors, one panel per code.

    A disentangled code changes along one axis only: its bands of colour run parallel to the other. With more than two
    factors a panel takes the two that its code follows most; with one, it shows the code against it.

    Parameters
    ----------
    factors : array (n, number of factors)
    codes : array (n, number of codes)
    factor_names, code_names : sequences of str, optional
    title : str
    columns : int
        Panels side by side.
    kinds, factor_kinds : sequences of str
        What codes and factors are, as in :func:`unbraid.metrics.mcc`; plain numbers where left out. An angle is drawn
        in colours that close, and compared with angles by the circular correlation.

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
    labels, names = named(code_names, y.shape[1], "code"), named(factor_names, z.shape[1], "factor")
    angles = columns_of("circle", kinds)
    correlation = _compared(z, y, columns_of("circle", factor_kinds), angles)
    fig, axes = panels(y.shape[1], columns, 2.35, 2.5 + (0.25 if title else 0))
    for j, ax in enumerate(axes):
        best = int(np.argmax(np.abs(correlation[:, j])))
        label = f"{labels[j]}: {names[best]}, r = {correlation[best, j]:+.3f}"
        if z.shape[1] == 1:
            ax.scatter(z[:, 0], y[:, j], s=4, color=BLUE, linewidths=0)
            ax.set(xlabel=names[0], ylabel=labels[j])
        else:
            a, b = np.sort(np.argsort(-np.abs(correlation[:, j]), kind="stable")[:2])
            low, high = (-np.pi, np.pi) if j in angles else np.quantile(y[:, j], [0.01, 0.99])  # without stray points
            colours = {"cmap": "twilight" if j in angles else "viridis", "vmin": low, "vmax": high}
            ax.scatter(z[:, a], z[:, b], c=y[:, j], s=6, linewidths=0, **colours)
            ax.set(xlabel=names[a], ylabel=names[b])
            ax.set_box_aspect(1)
        ax.set_title(label, fontsize=8)
        quiet(ax)
    if title:
        fig.suptitle(title, fontsize=11, fontweight="bold")
    return fig


def _compared(
    factors: NDArray[np.float64], codes: NDArray[np.float64], circles: Sequence[int], angles: Sequence[int]
) -> NDArray[np.float64]:
    """Correlations of all factors with all codes: circular between angles, 0 between an angle and a number."""
    table = correlations(factors, codes)
    table[list(circles)] = 0
    if circles:  # otherwise nothing is known of the factors, and an angle is compared as a number
        table[:, list(angles)] = 0
    for i in circles:
        for j in angles:
            table[i, j] = circular_correlation(factors[:, i], codes[:, j])
    return table


def mean_codes(factors: ArrayLike, codes: ArrayLike, over: Sequence[int], *, n_bins: int = 64) -> NDArray[np.float64]:
    """Mean of each code at each value of the chosen factors.

    Parameters
    ----------
    factors : array (n, number of factors)
    codes : array (n, n_codes)
    over : sequence of int
        Which factors.
    n_bins : int
        A factor with more values than this is cut into as many bins of equal width.

    Returns
    -------
    array (n_codes, values of the first chosen factor, values of the second, ...)
        NaN where no point lies.

    Examples
    --------
    >>> mean_codes([[0, 0], [0, 1], [1, 0], [1, 0]], [[1.0], [2.0], [3.0], [5.0]], (0, 1))
    array([[[ 1.,  2.],
            [ 4., nan]]])
    """
    z, y = same_rows(factors, codes)
    places, levels = zip(*(_levels(z[:, factor], n_bins) for factor in over))
    shape = tuple(map(len, levels))
    cell = np.ravel_multi_index(places, shape)
    size = int(np.prod(shape))
    count = np.bincount(cell, minlength=size).astype(float)
    count[count == 0] = np.nan
    return np.stack([np.bincount(cell, weights=column, minlength=size) / count for column in y.T]).reshape(-1, *shape)


def _levels(values: NDArray[np.float64], n_bins: int) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Which level each value has, and the levels: the values themselves, or the centres of bins."""
    levels, place = np.unique(values, return_inverse=True)
    if len(levels) <= n_bins:
        return place, levels
    edges = np.linspace(levels[0], levels[-1], n_bins + 1)
    return np.clip(np.searchsorted(edges, values, side="right") - 1, 0, n_bins - 1), (edges[1:] + edges[:-1]) / 2


def plot_mean_codes(
    factors: ArrayLike,
    codes: ArrayLike,
    *,
    over: tuple[int, int] | None = None,
    factor_names: Sequence[str] | None = None,
    code_names: Sequence[str] | None = None,
    split: int | None = None,
    most: int | None = 10,
    n_bins: int = 64,
) -> Any:
    """Mean of each code over two factors as a heat map, and over each of the others as a line.

    Codes are drawn as what they differ from their mean over all points, all on one scale.
    A disentangled code is a clean gradient along one axis of its heat map and flat in all lines, or flat in the heat
    map and moved by one line. Rows come by decreasing spread of the code, so dead codes stand last.

    Parameters
    ----------
    factors : array (n, number of factors)
    codes : array (n, n_codes)
    over : (int, int), optional
        The factors of the heat map, down and across; the last two where left out (the position, in dSprites).
    factor_names, code_names : sequences of str, optional
    split : int, optional
        A factor of few values, such as the shape, each of which gets a line of its own; without it a line is the mean.
    most : int or None
        Rows at most.
    n_bins : int
        A factor with more values than this is cut into as many bins of equal width.

    Returns
    -------
    matplotlib.figure.Figure

    References
    ----------
    Higgins et al. (2017), beta-VAE: learning basic visual concepts with a constrained variational framework, figure 7.

    Examples
    --------
    >>> z = np.random.default_rng(0).integers(0, 4, size=(200, 3))
    >>> fig = plot_mean_codes(z, z[:, 1:], factor_names=("shape", "x", "y"))
    >>> sorted({ax.get_xlabel() for ax in fig.axes} - {""})
    ['shape', 'y']
    """
    z, y = same_rows(factors, codes)
    n_factors = z.shape[1]
    if n_factors < 2:
        raise ValueError("factors has one column; a factor map needs at least two factors.")
    y = y - y.mean(axis=0)
    down, across = (n_factors - 2, n_factors - 1) if over is None else (i % n_factors for i in over)
    labels, names = named(code_names, y.shape[1], "code"), named(factor_names, n_factors, "factor")
    others = [i for i in range(n_factors) if i not in (down, across)]
    rows = np.argsort(-y.std(axis=0), kind="stable")[:most]
    maps = mean_codes(z, y, (down, across), n_bins=n_bins)
    lines = [mean_codes(z, y, (i,) if split in (None, i) else (i, split), n_bins=n_bins) for i in others]
    top = max(float(np.nanmax(np.abs(means))) for means in [maps, *lines]) or 1.0
    fig = figure(1.75 + 1.5 * len(others), 1.3 * len(rows) + 0.45)
    grid = fig.subplots(len(rows), 1 + len(others), squeeze=False)
    for row, (j, axes) in enumerate(zip(rows, grid)):
        picture = axes[0].imshow(maps[j], cmap="RdBu_r", vmin=-top, vmax=top, interpolation="nearest", aspect="auto")
        axes[0].set_box_aspect(1)
        axes[0].set(xticks=[], yticks=[])
        axes[0].set_ylabel(f"{labels[j]}\n{names[down]}", fontsize=8)
        for ax, factor, means in zip(axes[1:], others, lines):
            _lines(ax, _levels(z[:, factor], n_bins)[1], means[j], top)
            ax.tick_params(labelbottom=row == len(rows) - 1)
    for ax, factor in zip(grid[-1], [across, *others]):
        ax.set_xlabel(names[factor], fontsize=8)
    if split is not None and (divided := [k for k, factor in enumerate(others) if factor != split]):
        ax = grid[0, 1 + divided[0]]
        ax.legend(
            ax.get_lines()[1:], [f"{v:g}" for v in _levels(z[:, split], n_bins)[1]], title=names[split],
            fontsize=6, title_fontsize=6, frameon=False, ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1.0),
        )  # fmt: skip
    fig.colorbar(picture, ax=grid[:, 0], location="top", aspect=12, shrink=0.9).ax.tick_params(labelsize=6)
    return fig


def _lines(ax: Any, levels: NDArray[np.float64], means: NDArray[np.float64], top: float) -> None:
    """Means (levels,) as one line, or (levels, lines) as several, each with its colour."""
    several = means.reshape(len(levels), -1).T
    ax.axhline(0, color="#dddddd", linewidth=0.6)
    for k, line in enumerate(several):
        ax.plot(levels, line, ".-", color=BLUE if len(several) == 1 else f"C{k}", markersize=3, linewidth=0.9)
    ax.set(ylim=(-1.1 * top, 1.1 * top))
    quiet(ax)


def plot_recovery(
    factors: NDArray, codes: NDArray, stds: NDArray, labels: NDArray | None = None, *, score: float | None = None
) -> Any:
    """Ground truth, codes matched to it, and spectrum side by side (GIN's Figure 2), for two factors.

    Parameters
    ----------
    factors : array (n, 2)
    codes : array (n, d)
    stds : array (d,)
        The spectrum.
    labels : array (n,), optional
        Classes, shown by colour.
    score : float, optional
        MCC, written above the codes.

    Returns
    -------
    Figure

    Examples
    --------
    >>> z = np.random.default_rng(0).normal(size=(50, 2))
    >>> len(plot_recovery(z, -z[:, ::-1], np.ones(2)).axes)
    3
    """
    pairs = match(factors, codes)
    matched = (codes[:, pairs.code] * np.sign(pairs.correlation))[:, np.argsort(pairs.factor)]
    fig = figure(9, 3)
    truth, found, spectrum = fig.subplots(1, 3)
    colours: Any = {"color": BLUE} if labels is None else {"c": labels, "cmap": "tab10"}
    for ax, points, title in ((truth, factors, "ground truth"), (found, matched, "reconstruction")):
        ax.scatter(points[:, 0], points[:, 1], s=2, linewidths=0, **colours)
        ax.set(xticks=[], yticks=[])
        ax.set_title(title if score is None or ax is truth else f"{title}, MCC {score:.3f}", fontsize=10)
    spectrum.semilogy(np.arange(1, len(stds) + 1), np.sort(stds)[::-1], ".-", color=BLUE)
    spectrum.set_title("spectrum (std)", fontsize=10)
    return fig
