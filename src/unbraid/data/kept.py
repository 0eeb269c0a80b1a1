"""Rows that are expensive to read, read once: kept in memory, or in a temporary file where they are too many."""

import shutil
import tempfile
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

MEMORY_BUDGET = 2**30  # bytes of decoded rows that are kept in memory; more than that are kept in a file


class KeptRows:
    """A reader that asks another one for each row at most once.

    Up to ``MEMORY_BUDGET`` bytes (1 GiB) the rows are kept in memory. Beyond, they are kept in a memory map in a folder
    of the system's temporary directory, which is removed with the reader or at the end of the program.

    Parameters
    ----------
    shape : tuple of int
    dtype : numpy dtype
    read : callable
        ``read(rows)`` gives the rows with these numbers.

    Examples
    --------
    >>> asked = []
    >>> kept = KeptRows((3, 2), np.float64, lambda rows: asked.extend(rows) or np.ones((len(rows), 2)))
    >>> kept(np.array([0, 2, 0])).shape, kept(np.array([1, 2])).shape, [int(row) for row in asked]
    ((3, 2), (2, 2), [0, 2, 1])
    """

    def __init__(self, shape: tuple[int, ...], dtype: Any, read: Callable[[NDArray], NDArray]):
        self._read = read
        self._known = np.zeros(shape[0], dtype=bool)
        if int(np.prod(shape)) * np.dtype(dtype).itemsize <= MEMORY_BUDGET:
            self.rows = np.empty(shape, dtype=dtype)
        else:
            folder = tempfile.mkdtemp(prefix="unbraid-")
            weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
            self.rows = np.memmap(Path(folder) / "rows", dtype=dtype, mode="w+", shape=shape)

    def __call__(self, rows: NDArray) -> NDArray:
        missing = np.unique(rows[~self._known[rows]])
        if len(missing):
            self.rows[missing] = self._read(missing)
            self._known[missing] = True
        return self.rows[rows]
