"""Numbers that a table holds as text, and rows that are no data: remarks, footers, the header once more."""

import re
from typing import Any

from unbraid.data.separated import is_number

NUMERAL = re.compile(r"[-+]?[\d.,]+(e[-+]?\d+)?", re.I)
EUROPEAN = re.compile(r"[-+]?(\d+|[1-9]\d{0,2}(\.\d{3})+)(,\d+)?(e[-+]?\d+)?", re.I)  # 1.234,5
AMERICAN = re.compile(r"[-+]?(\d+|[1-9]\d{0,2}(,\d{3})+)(\.\d+)?(e[-+]?\d+)?", re.I)  # 1,234.5
MINUS = "\u2212"  # as typesetters write it


def without_remarks(pandas: Any, frame: Any, told: list[str]) -> Any:
    """The frame without rows that repeat the header, and without those of a single text where numbers stand."""
    texts = _texts(frame)
    numeric = [name for name in texts if frame[name].dropna().map(lambda cell: is_number(str(cell))).mean() > 0.5]
    if not numeric:
        return frame
    cells = frame[numeric].map(str)  # pandas' own strings keep NaN
    again = cells.apply(lambda column: column == str(column.name)).all(axis=1)
    alone = (frame.notna().sum(axis=1) == 1) & (frame[numeric].notna() & ~cells.map(is_number)).any(axis=1)
    if len(frame.columns) < 2:
        alone &= False
    if again.any():
        told.append(f"left out: rows that repeat the header ({int(again.sum())})")
    if alone.any():
        first = frame[alone].iloc[0].dropna().iloc[0]
        told.append(f"left out: rows of text ({int(alone.sum())}, the first {str(first)[:40]!r})")
    if not (again | alone).any():
        return frame
    kept = frame[~(again | alone)].reset_index(drop=True)
    for name in numeric:
        found = pandas.to_numeric(kept[name], errors="coerce")
        if found.notna().sum() == kept[name].notna().sum():
            kept[name] = found
    return kept


def with_numbers(pandas: Any, frame: Any, told: list[str]) -> Any:
    """The frame with numbers for text such as 1,234.5 or 1.234,5, where all cells of the table allow one reading only.

    What can be read in two ways (1,234) or in none stays as it is, to be refused by name.
    """
    columns = {}
    for name in _texts(frame):
        column = frame[name].where(frame[name].isna(), frame[name].astype(str).str.strip().str.replace(MINUS, "-"))
        cells = column.dropna()
        odd = cells.str.contains(",").any() or frame[name].astype(str).str.contains(MINUS).any()
        if odd and all(map(NUMERAL.fullmatch, cells)):
            columns[name] = column
    for pattern, other, thousands, decimal in ((EUROPEAN, AMERICAN, ".", ","), (AMERICAN, EUROPEAN, ",", ".")):
        fits = [all(all(map(p.fullmatch, c.dropna())) for c in columns.values()) for p in (pattern, other)]
        if columns and fits == [True, False]:
            plain = {
                name: pandas.to_numeric(column.str.replace(thousands, "").str.replace(decimal, "."))
                for name, column in columns.items()
            }
            shown = str(frame[next(iter(columns))].dropna().iloc[0]).strip()
            told.append(f"numbers such as {shown!r} are read with {decimal!r} as the decimal point")
            return frame.assign(**plain)
    return frame


def _texts(frame: Any) -> list[Any]:
    return [name for name in frame.columns if frame[name].dtype.kind == "O"]
