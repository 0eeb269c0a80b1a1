"""Drawings of the two papers on GIN."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from unbraid.report.drawing import BLUE, GREY, RED, figure, quiet, show_sheet
from unbraid.report.traversal import heat_map
from unbraid_papers.bench import Bench
from unbraid_papers.gin_digits import SEVEN, VALUES
from unbraid_papers.paper import Cell, Drawing, Results, Rows

MOST = 300
PANELS = 4  # latents in a figure
COLORS = np.array([[31, 78, 121], [192, 57, 43], [39, 145, 95], [214, 137, 16], [118, 68, 138]]) / 255
PLAIN: Cell = {"mixing": "volume-preserving", "clusters": 5, "points": 100_000, "spread": "std", "rate": 1e-2}


def kind_of(results: Results, **wanted: Any) -> Rows:
    """The trials of the plain recipe, with these things changed."""
    return results["artificial"].where(**(PLAIN | wanted))


def _median(rows: Rows) -> dict[str, Any]:
    """The trial of median score (the lower of the two in the middle)."""
    return sorted(rows, key=lambda row: row["mcc"])[(len(rows) - 1) // 2]


def scatter(ax: Any, points: np.ndarray, labels: np.ndarray, title: str) -> None:
    """Points by cluster, the axes without numbers: codes are known up to shift and scale."""
    ax.scatter(*points[:MOST, :2].T, s=3, c=COLORS[labels[:MOST] % len(COLORS)], linewidths=0)
    ax.set(xticks=[], yticks=[])
    ax.set_title(title, fontsize=9)
    quiet(ax)


def spectrum(ax: Any, found: np.ndarray, truth: np.ndarray, title: str = "spectrum") -> None:
    """Standard deviations on a log scale; the truth is grey."""
    order = np.arange(1, len(found) + 1)
    ax.plot(order, truth, "s-", color=GREY, markersize=4, linewidth=0.8, label="truth")
    ax.plot(order, found, "o-", color=BLUE, markersize=4, linewidth=0.8, label="found")
    ax.set_yscale("log")
    ax.set_xlabel("variable", fontsize=8)
    ax.set_title(title, fontsize=9)
    ax.legend(fontsize=7, frameon=False)
    quiet(ax)


def matched(codes: np.ndarray, factors: np.ndarray) -> np.ndarray:
    """The two codes in the order and with the signs of the factors."""
    from unbraid.metrics import match

    found = match(factors, codes)
    return codes[:, found.code[np.argsort(found.factor)]] * np.sign(found.correlation[np.argsort(found.factor)])


def true_spectrum(factors: np.ndarray, labels: np.ndarray, n_noise: int = 8) -> np.ndarray:
    """RMS over clusters of the standard deviations of the factors, and those of the noise."""
    within = np.sqrt(np.mean([factors[labels == c].var(0) for c in np.unique(labels)], axis=0))
    return np.append(np.sort(within)[::-1], np.full(n_noise, 0.01))


def projected(X: np.ndarray) -> np.ndarray:
    """The two directions in which the data vary most."""
    centred = X - X.mean(0)
    return centred @ np.linalg.svd(centred, full_matrices=False)[2][:2].T


def _trials(rows: list[dict[str, Any]], titles: list[str], bench: Bench) -> Any:
    """One trial a row: factors, data, codes, spectrum."""
    fig = figure(7.8, 2.0 * len(rows))
    for axes, row, title in zip(fig.subplots(len(rows), 4, squeeze=False), rows, titles):
        kept = bench.kept({k: row[k] for k in (*PLAIN, "seed")})
        scatter(axes[0], kept["factors"], kept["labels"], "factors")
        scatter(axes[1], projected(kept["X"]), kept["labels"], "data (projection)")
        scatter(axes[2], matched(kept["codes"], kept["factors"]), kept["labels"], f"codes, MCC {row['mcc']:.3f}")
        spectrum(axes[3], np.array(row["stds"]), true_spectrum(kept["factors"], kept["labels"]))
        axes[0].set_ylabel(title, fontsize=8)
    return fig


def draw_found(results: Results, bench: Bench) -> Any:
    return _trials([_median(kind_of(results))], ["five clusters"], bench)


def draw_three(results: Results, bench: Bench) -> Any:
    return _trials([_median(kind_of(results, clusters=3))], ["three clusters"], bench)


def draw_sizes(results: Results, bench: Bench) -> Any:
    many, few = (list(kind_of(results, spread="variance", points=n)) for n in (100_000, 10_000))
    most = int(np.argmax([a["mcc"] - b["mcc"] for a, b in zip(many, few)]))
    return _trials([many[most], few[most]], ["100,000 points", "10,000 points"], bench)


def _digits(results: Results, bench: Bench) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The largest data set of digits that was tried."""
    row = list(results["digits"])[-1]
    cell: Cell = {"data": row["data"]}
    return row, bench.kept(cell)


def draw_spectrum(results: Results, bench: Bench) -> Any:
    row, kept = _digits(results, bench)
    fig = figure(8.2, 2.6)
    for ax, values, title in zip(
        fig.subplots(1, 3),
        (kept["spectrum"], kept["spectrum"][:60], kept["pca"]),
        (f"{row['data']}, {row['epochs']:g} epochs", "the first 60", "PCA"),
    ):
        ax.plot(np.arange(1, len(values) + 1), np.maximum(values, 1e-5), color=BLUE, linewidth=1.2)
        ax.set_yscale("log")
        ax.set_title(title, fontsize=9)
        ax.set_xlabel("variable", fontsize=8)
        if title != "PCA":
            ax.axvline(row["n_informative"] + 0.5, color=RED, linestyle=":", linewidth=1.2)
        quiet(ax)
    return fig


def latents_sheet(moved: np.ndarray, first: int) -> Any:
    """Up to four latents side by side, as in the papers: ten digits in seven columns, and the change from -1 to 1."""
    fig = figure(10.4, 3.5)
    axes = fig.subplots(1, PANELS)
    for number, (ax, images) in enumerate(zip(axes, moved)):
        heat = np.stack([heat_map(digit / 255, VALUES) for digit in images])[:, None]
        columns = ["-2", "", "", "0", "", "", "2", "change"]
        show_sheet(ax, np.concatenate((images[:, SEVEN] / 255, heat / max(heat.max(), 1e-9)), 1), columns=columns)
        ax.set_title(f"variable {first + number}", fontsize=9)
    for ax in axes[len(moved) :]:
        ax.axis("off")
    return fig


def drawings_of_variables(figures: Mapping[int, str]) -> tuple[Drawing, ...]:
    """A drawing of four variables each, by the first of them, counted from 1, with the paper's figures of them."""
    return tuple(
        Drawing(
            f"variables-{first}-to-{first + PANELS - 1}", f"{paper}: variables {first} to {first + PANELS - 1}, seven "
            "values from -2 to 2 standard deviations of a digit; the last column shows what changes between -1 and 1.",
            ("digits",), draw_variables(first),
        )
        for first, paper in figures.items()
    )  # fmt: skip


def draw_variables(first: int) -> Callable[[Results, Bench], Any]:
    """Draws four variables of digits from this one on."""
    return lambda results, bench: latents_sheet(_digits(results, bench)[1]["moved"][first - 1 :][:PANELS], first)


def described(results: Results) -> Iterable[tuple[Any, ...]]:
    """Each variable of the digits in words and numbers."""
    for row in results["digits"]:
        for number, found in enumerate(row["described"], 1):
            yield row["data"], number, f"{found['distance']:.2f}", found["where"], found["moves"], found["style"]


DESCRIBED = ("data", "variable", "moves the pixels by", "most at the", "digits moved", "style that changes most")


def digit_counts(results: Results) -> Iterable[tuple[Any, ...]]:
    for r in results["digits"]:
        yield r["data"], r["epochs"], r["steps"], r["n_informative"], f"{r['low']} to {r['high']}", r["above_noise"]


DIGIT_COUNTS = ("data", "epochs", "steps", "n_informative_", "interval", "above the noise")


def draw_samples(results: Results, bench: Bench) -> Any:
    fig = figure(6.4, 2.1)
    for ax, sheet, title in zip(fig.subplots(1, 2), _digits(results, bench)[1]["samples"], ("T = 1", "T = 0.8")):
        show_sheet(ax, sheet[:6] / 255, columns=range(10))
        ax.set_title(title, fontsize=9)
    return fig


def draw_transfer(results: Results, bench: Bench) -> Any:
    kept = _digits(results, bench)[1]
    fig = figure(3.8, 2.8)
    ax = fig.subplots()
    sheet = np.concatenate((kept["sources"][:, None], kept["transferred"]), 1) / 255
    show_sheet(ax, sheet, columns=["real", *range(10)])
    return fig
