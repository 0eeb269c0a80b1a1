"""Where tasks run: in this process, in a cluster on this machine, or in any Dask cluster."""

import errno
import logging
import os
import signal
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from distributed import Client, LocalCluster, WorkerPlugin, wait
from distributed.scheduler import KilledWorker

PATIENCE = 5  # times that a task may take all of Dask's own tries with it before it counts as failed
RECOUNT = 5.0  # seconds between two counts of the workers
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class Order(Protocol):
    """What a worker is told; its key is its own among all of a study."""

    @property
    def key(self) -> str: ...


@dataclass(frozen=True)
class Failure:
    """Why an order gave no result; ``full`` where a disk was, which is no fault of the order."""

    key: str
    error: str
    full: bool = False


def attempt(work: Callable[[Any], Any], order: Order) -> Any:
    """What the work gives, or why it gives nothing."""
    try:
        return work(order)
    except Exception as error:
        return Failure(order.key, traceback.format_exc(), is_full(error))


def is_full(error: BaseException | None) -> bool:
    """Whether an error, or one behind it, is of a disk without room."""
    while error is not None:
        if isinstance(error, OSError) and (error.errno in _FULL or "No space left" in str(error)):
            return True
        error = error.__cause__ or error.__context__
    return False


class InProcess:
    """One task after the other, here."""

    window = 1

    def __init__(self, work: Callable[[Any], Any]):
        self._work = work
        self._orders: list[Order] = []

    def submit(self, order: Order) -> None:
        self._orders.append(order)

    def outcomes(self, timeout: float) -> list[Any]:
        """Outcomes of what was submitted."""
        orders, self._orders = self._orders, []
        return [attempt(self._work, order) for order in orders]

    def cancel(self) -> None:
        self._orders.clear()


class OnDask:
    """A few tasks at a time on a Dask cluster; tasks of dead workers go on elsewhere."""

    def __init__(self, client: Client, work: Callable[[Any], Any]):
        self.client, self._work = client, work
        self._orders: dict[Any, Order] = {}
        self._tries: dict[str, int] = {}
        self._n_workers, self._count_again = 1, 0.0

    @property
    def n_workers(self) -> int:
        """Workers of the cluster, which may grow and shrink; asked for every few seconds."""
        if time.monotonic() > self._count_again:
            self._n_workers = max(len(self.client.scheduler_info(n_workers=-1)["workers"]), 1)
            self._count_again = time.monotonic() + RECOUNT
        return self._n_workers

    @property
    def window(self) -> int:
        """Tasks in flight: enough that no worker waits, few enough that the client's memory stays flat."""
        return 2 * self.n_workers + 2

    def submit(self, order: Order) -> None:
        tries = self._tries.get(order.key, 0)
        future = self.client.submit(attempt, self._work, order, key=f"{order.key}-{tries}", pure=False)
        self._orders[future] = order

    def outcomes(self, timeout: float) -> list[Any]:
        """What ended within ``timeout`` seconds; a scheduler that is gone is an error."""
        try:
            done = wait(list(self._orders), timeout=timeout, return_when="FIRST_COMPLETED").done
        except TimeoutError:
            done = set()
        found = []
        for future in done:
            order = self._orders.pop(future)
            outcome = self._outcome(future, order)
            if outcome is not None:
                found.append(outcome)
            future.release()
        if self.client.status != "running":
            raise ConnectionError("the scheduler is gone. Start it again and run the same command: it goes on.")
        return found

    def _outcome(self, future: Any, order: Order) -> Any:
        if future.status == "finished":
            return future.result()
        if future.status != "error":
            raise ConnectionError("the scheduler is gone. Start it again and run the same command: it goes on.")
        error = future.exception()
        if not isinstance(error, KilledWorker):
            return Failure(order.key, "".join(traceback.format_exception(error)), is_full(error))
        self._tries[order.key] = self._tries.get(order.key, 0) + 1
        if self._tries[order.key] >= PATIENCE:
            return Failure(order.key, f"its workers died again and again, perhaps for want of memory: {error}")
        self.submit(order)
        return None

    def cancel(self) -> None:
        if self._orders and self.client.status == "running":
            self.client.cancel(list(self._orders), force=True)
        self._orders.clear()


class Quiet(WorkerPlugin):
    """A worker leaves Ctrl-C to the client, which ends it in order."""

    def setup(self, worker: Any) -> None:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def working(workers: int | None, scheduler: str | None, work: Callable[[Any], Any]) -> Iterator[InProcess | OnDask]:
    """Somewhere to do work.

    Parameters
    ----------
    workers : int, optional
        Processes on this machine, one thread each; by default one per core. 0 is this process.
    scheduler : str, optional
        Address of a Dask scheduler, in place of these.
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
        "distributed.logging.distributed": "critical",
    }
    with dask.config.set(settings):
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
                f"the workers died while they were started ({error}). Run the same command again; if it stays so, "
                "take fewer --workers."
            ) from error
        with cluster, Client(cluster) as client:
            client.register_plugin(Quiet(), name="quiet")
            yield OnDask(client, work)


@contextmanager
def _client(address: str) -> Iterator[Client]:
    try:
        client = Client(address, timeout=20)
    except (OSError, TimeoutError) as error:
        raise ConnectionError(f"there is no scheduler at {address}: {error}. `dask scheduler` starts one.") from error
    try:
        deadline = time.monotonic() + 60
        while not client.scheduler_info(n_workers=-1)["workers"]:
            if time.monotonic() > deadline:
                raise ConnectionError(f"the scheduler at {address} has no workers. `dask worker {address}` starts one.")
            time.sleep(0.2)
        yield client
    finally:
        client.close(timeout=5)
