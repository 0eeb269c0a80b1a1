"""Which columns and rows of a table are data: what its names and values tell, what is left out, what is refused."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unbraid.data.gaps import Choices, listed, refuse_sentinels, without_dead, without_gaps
from unbraid.data.header import LOOKED_AT
from unbraid.data.separated import is_number

FEWEST = 10  # rows from which on a regular column is no accident
HEAVY = 0.95  # of the variance: held by few columns
ROUNDED = 1e-3  # of a step: times are rounded
FEW, MANY = 9, 0.5  # different values of a column that may be classes, and their share of the rows in the others
SHUFFLED = "the numbers of the rows in another order"
INDEX = re.compile(
    r"(?i:unnamed: ?\d+|(.*[_ \-.])?(id|ids|index|idx|no|no\.|nr|nr\.|number|uuid)|#|row|rows|rownames|)|.*[a-z]I[Dd]"
)
REPEATED = re.compile(r"(?i:(.*[_ \-.])?(id|uuid))|.*[a-z]I[Dd]")  # identifiers that may repeat: of patients
TIME = re.compile(
    r"(.*[_ \-.])?(time|t|date|datetime|timestamp|seconds?|secs?|s|ms|minutes?|min|hours?|h|days?|epoch|elapsed|frame|"
    r"datum|zeit|uhrzeit|fecha|heure)(\s*[\[(].*[\])])?",
    re.I,
)
CALENDAR = {
    "year": (1800, 2200), "month": (1, 12), "day": (1, 31), "weekday": (0, 7), "hour": (0, 24), "minute": (0, 60),
}  # fmt: skip
MOMENT = re.compile(
    r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}([T ].*)?|\d{1,2}[:.]\d{2}([:.]\d{2})(\.\d+)?( ?[AaPp][Mm])?|\d{1,2}:\d{2}"
)
NUMERAL = re.compile(r"[-+]?[\d.,' ]+(e[-+]?\d+)?", re.I)  # a number that could not be read
FILE = re.compile(r".*\.[A-Za-z]\w{1,4}")


@dataclass
class Table:
    """The data of a table.

    Attributes
    ----------
    values : array (n, k)
    names : list of str
        Of the columns.
    row_names : array (n,) of str, or None
    rows : array (n,) of int
        Their numbers in the table, from 0 below its header.
    n_read : int
        Rows of the table, those that were left out included.
    decisions : list of str
        What was left out, filled or noticed.
    """

    values: NDArray
    names: list[str]
    row_names: NDArray | None
    rows: NDArray[np.intp]
    n_read: int
    decisions: list[str] = field(default_factory=list)


def tidy(path: Path, frame: Any, choices: Choices) -> Table:
    """The data of a frame: its columns, its rows, and gaps filled or left out as asked for.

    Raises a ValueError that names the column, and the flag that settles the matter, where that is for the user to say.
    """
    told: list[str] = []
    left = {str(name): name for name in frame.columns}
    if not len(frame):
        raise ValueError(f"{path} holds no rows below the names of its columns: {listed(left)}. Copy it again.")
    given = None if choices.columns is None else picked(path, list(left), choices.columns, "columns")
    out = set(picked(path, list(left), choices.exclude, "exclude"))
    row_names = None
    if choices.index is not None:
        (name,) = picked(path, list(left), [choices.index], "index")
        row_names, out = _as_names(frame[left[name]]), out | {name}
        told.append(f"the column {name!r} names the rows")
    chosen = [name for name in (given or left) if name not in out or given]
    marked = _marked(path, frame[[left[name] for name in chosen]], choices)
    if given is None:
        aside, namer = _aside(marked)
        for why in dict.fromkeys(aside.values()):
            same = [repr(name) for name in aside if aside[name] == why]
            told.append(f"left out: the column{'s' * (len(same) > 1)} {listed(same)} ({why})")
        if row_names is None and namer is not None:
            row_names = _as_names(marked[namer])
        marked = marked[[name for name in marked.columns if name not in aside]]
        told += _rising(marked)
    if not len(marked.columns):
        raise ValueError(
            f"{path} has no column of data left: {listed(left)}. Name those that are data by columns=[...] "
            "(--columns A,B)."
        )
    _refuse_text(path, frame, marked)
    values = _numbers(marked)
    if choices.looks:
        refuse_sentinels(path, marked, values)
    names = [str(name) for name in marked.columns]
    values, kept = without_gaps(path, names, values, choices, told)
    if choices.looks:
        values, kept = without_dead(path, values, kept, choices, told)
    told += _noticed(names, values)
    return Table(values, names, None if row_names is None else row_names[kept], kept, len(frame), told)


def picked(path: Path, names: Sequence[str], asked: Sequence[str], option: str) -> list[str]:
    """The columns of these names, numbers or ranges.

    ``400:700`` is every column whose name is a number from 400 to 700, and ``a:d`` those from a to d in their order.

    >>> picked(Path("t.csv"), ["400", "550", "700", "dye"], ["400:600", "dye"], "columns")
    ['400', '550', 'dye']
    """
    found: list[str] = []
    for name in map(str, asked):
        first, colon, last = name.partition(":")
        if name in names:
            found.append(name)
        elif colon and is_number(first) and is_number(last):
            low, high = sorted((float(first), float(last)))
            inside = [other for other in names if is_number(other) and low <= float(other) <= high]
            if not inside:
                raise ValueError(f"{path} has no column from {first} to {last}. Its columns: {listed(names)}.")
            found += inside
        elif colon and first.strip() in names and last.strip() in names:
            start, stop = sorted((names.index(first.strip()), names.index(last.strip())))
            found += names[start : stop + 1]
        else:
            raise ValueError(f"{path} has no column {name!r} ({option}=). Its columns: {listed(names)}.")
    return list(dict.fromkeys(found))


def _marked(path: Path, frame: Any, choices: Choices) -> Any:
    """The frame with NaN for what marks missing values, and numbers where nothing else is left of a column."""
    import pandas

    markers = [str(marker).strip() for marker in choices.missing or ()]
    numbers = [float(marker) for marker in markers if is_number(marker)]
    frame = frame.copy()
    frame.columns = [str(name) for name in frame.columns]
    for name in frame.columns:
        column = frame[name]
        if column.dtype.kind in "iuf":
            if numbers and column.isin(numbers).any():
                frame[name] = column.astype(float).mask(column.isin(numbers))
        elif column.dtype.kind == "O":
            text = column.where(~column.astype(str).str.strip().isin(markers))
            converted = pandas.to_numeric(text, errors="coerce")
            strange = text.notna() & converted.isna()
            if not strange.any() and text.notna().any():
                frame[name] = converted.mask(converted.isin(numbers))
            elif strange.mean() < 0.5 and converted.notna().any():
                shown = ", ".join(map(repr, dict.fromkeys(map(str, text[strange]))))
                last = " In the last row: delete it if that is a sum." * bool(not strange.iloc[:-1].any())
                raise ValueError(
                    f"{path}: {int(strange.sum())} of {len(column)} values of the column {name!r} are text among "
                    f"numbers: {shown[:80]}.{last} missing={str(text[strange].iloc[0])!r} takes them for missing "
                    f"values; exclude={name!r} leaves out the column."
                )
    return frame


def _aside(frame: Any) -> tuple[dict[str, str], str | None]:
    """Columns that are no data, with the reason, and the one that names the rows."""
    aside: dict[str, str] = {}
    names: str | None = None
    rising = []
    for name in frame.columns:
        column = frame[name]
        if not column.notna().any():
            aside[name] = "empty"
        elif column.dtype.kind in "mM" or (column.dtype.kind == "O" and all_match(MOMENT, column)):
            aside[name] = "dates or times; --time uses them"
        elif column.dtype.kind == "O" and not all_match(NUMERAL, column):
            if all_match(FILE, column) or (column.is_unique and len(column) > 1 and column.notna().all()):
                aside[name] = "names of the rows" if names is None else "a text of its own in every row"
                names = names or name
        elif column.dtype.kind in "iuf" and column.notna().all():
            why, is_index = _counts(name, column.to_numpy(dtype=float))
            if why:
                aside[name] = why
                names = names or (name if is_index else None)
            elif _is_rising(column.to_numpy(dtype=float)) and len(column) >= FEWEST:
                rising.append(name)
    ranks = [name for name, why in aside.items() if why == SHUFFLED]
    if len(ranks) > 1:
        aside = {name: why for name, why in aside.items() if why != SHUFFLED}
        names = None if names in ranks else names
    if len(rising) == 1 and frame[rising[0]].dtype.kind in "iu":
        aside[rising[0]] = "rising with every row in whole numbers, as an identifier or a time does"
    return aside, names


def _counts(name: str, values: NDArray) -> tuple[str, bool]:
    """Why a column of numbers is an index or a time, or nothing; and whether it identifies the rows."""
    steps, whole, name = np.diff(values), bool((values == np.round(values)).all()), name.strip()
    regular = len(values) >= FEWEST and steps[0] != 0 and np.ptp(steps) <= ROUNDED * abs(steps[0])
    if regular:
        return f"counting the rows in steps of {steps[0]:g}, as an index or a time does", whole
    if len(values) > 2 and _is_rising(values) and TIME.fullmatch(name):
        return "rising with every row, as a time does; --time uses it", False
    if not whole or len(values) <= 2:
        return "", False
    unique = len(np.unique(values)) == len(values)
    if unique and INDEX.fullmatch(name):
        return "a number of its own in every row, and the name of an identifier", True
    if unique and len(values) >= FEWEST and np.ptp(values) == len(values) - 1:
        return SHUFFLED, True
    if REPEATED.fullmatch(name):
        return "the name of an identifier, and whole numbers", False
    low, high = CALENDAR.get(name.lower(), (1, 0))
    if low <= values.min() and values.max() <= high:
        return "a part of a date or time, by its name and values", False
    year, month, day = values // 10000, values // 100 % 100, values % 100
    if ((year >= 1800) & (year <= 2200) & (month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)).all():
        return "dates such as 20200131; --time uses them", False
    return "", False


def _is_rising(values: NDArray) -> bool:
    steps = np.diff(values)
    return bool(len(steps) and ((steps > 0).all() or (steps < 0).all()))


def _rising(frame: Any) -> list[str]:
    """Columns that are kept although a time would look the same."""
    if len(frame) < FEWEST:
        return []
    found = [n for n in frame.columns if frame[n].dtype.kind in "iuf" and _is_rising(frame[n].to_numpy(dtype=float))]
    if not found or len(found) > len(frame.columns) // 2:
        return []
    flag = f"exclude={found[0]!r} if it is a time or an index"
    return [f"the column {listed(found)} rises or falls with every row and is kept as data; {flag}"]


def all_match(pattern: re.Pattern, column: Any) -> bool:
    """Whether all texts of a column, without gaps, are of a pattern."""
    texts = column.dropna().astype(str).str.strip()
    return bool(len(texts)) and all(pattern.fullmatch(text) for text in texts)


def _as_names(column: Any) -> NDArray:
    whole = column.dtype.kind == "f" and column.notna().all() and (column == column.round()).all()
    return (column.astype(np.int64) if whole else column).astype(str).to_numpy(dtype=str)


def _refuse_text(path: Path, frame: Any, marked: Any) -> None:
    text = [name for name in marked.columns if marked[name].dtype.kind not in "biuf"]
    if text:
        values = ", ".join(map(repr, marked[text[0]].dropna().astype(str).unique()[:3]))
        raise ValueError(
            f"{path} has columns that are not numbers: {listed(text)} (the first holds {values}). Leave them out by "
            f"exclude={text[0]!r}, or choose columns=[...] (--columns A,B). Its columns: "
            f"{listed(frame.columns)}."
        )


def _numbers(frame: Any) -> NDArray:
    """One array of the frame, with NaN for gaps; of whole numbers alone it stays one."""
    kinds = {np.dtype(getattr(kind, "numpy_dtype", kind)) for kind in frame.dtypes}
    if frame.isna().any(axis=None) or (len(kinds) > 1 and np.dtype(bool) in kinds):
        return frame.to_numpy(dtype=np.float64, na_value=np.nan)
    return frame.to_numpy(dtype=np.result_type(*kinds))


def _columns(names: list[str]) -> str:
    return f"the column{'s' * (len(names) > 1)} {listed(names)}"


def _noticed(names: list[str], values: NDArray) -> list[str]:
    """What is kept, and worth a look: columns of one value, columns that outweigh all others, rows that repeat."""
    told = []
    spread = np.nanvar(values.astype(np.float64), axis=0)
    constant = [name for name, v in zip(names, spread) if not v > 0]
    if constant and len(constant) < len(names):
        told.append(f"one value only in {_columns(constant)}: no change to the codes")
    order = np.argsort(-spread)
    heavy = int(np.searchsorted(np.cumsum(spread[order]), HEAVY * spread.sum())) + 1
    if spread.sum() > 0 and len(names) - len(constant) > 2 and heavy <= max(1, len(names) // 5):
        share = spread[order[:heavy]].sum() / spread.sum()
        told.append(
            f"{100 * share:.1f} % of the variance is in {_columns([names[j] for j in order[:heavy]])}, so that methods "
            "hardly see the others; leave out what does not matter, exclude=[...] (--exclude), or bring all to one "
            "spread (--prepare spread)"
        )
    sample = values[:LOOKED_AT].astype(np.float64)
    different = np.array([len(np.unique(column[~np.isnan(column)])) for column in sample.T])
    few = [j for j, count in enumerate(different) if 1 < count <= FEW]
    if few and len(sample) > 2 * FEW and (different > MANY * len(sample)).sum() >= len(names) / 2:
        told.append(
            f"at most {different[few].max()} values in {_columns([names[j] for j in few])}, kept as data; "
            f"exclude={names[few[0]]!r} if these are classes, batches or flags"
        )
    repeats = len(values) - len(np.unique(values, axis=0))
    if repeats:
        told.append("1 row repeats an earlier one" if repeats == 1 else f"{repeats} rows repeat earlier ones")
    return told
