"""Recompute scores from stored codes, without the models or their data."""

import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import pandas as pd
from sqlalchemy import select as query

from unbraid.evaluation.protocol import find_protocol
from unbraid.evaluation.registry import REGISTRY, select
from unbraid.metrics import METRICS, Metric
from unbraid.runtime.progress import bar
from unbraid.study import schema
from unbraid.study.frames import Study, open_study
from unbraid.study.store import Store
from unbraid.study.work import score
from unbraid.study.workers import Failure, InProcess, OnDask, working

WAKE = 1.0  # seconds between checks of the clock
WRITE_EVERY = 10.0  # seconds between writes: the most work that a kill can lose


def rescore(
    study: Study,
    metrics: str | Iterable[str],
    *,
    protocol: str | None = None,
    again: bool = False,
    workers: int | None = 0,
    progress: bool | None = None,
) -> int:
    """Compute metrics for every finished run from its codes; call it again to resume after a stop.

    Scores are written as they arrive and do not depend on the number of workers. A failure does not stop the others; it
    is reported at the end.

    Parameters
    ----------
    study : Study
    metrics : "all", a name, or names
        Including metrics added with :func:`unbraid.evaluation.register`. Metrics that need observations cannot be
        computed from codes, so "all" leaves them out.
    protocol : str, optional
        By default the study's.
    again : bool
        Also recompute scores that exist.
    workers : int, optional
        Single-threaded processes; None is one per core, 0 is this process.
    progress : bool, optional
        Show a bar; by default on a terminal.

    Returns
    -------
    int
        How many scores were added.
    """
    rules = find_protocol(study.spec.protocol if protocol is None else protocol)
    orders = _orders(study, select(metrics, observations=False), rules.name, again)
    if not orders:
        return 0
    study.store.lock()
    try:
        with working(workers, None, rescored) as place:
            return _Recorder(study.store, orders).work(place, progress)
    finally:
        study.store.unlock()


@dataclass(frozen=True)
class Rescoring:
    """An order to a worker: which codes, where they are, and which metrics (a user's own as objects)."""

    store: str
    run: str
    representation: str
    metrics: tuple[str | Metric, ...]
    protocol: str

    @property
    def key(self) -> str:
        return f"{self.run}/{self.representation}"

    @property
    def mark(self) -> None:
        return None


def _orders(study: Study, metrics: Sequence[Metric], protocol: str, again: bool) -> list[Rescoring]:
    there = study.scores(protocol)
    known = set() if again else set(zip(there["run"], there["representation"], there["metric"]))
    place = study.store.place if study.store.is_url else str(Path(study.store.place).resolve())
    orders = []
    for run, representation in representations(study):
        missing = [m for m in metrics if any((run, representation, row) not in known for row in m.rows)]
        if missing:
            sent = tuple(m.name if m in METRICS else m for m in missing)  # workers do not know a user's metric by name
            orders.append(Rescoring(place, run, representation, sent, protocol))
    return orders


@lru_cache(maxsize=1)
def _opened(place: str) -> Study:
    return open_study(place)


def rescored(order: Rescoring) -> list[dict[str, Any]]:
    """Rows of scores; the worker reads the codes from the store."""
    study = _opened(order.store)
    metrics = [REGISTRY[m] if isinstance(m, str) else m for m in order.metrics]
    found = score(study.factors(order.run), study.codes(order.run, order.representation), metrics, order.protocol)
    about = {"run": order.run, "representation": order.representation, "protocol": order.protocol}
    return [about | {"metric": metric, "value": value} for metric, value in found]


class _Recorder:
    """Hands out orders, and writes scores every few seconds."""

    def __init__(self, store: Store, orders: Sequence[Rescoring]):
        self.store, self.waiting, self.total = store, deque(orders), len(orders)
        self.rows: list[dict[str, Any]] = []
        self.failures: list[Failure] = []
        self.added, self.written = 0, time.monotonic()

    def work(self, place: InProcess | OnDask, progress: bool | None) -> int:
        """Work until everything is scored; after Ctrl-C or an error, finished scores are kept."""
        names = sorted({m if isinstance(m, str) else m.name for order in self.waiting for m in order.metrics})
        running = 0
        try:
            with bar(f"rescore {', '.join(names[:3])}", total=self.total, show=progress) as advance:
                while self.waiting or running:
                    while self.waiting and running < place.window:
                        place.submit(self.waiting.popleft())
                        running += 1
                    for outcome in place.outcomes(WAKE):
                        running -= 1
                        self._note(outcome)
                        advance(1, failed=str(len(self.failures)))
                    if time.monotonic() > self.written + WRITE_EVERY:
                        self._write()
        finally:
            place.cancel()
            self._write()
        if self.failures:
            first = self.failures[0]
            raise ValueError(
                f"{len(self.failures)} of {self.total} codes could not be scored; the scores of the others are kept. "
                f"The first, {first.key}:\n{first.error}"
            )
        return self.added

    def _note(self, outcome: list[dict[str, Any]] | Failure) -> None:
        if isinstance(outcome, Failure):
            self.failures.append(outcome)
        else:
            self.rows += outcome

    def _write(self) -> None:
        self.store.add_scores(self.rows)
        self.added, self.rows, self.written = self.added + len(self.rows), [], time.monotonic()


def representations(study: Study) -> Iterator[tuple[str, str]]:
    """Every finished run, with each of its representations."""
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
        available = ", ".join(sorted(study.scores()["metric"].unique())) or "none"
        raise ValueError(f"the study has no score {metric!r} for {representation} codes. Available: {available}.")
    columns = ["run", "dataset", "method", "strength", "seed"]
    return study.runs()[columns].merge(scores[["run", "value"]], on="run")
