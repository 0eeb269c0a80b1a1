"""(c) How much of the variance of scores do the objective and its strength explain, and how much is due to the seed?"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from unbraid.evaluation.claims import Claim
from unbraid.evaluation.interval import interval
from unbraid.report.drawing import BLUE, GREY, RED, panels, quiet
from unbraid.study.analysis.answers import Answer, Unanswerable
from unbraid.study.analysis.claims import estimated
from unbraid.study.analysis.frames import Floats, Ints, chosen_metrics, scored, tidy
from unbraid.study.analysis.paper import METRIC_TITLES, PAPER, VARIANCE, metric_title, variance_explained_by
from unbraid.study.analysis.resampling import LEAST_SEEDS, resamples, seeds_per_cell
from unbraid.study.frames import Study

PARTS = tuple(VARIANCE)  # objective, objective x strength


@dataclass(frozen=True)
class Variance(Answer):
    """Shares of variance; see :class:`~unbraid.study.analysis.Answer`."""

    def figure(self) -> Any:
        """Shares of each data set and metric with their intervals; grey diamonds are the paper's."""
        datasets = list(dict.fromkeys(self.table["dataset"]))
        metrics = list(dict.fromkeys(self.table["metric"]))
        fig, axes = panels(len(datasets), 2, 4.4, 0.7 + 0.42 * len(metrics))
        for ax, dataset in zip(axes, datasets):
            for part, shift, colour in zip(PARTS, (-0.15, 0.15), (BLUE, RED)):
                rows = self.table[(self.table["dataset"] == dataset) & (self.table["explained by"] == part)]
                place = np.array([metrics.index(m) for m in rows["metric"]]) + shift
                reach = np.nan_to_num([rows["share"] - rows["low"], rows["high"] - rows["share"]]).clip(0)
                ax.errorbar(100 * rows["share"], place, xerr=100 * reach, fmt="o", ms=4, lw=1, color=colour, label=part)
                ax.plot(100 * rows["paper"], place, "D", ms=4, mfc="none", color=GREY, label="_")
            ax.set_yticks(range(len(metrics)), [metric_title(m) for m in metrics])
            ax.set(xlim=(-2, 102), title=dataset)
            ax.title.set_fontsize(9)
            ax.set_xlabel("variance of the score explained (%)", fontsize=8)
            ax.invert_yaxis()
            quiet(ax)
        axes[0].plot([], [], "D", ms=4, mfc="none", color=GREY, label="the paper")
        fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False, fontsize=8)
        return fig


def variance(
    study: Study,
    *,
    metrics: Sequence[str] | None = None,
    representation: str = "mean",
    n_resamples: int = 500,
    random_state: int = 0,
) -> Variance:
    r"""Share of the variance of a score that the objective, and the objective with its strength, explain.

    .. math:: \omega^2 = \frac{SS_{between} - (g - 1)\, MS_{seed}}{SS_{total} + MS_{seed}}

    with g groups (objectives, or pairs of objective and strength) and :math:`MS_{seed}` the mean square within a pair:
    the limit of the paper's plain share :math:`SS_{between} / SS_{total}` for many seeds. With five seeds, the plain
    share of 36 settings that do not differ at all is 20 %; with the paper's fifty it is 2 %. The table has both.

    Parameters
    ----------
    study, metrics, representation, n_resamples, random_state
        As for :func:`spread`.

    Returns
    -------
    Variance
        ``.table``, ``.claims``, ``.words``, ``.figure()``.

    References
    ----------
    Locatello et al. (2019), section 5.3, table 2; Hays (1963), Statistics for psychologists (omega squared).
    """
    scores = scored(study, representation)
    names = chosen_metrics(scores, metrics, tuple(METRIC_TITLES))
    values, cells = scores.values(names), scores.cells
    dataset_of = scores.dataset_of
    objectives = scores.frame.groupby(["dataset", "method"]).ngroup().to_numpy()
    if seeds_per_cell(cells) < 2:
        raise Unanswerable("most settings have one seed; the variance over seeds needs two or more for each setting.")
    found = _shares(values, cells, objectives, dataset_of, scores.datasets)
    drawn = np.empty((0, *found[..., 0, :].shape))
    if seeds_per_cell(cells) >= LEAST_SEEDS:
        spread = _cell_means(values, cells) + _widened(values, cells)
        drawn = np.array([
            _shares(spread[rows], cells[rows], objectives[rows], dataset_of[rows], scores.datasets)[..., 0, :]
            for rows in resamples(cells, n_resamples, random_state, shorter=False)
        ])  # fmt: skip
        # Resamples scatter around the share of the observed, noisy cell means. That share is not the value, so their
        # mean is no estimate of its bias: omega squared has almost none, and only the scatter counts.
        drawn += found[..., 0, :] - drawn.mean(axis=0)
    low, high = interval(found[..., 0, :], drawn, (0.0, 1.0))
    columns = {"share": found[..., 0, :].clip(0), "low": low, "high": high, "plain share": found[..., 1, :]}
    table = tidy(
        {"dataset": scores.datasets, "metric": names, "explained by": PARTS},
        {name: np.swapaxes(values, 1, 2) for name, values in columns.items()},
    )
    asked = zip(table["explained by"], table["dataset"], table["metric"])
    return Variance(
        title="What explains the scores: the objective, its strength, or the seed?",
        table=table.assign(paper=[variance_explained_by(*key) for key in asked]),
        claims=_claims(found[..., 0, :], drawn),
        source=f"{PAPER}, section 5.3, table 2",
        n_runs=len(values),
        notes=(
            "share: omega squared, the limit of the paper's share for many seeds; plain share: the paper's formula, "
            "which is too high with few seeds.",
        ),
    )


def _cell_means(values: Floats, cells: Ints) -> Floats:
    return pd.DataFrame(values).groupby(cells).transform("mean").to_numpy()


def _widened(values: Floats, cells: Ints) -> Floats:
    """Deviations from the cell's mean, times sqrt(S / (S - 1)): drawn with replacement, they vary like new seeds."""
    size = np.bincount(cells)[cells][:, None]
    return (values - _cell_means(values, cells)) * np.sqrt(size / np.maximum(size - 1, 1))


def _shares(values: Floats, cells: Ints, objectives: Ints, dataset_of: Any, datasets: Sequence[str]) -> Floats:
    """(data sets, parts, omega squared and plain, metrics)."""
    out = np.empty((len(datasets), len(PARTS), 2, values.shape[1]))
    in_cell, in_objective = _cell_means(values, cells), _cell_means(values, objectives)
    for d, name in enumerate(datasets):
        mine = dataset_of == name
        x, n_cells = values[mine], len(np.unique(cells[mine]))
        centre = x.mean(axis=0)
        total = ((x - centre) ** 2).sum(axis=0)
        seed = ((x - in_cell[mine]) ** 2).sum(axis=0) / max(len(x) - n_cells, 1)
        for p, (means, groups) in enumerate(((in_objective, objectives), (in_cell, cells))):
            between = ((means[mine] - centre) ** 2).sum(axis=0)
            spare = (len(np.unique(groups[mine])) - 1) * seed
            whole = total + seed
            out[d, p, 0] = np.divide(between - spare, whole, out=np.zeros_like(whole), where=whole > 0)
            out[d, p, 1] = np.divide(between, total, out=np.zeros_like(total), where=total > 0)
    return out


def _claims(found: Floats, drawn: Floats) -> tuple[Claim, ...]:
    """``found`` (data sets, parts, metrics): the claims are about its mean over data sets and metrics."""
    value, spread = found.mean(axis=(0, 2)), drawn.mean(axis=(1, 3))
    return (
        estimated("objective-share", value[0], spread[:, 0], (0.0, 1.0)),
        estimated("objective-and-strength-share", value[1], spread[:, 1], (0.0, 1.0)),
        estimated("seed-matters-more", 1 - value[0], 1 - spread[:, 0], (0.0, 1.0)),
    )
