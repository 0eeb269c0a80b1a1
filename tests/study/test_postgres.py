"""Stores in a real PostgreSQL server, started here on loopback as an ordinary user."""

import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

import unbraid as ub
from tests.facts import facts
from unbraid.study import Store, StoreError, export, merge, rescore, run_study

from .processes import Cluster, StudyRun, free_port
from .tiny import TINY, content, linear, tiny

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
from postgres import binaries

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def server():
    """The beginning of a URL; the server refuses to be root's, so that it is given to the user postgres then."""
    programs = binaries()
    assert programs is not None, "PostgreSQL is missing: python scripts/postgres.py installs it."
    folder, port = Path(tempfile.mkdtemp(prefix="unbraid-pg-")), free_port()
    user = {}
    if os.geteuid() == 0:
        owner = pwd.getpwnam("postgres")
        os.chown(folder, owner.pw_uid, owner.pw_gid)
        user = {"user": owner.pw_uid, "group": owner.pw_gid}
    data = folder / "data"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder} | user
    subprocess.run([programs / "initdb", "-D", data, "-U", "me", "-A", "trust"], check=True, **quiet)
    command = [programs / "postgres", "-D", data, "-p", str(port), "-c", "listen_addresses=127.0.0.1", "-k", folder]
    process = subprocess.Popen(command, **quiet)
    try:
        ready = [programs / "pg_isready", "-h", "127.0.0.1", "-p", str(port), "-U", "me"]
        while subprocess.run(ready, **quiet).returncode and process.poll() is None:
            time.sleep(0.1)
        yield f"postgresql+psycopg://me@127.0.0.1:{port}"
    finally:
        process.send_signal(signal.SIGINT)  # its fast way to end, without waiting for connections
        process.wait(30)
        shutil.rmtree(folder)


@pytest.fixture
def url(server, request):
    """A database of this test's own."""
    from sqlalchemy import create_engine, text

    name = f"t{abs(hash(request.node.name)) % 10**9}"
    engine = create_engine(f"{server}/postgres", isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(f"create database {name}"))
    engine.dispose()
    return f"{server}/{name}"


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # checkpoints of a URL are in a folder of the current one


def test_a_store_in_postgres_equals_one_in_a_folder(url, tmp_path):
    run_study(tiny(), url, workers=0)
    run_study(tiny(), tmp_path / "s", workers=0)
    with Store(url) as there, Store(tmp_path / "s") as here:
        assert content(there) == content(here)
    study = ub.study.open(url)
    run = study.runs()["run"].iloc[0]
    assert study.codes(run).shape == (200, 2)
    assert rescore(study, "sap") == 12
    files = export(study, tmp_path / "export", codes=100)
    assert all(path.exists() for path in files)


def test_one_writer_and_one_spec(url):
    run_study(linear(), url, workers=0, indices=[0])
    with Store(url) as first, Store(url) as second:
        first.lock()
        assert second.has_writer()
        with pytest.raises(StoreError, match=facts("unbraid study watch")):
            run_study(linear(), url, workers=0)
        first.unlock()
        assert not second.has_writer()
    with pytest.raises(StoreError, match=facts("--store", "unbraid study export")):
        run_study(linear(seeds=3), url, workers=0)


def test_a_folder_is_merged_into_a_server(url, tmp_path):
    run_study(linear(), tmp_path / "s", workers=0)
    with Store(url, create=True) as there:
        assert merge(there, [tmp_path / "s"]) == 4
        assert content(there) == content(Store(tmp_path / "s"))


def test_a_server_that_is_not_there_is_told():
    with pytest.raises(StoreError, match=facts("127.0.0.1")):
        Store(f"postgresql+psycopg://me@127.0.0.1:{free_port()}/none")


def test_a_scheduler_and_two_workers_as_processes_of_their_own(url, tmp_path):
    """The way of clusters: `dask scheduler`, `dask worker` twice, the client by --scheduler, results in PostgreSQL."""
    spec = tmp_path / "tiny.toml"
    spec.write_text(TINY)
    with Cluster(tmp_path) as cluster:
        run = StudyRun(spec, url, "--scheduler", cluster.address)
        try:
            assert run.process.wait(400) == 0, run.log.read_text()
        finally:
            run.end()
    assert "8 done, 0 failed, 0 left" in run.log.read_text()
    run_study(tiny(), tmp_path / "plain", workers=0)
    with Store(url) as there, Store(tmp_path / "plain") as here:
        assert content(there) == content(here)
