"""Run a study: hand out pending tasks and store their results until all are done or the run is stopped."""

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unbraid.runtime.progress import bar
from unbraid.study.spec import StudySpec
from unbraid.study.store import Result, Store
from unbraid.study.tasks import Task, tasks_of
from unbraid.study.work import Order, Paused, checkpoint_of, perform
from unbraid.study.workers import Failure, InProcess, OnDask, working

WAKE = 1.0  # seconds between checks of the clock
GRACE = 10.0  # seconds for running tasks to write their checkpoints after --max-time


@dataclass(frozen=True)
class Sitting:
    """Result of one call.

    Attributes
    ----------
    done, failed, left : int
        Runs finished by this call, runs that failed in it, and runs that remain.
    seconds : float
    steps : int
        Training steps of the finished runs.
    ending : {"done", "time", "interrupt"}
    """

    done: int
    failed: int
    left: int
    seconds: float
    steps: int
    ending: str


def run_study(
    spec: StudySpec,
    store: str | Path,
    *,
    workers: int | None = None,
    scheduler: str | None = None,
    max_time: float | None = None,
    indices: Sequence[int] | None = None,
    progress: bool | None = None,
) -> Sitting:
    """Run the pending tasks of a study; call it again to resume.

    Parameters
    ----------
    spec : StudySpec
    store : path or URL
        Created if it does not exist. A store of another spec or format is refused before anything runs.
    workers : int, optional
        Single-threaded processes; by default one per core. 0 runs in this process.
    scheduler : str, optional
        Address of a Dask scheduler to use instead of local processes. Its workers must see the store's folder under
        the same path for killed tasks to resume from their checkpoints.
    max_time : float, optional
        Seconds; tasks running at that time resume from their checkpoints in the next call.
    indices : sequence of int, optional
        Run only these tasks of the study's list.
    progress : bool, optional
        Show a bar; by default on a terminal.

    Returns
    -------
    Sitting
    """
    tasks = tasks_of(spec)
    if wrong := [i for i in indices or () if not 0 <= i < len(tasks)]:
        there = f"the study has tasks 0 to {len(tasks) - 1}"
        raise ValueError(f"{there}; received {wrong[0]}. `unbraid study list` shows them.")
    chosen = tasks if indices is None else [tasks[i] for i in indices]
    with Store(store, create=True) as opened:
        opened.lock()
        opened.begin(spec.name, spec.identity, spec.model_dump_json(), tasks)
        waiting = deque(opened.pending(task.run for task in chosen))
        if not waiting:
            return Sitting(0, 0, 0, 0.0, 0, "done")
        deadline = None if max_time is None else time.time() + max_time
        queue = _TaskQueue(opened, spec, {task.run: task for task in chosen}, waiting, deadline)
        with working(workers, scheduler, perform) as place:
            return queue.work(place, progress)


class _TaskQueue:
    """Hands out tasks and stores their results."""

    def __init__(
        self, store: Store, spec: StudySpec, tasks: dict[str, Task], waiting: deque[str], deadline: float | None
    ):
        self.store, self.spec, self.tasks, self.waiting, self.deadline = store, spec, tasks, waiting, deadline
        self.running: set[str] = set()
        self.paused: set[str] = set()
        self.done = self.failed = self.steps = 0
        self.began = time.monotonic()

    def work(self, place: InProcess | OnDask, progress: bool | None) -> Sitting:
        """Work until all is done; after an error other than Ctrl-C, the next call requeues running tasks."""
        ending = "done"
        try:
            with bar(f"study {self.spec.name}", total=len(self.waiting), show=progress) as advance:
                while self.waiting or self.running:
                    if self.deadline is not None and time.time() >= self.deadline:
                        ending = "time"
                        self._wait_for_checkpoints(place, advance)
                        break
                    self._hand_out(place)
                    self._take_in(place.outcomes(WAKE), advance)
        except KeyboardInterrupt:
            ending = "interrupt"
        finally:
            place.cancel()
        self._put_back()
        seconds = time.monotonic() - self.began
        return Sitting(self.done, self.failed, len(self.waiting), seconds, self.steps, ending)

    def _hand_out(self, place: InProcess | OnDask) -> None:
        fresh = []
        while self.waiting and len(self.running) < place.window:
            run = self.waiting.popleft()
            fresh.append(run)
            self.running.add(run)
            place.submit(self._order(run))
        if fresh:
            self.store.mark(fresh, "running")

    def _order(self, run: str) -> Order:
        return Order(
            run=run,
            config=self.tasks[run].config,
            files=self.tasks[run].files,
            metrics={name: self.spec.metrics_of(name) for name in self.spec.representations},
            protocol=self.spec.protocol,
            checkpoint=str(checkpoint_of(self.store.folder.resolve(), run)),
            checkpoint_every=self.spec.checkpoint_every,
            deadline=self.deadline,
        )

    def _take_in(self, outcomes: Sequence[Any], advance: Callable) -> None:
        results = [outcome for outcome in outcomes if isinstance(outcome, Result)]
        if results:
            self.store.record(results)
        self.done += len(results)
        self.steps += sum(result.steps or 0 for result in results)
        for outcome in outcomes:
            if isinstance(outcome, Paused):
                self.paused.add(outcome.run)
                continue
            if isinstance(outcome, Failure):
                self._note_failure(outcome)
            run = outcome.key if isinstance(outcome, Failure) else outcome.run
            self.running.discard(run)
            checkpoint_of(self.store.folder, run).unlink(missing_ok=True)
            rate = self.steps / max(time.monotonic() - self.began, 1e-9)
            advance(1, running=str(len(self.running)), failed=str(self.failed), steps_per_second=round(rate, 1))

    def _note_failure(self, failure: Failure) -> None:
        if failure.full:
            raise OSError(
                "the study stopped because a disk is full; all results so far are kept. Free some space and resume "
                f"with the same command. The error was: {failure.error.strip().splitlines()[-1]}"
            )
        self.store.fail(failure.key, failure.error)
        self.failed += 1

    def _wait_for_checkpoints(self, place: InProcess | OnDask, advance: Callable) -> None:
        """Give running tasks a moment to finish or write their checkpoints."""
        end = time.monotonic() + GRACE
        while self.running - self.paused and time.monotonic() < end and isinstance(place, OnDask):
            self._take_in(place.outcomes(WAKE), advance)

    def _put_back(self) -> None:
        """Tasks that are no longer running are pending again."""
        if self.running:
            self.store.mark(sorted(self.running), "pending")
        self.waiting.extend(sorted(self.running))
        self.running.clear()
