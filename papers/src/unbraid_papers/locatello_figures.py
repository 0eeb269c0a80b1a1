"""Pictures of the reproduction of Locatello et al."""

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

from unbraid.report.drawing import BLUE, GREY, RED, figure, panels, quiet
from unbraid.study.analysis.paper import metric_title
from unbraid.theory import Entangle
from unbraid_papers.locatello_models import SUPERVISED, UNSUPERVISED
from unbraid_papers.locatello_study import open_export
from unbraid_papers.locatello_theorem import AT_CHANCE, TURNS
from unbraid_papers.paper import Drawing, Results

if TYPE_CHECKING:
    from unbraid_papers.bench import Bench


def draw_square(results: Results, bench: "Bench") -> Any:
    """The first factor over the square of codes at three turns, and points of the factors' law."""
    z = np.random.default_rng(0).uniform(size=(300, 2))
    ticks = np.linspace(0.002, 0.998, 80)
    grid = np.stack(np.meshgrid(ticks, ticks), axis=-1).reshape(-1, 2)
    fig, axes = panels(3, 3, 2.6, 2.8)
    for ax, turn in zip(axes, (0.0, 0.25, 0.5)):
        f = Entangle([stats.uniform()] * 2, turn)
        first = f.inverse(grid)[:, 0].reshape(80, 80)
        ax.contourf(ticks, ticks, first, levels=np.linspace(0, 1, 11), cmap="viridis", alpha=0.75)
        ax.scatter(*f(z).T, c="black", s=4, linewidths=0)
        ax.set(title=f"turn {turn:g}", xlabel="first code", ylabel="second code", xticks=[0, 1], yticks=[0, 1])
        ax.title.set_fontsize(9)
        ax.set_aspect("equal")
        quiet(ax)
    return fig


def draw_turns(results: Results, bench: "Bench") -> Any:
    """Scores of two uniform factors over the turn."""
    rows = results["scores"].where(law="uniform", n_factors=2)
    turns = sorted(rows["turn"])
    fig = figure(6.2, 3.2)
    ax = fig.subplots()
    colours = ("#1f4e79", "#c0392b", "#2e8b57", "#d98c1f", "#7b5ea7", "#4aa3c7", "#5c5c5c")
    for name, colour in zip(AT_CHANCE, colours):
        values = [float(rows.where(turn=turn)[name][0]) for turn in turns]
        chance = float(rows.where(turn=0.5)[f"{name} by chance"][0])
        ax.plot(turns, values, "o-", ms=3, lw=1.2, color=colour, label=metric_title(name).replace("dci", "DCI"))
        ax.plot([0.46, 0.54], [chance, chance], color=colour, lw=3, alpha=0.5)
    ax.set(xlabel="turn (1 exchanges the two factors)", ylabel="score", ylim=(-0.03, 1.05), xticks=TURNS[::2])
    quiet(ax)
    fig.legend(loc="outside right center", frameon=False, fontsize=8)
    return fig


def draw_twins(results: Results, bench: "Bench") -> Any:
    """A panel per score: every model with its twin, joined by a line."""
    rows = results["twins"]
    names = UNSUPERVISED | SUPERVISED
    fig, axes = panels(len(names), 4, 2.1, 1.75)
    for ax, (key, title) in zip(axes, names.items()):
        pairs = np.column_stack([rows[f"{key} plain"], rows[f"{key} entangled"]])
        colour = RED if key in SUPERVISED else BLUE
        ax.plot([0, 1], pairs.T, "o-", ms=3.5, lw=1, color=colour)
        ax.set(xlim=(-0.3, 1.3), xticks=[0, 1], xticklabels=["model", "twin"])
        span = np.ptp(pairs) or 1.0
        bottom = 0 if key in SUPERVISED else pairs.min() - 0.6 * span
        ax.set_ylim(bottom, pairs.max() + (0.15 if key in SUPERVISED else 0.6) * span)
        ax.set_title(title.replace(", sampled", "\n(sampled)").replace(", mean", "\n(mean)"), fontsize=8)
        ax.tick_params(labelsize=7)
        quiet(ax)
    return fig


def draw_correlation(results: Results, bench: "Bench") -> Any:
    """Total correlation of mean and sampled codes over the strength, from the study."""
    from unbraid.study.analysis import Unanswerable, independence

    study = open_export(bench)
    try:
        return independence(study, n_resamples=20).figure()
    except Unanswerable as reason:
        fig = figure(6, 1)
        fig.text(0.02, 0.5, str(reason), color=GREY, fontsize=8, wrap=True)
        return fig
    finally:
        study.close()


DRAWINGS = (
    Drawing("entangled-square",
            "Two uniform factors. Colour is the first factor, as a function of the two codes; dots are points of the "
            "factors' law. They fill the square evenly at every turn, so nothing in the codes tells that the axes no "
            "longer follow the factors.", ("theorem",), draw_square),
    Drawing("scores-over-turn", "Scores of two uniform factors over the turn; thick marks are the chance levels.",
            ("scores",), draw_turns),
    Drawing("twins", "Five VAEs and their entangled twins: scores without labels (blue), and with labels (red).",
            ("twins",), draw_twins),
    Drawing("total-correlation", "The laptop study: total correlation of the mean (red) and of the sampled codes "
            "(blue) over the strength; dots are medians, bars the range over seeds.", ("study",), draw_correlation),
)  # fmt: skip
