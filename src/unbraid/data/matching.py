"""Known factors in a table of their own: matched to the rows by name where both have names, else in their order."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unbraid.data.columns import FILE, INDEX, all_match, picked
from unbraid.data.frames import read_frame
from unbraid.data.gaps import listed
from unbraid.data.separated import is_number


@dataclass(frozen=True)
class Factors:
    """Factors of rows.

    Attributes
    ----------
    values : array (n, q)
        Whole numbers are classes; texts are numbered in their alphabetical order.
    names : list of str
    matched : bool
        Whether the rows were found by name; else they stand in the order of the table.
    decisions : list of str
    """

    values: NDArray
    names: list[str]
    matched: bool
    decisions: list[str] = field(default_factory=list)


def factors_of(path: Path, row_names: NDArray | None = None, columns: Sequence[str] | None = None) -> Factors:
    """The factors in a table, for rows of these names.

    The column of names is the one in which all names are found: as they are, without their folders, or without their
    endings. Where rows have no names, or no column is like them, the table must have the rows in their order; columns
    of file names and of row numbers are then left out.

    Parameters
    ----------
    path : Path
    row_names : array of str, optional
    columns : sequence of str, optional
        Which columns are factors; all others by default.

    Returns
    -------
    Factors
    """
    frame, told = read_frame(path)
    frame.columns = [str(name) for name in frame.columns]
    key, order = _matched(path, frame, row_names)
    aside = {} if key is None else {key: "rows are matched by it"}
    for name in frame.columns if columns is None else ():
        column = frame[name] if order is None else frame[name].iloc[order]
        is_text = column.dtype.kind == "O"
        if name not in aside and is_text and (all_match(FILE, column) or (column.is_unique and len(column) > 2)):
            aside[name] = "its texts name rows"
        elif column.dtype.kind in "iu" and INDEX.fullmatch(name.strip()) and column.is_unique and len(column) > 2:
            aside.setdefault(name, "it numbers the rows")
        elif column.nunique(dropna=False) == 1 and len(column) > 2:
            aside[name] = "it has one value only"
    told += [f"the column {name!r} is no factor: {why}" for name, why in aside.items()]
    if key is None and row_names is not None:
        told.append(f"no column names the rows, so they are taken in order: the first is that of {str(row_names[0])!r}")
    chosen = picked(path, list(frame.columns), columns, "columns") if columns else []
    chosen = chosen or [name for name in frame.columns if name not in aside]
    if not chosen:
        raise ValueError(f"{path} has no column of factors; its columns: {listed(frame.columns)}.")
    frame = frame[chosen] if order is None else frame[chosen].iloc[order]
    gaps = frame.isna().sum()
    if gaps.any():
        raise ValueError(f"{path} has gaps: {int(gaps.max())} values of the column {gaps.idxmax()!r} are missing.")
    values = np.column_stack([_values(frame[name]) for name in chosen])
    if all(map(is_number, chosen)) and len(chosen) > 1:
        chosen = [f"{path.stem} {number}" for number in range(1, len(chosen) + 1)]
    return Factors(values, chosen, order is not None, told)


def aligned(path: Path, frame: Any, row_names: Sequence[str] | None) -> Any:
    """The rows of a frame that belong to rows of these names, or with these numbers where some were left out."""
    if row_names is None:
        return frame
    order = _matched(path, frame, np.asarray(row_names, dtype=str))[1]
    numbers = all(name.isdecimal() and int(name) < len(frame) for name in row_names)
    if order is None and numbers and len(frame) > len(row_names):
        order = np.array([int(name) for name in row_names])
    return frame if order is None else frame.iloc[order].reset_index(drop=True)


def _values(column: Any) -> NDArray:
    if column.dtype.kind in "biuf":
        return column.to_numpy()
    return np.unique(column.astype(str).to_numpy(dtype=str), return_inverse=True)[1]


def _matched(path: Path, frame: Any, row_names: NDArray | None) -> tuple[str | None, NDArray | None]:
    """The column that names the rows, and where in the table each row is."""
    if row_names is None:
        return None, None
    nearest: tuple[float, str, str] = (0.0, "", "")
    for spell in (str, _base, _stem):
        wanted = [spell(name) for name in row_names]
        if len(set(wanted)) < len(wanted):
            continue
        for name in frame.columns:
            if frame[name].dtype.kind not in "OiuU":
                continue
            cells = [spell(cell) for cell in frame[name].astype(str).str.strip()]
            place = {cell: i for i, cell in enumerate(cells)}
            missing = [cell for cell in wanted if cell not in place]
            if not missing:
                twice = len(cells) - len(place)
                if twice:
                    raise ValueError(f"{path}: {twice} names occur more than once in the column {name!r}.")
                return name, np.array([place[cell] for cell in wanted])
            nearest = max(nearest, (1 - len(missing) / len(wanted), name, missing[0]))
    share, name, missing_name = nearest
    text = [name for name in frame.columns if frame[name].dtype.kind == "O" and all_match(FILE, frame[name])]
    if share > 0.5 or (text and all_match(FILE, _series(row_names))):
        raise ValueError(
            f"{path} does not name all rows: {missing_name or row_names[0]!r} is not in the column {name or text[0]!r} "
            f"({100 * share:.0f} % of the {len(row_names)} rows are)."
        )
    return None, None


def _series(values: NDArray) -> Any:
    import pandas

    return pandas.Series(values)


def _base(name: str) -> str:
    return PurePosixPath(name.replace("\\", "/")).name


def _stem(name: str) -> str:
    return PurePosixPath(_base(name)).stem
