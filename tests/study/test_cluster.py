"""Tasks in other processes, which die."""

import os
import random
import signal
import subprocess
import sys
import threading
import time

import psutil
import pytest

from unbraid.study import Store, parse_spec, run_study

from .tiny import TINY, content

LONGER = TINY.replace("max_steps = 20", "max_steps = 400").replace("checkpoint_every = 5", "checkpoint_every = 50")


def workers_of(process):
    """Worker processes below one, which are started by multiprocessing's spawn."""
    found = []
    for child in process.children(recursive=True):
        try:
            if any("spawn_main" in word for word in child.cmdline()):
                found.append(child)
        except psutil.NoSuchProcess:
            continue
    return found


def kill_one(process):
    """SIGKILL to a worker, if there is one; whether there was."""
    alive = workers_of(process)
    if alive:
        os.kill(random.choice(alive).pid, signal.SIGKILL)
    return bool(alive)


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


def test_no_scheduler_is_told(tmp_path):
    with pytest.raises(ConnectionError, match=r"there is no scheduler at tcp://127.0.0.1:9"):
        run_study(parse_spec(TINY), tmp_path / "s", scheduler="tcp://127.0.0.1:9")


class Client:
    """``unbraid study run`` as a process of its own."""

    def __init__(self, spec, store, *options):
        self.log = spec.with_suffix(".log")
        command = [sys.executable, "-m", "unbraid", "study", "run", str(spec), "--store", str(store), *options]
        with self.log.open("w") as file:
            self.process = subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT)

    def wait_for_runs(self, store, n):
        """Until so many runs are done, or the client has ended."""
        while self.process.poll() is None:
            try:
                if Store(store).counts()["done"] >= n:
                    return
            except ValueError:  # the store is not there yet
                pass
            time.sleep(0.2)


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


def fill(path):
    """Write until the disk is full."""
    with path.open("wb", buffering=0) as file:
        while True:
            file.write(b"0" * 4096)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_chaos(tmp_path, small_disk):
    """Twenty workers, a client and its scheduler killed, Ctrl-C once, a full disk once: nothing is lost."""
    text = LONGER.replace("seeds = 2", "seeds = 6").replace("max_steps = 400", "max_steps = 3000")
    spec_file = tmp_path / "chaos.toml"
    spec_file.write_text(text)
    run_study(parse_spec(text), tmp_path / "plain", workers=0)
    store, ballast = small_disk / "store", small_disk / "ballast"

    client = Client(spec_file, store, "--workers", "2")
    client.wait_for_runs(store, 2)
    client.process.send_signal(signal.SIGINT)
    assert client.process.wait(60) == 130

    client = Client(spec_file, store, "--workers", "2")
    client.wait_for_runs(store, 4)
    orphans = workers_of(psutil.Process(client.process.pid))
    client.process.kill()  # the scheduler of a local cluster dies with its client
    client.process.wait()
    psutil.wait_procs(orphans, timeout=60)

    client = Client(spec_file, store, "--workers", "2")
    client.wait_for_runs(store, 6)
    with pytest.raises(OSError, match="No space left"):
        fill(ballast)
    assert client.process.wait(120) == 2
    assert "run the same command again" in client.log.read_text()
    ballast.unlink()

    kills = 0
    while Store(store).counts()["done"] < 24:
        client = Client(spec_file, store, "--workers", "2")
        while client.process.poll() is None:
            time.sleep(random.uniform(1, 3))
            if kills < 25 and client.process.poll() is None:
                kills += kill_one(psutil.Process(client.process.pid))
        # 2: a worker was killed while the cluster started, which is told; the same command goes on
        assert client.process.returncode in (0, 2), client.log.read_text()
    print(f"{kills} workers were killed")
    assert kills >= 20
    assert content(Store(store)) == content(Store(tmp_path / "plain"))
