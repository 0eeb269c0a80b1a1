"""(e) Are disentangled codes useful? Downstream accuracy and statistical efficiency against each metric."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unbraid.evaluation.claims import Claim
from unbraid.evaluation.interval import interval
from unbraid.report.drawing import panels
from unbraid.study.analysis.agreement import heat_matrix
from unbraid.study.analysis.answers import Answer, Unanswerable
from unbraid.study.analysis.claims import estimated
from unbraid.study.analysis.frames import Floats, Scored, chosen_metrics, scored, tidy
from unbraid.study.analysis.paper import METRIC_TITLES, PAPER
from unbraid.study.analysis.readout import read_accuracy
from unbraid.study.analysis.resampling import by_dataset, median_of_last, related
from unbraid.study.frames import Study

ACCURACY = {"downstream_logistic": "accuracy, logistic", "downstream_trees": "accuracy, trees"}
EFFICIENCY = {"efficiency_logistic": "efficiency, logistic", "efficiency_trees": "efficiency, trees"}
FEW, MANY, TEST, DRAWS = 100, 8000, 2000, 10


@dataclass(frozen=True)
class Usefulness(Answer):
    """Rank correlations of downstream tasks with the metrics; see :class:`~unbraid.study.analysis.Answer`."""

    def figure(self) -> Any:
        """Rank correlation of every metric with every downstream figure, a panel per data set, in percent."""
        datasets = list(dict.fromkeys(self.table["dataset"]))
        tasks, metrics = (list(dict.fromkeys(self.table[name])) for name in ("task", "metric"))
        fig, axes = panels(len(datasets), 2, 0.6 * len(metrics) + 2.0, 0.4 * len(tasks) + 1.6)
        for ax, name in zip(axes, datasets):
            wide = self.table[self.table["dataset"] == name].pivot(index="task", columns="metric", values="correlation")
            heat_matrix(ax, wide.loc[tasks, metrics], name)
        return fig


def usefulness(
    study: Study,
    *,
    metrics: Sequence[str] | None = None,
    representation: str = "mean",
    n_resamples: int = 500,
    random_state: int = 0,
) -> Usefulness:
    r"""Spearman's correlation of each metric with the accuracy of downstream tasks, and with their efficiency.

    The task is to predict the factors. Its efficiency is the accuracy with 100 training samples over that with 10,000.
    If the study's protocol trains on fewer samples, the efficiency is computed from the stored codes by a linear reader
    (discriminant analysis for classes, least squares for numbers) with 100 and up to 8000 training samples, which a
    note states.

    Parameters
    ----------
    study, metrics, representation, n_resamples, random_state
        As for :func:`spread`.

    Returns
    -------
    Usefulness
        ``.table``, ``.claims``, ``.words``, ``.figure()``.

    References
    ----------
    Locatello et al. (2019), section 5.5, figures 5 and 6.
    """
    scores = scored(study, representation)
    names = chosen_metrics(scores, metrics, tuple(METRIC_TITLES))
    tasks, note = _tasks(study, scores, representation)
    values = np.column_stack([*tasks.values(), scores.values(names)])
    found, drawn = by_dataset(lambda x: related(x, len(tasks)), scores, values, n_resamples, random_state)
    low, high = interval(found, drawn, (-1.0, 1.0))
    axes = {"dataset": scores.datasets, "task": list(tasks), "metric": names}
    return Usefulness(
        title="Are disentangled codes useful for downstream tasks?",
        table=tidy(axes, {"correlation": found, "low": low, "high": high}),
        claims=_claims(list(tasks), names, found, drawn),
        source=f"{PAPER}, section 5.5, figures 5 and 6 (dSprites; our source has no numbers)",
        n_runs=len(values),
        notes=("Claims are about the median over metrics (without Modularity), tasks and data sets.", *note),
    )


def _tasks(study: Study, scores: Scored, representation: str) -> tuple[dict[str, Floats], tuple[str, ...]]:
    """The downstream figures of every run by name, and a note where some were computed here."""
    tasks = {
        title: scores.frame[name].to_numpy(np.float64)
        for name, title in (ACCURACY | EFFICIENCY).items()
        if name in scores.metrics
    }
    if any(title in tasks for title in EFFICIENCY.values()):
        return tasks, ()
    found = [_from_codes(study, run, representation) for run in scores.frame["run"]]
    tasks["accuracy, linear reader"] = np.array([accuracy for accuracy, _ in found])
    tasks["efficiency, linear reader"] = np.array([efficiency for _, efficiency in found])
    note = (
        f"linear reader: linear discriminant analysis (least squares for numbers) on the stored codes. Its efficiency "
        f"is the accuracy with {FEW} training samples over that with up to {MANY}; the paper uses 100 over 10,000 and "
        "boosted trees."
    )
    return tasks, (note,)


def _from_codes(study: Study, run: str, representation: str) -> tuple[float, float]:
    """(accuracy with many samples, efficiency) of a linear reader of the stored codes of a run."""
    codes, factors = np.asarray(study.codes(run, representation), np.float64), np.asarray(study.factors(run))
    if len(codes) < 4 * FEW:
        raise Unanswerable(f"run {run} has {len(codes)} stored codes; the efficiency needs {4 * FEW} or more.")
    test = min(TEST, len(codes) // 3)
    few = read_accuracy(factors, codes, FEW, test, DRAWS)
    many = read_accuracy(factors, codes, min(MANY, len(codes) - test), test, 1)
    return many, few / many if many else float("nan")


def _claims(tasks: list[str], names: list[str], found: Floats, drawn: Floats) -> tuple[Claim, ...]:
    plain = [j for j, name in enumerate(names) if name != "modularity"] or list(range(len(names)))
    claims = []
    for kind, claim in (("accuracy", "accuracy-correlated"), ("efficiency", "efficiency-unreliable")):
        mine = [t for t, task in enumerate(tasks) if task.startswith(kind)]
        if mine:
            value, again = (median_of_last(x[..., mine, :][..., plain], 3) for x in (found, drawn))
            claims.append(estimated(claim, value, again, (-1.0, 1.0)))
    return tuple(claims)
