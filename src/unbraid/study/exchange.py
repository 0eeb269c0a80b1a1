"""Move a study: export frames as Parquet and CSV with the codes of some rows, and merge stores."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sqlalchemy import select

from unbraid.study import schema
from unbraid.study.artefacts import pack_array, sha256, unpack_array
from unbraid.study.frames import Study
from unbraid.study.schema import StoreError
from unbraid.study.store import Store

FRAMES = ("runs", "scores", "losses", "curves")
ABOUT, CODES, POOLS, STRIPS = "study.json", "codes.parquet", "pools.parquet", "strips.parquet"


def export(study: Study, folder: str | Path, *, codes: int = 0, strips: bool = False) -> list[Path]:
    """Write a study as files that any tool can read.

    Parameters
    ----------
    study : Study
    folder : path
        Created if it does not exist. It receives ``runs``, ``scores``, ``losses`` and ``curves``, each as ``.parquet``
        and ``.csv`` (curves as Parquet only), and ``study.json``, the spec.
    codes : int
        Also export codes and factors of this many rows of the pinned pool, so that :func:`merge` can turn the export
        back into a store, which can be rescored.
    strips : bool
        Also export the traversal strips.

    Returns
    -------
    list of Path
        The files written.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name in FRAMES:
        frame = getattr(study, name)()
        written.append(folder / f"{name}.parquet")
        frame.to_parquet(written[-1], index=False, compression="zstd")
        if name != "curves":
            written.append(folder / f"{name}.csv")
            frame.to_csv(written[-1], index=False)
    head = study.store.head()
    about = {key: head[key] for key in ("study", "identity", "schema", "unbraid")} | {"spec": json.loads(head["spec"])}
    written.append(folder / ABOUT)
    written[-1].write_text(json.dumps(about, indent=1), encoding="utf-8")
    if codes:
        written += _export_codes(study, folder, codes)
    if strips:
        rows = [(run, pack_array(strip)) for run in study.runs()["run"] if (strip := study.strip(run)) is not None]
        written.append(_written(folder / STRIPS, rows, "run", "strip"))
    return written


def _written(path: Path, rows: Sequence[tuple], *columns: str) -> Path:
    pd.DataFrame(rows, columns=list(columns)).to_parquet(path, index=False, compression="zstd")
    return path


def _export_codes(study: Study, folder: Path, n: int) -> list[Path]:
    kept, get = schema.kept, study.store.artefacts.get
    with study.store.engine.connect() as connection:
        found = connection.execute(select(kept.c.run, kept.c.kind, kept.c.address).order_by(kept.c.run, kept.c.kind))
        codes = [(*row[:2], _first_rows(get(row.address), n)) for row in found.all() if row.kind.startswith("codes/")]
        pools = connection.execute(select(schema.pools)).all()
        about = connection.execute(select(schema.runs.c.run, schema.runs.c.pool)).all()
        origin = {row.run: row.about for row in connection.execute(select(schema.provenance))}
    truth = [(p.pool, p.about, pack_array(unpack_array(get(p.factors))[:n])) for p in pools]
    of_runs = [(run, pool, origin[run]) for run, pool in about if run in origin]
    return [
        _written(folder / CODES, codes, "run", "kind", "codes"),
        _written(folder / POOLS, truth, "pool", "about", "factors"),
        _written(folder / "provenance.parquet", of_runs, "run", "pool", "provenance"),
    ]


def _first_rows(data: bytes, n: int) -> bytes:
    """The first rows of packed codes, with the same scaling."""
    from safetensors.numpy import load, save

    parts = load(data)
    return save(parts | {"codes": np.ascontiguousarray(parts["codes"][:n])})


def merge(store: Store, sources: Sequence[str | Path]) -> int:
    """Add the finished runs of other stores, or of exports with codes, to a store.

    Parameters
    ----------
    store : Store
        May be new. It and all sources must have the same spec.
    sources : sequence of paths or URLs

    Returns
    -------
    int
        Number of runs added. Runs that are already finished here are not replaced.
    """
    store.lock()
    taken = 0
    for source in sources:
        is_export = (Path(source) / ABOUT).is_file()
        content = _of_export(Path(source)) if is_export else _of_store(Store(source))
        taken += _take(store, content, str(source))
    store.unlock()
    return taken


Content = dict[str, Any]


def _of_store(source: Store) -> Content:
    """Every table of a store, and access to its artefacts."""
    with source.engine.connect() as connection:
        head = schema.read_meta(connection)
        tables = {t.name: [dict(row._mapping) for row in connection.execute(select(t))] for t in _TABLES}
    return {"head": head, "get": source.artefacts.get, **tables}


_TABLES = (schema.runs, schema.pools, *schema.OF_A_RUN)


def _of_export(folder: Path) -> Content:
    """The same from the files of an export."""
    if not (folder / CODES).is_file():
        raise StoreError(
            f"{folder} is an export without codes; export it again with `unbraid study export --codes 1000`."
        )
    about = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
    head = {"study": about["study"], "identity": about["identity"], "spec": json.dumps(about["spec"])}
    names = [*FRAMES, "provenance", "codes", "pools"] + ["strips"] * (folder / STRIPS).is_file()
    frames = {name: pd.read_parquet(folder / f"{name}.parquet") for name in names}
    blobs: dict[str, bytes] = {}

    def keep(data: bytes) -> str:
        blobs[sha256(data)] = data
        return sha256(data)

    runs = frames["runs"].merge(frames["provenance"][["run", "pool"]], on="run", how="left")
    runs = runs.assign(priority=runs["seed"], error=None)
    kept = [{"run": row.run, "kind": row.kind, "address": keep(row.codes)} for row in frames["codes"].itertuples()]
    if "strips" in frames:
        strips = frames["strips"].itertuples()
        kept += [{"run": row.run, "kind": "strip", "address": keep(row.strip)} for row in strips]
    tables = {
        "runs": runs.astype(object).where(runs.notna(), None),
        "pools": frames["pools"].assign(factors=frames["pools"]["factors"].map(keep)),
        "scores": frames["scores"].assign(protocol=about["spec"]["protocol"]),
        "losses": frames["losses"],
        "provenance": frames["provenance"][["run", "provenance"]].rename(columns={"provenance": "about"}),
    }
    rows = {name: table.to_dict("records") for name, table in tables.items()}
    return {"head": head, "get": blobs.__getitem__, "kept": kept, "curves": _records(frames["curves"]), **rows}


def _records(curves: pd.DataFrame) -> list[dict[str, Any]]:
    """Long curves as one list of records per run."""
    found = []
    for run, of_run in curves.groupby("run", sort=False):
        records = [
            {"step": int(step)} | dict(zip(part["name"], part["value"])) for step, part in of_run.groupby("step")
        ]
        found.append({"run": run, "records": json.dumps(records)})
    return found


def _take(store: Store, content: Content, place: str) -> int:
    head = store.head()
    if head.get("identity", content["head"]["identity"]) != content["head"]["identity"]:
        raise StoreError(f"{place} has a different spec from {store.shown}; only parts of one study can be merged.")
    with store.engine.begin() as connection:
        here = {row.run: row.status for row in connection.execute(select(schema.runs.c.run, schema.runs.c.status))}
        pools = set(connection.execute(select(schema.pools.c.pool)).scalars())
    new = {row["run"] for row in content["runs"] if row["status"] == "done" and here.get(row["run"]) != "done"}
    fresh = [row for row in content["pools"] if row["pool"] not in pools]
    kept = [row["address"] for row in content["kept"] if row["run"] in new]
    for address in [*kept, *(row["factors"] for row in fresh)]:
        store.artefacts.put(content["get"](address))
    with store.engine.begin() as connection:
        if "identity" not in head:
            schema.write_meta(connection, {key: content["head"][key] for key in ("study", "identity", "spec")})
        schema.insert(connection, schema.pools, fresh)
        connection.execute(schema.runs.delete().where(schema.runs.c.run.in_(new & set(here))))
        wanted = [row for row in content["runs"] if row["run"] in new or row["run"] not in here]
        schema.insert(connection, schema.runs, wanted)
        for table in schema.OF_A_RUN:
            schema.insert(connection, table, [row for row in content[table.name] if row["run"] in new])
    return len(new)
