"""(c) How do scores spread over methods, strengths and seeds?"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from unbraid.evaluation.interval import interval
from unbraid.report.drawing import GREY, figure, quiet
from unbraid.study.analysis.answers import Answer, Unanswerable
from unbraid.study.analysis.claims import judged
from unbraid.study.analysis.frames import SETTING, Floats, Ints, chosen_metrics, scored
from unbraid.study.analysis.paper import METRIC_TITLES, PAPER, method_title, metric_title
from unbraid.study.analysis.resampling import over_seeds
from unbraid.study.frames import Study


@dataclass(frozen=True)
class Spread(Answer):
    """Distributions of the scores; see :class:`~unbraid.study.analysis.Answer`.

    Attributes
    ----------
    runs : DataFrame
        One row per run: dataset, method, strength, seed and its scores.
    metrics : tuple of str
    """

    runs: Any
    metrics: tuple[str, ...]

    def figure(self) -> Any:
        """Every run as a dot: a row per data set, a panel per metric, a column per method; darker is stronger."""
        methods = sorted(self.runs["method"].unique())
        datasets = sorted(self.runs["dataset"].unique())
        width = max(1.9, 0.3 * len(methods) + 0.8)
        fig = figure(width * len(self.metrics), 2.3 * len(datasets) + 0.5)
        axes = fig.subplots(len(datasets), len(self.metrics), squeeze=False, sharex=True)
        rng = np.random.default_rng(0)
        shade = self.runs.groupby(["dataset", "method"])["strength"].rank("dense", pct=True).fillna(1.0)
        for i, j in np.ndindex(axes.shape):
            ax, metric, mine = axes[i, j], self.metrics[j], self.runs["dataset"] == datasets[i]
            rows = self.runs[mine]
            x = rows["method"].map(methods.index) + rng.uniform(-0.28, 0.28, len(rows))
            ax.scatter(x, rows[metric], c=shade[mine], cmap="viridis_r", vmin=0, vmax=1, s=7, linewidths=0, alpha=0.8)
            middle = rows.groupby("method")[metric].median()
            place = middle.index.map(methods.index)
            ax.hlines(middle, place - 0.35, place + 0.35, color=GREY, lw=1.5, zorder=0)
            quiet(ax)
            ax.set_xticks(range(len(methods)), [method_title(m) for m in methods], rotation=60, ha="right", fontsize=7)
            if i == 0:
                ax.set_title(metric_title(metric), fontsize=9)
            if j == 0:
                ax.set_ylabel(datasets[i], fontsize=8)
        return fig


def spread(
    study: Study,
    *,
    metrics: Sequence[str] | None = None,
    representation: str = "mean",
    n_resamples: int = 500,
    random_state: int = 0,
) -> Spread:
    """Scores of each method, strength and seed, and how often a bad choice beats a good one because of a lucky seed.

    The overlap of two groups is the chance that a random run of the worse one (by its mean) scores higher than a random
    run of the better one: 50 % if they are alike, 0 if they do not overlap. It is too low if all runs decide which
    strength is worst and which is best, and too high if the runs of the other seeds decide. The value is the mean of
    both, and the interval extends from the lower end of the first to the upper end of the second.

    Parameters
    ----------
    study : Study
    metrics : sequence of str, optional
        By default those of the paper's six that are scored.
    representation : {"mean", "sampled"}
    n_resamples : int
        Bootstrap samples behind the intervals.
    random_state : int

    Returns
    -------
    Spread
        ``.table``, ``.runs``, ``.claims``, ``.words``, ``.figure()``.

    References
    ----------
    Locatello et al. (2019), section 5.3, figure 3.
    """
    scores = scored(study, representation)
    names = chosen_metrics(scores, metrics, tuple(METRIC_TITLES))
    frame, values, cells = scores.frame, scores.values(names), scores.cells
    groups = frame.groupby(["dataset", "method"], sort=True).ngroup().to_numpy()
    both, drawn = over_seeds(_overlaps, cells, (values, cells, groups), n_resamples, random_state)
    low, high = _between(both, drawn)
    found = both.mean(axis=0)
    table = frame.groupby(SETTING, dropna=False)[names].agg(["mean", "std", "min", "max"]).stack(0, future_stack=True)
    table = table.rename_axis([*SETTING, "metric"]).reset_index()
    pairs = frame[["dataset", "method"]].drop_duplicates().sort_values(["dataset", "method"])
    swept = np.isfinite(found).all(axis=1)
    if not swept.any():
        raise Unanswerable("no method was run with two or more strengths, which the overlap needs.")
    overall, again = (x[..., swept, :].mean(axis=(-2, -1)) for x in (both, drawn))
    ends = _between(overall, again)
    by = pairs.merge(pd.DataFrame({"metric": names}), how="cross")
    by = by.assign(overlap=found.ravel(), low=low.ravel(), high=high.ravel()).dropna(subset="overlap")
    return Spread(
        title="How do scores spread over methods, strengths and seeds?",
        table=table.merge(by, on=["dataset", "method", "metric"], how="left"),
        claims=(judged("runs-overlap", overall.mean(), *ends),),
        source=f"{PAPER}, section 5.3, figure 3 (Cars3D; the paper prints no numbers)",
        n_runs=len(frame),
        notes=(
            "overlap: chance that a run of the method's worst strength beats one of its best; 50 % where strength does "
            "not matter. Counted as possible from 2.5 %.",
        ),
        runs=frame[["run", *SETTING, "seed", *names]],
        metrics=tuple(names),
    )


def _between(both: Floats, drawn: Floats) -> tuple[Floats, Floats]:
    """From the lower end of the first estimate, which is too low, to the upper end of the second, which is too high."""
    low, high = interval(both, drawn, (0.0, 1.0))
    return np.minimum(low[0], low[1]), np.maximum(high[0], high[1])


def _overlaps(values: Floats, cells: Ints, groups: Ints) -> Floats:
    """(2, groups, metrics): chance that the worst cell of a group beats the best; NaN for groups of one cell.

    First with worst and best chosen by all runs, then, for each seed, by the runs of the other seeds.
    """
    n_groups, n_metrics = groups.max() + 1, values.shape[1]
    out = np.full((2, n_groups, n_metrics), np.nan)
    for k in range(n_groups):
        mine = np.flatnonzero(groups == k)
        parts = [values[mine[cells[mine] == c]] for c in np.unique(cells[mine])]
        if len(parts) > 1:
            out[0, k] = _won_by_worst(parts, parts)
            rest = [[np.delete(part, s, axis=0) for part in parts] for s in range(min(map(len, parts)))]
            if all(len(part) for part in rest[0]):
                single = [[part[s : s + 1] for part in parts] for s in range(len(rest))]
                out[1, k] = np.mean([_won_by_worst(left, seen) for left, seen in zip(rest, single)], axis=0)
            else:
                out[1, k] = out[0, k]
    return out


def _won_by_worst(judged: list[Floats], compared: list[Floats]) -> Floats:
    """Chance (metrics,) that, of the runs compared, one of the cell that is judged worst beats one of the best."""
    means = np.array([part.mean(axis=0) for part in judged])
    best, worst = means.argmax(axis=0), means.argmin(axis=0)
    pairs = [(compared[w][:, None, j], compared[b][None, :, j]) for j, (w, b) in enumerate(zip(worst, best))]
    return np.array([np.mean(np.sign(bad - good) / 2 + 0.5) for bad, good in pairs])
