"""Drawings of self-supervised GIN: reconstructions of the best and the worst trial, all trials, digits."""

from typing import Any

import numpy as np

from unbraid.report.drawing import BLUE, GREY, RED, figure, quiet, show_sheet
from unbraid_papers.bench import Bench
from unbraid_papers.gin_figures import matched, projected, scatter, spectrum
from unbraid_papers.paper import Results

TWO, ONE, NOISY = ({"dimensions": d, "noise": n} for d, n in ((2, 0.0), (1, 0.0), (1, 0.01)))


def _ranked(results: Results, kind: dict[str, Any]) -> list[tuple[float, dict[str, Any], int]]:
    """Trials from the worst to the best: score, row and number of the start."""
    rows = results["synthetic"].where(**kind)
    found = [(score, row, start) for row in rows for start, score in enumerate(row["mcc"])]
    return sorted(found, key=lambda trial: trial[0])


def draw_reconstructions(results: Results, bench: Bench) -> Any:
    two, one, noisy = (_ranked(results, kind) for kind in (TWO, ONE, NOISY))
    shown = {
        "(b) two dimensions, median": two[(len(two) - 1) // 2],
        "(c) one dimension, best": one[-1],
        "(d) one dimension, worst": one[0],
        "(e) one, with noise, best": noisy[-1],
        "(f) one, with noise, worst": noisy[0],
    }
    fig = figure(7.8, 5.0)
    grid = fig.subplots(3, 4).reshape(6, 2)
    first = _kept(two[0][1], bench)
    scatter(grid[0, 0], first["factors"], first["labels"], "(a) factors")
    scatter(grid[0, 1], projected(first["X"]), first["labels"], "(a) data (projection)")
    for axes, (title, (score, row, start)) in zip(grid[1:], shown.items()):
        kept = _kept(row, bench)
        scatter(axes[0], matched(kept["codes"][start], kept["factors"]), kept["labels"], title)
        spectrum(axes[1], np.array(row["stds"][start]), np.array(row["true_stds"]), f"MCC {score:.3f}")
    return fig


def _kept(row: dict[str, Any], bench: Bench) -> dict[str, np.ndarray]:
    return bench.kept({k: row[k] for k in ("dimensions", "noise", "seed")})


def draw_trials(results: Results, bench: Bench) -> Any:
    kinds = {
        "two dimensions": results["synthetic"].where(**TWO)["mcc"].ravel(),
        "one dimension": results["synthetic"].where(**ONE)["mcc"].ravel(),
        "one, noise 0.01": results["synthetic"].where(**NOISY)["mcc"].ravel(),
        "one, our defaults": results["defaults"]["mcc"],
    }
    fig = figure(6.4, 2.6)
    ax = fig.subplots()
    for place, scores in enumerate(kinds.values()):
        offsets = np.linspace(-0.2, 0.2, len(scores))
        ax.plot(place + offsets, scores, "o", color=BLUE, markersize=4, alpha=0.8)
        ax.plot([place - 0.3, place + 0.3], [np.median(scores)] * 2, color=RED, linewidth=1.5)
    ax.axhline(0.95, color=GREY, linestyle=":", linewidth=1)
    ax.set_xticks(range(len(kinds)), list(kinds))
    ax.set_ylabel("MCC", fontsize=8)
    quiet(ax)
    return fig


def draw_augmented(results: Results, bench: Bench) -> Any:
    (row,) = results["augmented"]
    sets = bench.kept({k: row[k] for k in ("data", "digits", "seed")})["sets"] / 255
    fig = figure(6.4, 4.2)
    names = ("digit", "moved", "turned", "scaled", "moved,\nturned", "moved,\nscaled", "turned,\nscaled", "all")
    show_sheet(fig.subplots(), sets, columns=names)
    return fig


def draw_spectrum(results: Results, bench: Bench) -> Any:
    row = list(results["digits"])[-1]
    kept = bench.kept({"data": row["data"]})
    fig = figure(6.4, 2.6)
    axes = fig.subplots(1, 2)
    axes[0].set_ylabel("standard deviation", fontsize=8)
    for ax, most in zip(axes, (784, 60)):
        for name, values, color in (
            ("pixels", kept["start"], GREY),
            (f"{row['epochs']:g} epochs", kept["spectrum"], BLUE),
        ):
            ax.plot(np.arange(1, most + 1), np.maximum(values[:most], 1e-4), color=color, linewidth=1.2, label=name)
        ax.set_yscale("log")
        ax.set_xlabel("variable", fontsize=8)
        ax.legend(fontsize=7, frameon=False)
        quiet(ax)
    return fig
