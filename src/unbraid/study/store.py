"""The store of a study: one writer, many readers, every run recorded completely or not at all."""

import json
import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from sqlalchemy import Connection, Engine, create_engine, event, func, inspect, select
from sqlalchemy.engine import make_url
from sqlalchemy.exc import DatabaseError, OperationalError
from sqlalchemy.pool import NullPool

from unbraid.study import schema
from unbraid.study.artefacts import Folder, checked, sha256
from unbraid.study.schema import StoreError

if TYPE_CHECKING:
    from unbraid.study.tasks import Task

FILE, WRITER = "study.sqlite", "writer.lock"
STATES = ("done", "running", "pending", "failed")
PATIENCE = 1.0  # seconds to wait for the lock
LOCK = 0x756E6272  # the advisory lock of PostgreSQL that a writer holds


@dataclass
class Result:
    """The result of a task: everything that is recorded about a run."""

    run: str
    seconds: float
    steps: int | None
    pool: str
    pool_about: dict[str, Any]
    factors: bytes
    artefacts: dict[str, bytes]
    scores: list[tuple[str, str, float]]  # representation, metric, value
    protocol: str
    losses: dict[str, float] = field(default_factory=dict)
    curves: list[dict[str, Any]] = field(default_factory=list)
    provenance: dict[str, Any] = field(default_factory=dict)


class Store:
    """Tables and artefacts of a study, in a folder (SQLite) or behind a URL (PostgreSQL).

    Parameters
    ----------
    place : path or URL
        A folder, or ``postgresql+psycopg://user@host/name``. Behind a URL the artefacts are in the database too.
    create : bool
        Create it if it does not exist.
    """

    def __init__(self, place: str | Path, *, create: bool = False):
        self.place = str(place)
        self.is_url = "://" in self.place
        self._writer: Any = None
        self._anchor: Any = None
        self.engine = self._engine(create)
        self._check(create)

    @property
    def artefacts(self) -> "Folder | _InTable":
        return _InTable(self._begin) if self.is_url else Folder(self.folder / "artefacts")

    @property
    def folder(self) -> Path:
        """Where checkpoints are; for a URL, a folder in the current directory."""
        if not self.is_url:
            return Path(self.place)
        return Path(f"{make_url(self.place).database or 'study'}.study")

    @property
    def shown(self) -> str:
        """The place without a password."""
        return make_url(self.place).render_as_string() if self.is_url else self.place

    def _engine(self, create: bool) -> Engine:
        if self.is_url:
            return create_engine(self.place, poolclass=NullPool)
        folder, file = Path(self.place), Path(self.place) / FILE
        if not file.exists():
            if not create:
                raise StoreError(
                    f"{folder} is not a store of a study: it has no {FILE}. Create one with `unbraid study run`."
                )
            if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
                raise StoreError(f"{folder} exists and is not a store; it was not changed. Give another --store.")
            folder.mkdir(parents=True, exist_ok=True)
        engine = create_engine(f"sqlite:///{file}", connect_args={"timeout": 60}, poolclass=NullPool)
        event.listen(engine, "connect", _write_ahead)
        return engine

    def _check(self, create: bool) -> None:
        from unbraid import __version__

        try:
            with self.engine.begin() as connection:
                names = set(inspect(connection).get_table_names())
                if "meta" not in names:
                    if not create:
                        raise StoreError(
                            f"{self.shown} is not a store of a study. Create one with `unbraid study run`."
                        )
                    if names and not self.is_url:
                        raise StoreError(f"{self.shown} is a database of another application; it was not changed.")
                    schema.metadata.create_all(connection)
                    schema.write_meta(connection, {"schema": str(schema.VERSION), "unbraid": __version__})
                schema.check_version(connection, self.shown)
        except OperationalError as error:
            raise StoreError(f"{self.shown} cannot be opened: {str(error.orig).strip()}.") from error
        except DatabaseError as error:
            raise StoreError(f"{self.shown} is damaged or not a database: {str(error.orig).strip()}.") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Release the lock and close all connections."""
        self.unlock()
        self.engine.dispose()

    def unlock(self) -> None:
        """Release the lock."""
        for held in (self._anchor, self._writer):
            if held is not None:
                held.close()
        self._anchor = self._writer = None

    def lock(self) -> None:
        """Become the only writer; the lock is released when this process ends, however it ends."""
        end = time.monotonic() + PATIENCE  # a process that only checks for a writer holds it for a moment
        while not self._try_lock():
            if time.monotonic() > end:
                raise StoreError(
                    f"another process is writing to {self.shown}. Wait for it (`unbraid study watch`) or stop it."
                )
            time.sleep(0.05)
        # SQLite cleans up slowly when its last connection closes, and a server is slow to open a new one
        self._anchor = self.engine.connect()

    @contextmanager
    def _begin(self) -> Iterator[Connection]:
        """A transaction; a writer uses one connection for all of them."""
        if self._anchor is None:
            with self.engine.begin() as connection:
                yield connection
        else:
            with self._anchor.begin():
                yield self._anchor

    def _try_lock(self) -> bool:
        if self.is_url:
            self._writer = self.engine.connect()
            got = bool(self._writer.execute(select(func.pg_try_advisory_lock(LOCK))).scalar())
        else:
            self._writer = sqlite3.connect(self.folder / WRITER, timeout=0, check_same_thread=False)
            try:
                self._writer.execute("BEGIN EXCLUSIVE")
                got = True
            except sqlite3.OperationalError:
                got = False
        if not got:
            self.unlock()
        return got

    def has_writer(self) -> bool:
        """Whether some process holds the lock."""
        if not self.is_url and not os.access(self.folder, os.W_OK):
            return False
        free = self._try_lock()
        self.unlock()
        return not free

    def begin(self, name: str, identity: str, spec: str, tasks: "Sequence[Task]") -> None:
        """Add the tasks of a spec; tasks left running by another process are pending again."""
        with self._begin() as connection:
            head = schema.read_meta(connection)
            if head.get("identity", identity) != identity:
                raise StoreError(
                    f"{self.shown} belongs to a different spec: study {head['study']!r}, while this is {name!r}, or "
                    "the spec changed. Give another --store, or the original spec, which `unbraid study export` writes."
                )
            if "identity" not in head:
                schema.write_meta(connection, {"study": name, "identity": identity, "spec": spec})
            runs = schema.runs
            known = set(connection.execute(select(runs.c.run)).scalars())
            schema.insert(connection, runs, [_row_of(task) for task in tasks if task.run not in known])
            connection.execute(runs.update().where(runs.c.status == "running").values(status="pending"))

    def pending(self, within: Iterable[str]) -> list[str]:
        """Addresses of the pending runs among these, first seeds first."""
        runs, wanted = schema.runs, set(within)
        order = select(runs.c.run).where(runs.c.status == "pending").order_by(runs.c.priority, runs.c.index)
        with self.engine.connect() as connection:
            return [run for run in connection.execute(order).scalars() if run in wanted]

    def mark(self, names: Sequence[str], status: str) -> None:
        """Set the status of some runs."""
        self._set(schema.runs.c.run.in_(names), status=status)

    def fail(self, run: str, error: str) -> None:
        """Store why a run failed."""
        self._set(schema.runs.c.run == run, status="failed", error=error)

    def retry(self) -> int:
        """Make failed runs pending; return their number."""
        return self._set(schema.runs.c.status == "failed", status="pending", error=None)

    def _set(self, which: Any, **values: Any) -> int:
        with self._reporting_failures(), self._begin() as connection:
            return connection.execute(schema.runs.update().where(which).values(values)).rowcount

    @contextmanager
    def _reporting_failures(self) -> Iterator[None]:
        """Report a full disk or a lost server in one sentence; nothing is left half written."""
        try:
            yield
        except (OperationalError, OSError) as error:
            why = str(error.orig if isinstance(error, OperationalError) else error).strip()
            raise OSError(
                f"{self.shown} could not be written: {why}. All earlier results are kept; fix the cause (free some "
                "space, start the server) and resume with the same command."
            ) from error

    def record(self, results: Sequence[Result]) -> None:
        """Store results: artefacts first, then all rows in one transaction."""
        artefacts, runs = self.artefacts, schema.runs
        with self._reporting_failures():
            addresses = [{kind: artefacts.put(data) for kind, data in r.artefacts.items()} for r in results]
            with self._begin() as connection:
                known = set(connection.execute(select(schema.pools.c.pool)).scalars())
            pools = [
                {"pool": pool, "about": json.dumps(r.pool_about, sort_keys=True), "factors": artefacts.put(r.factors)}
                for pool, r in {r.pool: r for r in results if r.pool not in known}.items()
            ]
            with self._begin() as connection:
                schema.insert(connection, schema.pools, pools)
                for table, rows in _rows_of(results, addresses).items():
                    connection.execute(table.delete().where(table.c.run.in_([r.run for r in results])))
                    schema.insert(connection, table, rows)
                for r in results:
                    done = {"status": "done", "error": None, "seconds": r.seconds, "steps": r.steps, "pool": r.pool}
                    connection.execute(runs.update().where(runs.c.run == r.run).values(done))

    def add_scores(self, rows: Sequence[dict[str, Any]]) -> None:
        """Add scores, replacing those of the same run, representation, protocol and metric."""
        table = schema.scores
        with self._reporting_failures(), self._begin() as connection:
            for row in rows:
                same = [table.c[k] == row[k] for k in ("run", "representation", "protocol", "metric")]
                connection.execute(table.delete().where(*same))
            schema.insert(connection, table, rows)

    def head(self) -> dict[str, str]:
        """Name, identity and text of the spec, versions."""
        with self.engine.connect() as connection:
            return schema.read_meta(connection)

    def counts(self) -> dict[str, int]:
        """Runs by status."""
        runs = schema.runs
        with self.engine.connect() as connection:
            found = connection.execute(select(runs.c.status, func.count()).group_by(runs.c.status))
            return dict.fromkeys(STATES, 0) | {row[0]: row[1] for row in found}


def _write_ahead(connection: Any, record: Any) -> None:
    """Allow readers beside one writer; commits survive a killed process."""
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=NORMAL")


def _row_of(task: "Task") -> dict[str, Any]:
    names = ("index", "run", "dataset", "method", "strength", "seed", "priority")
    row = {name: getattr(task, name) for name in names}
    return row | {"status": "pending", "config": json.dumps(task.config, sort_keys=True)}


def _rows_of(results: Sequence[Result], addresses: Sequence[dict[str, str]]) -> dict[Any, list[dict[str, Any]]]:
    """Rows of some runs by table, including tables without rows."""
    rows: dict[Any, list[dict[str, Any]]] = {table: [] for table in schema.OF_A_RUN}
    for result, kept in zip(results, addresses):
        run = {"run": result.run}
        rows[schema.scores] += [
            run | {"representation": r, "protocol": result.protocol, "metric": m, "value": v}
            for r, m, v in result.scores
        ]
        rows[schema.losses] += [run | {"name": name, "value": value} for name, value in result.losses.items()]
        rows[schema.curves] += [run | {"records": json.dumps(result.curves)}] if result.curves else []
        rows[schema.kept] += [run | {"kind": kind, "address": address} for kind, address in kept.items()]
        rows[schema.provenance] += [run | {"about": json.dumps(result.provenance, sort_keys=True)}]
    return rows


class _InTable:
    """Artefacts as rows of the database, which all machines can reach."""

    def __init__(self, begin: Callable[[], AbstractContextManager[Connection]]):
        self._begin = begin

    def put(self, data: bytes) -> str:
        address = sha256(data)
        table = schema.blobs
        with self._begin() as connection:
            there = connection.execute(select(table.c.address).where(table.c.address == address)).first()
            if there is None:
                connection.execute(table.insert().values(address=address, data=data))
        return address

    def get(self, address: str) -> bytes:
        table = schema.blobs
        with self._begin() as connection:
            found = connection.execute(select(table.c.data).where(table.c.address == address)).scalar()
        if found is None:
            raise FileNotFoundError(f"the database has no artefact {address}: it was copied without its blobs.")
        return checked(bytes(found), address, f"artefact {address}")
