"""Where tasks run: in this process, on a local cluster, or on any Dask cluster.

An order to a worker has a unique ``key``, and a ``mark`` that changes when it makes progress.
"""

import errno
import logging
import os
import signal
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any

from distributed import Client, LocalCluster, Status, WorkerPlugin, wait
from distributed.scheduler import KilledWorker

PATIENCE = 5  # rounds of Dask's own retries that may end with dead workers and no progress before it is a failure
ANSWER = 20.0  # seconds for a scheduler to answer
LOOK_EVERY = 5.0  # seconds between checks of the workers
GONE = "the connection to the scheduler is lost. Start it again, then resume with the same command."
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@dataclass(frozen=True)
class Failure:
    """Why an order gave no result; ``full`` if the cause was a full disk and not the order itself."""

    key: str
    error: str
    full: bool = False


def attempt(work: Callable[[Any], Any], order: Any) -> Any:
    """The result of the work, or the reason why there is none."""
    try:
        return work(order)
    except Exception as error:
        return Failure(order.key, traceback.format_exc(), is_full(error))


def is_full(error: BaseException | None) -> bool:
    """Whether an error, or its cause, is a full disk."""
    while error is not None:
        if isinstance(error, OSError) and (error.errno in _FULL or "No space left" in str(error)):
            return True
        error = error.__cause__ or error.__context__
    return False


class InProcess:
    """One task after another, in this process."""

    window = 1

    def __init__(self, work: Callable[[Any], Any]):
        self._work = work
        self._orders: list[Any] = []

    def submit(self, order: Any) -> None:
        self._orders.append(order)

    def outcomes(self, timeout: float) -> list[Any]:
        """Outcomes of the submitted orders."""
        orders, self._orders = self._orders, []
        return [attempt(self._work, order) for order in orders]

    def cancel(self) -> None:
        self._orders.clear()


class OnDask:
    """A few tasks at a time on a Dask cluster; tasks of dead workers resume elsewhere.

    Parameters
    ----------
    client : Client
    work : callable (order) -> outcome
    revive : callable, optional
        Called every few seconds to restart dead workers.
    """

    def __init__(self, client: Client, work: Callable[[Any], Any], revive: Callable[[], None] | None = None):
        self.client, self._work, self._revive = client, work, revive
        self._orders: dict[Any, Any] = {}
        self._tries: dict[str, tuple[int, float | None]] = {}  # failed attempts, and the mark they started from
        self._numbers = count()
        self._n_workers, self._look_again = 1, 0.0

    @property
    def window(self) -> int:
        """Tasks in flight: enough to keep all workers busy, few enough to keep the client's memory flat."""
        self._look()
        return 2 * self._n_workers + 2

    def _look(self) -> None:
        """Every few seconds, restart dead workers and count the workers, as a cluster may grow and shrink."""
        if time.monotonic() > self._look_again:
            if self._revive is not None:
                self._revive()
            self._n_workers = max(len(self.client.scheduler_info(n_workers=-1)["workers"]), 1)
            self._look_again = time.monotonic() + LOOK_EVERY

    def submit(self, order: Any) -> None:
        # a common prefix: the scheduler keeps statistics for every prefix it has seen
        key = f"order-{order.key}-{next(self._numbers)}"
        future = self.client.submit(attempt, self._work, order, key=key, pure=False)
        self._orders[future] = order

    def outcomes(self, timeout: float) -> list[Any]:
        """Outcomes within ``timeout`` seconds; a lost scheduler is an error."""
        self._look()
        try:
            done = wait(list(self._orders), timeout=timeout, return_when="FIRST_COMPLETED").done
        except TimeoutError:
            done = set()
        except CancelledError as error:
            raise ConnectionError(GONE) from error
        found = []
        for future in done:
            order = self._orders.pop(future)
            outcome = self._outcome(future, order)
            if outcome is not None:
                found.append(outcome)
            future.release()
        if self.client.status != "running":
            raise ConnectionError(GONE)
        return found

    def _outcome(self, future: Any, order: Any) -> Any:
        if future.status == "finished":
            try:
                return future.result()
            except CancelledError:  # the worker died before its result was fetched
                self.submit(order)
                return None
        if future.status != "error":
            raise ConnectionError(GONE)
        error = future.exception()
        if not isinstance(error, KilledWorker):
            return Failure(order.key, "".join(traceback.format_exception(error)), is_full(error))
        tries, mark = self._tries.get(order.key, (0, None))
        tries = tries + 1 if order.mark == mark else 1
        if tries >= PATIENCE:
            return Failure(order.key, f"its workers died repeatedly, perhaps because they ran out of memory: {error}")
        self._tries[order.key] = tries, order.mark
        self.submit(order)
        return None

    def cancel(self) -> None:
        if self._orders and self.client.status == "running":
            self.client.cancel(list(self._orders), force=True)
        self._orders.clear()


class Quiet(WorkerPlugin):
    """Workers ignore Ctrl-C: the client shuts them down."""

    def setup(self, worker: Any) -> None:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def working(workers: int | None, scheduler: str | None, work: Callable[[Any], Any]) -> Iterator[InProcess | OnDask]:
    """A place to run tasks.

    Parameters
    ----------
    workers : int, optional
        Single-threaded processes on this machine; by default one per core. 0 is this process.
    scheduler : str, optional
        Address of a Dask scheduler to use instead.
    work : callable (order) -> outcome
    """
    if scheduler is None and workers == 0:
        yield InProcess(work)
        return
    import dask

    settings = {
        "distributed.scheduler.allowed-failures": 3,
        "distributed.comm.retry.count": 2,
        "distributed.nanny.pre-spawn-environ.NUMBA_NUM_THREADS": 1,
        "distributed.logging.distributed": "critical",  # in the workers
    }
    with dask.config.set(settings), _quiet():
        if scheduler is not None:
            with _client(scheduler) as client:
                yield OnDask(client, work)
            return
        try:
            cluster = LocalCluster(
                n_workers=workers or os.cpu_count() or 1,
                threads_per_worker=1,
                processes=True,
                host="127.0.0.1",
                dashboard_address="127.0.0.1:0",
                silence_logs=logging.CRITICAL,
            )
        except RuntimeError as error:
            raise ConnectionError(
                f"the workers died at startup ({error}). Run the same command again; if that does not help, use "
                "fewer --workers."
            ) from error
        with cluster, Client(cluster) as client:
            client.register_plugin(Quiet(), name="quiet")
            yield OnDask(client, work, partial(_fill_up, cluster, len(cluster.worker_spec)))


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence Dask's logs of lost connections: our own errors cover what matters to a user."""
    loggers = [logging.getLogger(name) for name in ("distributed", "distributed.client")]  # each has its own level
    levels = [logger.level for logger in loggers]
    try:
        for logger in loggers:
            logger.setLevel(logging.CRITICAL)
        yield
    finally:
        for logger, level in zip(loggers, levels):
            logger.setLevel(level)


def _fill_up(cluster: LocalCluster, n: int) -> None:
    """Replace workers that Dask gave up on: it restarts a dead one, but not one that died at startup."""

    async def forget() -> None:
        for name, nanny in list(cluster.workers.items()):
            if nanny.status in (Status.closed, Status.failed):
                del cluster.workers[name]

    cluster.sync(forget)
    if len(cluster.workers) < n:
        cluster.scale(n)


@contextmanager
def _client(address: str) -> Iterator[Client]:
    try:
        client = Client(address, timeout=ANSWER)
    except (OSError, TimeoutError) as error:
        raise ConnectionError(
            f"no scheduler answers at {address}: {error}. Start one with `dask scheduler`."
        ) from error
    try:
        try:
            client.wait_for_workers(1, timeout=60)
        except TimeoutError as error:
            raise ConnectionError(
                f"the scheduler at {address} has no workers. Start one with `dask worker {address}`."
            ) from error
        yield client
    finally:
        client.close(timeout=5)
