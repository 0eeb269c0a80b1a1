"""The pictures of the reproduction of Horan et al. (2021)."""

from typing import Any

import numpy as np

from unbraid.manifold.neighbors import isometry_of_pairs
from unbraid.report.drawing import BLUE, GREY, RED, as_pictures, figure, panels, quiet, show_sheet
from unbraid.report.factor_maps import mean_codes
from unbraid_papers.bench import Bench
from unbraid_papers.horan_limits import STRETCHES
from unbraid_papers.horan_manifolds import FFHQ, SHAPES, TO_THE_LETTER, images_of, n_factors_of
from unbraid_papers.paper import Results, Rows

COLOURS = (BLUE, RED, "#2a8c6a", "#b8860b", "#7d5ba6", GREY, "#c2577a", "#4aa3b5", "#8a6d3b", "#5c7f1e", "#333333")
MAPPED = ("HLLE+ICA", TO_THE_LETTER, "LEM+ICA", "HAE", "AE-2", "IRMAE-2", "VAE-2", "PCA")
DECODERS = ("HAE", "AE-2", "IRMAE-2", "VAE-2")


def _runs(results: Results) -> Rows:
    return Rows([*results["manifolds"], *results["networks"]])


def shown_manifold(rows: Rows) -> str:
    """The paper's faces where there are any."""
    return FFHQ[0] if len(rows.where(manifold=FFHQ[0])) else SHAPES[1]


def draw_faces(results: Results, bench: Bench) -> Any:
    """A sheet per pair of components: the faces that are nearest to a grid of 4 x 4 values."""
    names = [m for m, _ in results["manifolds"].groups("manifold") if m in FFHQ and n_factors_of(m) == 2]
    fig, axes = panels(max(len(names), 1), 5, 1.3, 1.5)
    for ax, name in zip(axes, names):
        images = images_of(name, 0, bench)
        ticks = np.linspace(-1.7, 1.7, 4)
        picked = [[int(np.square(images.factors - (x, y)).sum(axis=1).argmin()) for x in ticks] for y in ticks[::-1]]
        show_sheet(ax, np.stack([as_pictures(images.X[row]) for row in picked]))
        first, second = name.split()[1].strip(","), name.split()[2]
        ax.set_title(f"{name.split()[0]}: {first} right, {second} up", fontsize=7)
    for ax in axes[len(names) :]:
        ax.axis("off")
    return fig


def draw_error(results: Results, bench: Bench) -> Any:
    """Bars of 1 - MCC of HLLE+ICA: what the best maps of the codes leave, and what the rotation adds."""
    rows = results["manifolds"].where(method="HLLE+ICA")
    names = [name for name, _ in rows.groups("manifold")]
    left = {
        column: np.array([1 - rows.where(manifold=name)[column].mean() for name in names])
        for column in ("best_quadratic", "best_map", "mcc")
    }
    fig = figure(7.2, 2.6)
    ax = fig.subplots()
    parts = ("embedding: left by the best quadratic map", "embedding: bent, a quadratic map removes it", "rotation")
    below = np.zeros(len(names))
    for label, colour, reached in zip(parts, (GREY, BLUE, RED), left.values()):
        ax.bar(names, reached - below, bottom=below, color=colour, label=label)
        below = reached
    ax.set_ylabel("1 - MCC of HLLE+ICA", fontsize=8)
    ax.tick_params(axis="x", labelrotation=30, labelsize=7)
    ax.legend(fontsize=7, frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3)
    quiet(ax)
    return fig


def draw_scores(results: Results, bench: Bench) -> Any:
    """A box per method over manifolds and seeds, a dot per run, coloured by the kind of manifold."""
    rows = _runs(results)
    groups = dict(rows.groups("method"))
    kinds = list(dict.fromkeys(_kind(name) for name, _ in rows.groups("manifold")))
    fig = figure(9.0, 3.8)
    ax = fig.subplots()
    ax.boxplot([group["mcc"] for group in groups.values()], widths=0.6, showfliers=False, medianprops={"color": "#222"})
    rng = np.random.default_rng(0)
    for colour, kind in zip(COLOURS, kinds):
        own = [[row["mcc"] for row in group if _kind(row["manifold"]) == kind] for group in groups.values()]
        dots = [(place, value) for place, values in enumerate(own, 1) for value in values]
        places, values = np.array(dots).T
        ax.plot(places + rng.uniform(-0.22, 0.22, len(dots)), values, ".", color=colour, markersize=4, label=kind)
    ax.set_xticks(range(1, len(groups) + 1), list(groups), rotation=30, ha="right", fontsize=7)
    ax.set_ylabel("MCC", fontsize=8)
    ax.set_ylim(0, 1.03)
    ax.legend(fontsize=7, frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=6)
    quiet(ax)
    return fig


def _kind(manifold: str) -> str:
    """Squares of the paper, ffhq, DCGAN, or a subject of StyleGAN2."""
    return "squares" if manifold in SHAPES else manifold.split()[0]


def draw_maps(results: Results, bench: Bench) -> Any:
    """Two rows, one per code; a column per method."""
    rows = _runs(results)
    manifold = shown_manifold(rows)
    methods = [m for m in MAPPED if len(rows.where(manifold=manifold, method=m, seed=0))]
    fig = figure(1.25 * len(methods), 2.9)
    axes = fig.subplots(2, len(methods), squeeze=False)
    for column, method in zip(axes.T, methods):
        kept = bench.kept({"manifold": manifold, "seed": 0, "method": method})
        for ax, means in zip(column, mean_codes(kept["factors"], kept["codes"], (0, 1), n_bins=10)):
            low, high = np.nanquantile(means, (0.02, 0.98))
            ax.imshow(means.T, cmap="viridis", vmin=low, vmax=high, origin="lower", interpolation="nearest")
            ax.set(xticks=[], yticks=[])
        column[0].set_title(method, fontsize=8)
    axes[0, 0].set_ylabel("first code", fontsize=7)
    axes[1, 0].set_ylabel("second code", fontsize=7)
    fig.suptitle(f"{manifold}: codes as colours over the true factors", fontsize=8)
    return fig


def draw_isometry(results: Results, bench: Bench) -> Any:
    """Nearby pairs for HLLE+ICA, HAE and two baselines, after the best diagonal rescaling."""
    rows = _runs(results)
    manifold = shown_manifold(rows)
    methods = [
        m for m in ("HLLE+ICA", "HAE", "AE-2", "IRMAE-2") if len(rows.where(manifold=manifold, method=m, seed=0))
    ]
    fig, axes = panels(len(methods), 4, 2.1, 2.3)
    for ax, method in zip(axes, methods):
        kept = bench.kept({"manifold": manifold, "seed": 0, "method": method})
        codes, lengths, (i, j) = kept["codes"].astype(float), kept["lengths"], kept["pairs"]
        score, scale = isometry_of_pairs(codes[i] - codes[j], lengths)
        found = np.linalg.norm((codes[i] - codes[j]) * scale, axis=1)
        ax.plot(lengths, found, ".", color=BLUE, markersize=1.5, alpha=0.5)
        ax.plot([0, lengths.max()], [0, lengths.max()], color=RED, linewidth=0.8)
        ax.set_title(f"{method}: {score:.2f}", fontsize=8)
        ax.set_xlabel("distance of images", fontsize=7)
        ax.set(xlim=(0, None), ylim=(0, 1.6 * lengths.max()))
        quiet(ax)
    axes[0].set_ylabel("distance of codes", fontsize=7)
    return fig


def draw_strips(results: Results, bench: Bench) -> Any:
    """A block of strips per manifold, one row per model."""
    rows = results["networks"].where(seed=0, method=DECODERS)
    manifolds = [m for m, _ in rows.groups("manifold") if m in (SHAPES[0], FFHQ[0])]
    fig = figure(3.9, 0.48 * len(manifolds) * len(DECODERS) + 0.3, "compressed")
    axes = fig.subplots(len(manifolds), squeeze=False)[:, 0]
    for ax, manifold in zip(axes, manifolds):
        methods = [m for m in DECODERS if len(rows.where(manifold=manifold, method=m))]
        strips = [bench.kept({"manifold": manifold, "seed": 0, "method": m})["strip"] for m in methods]
        some = [0, *range(1, len(strips[0]) - 1, 2), len(strips[0]) - 1]  # the real ends, and every other step
        show_sheet(ax, np.stack([as_pictures(s[some]) for s in strips]), rows=methods)
        ax.set_title(manifold, fontsize=8)
    return fig


def draw_neighbors(results: Results, bench: Bench) -> Any:
    """MCC and local isometry against k."""
    fig, axes = panels(2, 2, 3.4, 2.5)
    for colour, (manifold, rows) in zip(COLOURS, results["neighbours"].groups("manifold")):
        for ax, column in zip(axes, ("mcc", "isometry")):
            ax.plot(rows["k"], rows[column], "o-", color=colour, markersize=3, linewidth=1, label=manifold)
        best = rows["isometry"].argmax()
        axes[0].plot(rows["k"][best], rows["mcc"][best], "o", mfc="none", mec=colour, markersize=9)
    for ax, label in zip(axes, ("MCC (circled: chosen)", "local isometry")):
        ax.set_xscale("log")
        ax.set_xticks(rows["k"], [str(k) for k in rows["k"]])
        ax.minorticks_off()
        ax.set_xlabel("neighbours k", fontsize=8)
        ax.set_ylabel(label, fontsize=8)
        quiet(ax)
    axes[0].set_ylim(0.9, 1.005)
    axes[1].set_ylim(0, 1.03)
    axes[1].legend(fontsize=7, frameon=False)
    return fig


def draw_rescaling(results: Results, bench: Bench) -> Any:
    """A line per method over the shapes of the field, a dot per seed."""
    fig = figure(5.2, 2.7)
    ax = fig.subplots()
    for k, (method, rows) in enumerate(results["rescaling"].groups("method")):
        groups = [rows.where(factors=f)["mcc"] for f in STRETCHES]
        ax.plot([g.mean() for g in groups], "-", color=COLOURS[k], linewidth=1, label=method)
        for i, values in enumerate(groups):
            ax.plot([i] * len(values), values, ".", color=COLOURS[k], markersize=5)
    ax.set_xticks(range(len(STRETCHES)), STRETCHES)
    ax.set_ylabel("rank MCC", fontsize=8)
    ax.set_ylim(0, 1.03)
    ax.legend(fontsize=7, frameon=False)
    quiet(ax)
    return fig


def draw_limits(results: Results, bench: Bench) -> Any:
    """One panel per limit."""
    names = {"images": "images", "noise": "standard deviation of the noise", "factors": "factors"}
    fig, axes = panels(3, 3, 2.4, 2.3)
    for ax, (limit, label) in zip(axes, names.items()):
        groups = list(results["limits"].where(limit=limit).groups("at"))
        ax.plot([rows["mcc"].mean() for _, rows in groups], "-", color=GREY, linewidth=1)
        for i, (_, rows) in enumerate(groups):
            ax.plot([i] * len(rows), rows["mcc"], ".", color=BLUE, markersize=5)
        ax.set_xticks(range(len(groups)), [f"{at:g}" for at, _ in groups])
        ax.set_xlabel(label, fontsize=8)
        ax.set_ylim(0, 1.03)
        quiet(ax)
    axes[0].set_ylabel("MCC of HLLE+ICA", fontsize=8)
    return fig
