"""Score all history anew, from the codes that are kept: no model is needed, nor its data."""

from collections.abc import Iterable, Iterator
from typing import Any

import pandas as pd
from sqlalchemy import select as query

from unbraid.contract.progress import bar
from unbraid.evaluation.protocol import find_protocol
from unbraid.evaluation.registry import select
from unbraid.study import schema
from unbraid.study.frames import Study
from unbraid.study.work import score

AT_ONCE = 50  # representations whose scores are written in one transaction


def rescore(
    study: Study,
    metrics: str | Iterable[str],
    *,
    protocol: str | None = None,
    again: bool = False,
    progress: bool | None = None,
) -> int:
    """Compute metrics of every run that is done, from its codes.

    Parameters
    ----------
    study : Study
    metrics : "all", a name, or names
        Also metrics that were added by :func:`unbraid.evaluation.register`. Those that need observations cannot be
        computed from codes: "all" leaves them out.
    protocol : str, optional
        By default the study's.
    again : bool
        Also those that are there.
    progress : bool, optional
        Show a bar; by default on a terminal.

    Returns
    -------
    int
        How many scores were added.
    """
    rules = find_protocol(study.spec.protocol if protocol is None else protocol)
    chosen = select(metrics, observations=False)
    names = {name for metric in chosen for name in metric.rows}
    there = study.scores(rules.name)
    known = set() if again else set(zip(there["run"], there["representation"], there["metric"]))
    todo = [
        (run, representation, [m.name for m in chosen if any((run, representation, r) not in known for r in m.rows)])
        for run, representation in representations(study)
    ]
    todo = [item for item in todo if item[2]]
    study.store.lock()
    added, rows = 0, list[dict[str, Any]]()
    with bar(f"rescore {', '.join(sorted(names)[:3])}", total=len(todo), show=progress) as advance:
        for place, (run, representation, wanted) in enumerate(todo, start=1):
            found = score(study.factors(run), study.codes(run, representation), wanted, rules.name, None)
            rows += [
                {"run": run, "representation": representation, "protocol": rules.name, "metric": m, "value": v}
                for m, v in found
            ]
            if place % AT_ONCE == 0 or place == len(todo):
                study.store.add_scores(rows)
                added, rows = added + len(rows), []
            advance()
    study.store.unlock()
    return added


def representations(study: Study) -> Iterator[tuple[str, str]]:
    """Every run that is done, with each of its representations."""
    kept, runs = schema.kept, schema.runs
    asked = (
        query(kept.c.run, kept.c.kind)
        .where(kept.c.run == runs.c.run, runs.c.status == "done", kept.c.kind.like("codes/%"))
        .order_by(runs.c.index, kept.c.kind)
    )
    with study.store.engine.connect() as connection:
        for run, kind in connection.execute(asked).all():
            yield run, kind.removeprefix("codes/")


def table_of(study: Study, metric: str, representation: str = "mean") -> pd.DataFrame:
    """One row per run that has this score: run, dataset, method, strength, seed, value."""
    scores = study.scores()
    scores = scores[(scores["metric"] == metric) & (scores["representation"] == representation)]
    if scores.empty:
        there = ", ".join(sorted(study.scores()["metric"].unique())) or "none"
        raise ValueError(f"the study has no score {metric!r} of {representation} codes. It has: {there}.")
    columns = ["run", "dataset", "method", "strength", "seed"]
    return study.runs()[columns].merge(scores[["run", "value"]], on="run")
