"""Rows that are kept as soon as they are there: one SQLite file, one writer, nothing lost by a kill."""

import json
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from unbraid_papers.paper import Cell

SCHEMA = """
CREATE TABLE IF NOT EXISTS about (paper TEXT NOT NULL, scale TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS rows (experiment TEXT, cell TEXT, version INTEGER, result TEXT NOT NULL,
  PRIMARY KEY (experiment, cell));
"""


class Ledger:
    """The results of one paper at one scale.

    Parameters
    ----------
    file : Path
    paper, scale : str
        What the file must be of, if it is there already.
    """

    def __init__(self, file: Path, paper: str, scale: str):
        self._file = file
        self._connection = sqlite3.connect(file, timeout=2, isolation_level=None)
        try:
            self._connection.execute("PRAGMA locking_mode = EXCLUSIVE")
            self._connection.execute("BEGIN EXCLUSIVE")  # kept in exclusive mode: the file is ours until we close it
            for statement in SCHEMA.split(";"):
                self._connection.execute(statement)
            self._connection.execute("COMMIT")
            self._claim(paper, scale)
        except sqlite3.OperationalError as error:
            self.close()
            raise ValueError(
                f"{file.parent} is in use by another reproduction ({error}). Wait for it, or choose another folder."
            ) from None
        except sqlite3.DatabaseError as error:
            self.close()
            raise ValueError(f"{file} is not the ledger of a reproduction ({error}). Choose another folder.") from None
        except BaseException:
            self.close()
            raise

    def _claim(self, paper: str, scale: str) -> None:
        found = self._connection.execute("SELECT paper, scale FROM about").fetchone()
        if found is None:
            self._connection.execute("INSERT INTO about VALUES (?, ?)", (paper, scale))
        elif tuple(found) != (paper, scale):
            raise ValueError(
                f"{self._file.parent} contains {found[0]} at scale {found[1]}, but this is {paper} at scale {scale}. "
                "Choose another folder."
            )

    def get(self, experiment: str, cell: Cell, version: int) -> dict[str, Any] | None:
        """The result of a cell; None of one that is not done."""
        query = "SELECT result FROM rows WHERE experiment = ? AND cell = ? AND version = ?"
        found = self._connection.execute(query, (experiment, key_of(cell), version)).fetchone()
        return None if found is None else json.loads(found[0])

    def put(self, experiment: str, cell: Cell, version: int, result: Mapping[str, Any]) -> None:
        """Keep a result; it is on the disk when this returns."""
        row = (experiment, key_of(cell), version, json.dumps(dict(result), default=_scalar))
        self._connection.execute("INSERT OR REPLACE INTO rows VALUES (?, ?, ?, ?)", row)

    def close(self) -> None:
        self._connection.close()


def key_of(cell: Cell) -> str:
    """A text that is the same for the same cell, in any order of its entries.

    >>> key_of({"seed": 0, "method": "pca"})
    '{"method": "pca", "seed": 0}'
    """
    return json.dumps(cell, sort_keys=True, default=_scalar)


def _scalar(value: Any) -> Any:
    """A number of NumPy as one of Python."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"cells and results must consist of plain values, got {type(value).__name__}.")
