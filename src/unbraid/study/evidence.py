"""What is known about rows that are drawn once: files, pinned by their fingerprints."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from unbraid.data.frames import read_array
from unbraid.data.observations import Observations
from unbraid.study.spec import DataSpec


def known_of(data: DataSpec) -> Observations:
    """The evidence of a data set, checked against the number of its rows; the rows themselves are not drawn.

    Parameters
    ----------
    data : DataSpec

    Returns
    -------
    Observations
    """
    return Observations(np.empty((data.rows or 0, 0)), **_read(data.evidence))


def marks_of(data: DataSpec, uses: Collection[str]) -> dict[str, str]:
    """Shape, type and checksum of the evidence that a method uses."""
    return known_of(data).marks(uses) if set(data.evidence) & set(uses) else {}


def observed(X: Any, files: Mapping[str, str], marks: Mapping[str, str]) -> Observations:
    """Rows with the evidence of a task, which must not have changed since the task was planned."""
    known = Observations(X, **_read(files))
    changed = [name for name, mark in known.marks().items() if mark != marks[name]]
    if changed:
        raise ValueError(
            f"{files[changed[0]]} has changed since the study was planned: {changed[0]} was {marks[changed[0]]} and is "
            f"{known.marks()[changed[0]]}. Restore the file, or start a new study."
        )
    return known


def _read(files: Mapping[str, str]) -> dict[str, np.ndarray]:
    for name, file in files.items():
        if not Path(file).is_file():
            raise ValueError(f"{name} is {file!r}; no such file exists in {Path.cwd()}.")
    read = {
        name: read_array(Path(file), text=name in ("labels", "time", "sets"), gaps=name == "labels")
        for name, file in files.items()
    }
    return {name: values[:, 0] if values.shape[1:] == (1,) else values for name, values in read.items()}
