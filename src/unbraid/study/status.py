"""Progress of a study, read from its store while another process writes to it."""

from dataclasses import dataclass

from sqlalchemy import func, select

from unbraid.study import schema
from unbraid.study.store import Store


@dataclass(frozen=True)
class Status:
    """Counts of runs, and the expected time.

    Attributes
    ----------
    study, place : str
    done, running, pending, failed : int
    seconds_each : float or None
        Mean time of a finished run.
    steps_per_second : float or None
        Training steps per second of a run.
    writer : bool
        Whether a process is working on it.
    """

    study: str
    place: str
    done: int
    running: int
    pending: int
    failed: int
    seconds_each: float | None
    steps_per_second: float | None
    writer: bool

    @property
    def seconds_left(self) -> float | None:
        """Until all is done, at the current pace; None if no process is working on it."""
        if self.seconds_each is None or not self.running:
            return None
        # half of the tasks in flight wait in the workers' queues
        return (self.pending + self.running) * self.seconds_each / max(self.running // 2, 1)

    def __str__(self) -> str:
        total = self.done + self.running + self.pending + self.failed
        words = f"{self.study} in {self.place}: {self.done} of {total} done, {self.running} running, "
        words += f"{self.pending} pending, {self.failed} failed."
        if self.seconds_each is not None:
            words += f" {self.seconds_each:.1f} s per run"
            words += f", {self.steps_per_second:.0f} steps per second each." if self.steps_per_second else "."
        if self.seconds_left is not None:
            words += f" About {self.seconds_left / 60:.0f} min left."
        return words if self.writer or not (self.pending or self.running) else f"{words} No process is working on it."


def status_of(store: Store) -> Status:
    """Count the runs of a store.

    Parameters
    ----------
    store : Store

    Returns
    -------
    Status
        Runs left behind by a process that has ended count as pending.
    """
    counts, runs, writer = store.counts(), schema.runs, store.has_writer()
    if not writer:
        counts["pending"] += counts["running"]
        counts["running"] = 0
    done = runs.c.status == "done"
    with store.engine.connect() as connection:
        each = connection.execute(select(func.avg(runs.c.seconds)).where(done)).scalar()
        asked = select(func.sum(runs.c.steps), func.sum(runs.c.seconds)).where(done, runs.c.steps.is_not(None))
        steps, seconds = connection.execute(asked).one()
    rate = None if not steps or not seconds else float(steps) / float(seconds)
    return Status(
        store.head().get("study", ""),
        store.shown,
        seconds_each=None if each is None else float(each),
        steps_per_second=rate,
        writer=writer,
        **{name: counts[name] for name in ("done", "running", "pending", "failed")},
    )
