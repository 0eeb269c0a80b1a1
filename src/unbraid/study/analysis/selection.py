"""(d) Can models be chosen without labels? Unsupervised scores, and settings that were good elsewhere."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from unbraid.evaluation.claims import Claim
from unbraid.evaluation.interval import interval
from unbraid.report.drawing import BLUE, GREY, figure, quiet
from unbraid.study.analysis.agreement import heat_matrix
from unbraid.study.analysis.answers import Answer
from unbraid.study.analysis.claims import estimated
from unbraid.study.analysis.frames import Floats, Scored, chosen_metrics, scored, tidy
from unbraid.study.analysis.paper import METRIC_TITLES, PAPER, TRANSFER
from unbraid.study.analysis.resampling import LEAST_SEEDS, by_dataset, median_of_last, related, seeds_per_cell
from unbraid.study.analysis.transfer import KINDS, chances, seed_grids
from unbraid.study.analysis.unsupervised import HIGH_IS_GOOD, unsupervised_scores
from unbraid.study.frames import Study


@dataclass(frozen=True)
class Selection(Answer):
    """How good a choice without labels is; see :class:`~unbraid.study.analysis.Answer`.

    Attributes
    ----------
    correlations : DataFrame
        dataset, criterion, metric: rank correlation of an unsupervised score (with its sign set so that higher is
        better) with a metric, and its interval.
    """

    correlations: Any

    def figure(self) -> Any:
        """Left: the chance that a choice beats a random one. Right: rank correlation of each unsupervised score."""
        across = self.correlations.groupby(["criterion", "metric"], sort=False)["correlation"].mean().unstack()
        fig = figure(10.5, max(2.8, 0.3 * max(len(self.table), len(across)) + 1.2))
        left, right = fig.subplots(1, 2)
        place = np.arange(len(self.table))
        reach = [self.table["chance"] - self.table["low"], self.table["high"] - self.table["chance"]]
        left.errorbar(
            100 * self.table["chance"], place, xerr=100 * np.nan_to_num(reach).clip(0), fmt="o", ms=4, color=BLUE
        )
        left.plot(100 * self.table["paper"], place, "D", mfc="none", color=GREY, ms=5, label="the paper")
        left.axvline(50, color=GREY, lw=1, ls=":")
        left.set_yticks(place, self.table["chosen by"])
        left.set_xlim(0, 100)
        left.set_xlabel("chance to beat a random run (%)", fontsize=8)
        left.invert_yaxis()
        left.legend(frameon=False, fontsize=7)
        quiet(left)
        heat_matrix(right, across, "rank correlation with each metric, mean over data sets")
        return fig


def selection(
    study: Study,
    *,
    metrics: Sequence[str] | None = None,
    representation: str = "mean",
    n_resamples: int = 200,
    random_state: int = 0,
) -> Selection:
    """How often a choice made without labels for these data beats a random run.

    There are two kinds of choice: the run with the best value of a criterion that needs no labels (losses, total
    correlation, or UDR, the agreement between models of one setting); or the setting (method and strength) that was
    best for one seed, metric and data set, trained with another seed. Each is compared with a random run.

    Parameters
    ----------
    study, metrics, representation, n_resamples, random_state
        As for :func:`spread`.

    Returns
    -------
    Selection
        ``.table``, ``.correlations``, ``.claims``, ``.words``, ``.figure()``.

    References
    ----------
    Locatello et al. (2019), section 5.4, table 1; Duan et al. (2020) for UDR.
    """
    table = scored(study, representation)
    names = chosen_metrics(table, metrics, tuple(METRIC_TITLES))
    criteria, missing = unsupervised_scores(study, table)
    known = list(criteria)
    signs = [1 if name in HIGH_IS_GOOD else -1 for name in known]  # set so that higher is better
    values = np.column_stack([criteria.to_numpy(np.float64) * signs, table.values(names)])
    moved = _moved(table, names, n_resamples, random_state)
    won, correlated = (
        by_dataset(partial(ask, n=len(known)), table, values, n_resamples, random_state) for ask in (_picked, related)
    )
    picked, drawn = won[0].mean(axis=(0, 2)), won[1].mean(axis=(1, 3))  # over data sets and metrics
    low, high = interval(picked, drawn, (0.0, 1.0))
    rows = [*_transfer_rows(*moved), *((name, picked[i], low[i], high[i], np.nan) for i, name in enumerate(known))]
    low, high = interval(*correlated, (-1.0, 1.0))
    axes = {"dataset": table.datasets, "criterion": known, "metric": names}
    return Selection(
        title="Can models be chosen without labels?",
        table=pd.DataFrame(rows, columns=["chosen by", "chance", "low", "high", "paper"]),
        claims=(
            *_transfer_claims(*moved),
            *_criterion_claims(known, *correlated),
            *_choice_claims(known, picked, drawn),
        ),
        source=f"{PAPER}, section 5.4, table 1",
        n_runs=len(table.frame),
        notes=(
            "chance: that the chosen run beats a random one, ties counted as half; 50 % is a random choice.",
            *(f"{name} is not known for every run, so it is left out." for name in missing),
        ),
        correlations=tidy(axes, {"correlation": correlated[0], "low": low, "high": high}),
    )


def _moved(table: Scored, names: list[str], n: int, random_state: int) -> tuple[Floats, Floats]:
    """The chance of each kind of transfer (kinds,), and its resamples (n, kinds)."""
    grids = seed_grids(table, names)
    rng = np.random.default_rng(random_state)
    times = n if seeds_per_cell(table.cells) >= LEAST_SEEDS else 0
    drawn = [chances([grid.resampled(rng) for grid in grids]) for _ in range(times)]
    return chances(grids), np.reshape(drawn, (-1, len(KINDS)))


def _transfer_rows(found: Floats, drawn: Floats) -> list[tuple]:
    low, high = interval(found, drawn, (0.0, 1.0))
    return [
        (kind, found[k], low[k], high[k], TRANSFER.get(kind, np.nan))
        for k, kind in enumerate(KINDS)
        if np.isfinite(found[k])
    ]


def _picked(values: Floats, n: int) -> Floats:
    """(criteria, metrics): chance that the run with the best value of each criterion beats a random other one."""
    scores = values[:, n:]
    best = values[:, :n].argmax(axis=0)
    won = np.sign(scores[best][:, None, :] - scores[None, :, :]) / 2 + 0.5
    return (won.sum(axis=1) - 0.5) / (len(scores) - 1)  # without its tie with itself


def _transfer_claims(found: Floats, drawn: Floats) -> Iterator[Claim]:
    if not np.isfinite(found[0]):  # one seed per setting: there is no other run
        return
    yield estimated("best-setting-repeats", found[0], drawn[:, 0], (0.0, 1.0))
    for kind, claim in ((2, "lost-on-other-data"), (3, "lost-by-other-metric")):
        if np.isfinite(found[kind]):
            lost, again = ((x[..., 0] - 0.5) / 2 - (x[..., kind] - 0.5) for x in (found, drawn))
            yield estimated(claim, lost, again, (-1.0, 1.0))


def _criterion_claims(known: list[str], found: Floats, drawn: Floats) -> Iterator[Claim]:
    value, again = (median_of_last(np.moveaxis(x, -2, -3), 2) for x in (found, drawn))
    others = [k for k, name in enumerate(known) if name != "UDR"]
    if others:
        parts = [known[k] for k in others]
        yield estimated("no-unsupervised-score", value[others], again[:, others], (-1.0, 1.0), parts=parts)
    if "UDR" in known:
        k = known.index("UDR")
        yield estimated("udr-tells", value[k], again[:, k], (-1.0, 1.0))


def _choice_claims(known: list[str], found: Floats, drawn: Floats) -> Iterator[Claim]:
    if "UDR" in known:
        k = known.index("UDR")
        yield estimated("udr-chooses", found[k], drawn[:, k], (0.0, 1.0))
