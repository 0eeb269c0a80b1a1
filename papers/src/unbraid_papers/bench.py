"""Where a cell works: its scale, the files of the user, and a folder for checkpoints and arrays to draw from."""

import hashlib
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from unbraid.datasets.storage import find
from unbraid_papers.ledger import key_of
from unbraid_papers.paper import Cell


@dataclass(frozen=True)
class Bench:
    """What a cell is given besides itself.

    Attributes
    ----------
    scale : str
    folder : Path
        Of this reproduction.
    progress : bool or None
        Handed on to what is trained: True, False, or None for a bar on a terminal.
    """

    scale: str
    folder: Path
    progress: bool | None = False

    def find(self, *names: str, what: str) -> Path:
        """A file of the user's data folder (``UNBRAID_DATA``); FileNotFoundError says which to put where."""
        return find(names, what=what)

    def checkpoint(self, cell: Cell) -> Path:
        """Where the training of a cell is kept, so that a killed one resumes."""
        folder = self.folder / "checkpoints"
        folder.mkdir(parents=True, exist_ok=True)
        return folder / f"{_name(cell)}.safetensors"

    def keep(self, cell: Cell, **arrays: np.ndarray) -> None:
        """Arrays of a cell, for drawings; written whole or not at all."""
        file = self._arrays(cell)
        file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=file.parent, suffix=".part", delete=False) as part:
            np.savez_compressed(part, allow_pickle=False, **arrays)
        os.replace(part.name, file)

    def kept(self, cell: Cell) -> dict[str, np.ndarray]:
        """What :meth:`keep` wrote."""
        with np.load(self._arrays(cell)) as found:
            return dict(found)

    def _arrays(self, cell: Cell) -> Path:
        return self.folder / "arrays" / f"{_name(cell)}.npz"


def _name(cell: Cell) -> str:
    return hashlib.sha256(key_of(cell).encode()).hexdigest()[:16]
