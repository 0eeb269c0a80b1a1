"""The user's own data: array files, folders and archives of images, torch data sets; read in blocks, never whole."""

import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from pathlib import Path
from typing import Any

import numpy as np

from unbraid.trust.warnings import warn

Reader = Callable[[np.ndarray], np.ndarray]
KINDS = (
    ".npy, .npz, .h5 or .hdf5, .zarr, .mat, .h5ad, .nc; tables .csv, .tsv, .txt, .dat, .parquet, .feather, .xlsx; a "
    "folder, a .tar or a .tar.gz of images; one image stack, GIF, video or DICOM file"
)
LARGE = 2**30  # bytes that are unpacked without a question
PACKED = 200  # to one: what is large and packed more tightly holds nothing (dSprites, nearly all zero, is at 116)


class Source:
    """Observations that are read when they are asked for.

    Slices, row numbers and masks read only those rows; ``np.asarray(source)`` reads them all.

    Parameters
    ----------
    name : str
        Where it comes from.
    shape : tuple of int
        (rows, features), (rows, height, width) or (rows, height, width, channels).
    dtype : numpy.dtype
    read : callable
        ``read(rows)`` gives the rows with these numbers.
    names : list of str, optional
        Of the columns of a table.
    row_names : array of str, optional
        Of the rows: file names of images, or the column of a table that names them.
    numbers : array of int, optional
        Of the rows in the table, from 0.
    n_read : int, optional
        Rows of the table, those that were left out included.
    decisions : list of str
        What was left out, filled or noticed in a table.
    """

    def __init__(
        self,
        name: str,
        shape: tuple[int, ...],
        dtype: Any,
        read: Reader,
        names: Sequence[str] | None = None,
        *,
        row_names: Any = None,
        numbers: np.ndarray | None = None,
        n_read: int | None = None,
        decisions: Sequence[str] = (),
    ):
        if len(shape) < 1 or shape[0] == 0:
            raise ValueError(f"{name} holds no rows (its shape is {shape}).")
        self.name, self.shape, self.dtype = name, tuple(int(s) for s in shape), np.dtype(dtype)
        self._read = read
        self.names = None if names is None else list(names)
        self.row_names = None if row_names is None else np.asarray(row_names, dtype=str)
        self.numbers, self.decisions = numbers, list(decisions)
        self.n_read = self.shape[0] if n_read is None else n_read

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def stored(self) -> Any:
        """The HDF5 or Zarr array behind it, or None."""
        from unbraid.data.arrays import ChunkReader

        return self._read.array if isinstance(self._read, ChunkReader) else None

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Any) -> np.ndarray:
        """Rows by number, slice, list of numbers or mask; one number gives one observation."""
        numbers = np.arange(len(self))[rows]
        return self._read(np.atleast_1d(numbers)) if np.ndim(numbers) else self._read(np.array([numbers]))[0]

    def blocks(self, size: int = 1024) -> Iterator[np.ndarray]:
        """Walk through all rows in order, ``size`` at a time."""
        if size < 1:
            raise ValueError(f"size is 1 or more; received {size}.")
        for start in range(0, len(self), size):
            yield self[start : start + size]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return self[:].astype(dtype or self.dtype, copy=False)

    def __repr__(self) -> str:
        return f"<{self.name}: {self.shape} {self.dtype}>"


def open(
    path: Any,
    key: str | None = None,
    *,
    resize: tuple[int, int] | None = None,
    skip_unreadable: bool = False,
    columns: Sequence[str] | None = None,
    exclude: Sequence[str] | str = (),
    index: str | None = None,
    header: bool | None = None,
    missing: Any = None,
    fill: float | str | None = None,
    drop_missing: bool = False,
    divide: float | None = None,
    prepare: Sequence[str] | str = (),
) -> Source:
    """Open the user's own data without reading it.

    Parameters
    ----------
    path : path, array or torch data set
        .npy, .npz, .h5/.hdf5, .zarr, .mat, .h5ad, .nc; a table (.csv, .tsv, .txt, .dat, .parquet, .feather, .xlsx); a
        folder of images (its subfolders too, in natural order), a .tar(.gz) of images, one image stack, GIF, video or
        DICOM file; a numpy array, or anything with a length and items (a torch ``Dataset``; of a tuple the first part
        is taken, and tensors (channels, height, width) come with the channels last).
    key : str, optional
        Which array of an .npz, .h5, .zarr, .mat, .h5ad or .nc file; needed when there are several.
    resize : (height, width), optional
        Bring images to one size. Without it, images of different sizes are an error.
    skip_unreadable : bool
        Leave out images that cannot be read. Without it, they are an error that names the first.
    columns : sequence of str, optional
        Which columns of a table, in this order, by name or range: ``"400:700"`` is every column whose name is a number
        from 400 to 700, ``"a:d"`` those from a to d. By default all but those that are no data: row names, dates, and
        numbers that count the rows or identify them. ``decisions`` of the result says which.
    exclude : sequence of str
        Columns, or ranges of them, to leave out.
    index : str, optional
        The column that names the rows.
    header : bool, optional
        Whether the first line of a text table or .xlsx file names the columns. By default its cells tell: a line of
        regular numbers (wavelengths) above others that are not is a header.
    missing : number, str or list, optional
        What marks missing values, such as -200 or "?". Without it, numbers that seem to mark them are an error that
        names the column; "none" takes all numbers as they are.
    fill : number, "median", "linear", "neighbors" or "none", optional
        Fill gaps: with a number, with the median of the column, along the line between the rows before and after, or
        with the mean of the five rows that are nearest in the columns that both have. "none" leaves them NaN, which
        :class:`~unbraid.PCAICA` takes. Without it, gaps are an error.
    drop_missing : bool
        Leave out rows with gaps, and dead ones: the same value in every column, and hardly anywhere else.
    divide : float, optional
        Divide the values by this number, for instance 4095 for the counts of a 12-bit camera; they are then float32.
    prepare : sequence of {"log", "snv", "derivative", "spread"}
        What is done to a table or an array of vectors, in this order: the logarithm; rows of mean 0 and standard
        deviation 1; the first derivative along the columns (Savitzky-Golay, 15 of them); columns of standard
        deviation 1. Of spectra, ``["derivative", "spread"]`` takes out baselines and the noise of dark channels.

    Returns
    -------
    Source
        With ``shape``, ``dtype``, ``len``, slicing and ``blocks(size)``; of tables ``names`` of columns, ``row_names``,
        ``numbers`` of rows, and ``decisions``.

    Examples
    --------
    >>> import tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "spectra.npy")
    >>> np.save(path, np.zeros((10, 3)))
    >>> [block.shape for block in open(path).blocks(4)]
    [(4, 3), (4, 3), (2, 3)]
    """
    if not isinstance(path, str | os.PathLike):
        return _from_object(path)
    from unbraid.data import arrays, frames, images, pictures  # which check what they open by the functions below

    path = Path(path)
    check_place(path)
    ending = path.suffix.lower()
    is_zarr = path.is_dir() and any((path / mark).exists() for mark in arrays.ZARR_MARKS)
    is_array = path.suffix in arrays.OPENERS or is_zarr or ending in frames.HELD
    is_table = ending in frames.TABLES and path.is_file()
    about: dict[str, Any] = {}
    if (is_array or is_table) and (resize is not None or skip_unreadable):
        raise ValueError(
            f"resize (--resize) and skip_unreadable (--skip-unreadable) are for images; {path} is an array file."
        )
    of_tables = {
        "columns": columns, "exclude": exclude, "index": index, "header": header, "missing": missing, "fill": fill,
        "drop_missing": drop_missing,
    }  # fmt: skip
    given = [name for name, value in of_tables.items() if value not in (None, (), False)]
    if given and not is_table:
        flag = given[0].replace("_", "-")
        raise ValueError(f"{given[0]} (--{flag}) is for tables ({', '.join(frames.TABLES)}); {path} is none.")
    if key is not None and not is_array:
        raise ValueError(f"{path} has no keys: key (--key) is for .npz, .h5, .zarr, .mat, .h5ad and .nc files.")
    if is_array:
        opener = frames.HELD.get(ending) if path.is_file() else None
        opened = (opener or arrays.open_array)(path, key)
    elif is_table:
        opened, about = _open_table(path, of_tables, advise=not prepare)
    elif path.is_dir() or _is_tar(path) or ending in pictures.ENDINGS:
        read_images = images.folder if path.is_dir() else images.tar if _is_tar(path) else images.single
        opened, about["row_names"] = read_images(path, resize=resize, skip_unreadable=skip_unreadable)
    else:
        raise ValueError(f"{path} has the unknown ending {path.suffix!r}. What can be opened: {KINDS}.")
    source = Source(str(path), *opened, **about)
    source = source if divide is None else _divided(source, divide)
    return source if not prepare else _prepared(source, [prepare] if isinstance(prepare, str) else prepare)


def _open_table(path: Path, said: dict[str, Any], *, advise: bool) -> tuple[Any, dict[str, Any]]:
    """(shape, dtype, read) of a table, and what a Source says about it; what was decided is a warning."""
    from unbraid.data.arrays import held
    from unbraid.data.frames import open_table
    from unbraid.data.gaps import Choices
    from unbraid.data.prepare import advice

    header, missing = said.pop("header"), said["missing"]
    if missing is not None:
        said["missing"] = () if missing == "none" else missing if isinstance(missing, list | tuple) else [missing]
    if isinstance(said["exclude"], str):
        said["exclude"] = [said["exclude"]]
    table = open_table(path, Choices(**said), header)
    table.decisions.extend(advice(table.names) if advise else [])
    if table.decisions:
        warn("UB404", stacklevel=3, path=path, decisions="; ".join(table.decisions))
    about = {
        "names": table.names, "row_names": table.row_names, "numbers": table.rows, "n_read": table.n_read,
        "decisions": table.decisions,
    }  # fmt: skip
    return held(path, table.values), about


def _divided(source: Source, divide: float) -> Source:
    if not (np.isfinite(divide) and divide > 0):
        raise ValueError(f"divide (--divide) is {divide!r}; it must be a positive number, for instance 4095.")
    unit = np.float32(divide)

    def read(rows: np.ndarray) -> np.ndarray:
        return source._read(rows).astype(np.float32) / unit

    divided = copy(source)
    divided.dtype, divided._read = np.dtype(np.float32), read
    return divided


def _prepared(source: Source, steps: Sequence[str]) -> Source:
    from unbraid.data.prepare import prepared

    try:
        values = prepared(source[:], steps)
    except ValueError as error:
        raise ValueError(f"{source.name}: {error}") from error
    ready = copy(source)
    ready.dtype, ready._read = values.dtype, lambda rows: values[rows]
    ready.decisions = [*source.decisions, f"prepared: {', '.join(steps)}"]
    return ready


def _is_tar(path: Path) -> bool:
    return path.name.endswith((".tar", ".tar.gz", ".tgz"))


def _from_object(data: Any) -> Source:
    if isinstance(data, np.ndarray):
        return Source("array", data.shape, data.dtype, lambda rows: data[rows])
    if not hasattr(data, "__len__") or not hasattr(data, "__getitem__"):
        raise TypeError(
            f"cannot open a {type(data).__name__}. Give a path ({KINDS}), a numpy array, or a torch Dataset with a "
            "length."
        )
    return source_of_items(data)


def source_of_items(data: Any) -> Source:
    """Rows of anything with a length and items, such as a torch ``Dataset``, read when they are asked for.

    Of an item that is a tuple the first part is taken; tensors (channels, height, width) come with the channels last.
    """
    kind = type(data).__name__
    if len(data) == 0:
        raise ValueError(f"the {kind} holds no rows.")
    first = _item(data, 0)

    def read(rows: np.ndarray) -> np.ndarray:
        out = np.empty((len(rows), *first.shape), dtype=first.dtype)
        for i, row in enumerate(rows):
            item = _item(data, int(row))
            if item.shape != first.shape or item.dtype != first.dtype:
                raise ValueError(
                    f"item {row} of the {kind} is {item.dtype} of shape {item.shape}, and item 0 {first.dtype} of "
                    f"shape {first.shape}; bring them to one, for instance in its transform."
                )
            out[i] = item
        return out

    return Source(kind, (len(data), *first.shape), first.dtype, read)


def _item(data: Any, row: int) -> np.ndarray:
    item = data[row]
    if isinstance(item, tuple | list):
        item = item[0]
    channels_first = type(item).__module__.startswith("torch") and item.ndim == 3 and item.shape[0] in (1, 3, 4)
    item = np.asarray(item)
    if channels_first:
        item = item[0] if item.shape[0] == 1 else np.moveaxis(item, 0, -1)
    return item


def shown(name: str | os.PathLike) -> str:
    r"""A file name as text that can be printed and saved; bytes that are no UTF-8 are spelt out.

    >>> shown("caf\udce9.png")
    'caf\\udce9.png'
    """
    return str(name).encode("utf-8", "backslashreplace").decode()


def check_place(path: Path) -> None:
    """Refuse what is not there, is empty, has no proper name, or never ends: a pipe or a device."""
    if shown(path) != str(path):
        raise ValueError(f"the name {shown(path)} is not UTF-8, so it cannot be printed or saved. Rename it.")
    if not path.exists():
        raise FileNotFoundError(f"there is no file or folder {path}. What can be opened: {KINDS}.")
    if not (path.is_file() or path.is_dir()):
        raise ValueError(f"{path} is neither a file nor a folder, but a pipe or a device. Save the data to a file.")
    if path.is_file() and path.stat().st_size == 0:
        raise ValueError(f"{path} is empty (0 bytes). Copy or download it again.")


def check_unpacked(path: Path, packed: int, unpacked: int) -> None:
    """Refuse an archive that grows beyond all data, or beyond the disk.

    >>> check_unpacked(Path("a.npz"), 1000, 2**40)
    Traceback (most recent call last):
    ValueError: a.npz is packed more than 200 to one, to 1024 GiB or more: no data are. ...
    """
    if unpacked > max(LARGE, PACKED * packed):
        raise ValueError(
            f"{path} is packed more than {PACKED} to one, to {unpacked / 2**30:.4g} GiB or more: no data are. Unpack "
            "it by hand if it is sound."
        )
    if unpacked > LARGE and unpacked > (free := shutil.disk_usage(tempfile.gettempdir()).free):
        raise ValueError(
            f"{path} needs {unpacked / 2**30:.4g} GiB unpacked, and {tempfile.gettempdir()} has {free / 2**30:.4g} GiB "
            "free. Free some, or set TMPDIR to a larger disk."
        )


def regular_files(folder: Path) -> set[str]:
    """All files below a folder, by their paths in it; a pipe or a device among them is refused."""
    found = set()
    for parent, _, names in os.walk(folder):
        for name in names:
            path = Path(parent) / name
            if path.exists() and not stat.S_ISREG(path.stat().st_mode):
                raise ValueError(f"{shown(path)} is no file, but a pipe or a device. Copy {folder} again.")
            found.add(path.relative_to(folder).as_posix())
    return found
