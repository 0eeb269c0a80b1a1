"""A study as tidy frames: what :func:`unbraid.study.open` returns."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sqlalchemy import Select, select

from unbraid.study import schema
from unbraid.study.artefacts import unpack_array, unpack_codes
from unbraid.study.spec import StudySpec
from unbraid.study.store import Store

_RUN = ("run", "index", "dataset", "method", "strength", "seed", "status", "seconds", "steps", "config")


@dataclass
class Study:
    """Runs, scores, curves and codes of a store.

    Attributes
    ----------
    store : Store
    name : str
        Name of the study.
    spec : StudySpec
        The spec it was run with.
    """

    store: Store

    @property
    def name(self) -> str:
        return self.store.head().get("study", "")

    @property
    def spec(self) -> StudySpec:
        return StudySpec.model_validate_json(self.store.head()["spec"])

    def _frame(self, table: Any, columns: tuple[str, ...], *where: Any) -> pd.DataFrame:
        chosen = [table.c[name] for name in columns]
        keys = [column for column in table.primary_key if column.name in columns]
        with self.store.engine.connect() as connection:
            rows = connection.execute(select(*chosen).where(*where).order_by(*keys)).all()
        return pd.DataFrame(rows, columns=list(columns))

    def runs(self) -> pd.DataFrame:
        """One row per run: run, index, dataset, method, strength, seed, status, seconds, steps, config (JSON)."""
        frame = self._frame(schema.runs, _RUN).sort_values("index", ignore_index=True)
        return frame.astype({"strength": float, "seconds": float, "steps": "Int64"})

    def scores(self, protocol: str | None = None) -> pd.DataFrame:
        """One row per score: run, representation, metric, value; by the study's protocol, or the given one."""
        table = schema.scores
        chosen = self.spec.protocol if protocol is None else protocol
        frame = self._frame(table, ("run", "representation", "metric", "value"), table.c.protocol == chosen)
        return frame.astype({"value": float})

    def losses(self) -> pd.DataFrame:
        """Losses at the end of training: run, name, value (reconstruction, kl, elbo, kl.0, kl.1, ...)."""
        return self._frame(schema.losses, ("run", "name", "value"))

    def curves(self) -> pd.DataFrame:
        """Losses over the steps: run, step, name, value."""
        return pd.DataFrame(self._points(), columns=["run", "step", "name", "value"])

    def _points(self) -> Iterator[tuple[str, int, str, float]]:
        frame = self._frame(schema.curves, ("run", "records"))
        for run, text in zip(frame["run"], frame["records"]):
            for record in json.loads(text):
                for name, value in record.items():
                    if name == "step":
                        continue
                    for i, number in enumerate(value if isinstance(value, list) else [value]):
                        yield run, record["step"], f"{name}.{i}" if isinstance(value, list) else name, number

    def codes(self, run: str, representation: str = "mean") -> np.ndarray:
        """Codes (n, n_codes) of the pinned pool, as float32; they are stored as float16."""
        return unpack_codes(self.store.artefacts.get(self._address(run, f"codes/{representation}")))

    def factors(self, run: str) -> np.ndarray:
        """Factors (n, n_factors) of the pinned pool of a run."""
        pools, runs = schema.pools, schema.runs
        address = self._value(run, select(pools.c.factors).where(pools.c.pool == runs.c.pool, runs.c.run == run))
        return unpack_array(self.store.artefacts.get(address))

    def strip(self, run: str) -> np.ndarray | None:
        """The traversal strip as a uint8 image, one row per code; None if the run has none."""
        addresses = self._addresses(run)
        return unpack_array(self.store.artefacts.get(addresses["strip"])) if "strip" in addresses else None

    def provenance(self, run: str) -> dict[str, Any]:
        """Versions, seed, machine, CPU seconds, fingerprint of the data, warnings."""
        table = schema.provenance
        return json.loads(self._value(run, select(table.c.about).where(table.c.run == run)))

    def _value(self, run: str, query: Select) -> Any:
        with self.store.engine.connect() as connection:
            found = connection.execute(query).scalar()
        if found is None:
            raise KeyError(
                f"{run} is not a finished run of this study. `study.runs()` lists the runs and their status."
            )
        return found

    def failures(self) -> pd.DataFrame:
        """Failed runs with their tracebacks: run, dataset, method, seed, error."""
        runs = schema.runs
        return self._frame(runs, ("run", "dataset", "method", "seed", "error"), runs.c.status == "failed")

    def _addresses(self, run: str) -> dict[str, str]:
        table = schema.kept
        with self.store.engine.connect() as connection:
            found = connection.execute(select(table.c.kind, table.c.address).where(table.c.run == run))
            return {row.kind: row.address for row in found}

    def _address(self, run: str, kind: str) -> str:
        addresses = self._addresses(run)
        if kind not in addresses:
            available = ", ".join(sorted(addresses)) or "none: it is not finished, or not part of this study"
            raise KeyError(f"run {run} has no {kind}. Available: {available}.")
        return addresses[kind]

    def close(self) -> None:
        """Close the store."""
        self.store.close()


def open_study(place: str | Path) -> Study:
    """Open the store of a study for reading.

    Parameters
    ----------
    place : path or URL
        A folder written by ``unbraid study run``, or the URL of a database.

    Returns
    -------
    Study
        ``.runs()``, ``.scores()``, ``.curves()`` and ``.losses()`` are frames; ``.codes(run)`` and ``.factors(run)``
        arrays.
    """
    return Study(Store(place))
