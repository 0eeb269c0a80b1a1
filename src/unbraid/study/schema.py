"""The tables of a store, their version, and how an older one is brought to it."""

from collections.abc import Callable

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

scores = Table(
    "scores",
    metadata,
    Column("run", String(16), primary_key=True),
    Column("representation", String(16), primary_key=True),
    Column("protocol", String(32), primary_key=True),
    Column("metric", String(64), primary_key=True),
    Column("value", Float),
)

losses = Table(
    "losses",
    metadata,
    Column("run", String(16), primary_key=True),
    Column("name", String(64), primary_key=True),
    Column("value", Float),
)

curves = Table("curves", metadata, Column("run", String(16), primary_key=True), Column("records", Text, nullable=False))

kept = Table(
    "kept",
    metadata,
    Column("run", String(16), primary_key=True),
    Column("kind", String(32), primary_key=True),
    Column("address", String(64), nullable=False),
)

pools = Table(
    "pools",
    metadata,
    Column("pool", String(16), primary_key=True),
    Column("about", Text, nullable=False),
    Column("factors", String(64), nullable=False),
)

provenance = Table(
    "provenance", metadata, Column("run", String(16), primary_key=True), Column("about", Text, nullable=False)
)

blobs = Table(
    "blobs", metadata, Column("address", String(64), primary_key=True), Column("data", LargeBinary, nullable=False)
)

OF_A_RUN = (scores, losses, curves, kept, provenance)


def _name_by_what_is_said(connection: Connection) -> None:
    """Version 1 knew a spec by all its keys, also those that nobody gave, so that a new key would have changed it."""
    from unbraid.study.spec import StudySpec

    text = read_meta(connection).get("spec")
    if text is not None:
        identity = StudySpec.model_validate_json(text).identity
        connection.execute(meta.update().where(meta.c.key == "identity").values(value=identity))


# From a version to the next; each step runs in the transaction that opens the store.
MIGRATIONS: dict[int, Callable[[Connection], None]] = {1: _name_by_what_is_said}


class StoreError(ValueError):
    """A store that cannot be used as asked: newer, foreign, of another study, or in use."""


def read_meta(connection: Connection) -> dict[str, str]:
    return {row.key: row.value for row in connection.execute(select(meta.c.key, meta.c.value))}


def migrate(connection: Connection, place: str) -> None:
    """Bring the tables to ``VERSION``; a newer store is refused."""
    from unbraid import __version__

    head = read_meta(connection)
    found = int(head.get("schema", "0"))
    if found > VERSION:
        raise StoreError(
            f"{place} has version {found}, written by unbraid {head.get('unbraid', 'of a later version')}; this is "
            f"unbraid {__version__}, which reads versions up to {VERSION}. Install that version or a later one."
        )
    while found < VERSION:
        if found not in MIGRATIONS:
            raise StoreError(f"{place} names no version that is known ({found}); it is not a store of a study.")
        MIGRATIONS[found](connection)
        found += 1
        connection.execute(meta.update().where(meta.c.key == "schema").values(value=str(found)))
