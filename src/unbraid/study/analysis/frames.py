"""From the tidy frames of a study to one row per run with a column per metric."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from unbraid.metrics import METRICS
from unbraid.study.analysis.answers import Unanswerable
from unbraid.study.frames import Study

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

SETTING = ["dataset", "method", "strength"]  # shared by the runs of a cell, which differ in their seeds


@dataclass(frozen=True)
class Scored:
    """The scored runs and their scores.

    Attributes
    ----------
    frame : DataFrame
        One row per run: run, dataset, method, strength, seed, and a column per metric.
    metrics : tuple of str
        Metrics that every run has.
    left_out : tuple of str
        Metrics that are missing for some runs.
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
        """A number per row, equal for runs that differ only in their seed."""
        return self.frame.groupby(SETTING, dropna=False, sort=True).ngroup().to_numpy()

    def values(self, metrics: Sequence[str]) -> Floats:
        """Scores (runs, metrics)."""
        return self.frame[list(metrics)].to_numpy(np.float64)


def scored(study: Study, representation: str = "mean", *, all_methods: bool = False) -> Scored:
    """Runs with their scores.

    Parameters
    ----------
    study : Study
    representation : {"mean", "sampled"}
    all_methods : bool
        By default only those that were run with several strengths, or all if there are none.

    Returns
    -------
    Scored
    """
    runs, scores = study.runs(), study.scores()
    kept = scores[scores["representation"] == representation]
    if not len(kept):
        available = sorted(scores["representation"].unique())
        raise Unanswerable(
            f"the study has no scores for the {representation!r} representation; "
            + (f"available: {', '.join(available)}." if available else "none of its runs is scored yet.")
        )
    kept = kept.assign(metric=kept["metric"].str.replace(".", "_", regex=False))
    wide = kept.pivot_table(index="run", columns="metric", values="value", dropna=False).reset_index()
    named = runs[["run", *SETTING, "seed"]].assign(strength=runs["strength"].astype(float))
    frame = named.merge(wide, on="run", how="inner")
    swept = frame.groupby("method")["strength"].transform("nunique") > 1
    if swept.any() and not all_methods:
        frame = frame[swept]
    frame = frame.sort_values([*SETTING, "seed", "run"]).reset_index(drop=True)
    found = [name for name in wide.columns if name != "run"]
    whole = [name for name in found if not frame[name].isna().any()]
    return Scored(frame, tuple(whole), tuple(name for name in found if name not in whole))


def tidy(axes: Mapping[str, Iterable[Any]], columns: Mapping[str, Any]) -> pd.DataFrame:
    """A row per combination of the axes' names, and columns of arrays with these axes.

    >>> tidy({"a": "xy", "b": "uv"}, {"n": np.arange(4).reshape(2, 2)}).query("a == 'y' and b == 'u'")["n"].tolist()
    [2]
    """
    frame = pd.DataFrame(list(product(*axes.values())), columns=list(axes))
    return frame.assign(**{name: np.ravel(values) for name, values in columns.items()})


def chosen_metrics(table: Scored, metrics: Sequence[str] | None, default: Sequence[str], least: int = 1) -> list[str]:
    """The metrics asked for, or those of ``default`` that every run has; an error where there are too few."""
    names = [name for name in default if name in table.metrics] if metrics is None else list(metrics)
    names = [name.replace(".", "_") for name in names]
    missing = [name for name in names if name not in table.metrics]
    if missing or len(names) < least:
        partly = f" Missing for some runs: {', '.join(table.left_out)}." if table.left_out else ""
        wanted = f"{', '.join(missing)} is not scored for every run"
        if not missing:
            wanted = f"{len(names)} of the usual metrics are scored"
        raise Unanswerable(
            f"{wanted}; this question needs at least {least}, for every run. Available: "
            f"{', '.join(table.metrics) or 'none'}.{partly} Add one with `unbraid study rescore --metrics NAME`."
        )
    return names


# Metrics that use the factors and ask for one code per factor; downstream tasks are a question of their own.
DISENTANGLEMENT = tuple(
    row
    for metric in METRICS
    if metric.supervised and metric.score is not None and not metric.name.startswith(("downstream", "mcc_"))
    for row in metric.rows
)
UNSUPERVISED = tuple(row for metric in METRICS if metric.needs == () for row in metric.rows)
