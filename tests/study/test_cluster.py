"""Tasks in other processes, which die."""

import random
import subprocess
import threading
import time
from types import SimpleNamespace

import psutil
import pytest
from dask.utils import key_split
from distributed.scheduler import KilledWorker

from tests.facts import facts
from unbraid.study import Store, parse_spec, run_study
from unbraid.study.workers import Failure, OnDask

from .processes import Cluster, StudyRun, done_in, kill_one
from .tiny import TINY, content

LONGER = TINY.replace("max_steps = 20", "max_steps = 400").replace("checkpoint_every = 5", "checkpoint_every = 50")
CHAOS = LONGER.replace("seeds = 2", "seeds = 6").replace("max_steps = 400", "max_steps = 3000")


@pytest.mark.slow
def test_a_killed_worker_costs_no_result(tmp_path):
    """A kill in a cluster of two; the store equals that of a run in one process."""
    spec = parse_spec(LONGER)
    run_study(spec, tmp_path / "plain", workers=0)
    over, killed = threading.Event(), threading.Event()

    def kill():
        while not over.wait(0.1):
            begun = (tmp_path / "killed" / "checkpoints").is_dir()  # there is something to go on from
            if begun and kill_one(psutil.Process()):
                killed.set()
                return

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        sitting = run_study(spec, tmp_path / "killed", workers=2)
    finally:
        over.set()
        thread.join()
    assert killed.is_set()
    assert (sitting.done, sitting.failed, sitting.left) == (8, 0, 0)
    assert content(Store(tmp_path / "killed")) == content(Store(tmp_path / "plain"))


class Dead:
    """A future whose workers died."""

    status = "error"

    def exception(self):
        return KilledWorker("run", SimpleNamespace(address="tcp://127.0.0.1:1"), 3)

    def release(self):
        pass


class Unlucky:
    """Stands for a Dask client whose every worker dies; keeps the keys of what it was asked to run."""

    status = "running"

    def __init__(self):
        self.keys = []

    def scheduler_info(self, n_workers):
        return {"workers": {}}

    def submit(self, *arguments, key, pure):
        self.keys.append(key)
        return Dead()


@pytest.mark.parametrize(("marks", "tries"), [([None] * 20, 5), ([7.0] * 20, 5), ([1, 1, 2, 3, 3, 4] + [5] * 20, 11)])
def test_patience_ends_where_there_is_no_progress(monkeypatch, marks, tries):
    """Five times without a new checkpoint is a failure; a long task on machines that come and go is none."""
    monkeypatch.setattr("unbraid.study.workers.wait", lambda futures, **_: SimpleNamespace(done=list(futures)))
    client, found = Unlucky(), []
    place = OnDask(client, work=None)
    place.submit(SimpleNamespace(key="2f8c795ae1cb11f1", mark=None))
    while not found:
        place._orders = {future: SimpleNamespace(key="2f8c795ae1cb11f1", mark=marks.pop(0)) for future in place._orders}
        found = place.outcomes(0)
    assert isinstance(found[0], Failure)
    assert len(set(client.keys)) == len(client.keys) == tries
    assert {key_split(key) for key in client.keys} == {"order"}  # the scheduler never forgets a new prefix


def test_no_scheduler_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr("unbraid.study.workers.ANSWER", 0.5)
    with pytest.raises(ConnectionError, match=facts("tcp://127.0.0.1:9", "dask scheduler")):
        run_study(parse_spec(TINY), tmp_path / "s", scheduler="tcp://127.0.0.1:9")


@pytest.fixture
def small_disk(tmp_path):
    """A folder on a file system of its own that can be filled; where none may be mounted, the test cannot be run."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", folder], capture_output=True)
    if mounted.returncode:
        pytest.skip("mounting a small file system needs rights that are not given here")
    yield folder
    subprocess.run(["umount", folder], check=True)


@pytest.fixture
def start():
    """Starts runs; none outlives the test."""
    started = []

    def begin(*arguments):
        started.append(StudyRun(*arguments))
        return started[-1]

    yield begin
    for run in started:
        run.end()


def fill(path):
    """Write until the disk is full."""
    with path.open("wb", buffering=0) as file:
        while True:
            file.write(b"0" * 4096)


def kill_workers(run, n):
    """SIGKILL to a random worker every two to four seconds, until so many are dead; the study must outlast it."""
    killed = 0
    while killed < n:
        time.sleep(random.uniform(2, 4))
        assert run.process.poll() is None, run.log.read_text()
        killed += kill_one(psutil.Process(run.process.pid))


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_chaos(tmp_path, small_disk, start):
    """Twenty killed workers, Ctrl-C, a killed client, a killed scheduler, a full disk: the store is that of an
    undisturbed run. One store goes through it all."""
    tell = _Diary()
    spec = tmp_path / "chaos.toml"
    spec.write_text(CHAOS)
    run_study(parse_spec(CHAOS), tmp_path / "plain", workers=0)
    undisturbed = content(Store(tmp_path / "plain"))
    store, ballast = small_disk / "store", small_disk / "ballast"
    tell(f"undisturbed: {len(undisturbed['runs'])} runs, {len(undisturbed['scores'])} scores")

    run = start(spec, store, "--workers", "2")
    run.wait_for_work()
    kill_workers(run, 20)
    tell(f"20 workers killed, by then {done_in(store)} runs are done")

    run.press_ctrl_c()
    assert run.process.wait(180) == 130, run.log.read_text()
    tell(f"Ctrl-C at {done_in(store)} runs")

    run = start(spec, store, "--workers", "2")
    run.wait_for_checkpoint()
    run.kill()  # and the scheduler in it
    tell(f"client killed at {done_in(store)} runs")

    with Cluster(tmp_path) as cluster:
        run = start(spec, store, "--scheduler", cluster.address)
        run.wait_for_checkpoint()
        cluster.scheduler.kill()
        assert run.process.wait(240) == 2, run.log.read_text()
        assert "scheduler" in run.log.read_text()
    tell(f"scheduler killed at {done_in(store)} runs")

    run = start(spec, store, "--workers", "2")
    run.wait_for_checkpoint()
    with pytest.raises(OSError, match=facts("Errno 28")):
        fill(ballast)
    assert run.process.wait(240) == 2, run.log.read_text()
    assert "No space left on device" in run.log.read_text()  # of the store, or of the checkpoint, which comes first
    ballast.unlink()
    tell(f"disk full at {done_in(store)} runs")

    assert done_in(store) < len(undisturbed["runs"])  # or the last blows hit nothing
    run = start(spec, store, "--workers", "2")
    assert run.process.wait(1200) == 0, run.log.read_text()
    tell("the rest")
    assert content(Store(store)) == undisturbed


class _Diary:
    """Prints what happened and the seconds since the last entry; pytest -s shows it."""

    def __init__(self):
        self.last = time.monotonic()

    def __call__(self, what):
        now = time.monotonic()
        print(f"{now - self.last:6.1f} s  {what}", flush=True)
        self.last = now
