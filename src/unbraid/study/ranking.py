"""Rank a method among the methods of a study."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from unbraid.metrics import METRICS
from unbraid.runtime.progress import bar
from unbraid.study.frames import Study
from unbraid.study.spec import MethodSpec, StudySpec
from unbraid.study.store import Result
from unbraid.study.tasks import tasks_of
from unbraid.study.work import Order, perform

OF_A_RUN = ["run", "dataset", "method", "strength", "seed"]


def rank(
    study: Study,
    method: str,
    metric: str = "mig",
    *,
    parameters: Mapping[str, Any] | None = None,
    seeds: int = 3,
    rows: int | None = None,
) -> pd.DataFrame:
    """Rank a method among all methods and strengths of a study, on its data sets and its pinned pool.

    A method of the study, given by its label, is ranked by its stored scores. Any other method of the library, of
    another distribution or of your own is fitted now, ``seeds`` times per data set, and not recorded.

    Parameters
    ----------
    study : Study
    method : str
        A label of the study, a name of :data:`unbraid.methods.METHODS`, ``module:Class``, or an entry point of the
        group ``unbraid.methods``.
    metric : str
        Of the mean codes.
    parameters : mapping, optional
        For a method that is fitted now.
    seeds : int
    rows : int, optional
        Observations to fit on, for methods that are not trained step by step.

    Returns
    -------
    DataFrame
        dataset, place, method, strength, median, runs; the best first within each data set.
    """
    table = _stored(study, metric)
    if method not in set(table["method"]):
        table = pd.concat([table, _fitted(study, method, metric, dict(parameters or {}), seeds, rows)])
    elif parameters:
        raise ValueError(f"{method} is part of the study, which sets its parameters; leave the parameters out.")
    better = next((m.better for m in METRICS if metric in m.rows), "high")
    groups = table.groupby(["dataset", "method", "strength"], dropna=False)["value"]
    found = groups.agg(median="median", runs="count").reset_index()
    found["place"] = found.groupby("dataset")["median"].rank(method="min", ascending=better == "low").astype(int)
    columns = ["dataset", "place", "method", "strength", "median", "runs"]
    return found.sort_values(["dataset", "place", "method"], ignore_index=True)[columns]


def _stored(study: Study, metric: str) -> pd.DataFrame:
    """Scores of the mean codes of every run that has this one."""
    scores = study.scores().query("representation == 'mean'")
    if metric not in set(scores["metric"]):
        available = ", ".join(sorted(study.scores()["metric"].unique())) or "none"
        raise ValueError(f"the study has no score {metric!r} for mean codes. Available: {available}.")
    return study.runs()[OF_A_RUN].merge(scores.loc[scores["metric"] == metric, ["run", "value"]], on="run")


def _fitted(
    study: Study, method: str, metric: str, parameters: dict[str, Any], seeds: int, rows: int | None
) -> pd.DataFrame:
    """Scores of a method that is fitted now."""
    spec = study.spec
    entry = MethodSpec(name=method, parameters=parameters, rows=rows, seeds=seeds)
    plan = StudySpec.model_validate(spec.model_dump() | {"methods": [entry.model_dump()]})
    found = []
    metrics = {"mean": [metric], "sampled": []}
    tasks = tasks_of(plan)
    with bar(f"fitting {method}", total=len(tasks)) as advance:
        for task in tasks:
            advance(0, now=f"{task.dataset}, seed {task.seed}")
            result = perform(Order(task.run, task.config, task.files, metrics, spec.protocol, None, 1000, None))
            assert isinstance(result, Result)  # there is no deadline
            value = next(v for r, m, v in result.scores if (r, m) == ("mean", metric))
            found.append((task.run, task.dataset, task.method, task.strength, task.seed, value))
            advance(1, **{metric: value})
    return pd.DataFrame(found, columns=[*OF_A_RUN, "value"]).astype({"strength": float})
