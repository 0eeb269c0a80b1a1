"""How each code answers to the true factors: a heat map over two of them, a line over each of the others."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unbraid.report.drawing import BLUE, figure, quiet, same_rows


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
    places, shape = [], []
    for factor in over:
        place, centres = _levels(z[:, factor], n_bins)
        places.append(place)
        shape.append(len(centres))
    cell = np.ravel_multi_index(tuple(places), tuple(shape))
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


def plot_factor_maps(
    factors: ArrayLike,
    codes: ArrayLike,
    *,
    over: tuple[int, int] | None = None,
    factor_names: Sequence[str] | None = None,
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
    factor_names : sequence of str, optional
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
    >>> fig = plot_factor_maps(z, z[:, 1:], factor_names=("shape", "x", "y"))
    >>> sorted({ax.get_xlabel() for ax in fig.axes} - {""})
    ['shape', 'y']
    """
    z, y = same_rows(factors, codes)
    n_factors = z.shape[1]
    if n_factors < 2:
        raise ValueError("factors has one column; a factor map needs at least two factors.")
    y = y - y.mean(axis=0)
    down, across = (n_factors - 2, n_factors - 1) if over is None else (i % n_factors for i in over)
    names = list(factor_names) if factor_names is not None else [f"factor {i + 1}" for i in range(n_factors)]
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
        axes[0].set_ylabel(f"code {j + 1}\n{names[down]}", fontsize=8)
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
