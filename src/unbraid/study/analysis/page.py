"""The report of a study, from its store alone."""

from collections.abc import Callable
from typing import Any

from numpy.typing import NDArray

from unbraid.estimator.summary import counted
from unbraid.report.study import StudyPage, study_page
from unbraid.study.analysis.agreement import agreement
from unbraid.study.analysis.answers import Answer, Unanswerable
from unbraid.study.analysis.frames import SETTING, scored
from unbraid.study.analysis.independence import independence
from unbraid.study.analysis.paper import METRIC_TITLES, metric_title
from unbraid.study.analysis.selection import selection
from unbraid.study.analysis.spread import spread
from unbraid.study.analysis.usefulness import usefulness
from unbraid.study.analysis.variance import variance
from unbraid.study.frames import Study

# The questions, in the order in which the report answers them.
_ASKED: tuple[Callable[..., Answer], ...] = (independence, agreement, spread, variance, selection, usefulness)
QUESTIONS = {ask.__name__: ask for ask in _ASKED}
MOST_STRIPS = 600  # about 10 kB each; in larger studies, one run per setting shows its strip


def study_report(study: Study, *, title: str = "", n_resamples: int | None = None, random_state: int = 0) -> StudyPage:
    """One self-contained page of a study: verdicts next to the paper's, sortable tables, figures, and a strip per run.

    Parameters
    ----------
    study : Study
        From :func:`unbraid.study.open`; only its store is read.
    title : str
    n_resamples : int, optional
        Bootstrap samples behind the intervals; 500 by default, 200 for model selection.
    random_state : int

    Returns
    -------
    StudyPage
        With ``write(path)`` and ``html()``.
    """
    given: dict[str, Any] = {} if n_resamples is None else {"n_resamples": n_resamples}
    answers, unanswered = [], {}
    for name, ask in QUESTIONS.items():
        try:
            answers.append(ask(study, **given, random_state=random_state))
        except Unanswerable as reason:  # the page states it
            unanswered[name.capitalize()] = str(reason)
    runs = study.runs()
    return study_page(
        title or "A study of disentanglement",
        _run_table(study, runs),
        answers,
        unanswered=unanswered,
        strips=_strips(study, runs),
        lead=_lead(runs),
    )


def _lead(runs: Any) -> str:
    settings = runs.groupby(SETTING, dropna=False)["seed"].nunique()
    counts = runs["status"].value_counts()
    seeds = " to ".join(map(str, sorted({settings.min(), settings.max()})))
    return (
        f"{len(runs)} runs ({', '.join(f'{n} {status}' for status, n in counts.items())}): "
        f"{counted(runs['dataset'].nunique(), 'data set')}, {counted(runs['method'].nunique(), 'method')}, "
        f"{counted(len(settings), 'setting')}, "
        f"{seeds} seeds each; {runs['seconds'].sum() / 3600:.1f} hours of wall time, summed over runs."
    )


def _run_table(study: Study, runs: Any) -> Any:
    """A row per run, scored or not: its setting, status, and the paper's metrics for its mean codes."""
    base = runs[["run", *SETTING, "seed", "status"]].assign(strength=runs["strength"].astype(float))
    base["seconds"] = [f"{x:.1f}" if x == x else "" for x in runs["seconds"].astype(float)]
    if "mean" not in set(study.scores()["representation"]):
        return base
    table = scored(study, all_methods=True)
    names = [name for name in (*METRIC_TITLES, "mcc", "total_correlation") if name in table.frame]
    scores = table.frame[["run", *names]].rename(columns={name: metric_title(name) for name in names})
    return base.merge(scores, on="run", how="left")


def _strips(study: Study, runs: Any) -> dict[str, NDArray]:
    """The strip of every run that has one; in a large study, of one run per setting."""
    chosen = runs if len(runs) <= MOST_STRIPS else runs.sort_values("seed").drop_duplicates(SETTING)
    found = {run: study.strip(run) for run in chosen["run"]}
    return {run: image for run, image in found.items() if image is not None}
