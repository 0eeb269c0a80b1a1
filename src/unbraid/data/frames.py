"""Tables with named columns (CSV, TSV, Parquet, Feather, Excel), and the formats of labs: .mat, .h5ad, NetCDF."""

import csv
import re
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from unbraid.data.arrays import ARCHIVE_ERRORS, Opened, choose_key, damaged, held, reading
from unbraid.data.columns import Table, picked, tidy
from unbraid.data.files import check_place, check_unpacked
from unbraid.data.gaps import Choices, listed
from unbraid.data.header import is_header
from unbraid.data.separated import is_number, numeric_header, read_separated
from unbraid.data.stored import check_hdf5_inside
from unbraid.data.written import with_numbers, without_remarks
from unbraid.runtime.extras import require


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
    if rows and (not all(_is_value(cell, text, gaps) for cell in rows[0]) or _is_numbered(rows)):
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


def _is_numbered(rows: list[list[str]]) -> bool:
    """Whether the first line is a header of numbers."""
    if len({len(row) for row in rows}) > 1 or not all(map(is_number, rows[0])):
        return False
    below = [[float(cell) if is_number(cell) else np.nan for cell in row] for row in rows[1:]]
    return len(below) > 1 and is_header([float(cell) for cell in rows[0]], below)


def _is_value(cell: str, text: bool, gaps: bool) -> bool:
    """Whether a cell of the first line is no name of a column: a number, a date, or empty where that is allowed."""
    if is_number(cell) or (gaps and not cell.strip()):
        return True
    try:
        return text and not np.isnat(np.datetime64(cell.strip()))
    except ValueError:
        return False


def open_table(path: Path, choices: Choices, header: bool | None = None) -> Table:
    """The numbers of a table; what is for the user to decide is refused by the name of the column."""
    frame, told = read_frame(path, header)
    table = tidy(path, frame, choices)
    return replace(table, decisions=[*told, *table.decisions])


def column_of(path: Path, name: str, *, gaps: bool = False, header: bool | None = None) -> np.ndarray:
    """One column of a table, whatever it holds: classes as text, or numbers; NaN for the gaps that it may have."""
    frame = read_frame(path, header)[0]
    known = {str(key): key for key in frame.columns}
    (key,) = picked(path, list(known), [name], "columns")
    column = frame[known[key]]
    if gaps and column.dtype.kind in "biuf":
        return column.to_numpy(dtype=np.float64)
    if gaps:
        raise ValueError(
            f"the column {name!r} of {path} holds text, such as {str(column.dropna().iloc[0])!r}. Known factors are "
            "numbers, and empty cells where they are not known; text is a condition (--condition), known in every row."
        )
    if column.isna().any():
        raise ValueError(f"{path} has gaps: {int(column.isna().sum())} values of the column {name!r} are missing.")
    return column.to_numpy() if column.dtype.kind in "biuf" else column.astype(str).to_numpy(dtype=str)


def names_of(path: Path, header: bool | None = None) -> list[str]:
    """The names of all columns of a table."""
    return [str(name) for name in read_frame(path, header)[0].columns]


def read_frame(path: Path, header: bool | None = None) -> tuple[Any, list[str]]:
    """The table as a pandas frame without empty rows, remarks and a row of units, and what was decided.

    ``header`` says whether the first line of a text or a sheet names the columns; by default its cells tell.
    """
    pandas = require("pandas", "tables")
    check_place(path)
    if header is not None and path.suffix.lower() not in WITH_LINES:
        raise ValueError(f"header (--header) is for {', '.join(WITH_LINES)}; {path} has names of its own.")
    try:
        frame, told = TABLES[path.suffix.lower()](pandas, path, header)
    except ImportError as error:
        raise ModuleNotFoundError(
            f"{path.suffix} files need another library ({error.name or error}). `pip install 'unbraid[tables]'` brings "
            "it."
        ) from error
    except Exception as error:  # parsers have errors of their own
        raise damaged(path, error) from error
    frame.columns = [name.strip() if isinstance(name, str) else name for name in frame.columns]
    twice = frame.columns[frame.columns.duplicated()]
    if len(twice):
        raise ValueError(f"{path} has more than one column {twice[0]!r}. Give them different names.")
    full = frame.dropna(how="all")
    if len(full) < len(frame):
        told.append(f"{len(frame) - len(full)} empty rows left out")
        frame = full.reset_index(drop=True)
    frame = _without_units(pandas, without_remarks(pandas, frame, told), told)
    return with_numbers(pandas, frame, told), told


def _without_units(pandas: Any, frame: Any, told: list[str]) -> Any:
    """The frame without a row of units below the header: text above columns that hold numbers otherwise."""
    text = [name for name in frame.columns if frame[name].dtype.kind == "O"]
    if not text or len(frame) < 2 or any(kind.kind in "iuf" for kind in frame.dtypes):
        return frame
    numbers = {}
    for name in text:
        cells = frame[name].iloc[1:]
        found = pandas.to_numeric(cells.astype(str).str.replace(",", ".").where(cells.notna()), errors="coerce")
        if found.notna().any() and found.isna().sum() == cells.isna().sum():
            numbers[name] = found
    units = [str(frame[name].iloc[0]) for name in numbers]
    if not numbers or any(re.match(r"[-+]?[\d.,]", unit) for unit in units):
        return frame
    told.append(f"the first row is left out, as it holds units ({listed(units)})")
    return frame.iloc[1:].assign(**{str(name): column for name, column in numbers.items()}).reset_index(drop=True)


def _sheet(pandas: Any, path: Path, header: bool | None) -> tuple[Any, list[str]]:
    """The first sheet of a workbook."""
    frame = pandas.read_excel(path, header=None)
    first = list(frame.iloc[0]) if len(frame) else []
    if not first or not all(isinstance(cell, int | float) for cell in first):
        return pandas.read_excel(path, header=None if header is False else 0), []
    named, told = numeric_header(pandas, frame, header)
    return (pandas.read_excel(path) if named else frame), told


TABLES: dict[str, Callable[[Any, Path, bool | None], tuple[Any, list[str]]]] = {
    ".csv": read_separated,
    ".tsv": read_separated,
    ".txt": read_separated,
    ".dat": read_separated,
    ".parquet": lambda pandas, path, header: (pandas.read_parquet(path), []),
    ".feather": lambda pandas, path, header: (pandas.read_feather(path), []),
    ".xlsx": _sheet,
}
WITH_LINES = (".csv", ".tsv", ".txt", ".dat", ".xlsx")


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
