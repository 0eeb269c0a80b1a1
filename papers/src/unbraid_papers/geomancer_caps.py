"""How much of a sphere must be seen: GEOMANCER on products of two caps."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

import unbraid as ub
from unbraid.evaluation.claims import Part
from unbraid_papers.bench import Bench
from unbraid_papers.paper import Cell, Results, mean_part

CAPS = (5, 10, 20, 30, 60, 90, 120, 180)  # degrees from the pole to the edge; 90 is half of the sphere, 180 all of it
POINTS = {"small": 2000, "paper": 10_000}
SEEDS = range(3)


def cap_cells(scale: str) -> list[Cell]:
    return [{"cap": cap, "n": POINTS[scale], "seed": seed} for cap in CAPS for seed in SEEDS]


def on_cap(n: int, cap: float, rng: np.random.Generator) -> NDArray[np.float64]:
    """Uniform points (n, 3) of the sphere within ``cap`` degrees of the pole.

    >>> points = on_cap(1000, 60, np.random.default_rng(0))
    >>> bool(np.allclose((points**2).sum(1), 1)), float(points[:, 2].min()) > 0.5, float(points[:, 2].mean().round(1))
    (True, True, 0.8)
    """
    height = rng.uniform(np.cos(np.radians(cap)), 1, n)
    around = rng.uniform(0, 2 * np.pi, n)
    radius = np.sqrt(1 - height**2)
    return np.c_[radius * np.cos(around), radius * np.sin(around), height]


def try_caps(cell: Cell, bench: Bench) -> Mapping[str, Any]:
    """Fit the product of two caps of the same size, and compare with the truth."""
    data = ub.datasets.load("product-manifold", manifolds=["S2", "S2"], random_state=cell["seed"])
    rng = np.random.default_rng(cell["seed"])
    states = np.hstack([on_cap(cell["n"], cell["cap"], rng) for _ in range(2)])
    model = ub.Geomancer(4, random_state=cell["seed"], progress=False).fit(data.observe(states))
    return {
        "angle": ub.metrics.subspace_angle(data.tangents(states), model.subspaces_),
        "right": sorted(model.dims_) == [2, 2],
        "said": bool(model.concerns_) or not model.determined_,
    }


def seen_share(cap: float) -> float:
    """Of the sphere's area, in per cent.

    >>> seen_share(90), seen_share(180)
    (50.0, 100.0)
    """
    return float(round(50 * (1 - np.cos(np.radians(cap))), 1))


def cap_angles(results: Results) -> dict[str, Part]:
    """Mean angle over seeds; a fit that warns counts as a right angle."""
    return {
        f"{seen_share(cap):g} % of each sphere": mean_part(np.where(rows["said"], np.pi / 2, rows["angle"]))
        for cap, rows in results["caps"].groups("cap")
        if cap < 180
    }


def cap_rows(results: Results) -> Iterator[tuple[Any, ...]]:
    for cap, rows in results["caps"].groups("cap"):
        counts = [f"{int(rows[c].sum())} of {len(rows)}" for c in ("right", "said")]
        yield f"{cap} degrees", f"{seen_share(cap):g} %", f"{rows['n'][0]:,}", f"{rows['angle'].mean():.3f}", *counts


def draw_caps(results: Results, bench: Bench) -> Any:
    """Angle against the share of the spheres; filled where the fit does not warn."""
    from unbraid.report.drawing import BLUE, GREY, RED, figure, quiet

    fig = figure(5.4, 2.8)
    ax = fig.subplots()
    for row in results["caps"]:
        colour = BLUE if row["right"] else RED
        face = "none" if row["said"] else colour
        ax.plot(seen_share(row["cap"]), row["angle"], "o", color=colour, mfc=face, ms=5)
    ax.axhline(0.2, color=GREY, lw=0.8, ls=":", label="disentangled")
    ax.plot([], [], "o", color=BLUE, ms=5, label="count right")
    ax.plot([], [], "o", color=RED, ms=5, label="count wrong")
    ax.plot([], [], "o", color=GREY, mfc="none", ms=5, label="the fit warns")
    ax.set(xlabel="of each sphere, %", ylabel="mean angle, rad", ylim=(0, 1.7), xlim=(0, 104))
    ax.legend(fontsize=7, frameon=False, loc="center right")
    quiet(ax)
    return fig
