"""From the tidy frames of a study to one row per run with a column per metric."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from unbraid.metrics import METRICS
from unbraid.study.analysis.answers import Unanswerable

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

SETTING = ["dataset", "method", "strength"]  # what the seeds of a cell have in common


class StudyLike(Protocol):
    """What the questions ask of a study: frames as :func:`unbraid.study.open` gives them."""

    def runs(self) -> Any: ...
    def scores(self) -> Any: ...
    def losses(self) -> Any: ...
    def codes(self, run: str, representation: str = "mean") -> NDArray: ...
    def factors(self, run: str) -> NDArray: ...
    def strip(self, run: str) -> NDArray | None: ...


@dataclass(frozen=True)
class Scored:
    """The runs that were scored, and what they scored.

    Attributes
    ----------
    frame : DataFrame
        One row per run: run, dataset, method, strength, seed, and a column per metric.
    metrics : tuple of str
        Those columns, without what is not a number for every run.
    left_out : tuple of str
        Metrics that some run lacks.
    """

    frame: Any
    metrics: tuple[str, ...]
    left_out: tuple[str, ...]

    @property
    def datasets(self) -> list[str]:
        return sorted(self.frame["dataset"].unique())

    @property
    def dataset_of(self) -> NDArray:
        """The data set of each row."""
        return self.frame["dataset"].to_numpy()

    @property
    def cells(self) -> Ints:
        """A number per row: the same for runs that differ in their seed alone."""
        return self.frame.groupby(SETTING, dropna=False, sort=True).ngroup().to_numpy()

    def values(self, metrics: Sequence[str]) -> Floats:
        """Scores (runs, metrics)."""
        return self.frame[list(metrics)].to_numpy(np.float64)


def scored(study: StudyLike, representation: str = "mean", *, methods: Sequence[str] | str | None = None) -> Scored:
    """Runs with their scores.

    Parameters
    ----------
    study : Study
    representation : {"mean", "sampled"}
    methods : sequence of str, "all", optional
        By default those that were run with several strengths, or all where none was.

    Returns
    -------
    Scored
    """
    runs, scores = study.runs(), study.scores()
    kept = scores[scores["representation"] == representation]
    if not len(kept):
        there = sorted(scores["representation"].unique())
        raise Unanswerable(
            f"the study has no scores of the {representation!r} representation; "
            + (f"it has: {', '.join(there)}." if there else "none of its runs is scored yet.")
        )
    kept = kept.assign(metric=kept["metric"].str.replace(".", "_", regex=False))
    wide = kept.pivot_table(index="run", columns="metric", values="value", dropna=False).reset_index()
    named = runs[["run", *SETTING, "seed"]].assign(strength=runs["strength"].astype(float))
    frame = named.merge(wide, on="run", how="inner")
    chosen = _methods(frame, methods)
    frame = frame[frame["method"].isin(chosen)].sort_values([*SETTING, "seed", "run"]).reset_index(drop=True)
    found = [name for name in wide.columns if name != "run"]
    whole = [name for name in found if not frame[name].isna().any()]
    return Scored(frame, tuple(whole), tuple(name for name in found if name not in whole))


def tidy(axes: Mapping[str, Sequence[Any]], columns: Mapping[str, Any]) -> pd.DataFrame:
    """A row per combination of the axes' names, and columns of arrays with these axes.

    >>> tidy({"a": "xy", "b": "uv"}, {"n": np.arange(4).reshape(2, 2)}).query("a == 'y' and b == 'u'")["n"].tolist()
    [2]
    """
    frame = pd.DataFrame(list(product(*axes.values())), columns=list(axes))
    return frame.assign(**{name: np.ravel(values) for name, values in columns.items()})


def _methods(frame: Any, methods: Sequence[str] | str | None) -> list[str]:
    there = sorted(frame["method"].unique())
    if methods == "all":
        return there
    if methods is None:
        strengths = frame.groupby("method")["strength"].nunique()
        return [name for name in there if strengths[name] > 1] or there
    unknown = [name for name in methods if name not in there]
    if unknown:
        raise ValueError(
            f"no scored run is of {', '.join(map(repr, unknown))}. Methods with scores: {', '.join(there)}."
        )
    return list(methods)


def chosen_metrics(table: Scored, metrics: Sequence[str] | None, default: Sequence[str], least: int = 1) -> list[str]:
    """The metrics asked for, or those of ``default`` that every run has; an error where there are too few."""
    names = [name for name in default if name in table.metrics] if metrics is None else list(metrics)
    names = [name.replace(".", "_") for name in names]
    missing = [name for name in names if name not in table.metrics]
    if missing or len(names) < least:
        partly = f" Some runs lack: {', '.join(table.left_out)}." if table.left_out else ""
        wanted = (
            f"{', '.join(missing)} is not scored for every run"
            if missing
            else f"{len(names)} of the usual metrics are scored"
        )
        raise Unanswerable(
            f"{wanted}; this question needs {least} or more of them, for every run. Scored for all: "
            f"{', '.join(table.metrics) or 'none'}.{partly} `unbraid study rescore --metrics NAME` adds one."
        )
    return names


# What knows the factors and asks for their own codes; the downstream tasks have a question of their own.
DISENTANGLEMENT = tuple(
    row
    for metric in METRICS
    if metric.supervised and metric.score is not None and not metric.name.startswith(("downstream", "mcc_"))
    for row in metric.rows
)
UNSUPERVISED = tuple(row for metric in METRICS if metric.needs == () for row in metric.rows)
