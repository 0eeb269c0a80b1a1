"""Arrays in .npy, .npz, .h5 and .zarr files, opened without reading them."""

import math
import os
import shutil
import tempfile
import tokenize
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy

from unbraid.data.files import check_unpacked, regular_files
from unbraid.data.stored import check_hdf5, check_zarr
from unbraid.runtime.extras import require

Opened = tuple[tuple[int, ...], np.dtype, Callable[[np.ndarray], np.ndarray]]
ARCHIVE_ERRORS = (zipfile.BadZipFile, zlib.error, EOFError, OSError, OverflowError, NotImplementedError)
ENCRYPTED = 1  # a flag of a zip member
ZARR_MARKS = (".zarray", ".zgroup", "zarr.json")


def open_array(path: Path, key: str | None) -> Opened:
    """(shape, dtype, read) of an array file; ``read(rows)`` reads those rows."""
    opener = OPENERS.get(path.suffix, _zarr)
    return opener(path, key)


def damaged(path: Path, error: Exception) -> ValueError:
    """The error for a file that cannot be understood."""
    return ValueError(
        f"{path} cannot be read: it is damaged, or its extension is wrong ({str(error).strip()}). "
        "Copy it again, or open it in another program to see what it holds."
    )


def choose_key(path: Path, keys: list[str], key: str | None) -> str:
    """The key asked for, or the only one there is."""
    listed = ", ".join(keys)
    if not keys:
        raise ValueError(f"{path} holds no arrays of its own; links to other files are not followed. Save one in it.")
    if key is None:
        if len(keys) == 1:
            return keys[0]
        raise ValueError(f"{path} holds {len(keys)} arrays; choose one, such as key={keys[0]!r}. Available: {listed}.")
    if key not in keys:
        raise ValueError(f"{path} has no key {key!r}. Its keys: {listed}.")
    return key


def check_numbers(path: Path, dtype: np.dtype) -> None:
    """Refuse objects, text, records and dates."""
    if dtype.names is not None:
        raise ValueError(
            f"{path} holds a structure, {dtype}, not numbers. Save the field that holds them as an array of its own."
        )
    if dtype.hasobject:
        raise ValueError(f"{path} holds Python objects, which need pickle and are not read. Save numbers instead.")
    if dtype.kind not in "biufc":
        raise ValueError(f"{path} holds {dtype}, which are not numbers. Choose another key or convert it.")


def held(path: Path, values: np.ndarray) -> Opened:
    """An array in memory, or mapped into it."""
    check_numbers(path, values.dtype)
    return values.shape, values.dtype, lambda rows: values[rows]


@contextmanager
def reading(path: Path, errors: tuple[type[Exception], ...] = (Exception,)) -> Iterator[None]:
    """The ``errors`` of a library about a file, as one of ours; by default all, as a damaged chunk may raise any."""
    try:
        yield
    except errors as error:
        raise damaged(path, error) from error


def _npy(path: Path, key: str | None) -> Opened:
    if key is not None:
        raise ValueError(f"{path} holds one array and has no keys; leave key out.")
    with reading(path, (EOFError, OSError, OverflowError)), path.open("rb") as file:
        return held(path, _map(path, file, 0, path.stat().st_size))


def _npz(path: Path, key: str | None) -> Opened:
    """Stored members are mapped where they lie; compressed ones are unpacked to a temporary file first."""
    with reading(path, ARCHIVE_ERRORS), zipfile.ZipFile(path) as archive, path.open("rb") as file:
        keys = [n.removesuffix(".npy") for n in archive.namelist() if n.endswith(".npy")]
        member = archive.getinfo(choose_key(path, keys, key) + ".npy")
        if member.flag_bits & ENCRYPTED:
            raise ValueError(f"{path} is encrypted and cannot be read. Unpack it with its password first.")
        check_unpacked(path, path.stat().st_size, member.file_size)
        if member.compress_type != zipfile.ZIP_STORED:
            with archive.open(member) as stream, tempfile.TemporaryFile(prefix="unbraid-") as unpacked:
                shutil.copyfileobj(stream, unpacked, 1 << 22)
                return held(path, _map(path, unpacked, 0, member.file_size))
        file.seek(member.header_offset + 26)
        lengths = np.frombuffer(file.read(4), dtype="<u2")  # of its name and of what else precedes its bytes
        return held(path, _map(path, file, member.header_offset + 30 + int(lengths.sum()), member.file_size))


def npy_header(stream: Any) -> tuple[tuple[int, ...], bool, np.dtype]:
    """(shape, fortran order, dtype) at the start of a .npy stream; one that makes no sense is an EOFError."""
    try:
        version = npy.read_magic(stream)
        read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, fortran, dtype = read(stream)
    except (ValueError, TypeError, KeyError, SyntaxError, RecursionError, tokenize.TokenError) as error:
        raise EOFError(str(error)) from error
    if any(side < 0 for side in shape):
        raise EOFError(f"it announces the shape {shape}")
    return shape, fortran, dtype


def _map(path: Path, file: Any, start: int, size: int) -> np.ndarray:
    """The array whose .npy header and data fill ``size`` bytes of an open file from ``start`` on."""
    file.seek(start)
    shape, fortran, dtype = npy_header(file)
    check_numbers(path, dtype)
    offset, needed = file.tell(), math.prod(shape) * dtype.itemsize
    room = min(start + size, os.fstat(file.fileno()).st_size) - offset
    if needed != room:
        raise EOFError(f"it announces {needed} bytes of data and has {room}")
    if not needed:
        return np.empty(shape, dtype)
    return np.memmap(file, dtype=dtype, mode="r", offset=offset, shape=shape, order="F" if fortran else "C")


def spool(stream: Any, path: Path | None = None) -> np.ndarray:
    """The rest of a stream as bytes mapped from a temporary file, which is gone when the array is.

    What is unpacked from the file at ``path`` must have a sane size.
    """
    with tempfile.TemporaryFile(prefix="unbraid-") as file:
        while part := stream.read(1 << 22):
            file.write(part)
            if path is not None:
                check_unpacked(path, path.stat().st_size, file.tell())
        file.flush()
        return np.memmap(file, dtype=np.uint8, mode="r") if file.tell() else np.empty(0, np.uint8)


def _hdf5(path: Path, key: str | None) -> Opened:
    import h5py

    keys: list[str] = []
    with reading(path):
        file = h5py.File(path, "r")
        file.visititems(lambda name, item: keys.append(name) if isinstance(item, h5py.Dataset) and item.ndim else None)
    chosen = choose_key(path, keys, key)
    with reading(path):
        array = file[chosen]
        np.dtype(array.dtype)
    check_hdf5(path, array)
    return _chunked(path, array)


def _zarr(path: Path, key: str | None) -> Opened:
    zarr = require("zarr", "data")
    regular_files(path)  # zarr would wait for a pipe among its metadata
    with reading(path):
        array = zarr.open(path, mode="r")
    if not isinstance(array, zarr.Array):
        keys = [name for name, item in array.members(max_depth=None) if isinstance(item, zarr.Array)]
        array = array[choose_key(path, keys, key)]
    elif key is not None:
        raise ValueError(f"{path} holds one array and has no keys; leave key out.")
    check_zarr(path, array)
    return _chunked(path, array)


def _chunked(path: Path, array: Any) -> Opened:
    check_numbers(path, np.dtype(array.dtype))
    return tuple(array.shape), np.dtype(array.dtype), ChunkReader(path, array)


@dataclass(frozen=True)
class ChunkReader:
    """Reads rows of an HDF5 or Zarr array."""

    path: Path
    array: Any

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        with reading(self.path):
            return self._pick(rows)

    def _pick(self, rows: np.ndarray) -> np.ndarray:
        array = self.array
        if len(rows) == 0:
            return np.empty((0, *array.shape[1:]), array.dtype)
        if len(rows) == rows[-1] - rows[0] + 1 and (np.diff(rows) == 1).all():
            return np.asarray(array[int(rows[0]) : int(rows[-1]) + 1])
        # both formats want increasing rows without repeats
        unique, back = np.unique(rows, return_inverse=True)
        picked = array[unique] if hasattr(array, "id") else array.oindex[unique]
        return np.asarray(picked)[back]


OPENERS: dict[str, Callable[[Path, str | None], Opened]] = {
    ".npy": _npy,
    ".npz": _npz,
    ".h5": _hdf5,
    ".hdf5": _hdf5,
    ".zarr": _zarr,
}
