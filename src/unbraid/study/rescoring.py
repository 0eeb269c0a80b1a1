"""Recompute scores from stored codes, without the models or their data."""

import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

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
            return _record(study.store, orders, place, progress)
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
    mark: None = None  # it is done whole, or not at all

    @property
    def key(self) -> str:
        return f"{self.run}/{self.representation}"


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


_opened = lru_cache(maxsize=1)(open_study)


def rescored(order: Rescoring) -> list[dict[str, Any]]:
    """Rows of scores; the worker reads the codes from the store."""
    study = _opened(order.store)
    metrics = [REGISTRY[m] if isinstance(m, str) else m for m in order.metrics]
    found = score(study.factors(order.run), study.codes(order.run, order.representation), metrics, order.protocol)
    about = {"run": order.run, "representation": order.representation, "protocol": order.protocol}
    return [about | {"metric": metric, "value": value} for metric, value in found]


def _record(store: Store, orders: Sequence[Rescoring], place: InProcess | OnDask, progress: bool | None) -> int:
    """Hand out orders and write scores every few seconds; after Ctrl-C or an error, finished scores are kept."""
    names = sorted({m if isinstance(m, str) else m.name for order in orders for m in order.metrics})
    waiting, failures, rows = deque(orders), list[Failure](), list[dict[str, Any]]()
    running, added, written = 0, 0, time.monotonic()
    try:
        with bar(f"rescore {', '.join(names[:3])}", total=len(orders), show=progress) as advance:
            while waiting or running:
                while waiting and running < place.window:
                    place.submit(waiting.popleft())
                    running += 1
                for outcome in place.outcomes(WAKE):
                    running -= 1
                    if isinstance(outcome, Failure):
                        failures.append(outcome)
                    else:
                        rows += outcome
                    advance(1, failed=str(len(failures)))
                if time.monotonic() > written + WRITE_EVERY:
                    store.add_scores(rows)
                    added, rows, written = added + len(rows), [], time.monotonic()
    finally:
        place.cancel()
        store.add_scores(rows)
    if failures:
        raise ValueError(
            f"{len(failures)} of {len(orders)} codes could not be scored; the scores of the others are kept. "
            f"The first, {failures[0].key}:\n{failures[0].error}"
        )
    return added + len(rows)


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
