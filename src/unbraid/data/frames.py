"""Tables with named columns (CSV, TSV, Parquet, Feather, Excel), and the formats of labs: .mat, .h5ad, NetCDF."""

import csv
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from unbraid.data.arrays import ARCHIVE_ERRORS, Opened, choose_key, damaged, held, reading
from unbraid.data.files import check_place, check_unpacked
from unbraid.data.stored import check_hdf5_inside
from unbraid.runtime.extras import require

SHOWN = 12  # columns that an error lists
SEPARATORS = (",", ";", "\t")


def read_array(path: Path, *, text: bool = False, gaps: bool = False) -> np.ndarray:
    """The array of a .npy file, the only array of a .npz file, or the columns of a .csv file.

    Parameters
    ----------
    path : Path
    text : bool
        Whether the cells of a .csv file may be words or dates.
    gaps : bool
        Whether they may be empty, which is NaN.

    Returns
    -------
    array
    """
    check_place(path)
    if not path.is_file():
        raise FileNotFoundError(f"{path} is not a file.")
    if path.suffix == ".npy":
        with reading(path, (EOFError, OSError, OverflowError)):
            return np.load(path, allow_pickle=False)
    if path.suffix == ".npz":
        with reading(path, ARCHIVE_ERRORS), zipfile.ZipFile(path) as archive:
            check_unpacked(path, path.stat().st_size, sum(member.file_size for member in archive.infolist()))
        with reading(path, ARCHIVE_ERRORS), np.load(path, allow_pickle=False) as file:
            if len(file.files) != 1:
                raise ValueError(f"{path} holds the arrays {', '.join(file.files)}; give a file with one array.")
            return file[file.files[0]]
    if path.suffix == ".csv":
        return _read_cells(path, text, gaps)
    raise ValueError(f"{path} has the extension {path.suffix!r}; allowed are .npy, .npz and .csv.")


def _read_cells(path: Path, text: bool, gaps: bool) -> np.ndarray:
    """A table without pandas: whole numbers, so classes, where no cell has a decimal point; a header is skipped."""
    with path.open(newline="", encoding="utf-8-sig") as file:
        rows = [row or [""] for row in csv.reader(file) if row or gaps]
    if rows and not all(_is_value(cell, text, gaps) for cell in rows[0]):
        rows = rows[1:]
    cells = [[cell.strip() or "nan" for cell in row] if gaps else row for row in rows]
    try:
        values = np.array(cells, dtype=float)
    except ValueError:  # text, or rows of different lengths
        of_one_length = text and len({len(row) for row in rows}) == 1
        values = np.array(rows, dtype=str) if of_one_length else np.empty(0)
    if not values.size:
        what = "cells" if text else "numbers"
        raise ValueError(f"{path} is not a table of {what} separated by commas, all rows of one length.")
    whole = all(cell.strip().lstrip("+-").isdigit() for row in rows for cell in row)
    return values.astype(np.int64) if whole else values


def _is_value(cell: str, text: bool, gaps: bool) -> bool:
    """Whether a cell of the first line is no name of a column: a number, a date, or empty where that is allowed."""
    if is_number(cell) or (gaps and not cell.strip()):
        return True
    try:
        return text and not np.isnat(np.datetime64(cell.strip()))
    except ValueError:
        return False


def open_table(path: Path, columns: Sequence[str] | None) -> tuple[Opened, list[str]]:
    """((shape, dtype, read), names) of a table's numbers, all or these columns; text and gaps are refused by name."""
    frame = read_frame(path)
    chosen = frame if columns is None else frame[_checked(path, frame, columns)]
    names = [str(name) for name in chosen.columns]
    if not names or not len(chosen):
        raise ValueError(f"{path} is a table without rows or columns (its shape is {chosen.shape}).")
    text = [str(name) for name in chosen.columns if chosen[name].dtype.kind not in "biuf"]
    if text:
        raise ValueError(
            f"{path} has columns that are not numbers: {_listed(text)}. Choose which to use: columns=[...] (--columns "
            f"A,B). Its columns: {_listed(map(str, frame.columns))}."
        )
    gaps = chosen.isna().sum()
    if gaps.any():
        raise ValueError(
            f"{path} has gaps: {int(gaps.max())} of {len(chosen)} values of the column {gaps.idxmax()!r} are missing. "
            "Fill them, remove those rows, or choose other columns (columns=[...], --columns A,B)."
        )
    return held(path, chosen.to_numpy()), names


def column_of(path: Path, name: str, *, gaps: bool = False) -> np.ndarray:
    """One column of a table, whatever it holds: classes as text, or numbers; NaN for the gaps that it may have."""
    frame = read_frame(path)
    (key,) = _checked(path, frame, [name])
    column = frame[key]
    if gaps and column.dtype.kind in "biuf":
        return column.to_numpy(dtype=np.float64)
    if column.isna().any():
        raise ValueError(f"{path} has gaps: {int(column.isna().sum())} values of the column {name!r} are missing.")
    return column.to_numpy() if column.dtype.kind in "biuf" else column.astype(str).to_numpy(dtype=str)


def names_of(path: Path) -> list[str]:
    """The names of all columns of a table."""
    return [str(name) for name in read_frame(path).columns]


def read_frame(path: Path) -> Any:
    """The table as a pandas frame."""
    pandas = require("pandas", "tables")
    check_place(path)
    try:
        frame = TABLES[path.suffix.lower()](pandas, path)
    except ImportError as error:
        raise ModuleNotFoundError(
            f"{path.suffix} files need another library ({error.name or error}). `pip install 'unbraid[tables]'` brings "
            "it."
        ) from error
    except Exception as error:  # parsers have errors of their own
        raise damaged(path, error) from error
    twice = frame.columns[frame.columns.duplicated()]
    if len(twice):
        raise ValueError(f"{path} has more than one column {twice[0]!r}. Give them different names.")
    return frame


def _checked(path: Path, frame: Any, columns: Sequence[str]) -> list[Any]:
    """The frame's own keys of the columns that are asked for."""
    known = {str(name): name for name in frame.columns}
    missing = [name for name in columns if name not in known]
    if missing:
        raise ValueError(f"{path} has no column {missing[0]!r}. Its columns: {_listed(known)}.")
    return [known[name] for name in columns]


def _listed(names: Any) -> str:
    names = list(names)
    return ", ".join(names[:SHOWN]) + (f", ... ({len(names)} in all)" if len(names) > SHOWN else "")


def _separated(pandas: Any, path: Path) -> Any:
    """Text separated by the one of comma, semicolon and tab that the first line has most of.

    A first line of numbers only is data: columns are then called 0, 1, ... Beside semicolons a comma may be the decimal
    point.
    """
    with path.open(encoding="utf-8-sig") as file:
        first = file.readline()
    separator = "\t" if path.suffix.lower() == ".tsv" else max(SEPARATORS, key=first.count)
    header = None if all(is_number(cell) for cell in first.strip().split(separator)) else 0
    options = {"sep": separator, "header": header, "encoding": "utf-8-sig", "skipinitialspace": True}
    frame = pandas.read_csv(path, index_col=False, **options)
    if separator == ";" and any(kind.kind not in "biuf" for kind in frame.dtypes):
        frame = pandas.read_csv(path, index_col=False, decimal=",", **options)
    return frame


def is_number(cell: str) -> bool:
    """Whether the cell of a table is a number.

    >>> is_number("1e-3"), is_number("dye")
    (True, False)
    """
    try:
        float(cell.strip().strip('"').replace(",", "."))
    except ValueError:
        return False
    return True


TABLES: dict[str, Callable[[Any, Path], Any]] = {
    ".csv": _separated,
    ".tsv": _separated,
    ".parquet": lambda pandas, path: pandas.read_parquet(path),
    ".feather": lambda pandas, path: pandas.read_feather(path),
    ".xlsx": lambda pandas, path: pandas.read_excel(path),
}


def _mat(path: Path, key: str | None) -> Opened:
    """An array of a MATLAB file; those of version 7.3 are HDF5, with their axes in reverse."""
    import h5py
    import scipy.io

    if h5py.is_hdf5(path):
        _check_links(path)
        with h5py.File(path, "r") as file:
            arrays = {name: item for name, item in file.items() if isinstance(item, h5py.Dataset)}
            values = np.asarray(arrays[choose_key(path, list(arrays), key)]).T
    else:
        with reading(path):
            found = scipy.io.loadmat(path)
        arrays = {name: value for name, value in found.items() if isinstance(value, np.ndarray)}
        values = arrays[choose_key(path, list(arrays), key)]
    return held(path, values)


def _check_links(path: Path) -> None:
    """Of a file that is HDF5 inside, refuse what it takes from other files."""
    import h5py

    if h5py.is_hdf5(path):
        with reading(path, (OSError, KeyError, RuntimeError)):
            check_hdf5_inside(path)


def _h5ad(path: Path, key: str | None) -> Opened:
    """``X`` of single cells, or what the key names: ``layers/counts``, ``obsm/X_pca``."""
    anndata = require("anndata", "cells")
    _check_links(path)
    with reading(path):
        cells = anndata.read_h5ad(path)
    places = {"X": cells.X} if cells.X is not None else {}
    for group in ("layers", "obsm"):
        places |= {f"{group}/{name}": value for name, value in getattr(cells, group).items()}
    values = places[choose_key(path, list(places), key if key or "X" not in places else "X")]
    return held(path, values.toarray() if hasattr(values, "toarray") else np.asarray(values))


def _netcdf(path: Path, key: str | None) -> Opened:
    """A variable of a NetCDF file; its first dimension is that of the observations."""
    xarray = require("xarray", "cells")
    _check_links(path)
    try:
        with xarray.open_dataset(path) as file:
            variables = [str(name) for name, value in file.data_vars.items() if value.ndim]
            return held(path, file[choose_key(path, variables, key)].to_numpy())
    except ValueError:
        raise
    except Exception as error:
        raise damaged(path, error) from error


HELD: dict[str, Callable[[Path, str | None], Opened]] = {".mat": _mat, ".h5ad": _h5ad, ".nc": _netcdf}
