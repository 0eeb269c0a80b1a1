"""Text tables as instruments, spreadsheets and statistics programs write them: encoding, separator, header, units."""

import csv
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from unbraid.data.header import is_header, may_be_header

SEPARATORS = ("\t", ";", "|", ",")  # a comma may be the decimal point beside the others
BLANKS = r"\s+"
HEAD = 400  # lines that are looked at before a table is read
COMMENTS = ("#", "%")
FAR = 1.0  # ranges of the rows below: a first line farther out in every column is a header


@dataclass
class Layout:
    """How a text table is written, from its first lines.

    Attributes
    ----------
    separator : str
    skipped : int
        Lines before the table.
    names : list of str or None
        Of the columns; None where there is no header.
    has_header : bool
        Whether the first line of the table is the header; names may also come from a comment above it.
    decisions : list of str
        What a user may want to know about the reading.
    """

    separator: str = ","
    skipped: int = 0
    names: list[str] | None = None
    has_header: bool = True
    decisions: list[str] = field(default_factory=list)


def read_separated(pandas: Any, path: Path, header: bool | None = None) -> tuple[Any, list[str]]:
    """A text table as a pandas frame, and what was decided about its header and its first lines.

    Parameters
    ----------
    pandas : module
    path : Path
    header : bool, optional
        Whether the first line names the columns; by default its cells tell.

    Returns
    -------
    frame, list of str
    """
    encoding = _encoding(path)
    with path.open(encoding=encoding, newline="") as file:
        lines = [line for line, _ in zip(file, range(HEAD))]
    layout = _layout(path, lines, header)
    options = {"sep": layout.separator, "encoding": encoding, "skiprows": layout.skipped, "skipinitialspace": True}
    options |= {"header": 0} if layout.has_header else {"header": None}
    if layout.names is not None:
        options["names"] = layout.names
    frame = pandas.read_csv(path, index_col=False, **options)
    if layout.separator != "," and any(kind.kind not in "biuf" for kind in frame.dtypes):
        with_commas = pandas.read_csv(path, index_col=False, decimal=",", **options)
        if _count_numbers(with_commas) >= _count_numbers(frame):
            frame = with_commas
    if encoding == "cp1252":
        layout.decisions.append("it is not UTF-8, and was read as Windows-1252")
    return frame, layout.decisions


def numeric_header(pandas: Any, frame: Any, header: bool | None) -> tuple[bool, list[str]]:
    """Whether the first row of a sheet, all numbers, names the columns; and what was decided."""
    first = [float(value) for value in frame.iloc[0]]
    below = frame.iloc[1:].apply(pandas.to_numeric, errors="coerce").to_numpy(dtype=float)
    return _decided(first, below, header)


def _decided(first: Sequence[float], below: np.ndarray, header: bool | None) -> tuple[bool, list[str]]:
    found = is_header(first, below) or _far_outside(first, below) if header is None else header
    shown = ", ".join(f"{value:g}" for value in first[:3]) + (", ..." if len(first) > 3 else "")
    if found:
        flag = "" if header else "; header=False (--no-header) if it is a row"
        return True, [f"its first line ({shown}) names the columns{flag}"]
    doubt = header is None and may_be_header(first)
    return False, [f"its first line ({shown}) is a row; header=True (--header) if it names the columns"] * doubt


def _far_outside(first: Sequence[float], below: np.ndarray) -> bool:
    """Whether a first line of two columns or more lies farther from the rows below than these from each other."""
    with np.errstate(invalid="ignore"):
        numbers = np.isfinite(below).any(axis=0) & np.isfinite(np.asarray(first, float))
    if numbers.sum() < 2 or len(below) < 10 or 2 * len(np.unique(first)) <= len(first):
        return False
    names, rows = np.asarray(first, float)[numbers], below[:, numbers]
    low, high = np.nanmin(rows, axis=0), np.nanmax(rows, axis=0)
    outside = np.maximum(low - names, names - high)
    return bool((outside > FAR * (high - low)).all())


def _encoding(path: Path) -> str:
    """UTF-8 with or without a mark, UTF-16 with one, or else Windows-1252, which reads any bytes of the West."""
    with path.open("rb") as file:
        start = file.read(2)
        if start in (b"\xff\xfe", b"\xfe\xff"):
            return "utf-16"
        file.seek(0)
        try:
            while block := file.read(2**20):
                (block + file.readline()).decode("utf-8")
        except UnicodeDecodeError:
            return "cp1252"
    return "utf-8-sig"


def _layout(path: Path, lines: list[str], header: bool | None) -> Layout:
    found = Layout()
    comments = 0
    while comments < len(lines) and _is_comment(lines[comments]):
        comments += 1
    if comments < len(lines) and (given := re.fullmatch(r"\"?sep=(.)\"?", lines[comments].strip())):
        found.separator, comments = given[1], comments + 1
        body = lines[comments:]
    else:
        body = lines[comments:]
        found.separator = "\t" if path.suffix.lower() == ".tsv" else separator_of(body)
    rows = [cells(line, found.separator) for line in body if line.strip()]
    if not rows:
        return found
    width = Counter(len(row) for row in rows[len(rows) // 2 :]).most_common(1)[0][0]
    above = 0  # lines of an instrument before the table: fewer cells, and no row names to explain one less
    while above < len(rows) - 1 and len(rows[above]) < (width - 1 if width > 2 else width):
        if width == 2 and any(map(is_number, rows[above + 1])):
            break
        above += 1
    found.skipped = comments + _physical(body, above)
    rows = rows[above:]
    if above:
        found.decisions.append(f"{above} line{'s' * (above > 1)} above the table left out ({rows_shown(body)})")
    _read_header(found, rows, width, lines[:comments], header)
    return found


def _read_header(found: Layout, rows: list[list[str]], width: int, comments: list[str], header: bool | None) -> None:
    """Names of the columns, from the first line, from a comment above it, or none."""
    first, below = rows[0], _numbers(rows[1:], width)
    is_name = [not is_number(cell) for cell in first]
    if not any(is_name) and len(first) == width:
        commented = cells(comments[-1].lstrip("#% "), found.separator) if comments else []
        if header is None and len(commented) == width and not all(map(is_number, commented)):
            found.has_header, found.names = False, commented
            return
        found.has_header, told = _decided([number(cell) for cell in first], below, header)
        found.decisions += told
    elif header is not None:
        found.has_header = header
    elif len(first) == width and len(rows) > 2:
        found.has_header = not _like_the_rows(first, below)
        if not found.has_header:
            found.decisions.append("its first line is a row, like those below; header=True (--header) if it names them")
    if found.has_header and len(first) == width - 1:  # row names without a name, as R writes them; or a last separator
        found.names = ["", *first] if any(row[-1] for row in rows[1:]) else [*first, ""]
    elif found.has_header and not any(is_name) and len(set(first)) == len(first):
        found.names = [cell.strip().strip('"') for cell in first]


def _like_the_rows(first: list[str], below: np.ndarray) -> bool:
    """Whether a first line with text has numbers wherever the rows below do, and within their range."""
    columns = np.flatnonzero(np.isfinite(below).mean(axis=0) > 0.5)
    if not len(columns) or not all(is_number(first[j]) for j in columns):
        return False
    values = np.array([number(first[j]) for j in columns])
    if is_header(values.tolist(), below[:, columns]):
        return False
    low, high = np.nanmin(below[:, columns], axis=0), np.nanmax(below[:, columns], axis=0)
    return bool(((values >= low - (high - low)) & (values <= high + (high - low))).all())


def separator_of(lines: list[str]) -> str:
    """Of tab, semicolon, bar and comma the first that all lines have equally often; else that of most in the first.

    >>> separator_of(["1,5;2\\n", "2,5;3\\n"]), separator_of(["x, y\\n", "1, 2\\n"]), separator_of(["1 2\\n", "3 4\\n"])
    (';', ',', '\\\\s+')
    """
    told = [line for line in lines if line.strip()]
    later = told[min(len(told) - 1, len(told) // 4) :]  # past lines of an instrument above the table
    for separator in SEPARATORS:
        counts = {len(cells(line, separator)) for line in later}
        if len(counts) == 1 and min(counts) > 1:
            return separator
    if told and not any(separator in line for line in told for separator in SEPARATORS):
        words = {len(line.split()) for line in later}
        if len(words) == 1 and min(words) > 1 and all(map(is_number, later[-1].split())):
            return BLANKS
    return max(reversed(SEPARATORS), key=(told or [""])[0].count)


def cells(line: str, separator: str) -> list[str]:
    """The cells of a line, without the blanks around them."""
    if separator == BLANKS:
        return line.split()
    return [cell.strip() for cell in next(csv.reader([line.rstrip("\r\n")], delimiter=separator), [])]


def is_number(cell: str) -> bool:
    """Whether the cell of a table is a number.

    >>> is_number("1e-3"), is_number("dye")
    (True, False)
    """
    try:
        number(cell)
    except ValueError:
        return False
    return True


def number(cell: str) -> float:
    """The number in a cell, with a point or a comma."""
    return float(cell.strip().strip('"').replace(",", "."))


def _numbers(rows: list[list[str]], width: int) -> np.ndarray:
    table = [[number(cell) if is_number(cell) else np.nan for cell in row] for row in rows if len(row) == width]
    return np.array(table, dtype=float).reshape(len(table), width)


def _count_numbers(frame: Any) -> int:
    return sum(kind.kind in "biuf" for kind in frame.dtypes)


def _is_comment(line: str) -> bool:
    return not line.strip() or line.lstrip("\ufeff ").startswith(COMMENTS)


def _physical(lines: list[str], count: int) -> int:
    """How many lines there are before the one that is number ``count`` of those with text."""
    full = [i for i, line in enumerate(lines) if line.strip()]
    return full[count] if count < len(full) else len(lines)


def rows_shown(lines: list[str]) -> str:
    """The beginning of the first line, for a message."""
    return repr(next((line.strip() for line in lines if line.strip()), "")[:40])
