"""What a training recorded: the KL of each code, and every term of the loss."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unbraid.report.drawing import BLUE, RED, chart, panels, quiet

FIRST = ("loss", "losses", "held_out", "reconstruction", "kl", "index_code_mi", "total_correlation", "capacity")
PASSED_OVER = ("step", "seconds", "kl_per_dimension")
WORDS = {
    "kl": "KL",
    "losses": "loss of each start",
    "held_out": "held out, each start",
    "index_code_mi": "index-code MI",
    "dimension_wise_kl": "dimension-wise KL",
}


def plot_kl(
    history: Iterable[Mapping[str, Any]], *, against: str = "step", names: Sequence[str] | None = None, top: int = 10
) -> Any:
    """KL of each code from its prior during training: how many nats each one carries, and when it becomes active.

    Parameters
    ----------
    history : iterable of mappings
        Each with "step" and "kl_per_dimension" (a list of floats), and with "capacity" where the objective has one;
        entries without "kl_per_dimension" are passed over.
    against : str
        What to draw it over: "step", or another recorded number, such as "reconstruction".
    names : sequence of str, optional
        One per code.
    top : int
        Codes that get a colour and a name, those with the largest KL at the end; the others are grey.

    Returns
    -------
    matplotlib.figure.Figure

    References
    ----------
    Burgess et al. (2018), Understanding disentangling in beta-VAE, figure 3.

    Examples
    --------
    >>> history = [{"step": s, "kl_per_dimension": [s / 100, 0.0], "capacity": s / 80} for s in (0, 100, 200)]
    >>> [line.get_label() for line in plot_kl(history).axes[0].lines]
    ['code 1: 2.00', 'code 2: 0.00', 'all codes: 2.00', 'capacity']
    """
    entries = [entry for entry in history if entry.get("kl_per_dimension") is not None]
    if not entries:
        raise ValueError("history has no entry with 'kl_per_dimension'; only variational autoencoders record it.")
    if any(against not in entry for entry in entries):
        raise ValueError(f"history does not record {against!r}; it records {sorted(entries[0])}.")
    x = np.array([float(entry[against]) for entry in entries])
    kl = np.array([np.asarray(entry["kl_per_dimension"], float) for entry in entries])
    from matplotlib import colormaps

    fig, ax = chart(6.0, 3.2)
    order = np.argsort(-kl[-1], kind="stable")
    colours = colormaps["viridis"](np.linspace(0.05, 0.95, min(top, len(order))))
    for rank, j in enumerate(order):
        label = f"{f'code {j + 1}' if names is None else names[j]}: {kl[-1, j]:.2f}"
        style = {"color": colours[rank], "label": label} if rank < top else {"color": "#cccccc", "zorder": 1}
        ax.plot(x, kl[:, j], linewidth=1.2, **style)
    ax.plot(x, kl.sum(axis=1), color="black", linewidth=1.2, label=f"all codes: {kl[-1].sum():.2f}")
    if any("capacity" in entry for entry in entries):
        capacity = [float(entry.get("capacity", np.nan)) for entry in entries]
        ax.plot(x, capacity, color=RED, linestyle=":", linewidth=1.4, label="capacity")
    ax.set_xlabel(_words(against), fontsize=9)
    ax.set_ylabel("KL (nats)", fontsize=9)
    ax.legend(fontsize=7, frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
    return fig


def plot_losses(history: Iterable[Mapping[str, Any]], *, columns: int = 3) -> Any:
    """Every recorded number over the steps, one panel each, titled with the last value (the lowest of several).

    Parameters
    ----------
    history : iterable of mappings
        Each with "step" and any numbers, or lists of as many numbers each time, which become as many lines; texts and
        "seconds" are passed over, and "kl_per_dimension" has :func:`plot_kl`.
    columns : int

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> fig = plot_losses([{"step": 0, "kl": 0.0, "loss": 9.0}, {"step": 10, "kl": 2.0, "loss": 5.0}])
    >>> [ax.get_title() for ax in fig.axes]
    ['loss: 5', 'KL: 2']
    """
    series = recorded_series(list(history))
    fig, axes = panels(len(series), columns, 2.6, 1.75)
    for ax, (name, steps, values) in zip(axes, series):
        alpha = 1 if values.shape[1] == 1 else 0.5
        ax.plot(steps, values, color=BLUE, linewidth=1, alpha=alpha, marker="." if len(steps) < 10 else "")
        ax.set_title(f"{_words(name)}: {np.nanmin(values[-1]):.4g}", fontsize=8)
        quiet(ax)
    for ax in axes[-columns:]:
        ax.set_xlabel("step", fontsize=8)
    return fig


def recorded_series(entries: list[Mapping[str, Any]]) -> list[tuple[str, list[float], NDArray[np.float64]]]:
    """(name, steps, values (steps, lines)) of everything that is a number or a list of them, the usual terms first."""
    names = list(dict.fromkeys(key for entry in entries for key in entry if key not in PASSED_OVER))
    found = []
    for name in sorted(names, key=lambda name: FIRST.index(name) if name in FIRST else len(FIRST)):
        rows = [(float(e["step"]), np.atleast_1d(e[name])) for e in entries if name in e]
        if all(values.dtype.kind in "fiu" for _, values in rows):
            found.append((name, [step for step, _ in rows], np.array([values for _, values in rows], float)))
    if not found:
        raise ValueError(f"history has {len(entries)} entries and no number beside 'step'; nothing was recorded.")
    return found


def _words(name: str) -> str:
    return WORDS.get(name, name.replace("_", " "))
