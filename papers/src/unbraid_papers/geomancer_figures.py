"""The pictures of the reproduction of GEOMANCER."""

from typing import Any

import numpy as np

from unbraid.report.drawing import BLUE, GREY, RED, as_pictures, figure, panels, quiet, show_sheet
from unbraid_papers.bench import Bench
from unbraid_papers.paper import Results

AUTHORS = {1000: 0.388, 2000: 0.304, 4000: 0.239}  # angles of the authors' code, S2 x S2, 2 k = 8 neighbours
COLOURS = {"as in the paper": RED, "corrected": BLUE}


def draw_sizes(results: Results, bench: Bench) -> Any:
    """A panel per manifold, angle against n on logarithmic axes."""
    groups = list(results["sizes"].groups("manifold"))
    fig, axes = panels(len(groups), 3, 3.2, 2.7)
    for ax, (manifold, rows) in zip(axes, groups):
        for version, group in rows.groups("version"):
            means = [(n, g["angle"].mean()) for n, g in group.groups("n")]
            ax.plot(*zip(*means), "-", color=COLOURS[version], linewidth=1, label=version)
            ax.plot(group["n"], group["angle"], ".", color=COLOURS[version], markersize=4)
        if manifold == "S2 x S2":
            ax.plot(*zip(*AUTHORS.items()), "--", color=GREY, linewidth=2, label="authors' code")
        ax.set(xscale="log", yscale="log")
        ax.set_xticks(np.unique(rows["n"]), [f"{n:,}" for n in np.unique(rows["n"])])
        ax.xaxis.minorticks_off()
        ax.set_xlabel("points", fontsize=8)
        ax.set_title(manifold, fontsize=9)
        quiet(ax)
    axes[0].set_ylabel("mean angle, rad", fontsize=8)
    axes[0].legend(fontsize=7, frameon=False)
    return fig


def draw_spheres(results: Results, bench: Bench) -> Any:
    """A dot per fit; filled where the count was right."""
    fig = figure(6.2, 2.8)
    ax = fig.subplots()
    labels: list[str] = []
    for name in ("spheres", "failures"):
        for (manifold, n), rows in results[name].groups("manifold", "n"):
            m = manifold.count("S2")
            short = f"{m} spheres" if manifold.count("S2") == manifold.count("x") + 1 else manifold
            for k, row in enumerate(rows):
                colour = BLUE if row["right"] else RED
                ax.plot(len(labels) + 0.12 * (k - 1), row["angle"], "o", color=colour, markersize=4)
            labels.append(f"{short}\n{n:,} points")
    ax.axhline(np.pi / 2, color=GREY, linewidth=0.8, linestyle="--")
    ax.plot([], [], "o", color=BLUE, markersize=4, label="count right")
    ax.plot([], [], "o", color=RED, markersize=4, label="count wrong")
    ax.legend(fontsize=7, frameon=False, loc="center left")
    ax.set_xticks(range(len(labels)), labels)
    ax.set_ylabel("mean angle, rad", fontsize=8)
    ax.set_ylim(0, 1.7)
    quiet(ax)
    return fig


def draw_objects(results: Results, bench: Bench) -> Any:
    """Images above, a row per object, the angles below."""
    rows = results["objects"]
    fig = figure(6.2, 4.1)
    top, ax = fig.subplots(2, height_ratios=(1, 1.5))
    shown = rows.where(representation="pixels", seed=0)
    if len(shown):
        cells = [{k: row[k] for k in ("mesh", "seed", "representation")} for row in shown]
        show_sheet(top, np.stack([as_pictures(bench.kept(cell)["images"]) for cell in cells]))
    top.set_axis_off()
    names = [name for name, _ in rows.groups("representation")]
    for side, colour, (mesh, group) in zip((-0.06, 0.06), (BLUE, RED), rows.groups("mesh")):
        where = [names.index(name) + side for name in group["representation"]]
        ax.plot(where, group["angle_given_two"], "o", color=colour, markersize=4, label=mesh)
    ax.legend(fontsize=7, frameon=False, loc="lower right")
    ax.axhline(rows["chance"].mean(), color=GREY, linewidth=0.8, linestyle="--")
    ax.set_xticks(range(len(names)), names)
    ax.set_ylabel("mean angle, rad", fontsize=8)
    ax.set(ylim=(0, 1.6), xlim=(-0.5, len(names) - 0.5))
    quiet(ax)
    return fig
