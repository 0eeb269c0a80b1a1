"""The tables of a store, and their version."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Column, Connection, Float, Index, Integer, LargeBinary, MetaData, String, Table, Text, select

VERSION = 2
metadata = MetaData()

meta = Table("meta", metadata, Column("key", String(64), primary_key=True), Column("value", Text, nullable=False))

runs = Table(
    "runs",
    metadata,
    Column("run", String(16), primary_key=True),
    Column("index", Integer, nullable=False),
    Column("dataset", String(128), nullable=False),
    Column("method", String(128), nullable=False),
    Column("strength", Float),
    Column("seed", Integer, nullable=False),
    Column("priority", Integer, nullable=False),
    Column("status", String(16), nullable=False),
    Column("seconds", Float),
    Column("steps", Integer),
    Column("pool", String(16)),
    Column("config", Text, nullable=False),
    Column("error", Text),
    Index("runs_by_status", "status", "priority", "index"),
)


def _of_run(name: str, *columns: Column) -> Table:
    return Table(name, metadata, Column("run", String(16), primary_key=True), *columns)


scores = _of_run(
    "scores",
    Column("representation", String(16), primary_key=True),
    Column("protocol", String(32), primary_key=True),
    Column("metric", String(64), primary_key=True),
    Column("value", Float),
)
losses = _of_run("losses", Column("name", String(64), primary_key=True), Column("value", Float))
curves = _of_run("curves", Column("records", Text, nullable=False))
kept = _of_run("kept", Column("kind", String(32), primary_key=True), Column("address", String(64), nullable=False))
provenance = _of_run("provenance", Column("about", Text, nullable=False))

pools = Table(
    "pools",
    metadata,
    Column("pool", String(16), primary_key=True),
    Column("about", Text, nullable=False),
    Column("factors", String(64), nullable=False),
)

blobs = Table(
    "blobs", metadata, Column("address", String(64), primary_key=True), Column("data", LargeBinary, nullable=False)
)

OF_A_RUN = (scores, losses, curves, kept, provenance)


class StoreError(ValueError):
    """A store that cannot be used: of another format or study, not a store at all, or in use."""


def insert(connection: Connection, table: Table, rows: Sequence[dict[str, Any]]) -> None:
    """Insert rows, if there are any."""
    if rows:
        connection.execute(table.insert(), list(rows))


def read_meta(connection: Connection) -> dict[str, str]:
    return {row.key: row.value for row in connection.execute(select(meta.c.key, meta.c.value))}


def write_meta(connection: Connection, head: Mapping[str, str]) -> None:
    insert(connection, meta, [{"key": key, "value": value} for key, value in head.items()])


def check_version(connection: Connection, place: str) -> None:
    """Refuse a store whose tables are of another version."""
    from unbraid import __version__

    head = read_meta(connection)
    found = head.get("schema")
    if found != str(VERSION):
        raise StoreError(
            f"{place} has format {found}, written by unbraid {head.get('unbraid')}; this is unbraid {__version__}, "
            f"which reads format {VERSION}. Open it with the version that wrote it, or give another --store."
        )
