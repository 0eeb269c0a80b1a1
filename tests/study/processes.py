"""A study's client, scheduler and workers as processes of their own, which tests may kill."""

import os
import random
import signal
import socket
import subprocess
import sys
import time

import psutil

from unbraid.study import Store, StoreError


def free_port():
    with socket.socket() as opened:
        opened.bind(("127.0.0.1", 0))
        return opened.getsockname()[1]


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


class StudyRun:
    """``unbraid study run`` as the leader of a process group of its own, as in a terminal."""

    def __init__(self, spec, store, *options):
        self.store, self.log, self.began = store, spec.with_suffix(".log"), time.time()
        command = [sys.executable, "-m", "unbraid", "study", "run", str(spec), "--store", str(store), *options]
        with self.log.open("a") as file:
            self.process = subprocess.Popen(
                command,
                stdout=file,
                stderr=subprocess.STDOUT,
                cwd=spec.parent,
                start_new_session=True,
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # ignored where tests run behind &
            )

    def wait_for_runs(self, n):
        """Until so many runs are done; an error if the client ends before."""
        while done_in(self.store) < n:
            assert self.process.poll() is None, self.log.read_text()
            time.sleep(0.2)

    def wait_for_checkpoint(self):
        """Until a training has written one: it is on its way, and there is something to go on from."""
        while not self._has_checkpoint():
            assert self.process.poll() is None, self.log.read_text()
            time.sleep(0.1)

    def _has_checkpoint(self):
        try:
            return any(path.stat().st_mtime > self.began for path in self.store.glob("checkpoints/*.safetensors"))
        except FileNotFoundError:  # one that was finished meanwhile
            return False

    def wait_for_work(self):
        """Until the workers have tasks."""
        while not (workers_of(psutil.Process(self.process.pid)) and Store(self.store).counts()["running"]):
            assert self.process.poll() is None, self.log.read_text()
            time.sleep(0.2)

    def press_ctrl_c(self):
        """SIGINT to the whole group, workers too, as a terminal does."""
        os.killpg(self.process.pid, signal.SIGINT)

    def kill(self):
        """SIGKILL to the client alone; returns when its workers have noticed."""
        orphans = workers_of(psutil.Process(self.process.pid))
        self.process.kill()
        self.process.wait()
        assert not psutil.wait_procs(orphans, timeout=180)[1], "workers outlive their client"

    def end(self):
        """SIGKILL to the whole group, if its leader lives; the number of a dead one may be another's by now."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


def done_in(store):
    """Runs that are done; none where the store is not there yet."""
    try:
        with Store(store) as opened:
            return opened.counts()["done"]
    except StoreError:
        return 0


class Cluster:
    """``dask scheduler`` and two ``dask worker``, each a process of its own on loopback."""

    def __init__(self, folder):
        port = free_port()
        self.address = f"tcp://127.0.0.1:{port}"
        dask = [sys.executable, "-m", "dask"]
        local = ["--host", "127.0.0.1", "--dashboard-address", "127.0.0.1:0"]
        common = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder}
        self.scheduler = subprocess.Popen([*dask, "scheduler", "--port", str(port), *local], **common)
        worker = [*dask, "worker", self.address, "--nthreads", "1", *local]
        self.workers = [subprocess.Popen(worker, **common) for _ in range(2)]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        below = [child for worker in self.workers if worker.poll() is None for child in _below(worker)]
        for process in (*self.workers, self.scheduler):
            process.terminate()
        for process in (*self.workers, self.scheduler):
            process.wait(60)
        for left in psutil.wait_procs(below, timeout=10)[1]:
            left.kill()


def _below(process):
    return psutil.Process(process.pid).children(recursive=True)
