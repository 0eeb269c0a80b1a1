"""Pictures of flows: spectrum, traversals with heat maps, samples, ground truth beside reconstruction; from arrays."""

from typing import Any

import numpy as np

from unbraid.report.drawing import figure


def plot_spectrum(
    stds: np.ndarray, n_informative: int, *, information: np.ndarray | None = None, most: int = 100
) -> Any:
    """Sorted spectrum on a log scale with its knee, and the information of each latent below.

    >>> plot_spectrum(np.array([2.0, 1.0, 0.01, 0.01]), 2).axes[0].get_yscale()
    'log'
    """
    panels = 1 if information is None else 2
    fig = figure(6.4, 2.6 * panels)
    axes = fig.subplots(panels, 1, squeeze=False)[:, 0]
    n = min(most, len(stds))
    position = np.arange(1, n + 1)
    for ax, values, name in zip(axes, (stds, information), ("standard deviation", "information (nats)")):
        if values is None:
            continue
        shown = np.sort(values)[::-1][:n] if values is stds else values[:n]
        ax.plot(position, shown, ".-", color="#1f4e79", markersize=4, linewidth=0.8)
        ax.axvline(n_informative + 0.5, color="#c0392b", linestyle=":", linewidth=1.2)
        ax.set(ylabel=name, xlim=(0, n + 1))
    axes[0].set_yscale("log")
    axes[0].set_title(f"{n_informative} informative latents of {len(stds)}", fontsize=10)
    axes[-1].set_xlabel("latent")
    return fig


def heat_map(images: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Absolute change of each pixel between -1 and +1 standard deviations of a traversal (steps, height, width).

    >>> heat_map(np.stack([np.full((1, 1), v) for v in (-1.0, 0.0, 1.0)]), np.array([-1.0, 0.0, 1.0]))
    array([[2.]])
    """
    at = [int(np.argmin(np.abs(values - v))) for v in (-1, 1)]
    change = np.abs(images[at[1]] - images[at[0]])
    return change if change.ndim == 2 else change.mean(-1)


def plot_traversal(images: np.ndarray, values: np.ndarray, *, title: str = "", names: Any = None) -> Any:
    """A panel as in the papers: a class a row, the latent from -2 to 2 std across, the heat map of the change last.

    Parameters
    ----------
    images : array (classes, steps, height, width[, channels])
    values : array (steps,)
        In standard deviations.
    """
    n_classes, n_steps = images.shape[:2]
    gap = 2
    height, width = images.shape[2:4]
    grid = np.ones((n_classes * height, n_steps * width) + images.shape[4:])
    heat = np.zeros((n_classes * height, width))
    for c in range(n_classes):
        for s in range(n_steps):
            grid[c * height : (c + 1) * height, s * width : (s + 1) * width] = np.clip(images[c, s], 0, 1)
        heat[c * height : (c + 1) * height] = heat_map(images[c], values)
    fig = figure(0.42 * (n_steps + gap), 0.42 * n_classes + 0.5)
    left, right = fig.subplots(1, 2, width_ratios=(n_steps, 1))
    left.imshow(grid, cmap="gray_r", vmin=0, vmax=1)
    right.imshow(heat, cmap="magma")
    ticks = [0, n_steps // 2, n_steps - 1]
    left.set_xticks([(t + 0.5) * width for t in ticks], [f"{values[t]:+g}" for t in ticks])
    left.set_yticks([(c + 0.5) * height for c in range(n_classes)], names if names is not None else range(n_classes))
    left.tick_params(length=0, labelsize=7)
    right.set(xticks=[], yticks=[])
    left.set_title(title, fontsize=9)
    return fig


def plot_samples(images: np.ndarray, *, names: Any = None, title: str = "") -> Any:
    """A grid (styles, classes, height, width[, channels]): one style a row, one class a column."""
    n_rows, n_columns, height, width = images.shape[:4]
    order = (0, 2, 1, 3) + tuple(range(4, images.ndim))
    grid = np.clip(images.transpose(order).reshape(n_rows * height, n_columns * width, *images.shape[4:]), 0, 1)
    fig = figure(0.45 * n_columns, 0.45 * n_rows + 0.4)
    ax = fig.subplots()
    ax.imshow(grid, cmap="gray_r", vmin=0, vmax=1)
    ax.set_xticks([(c + 0.5) * width for c in range(n_columns)], names if names is not None else range(n_columns))
    ax.set_yticks([])
    ax.tick_params(length=0, labelsize=7)
    ax.set_title(title, fontsize=9)
    return fig


def plot_reconstruction(
    factors: np.ndarray,
    codes: np.ndarray,
    stds: np.ndarray,
    labels: np.ndarray | None = None,
    *,
    score: float | None = None,
) -> Any:
    """Ground truth, reconstruction and spectrum side by side (GIN's Figure 2); codes matched to factors by correlation.

    >>> z = np.random.default_rng(0).normal(size=(50, 2))
    >>> len(plot_reconstruction(z, -z[:, ::-1], np.ones(2)).axes)
    3
    """
    n = factors.shape[1]
    correlation = np.corrcoef(factors.T, codes.T)[:n, n:]
    first = int(np.argmax(np.abs(correlation[0])))
    others = np.abs(correlation[1]).copy()
    others[first] = -1
    pair = np.array([first, int(np.argmax(others))])
    matched = codes[:, pair] * np.sign(correlation[np.arange(2), pair])
    fig = figure(9, 3)
    truth, found, spectrum = fig.subplots(1, 3)
    colours: Any = {"color": "#1f4e79"} if labels is None else {"c": labels, "cmap": "tab10"}
    for ax, points, title in ((truth, factors, "ground truth"), (found, matched, "reconstruction")):
        ax.scatter(points[:, 0], points[:, 1], s=2, linewidths=0, **colours)
        ax.set(xticks=[], yticks=[])
        ax.set_title(title if score is None or ax is truth else f"{title}, MCC {score:.3f}", fontsize=10)
    spectrum.semilogy(np.arange(1, len(stds) + 1), np.sort(stds)[::-1], ".-", color="#1f4e79")
    spectrum.set_title("spectrum (std)", fontsize=10)
    return fig
