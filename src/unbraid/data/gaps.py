"""What was not measured: markers of missing values, gaps and dead rows; found, filled, left out or refused by name."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unbraid.data.separated import is_number

SHOWN = 12  # columns that a message lists
SENTINELS = (-1, -9, -99, -200, -999, -9999, -99999, -32768, 99, 999, 9999, 99999, 999999, 1e20, 1e30, 65535, 32767)
KNOWN_GAP, ANY_GAP = 0.1, 1.0  # ranges of the other values: how far off a marker of missing values lies
FEW_VALUES = 10  # different values besides it: with fewer, a column holds classes
DEAD_SHARE = 0.05  # of the cells elsewhere that hold the value of a dead row: with more, it is an ordinary value
FILLS = ("median", "linear", "neighbors", "none")
NEIGHBORS = 5  # rows that a gap is filled from


@dataclass(frozen=True)
class Choices:
    """What a user says about a table; :func:`unbraid.datasets.open` explains each."""

    columns: Sequence[str] | None = None
    exclude: Sequence[str] = ()
    index: str | None = None
    missing: Sequence[Any] | None = None
    fill: Any = None
    drop_missing: bool = False

    @property
    def looks(self) -> bool:
        """Whether markers of missing values and dead rows are looked for: unless ``missing`` is empty."""
        return self.missing is None or len(self.missing) > 0


def listed(names: Iterable[Any]) -> str:
    """Names for a message, not too many."""
    names = [str(name) for name in names]
    return ", ".join(names[:SHOWN]) + (f", ... ({len(names)} in all)" if len(names) > SHOWN else "")


def refuse_sentinels(path: Path, frame: Any, values: NDArray) -> None:
    """Numbers that occur again and again, far off all other values: they mark what was not measured.

    Rows of one value are left to :func:`without_dead`.
    """
    alive = values[(values != values[:, :1]).any(axis=1)]
    found = Counter(value for column in alive.T for value in sentinels_of(column.astype(np.float64)))
    if found:
        value = found.most_common(1)[0][0]
        counts = zip((values == value).sum(axis=0).tolist(), map(str, frame.columns))
        columns = sorted(((count, name) for count, name in counts if count), reverse=True)
        shown = ", ".join(f"{name!r} ({count})" for count, name in columns[:SHOWN])
        raise ValueError(
            f"{path} holds {value:g} in {shown} of {len(values)} rows, far from all other values: it seems to mark "
            f"missing values. missing={value:g} says so, with drop_missing=True or fill='median'; missing='none' keeps "
            "it as a number."
        )


def sentinels_of(column: NDArray) -> dict[float, int]:
    """Values of a column that seem to mark missing ones, and how often they occur.

    >>> sentinels_of(np.r_[np.linspace(0, 1, 50), -200, -200])
    {-200.0: 2}
    >>> sentinels_of(np.r_[np.linspace(0, 1, 50), 7.5, 7.5])
    {}
    """
    values, counts = np.unique(column[np.isfinite(column)], return_counts=True)
    found: dict[float, int] = {}
    for place, rest in ((0, values[1:]), (-1, values[:-1])):
        if len(rest) < FEW_VALUES:
            continue
        value, count = float(values[place]), int(counts[place])
        gap = min(abs(value - rest[0]), abs(value - rest[-1])) / np.ptp(rest)
        known = value in SENTINELS and count >= 2 and gap > KNOWN_GAP
        if known or (value and count >= 3 and gap > ANY_GAP):
            found[value] = count
    return found


def without_gaps(
    path: Path, names: list[str], values: NDArray, choices: Choices, told: list[str]
) -> tuple[NDArray, NDArray[np.intp]]:
    """The rows that are kept, without gaps."""
    rows = np.arange(len(values))
    if values.dtype.kind != "f":
        return values, rows
    endless = np.isinf(values)
    if endless.any():
        name = names[int(endless.sum(axis=0).argmax())]
        raise ValueError(f"{path} holds infinite values in the column {name!r} ({int(endless.sum())} in all).")
    gaps = np.isnan(values)
    if not gaps.any():
        return values, rows
    most, holes = int(gaps.sum(axis=0).argmax()), gaps.any(axis=1)
    what = f"{int(gaps.sum())} missing values in {int(holes.sum())} of {len(values)} rows"
    if choices.drop_missing:
        told.append(f"{what}: those rows are left out")
        if holes.all():
            raise ValueError(
                f"{path} has gaps in every row, most in the column {names[most]!r} ({int(gaps[:, most].sum())} of "
                f"{len(values)}). Leave it out by exclude={names[most]!r}, or give fill='median'."
            )
        return values[~holes], rows[~holes]
    if choices.fill == "none":
        empty = gaps.all(axis=1)
        told.append(f"{what} stay as they are; most in the column {names[most]!r}")
        told += [f"{int(empty.sum())} rows without any value left out"] * bool(empty.any())
        return values[~empty], rows[~empty]
    if choices.fill is not None:
        told.append(f"{what}, filled ({choices.fill}); most in the column {names[most]!r}")
        _check_fill(path, names, values, choices.fill)
        return filled(values, choices.fill), rows
    raise ValueError(
        f"{path} has gaps: {int(gaps[:, most].sum())} of {len(values)} values of the column {names[most]!r} are "
        f"missing ({what}). drop_missing=True leaves out those rows, fill='median' fills "
        f"them, exclude={names[most]!r} leaves out the column."
    )


def _check_fill(path: Path, names: list[str], values: NDArray, fill: Any) -> None:
    """Refuse an unknown way to fill, and columns that nothing is known of."""
    if not is_number(str(fill)) and fill not in FILLS:
        raise ValueError(f"{path}: fill (--fill) is {fill!r}; it must be a number or one of {', '.join(FILLS)}.")
    empty = np.isnan(values).all(axis=0)
    if empty.any():
        name = names[int(empty.argmax())]
        raise ValueError(f"{path}: the column {name!r} is empty. Leave it out by exclude={name!r}.")


def share_missing(blocks: Iterable[NDArray]) -> float:
    """Share of the values that are missing, NaN; rows and columns that hold no value at all are refused.

    >>> share_missing([np.array([[1.0, np.nan], [3.0, 4.0]])])
    0.25
    """
    there: Any = 0
    nothing = cells = 0
    for block in blocks:
        finite = ~np.isnan(block.reshape(len(block), -1))
        nothing += int((~finite.any(axis=1)).sum())
        there, cells = there + finite.sum(axis=0), cells + finite.size
    refuse_empty(there == 0)
    _refuse_nothing(nothing)
    return float(1 - np.sum(there) / cells)


def refuse_empty_rows(rows: NDArray) -> None:
    """Refuse rows (n, ...) without any value."""
    _refuse_nothing(int(np.isnan(rows.reshape(len(rows), -1)).all(axis=1).sum()))


def _refuse_nothing(count: int) -> None:
    if count:
        raise ValueError(f"{count} rows of X hold no value at all, only NaN. Remove them.")


def refuse_empty(columns: NDArray[np.bool_]) -> None:
    """Refuse columns without any value."""
    if columns.any():
        raise ValueError(f"column {columns.argmax()} of X holds no value at all, only NaN. Remove such columns.")


def filled(values: NDArray, fill: Any) -> NDArray:
    """Gaps (NaN) filled with a number, the column's median, the line between the rows before and after, or like rows.

    Like rows are the five that are nearest in the standardised columns that both have.

    >>> filled(np.array([[1.0, 2.0], [np.nan, 4.0], [5.0, 6.0]]), "linear")[1].tolist()
    [3.0, 4.0]
    """
    gaps = np.isnan(values)
    if is_number(str(fill)):
        return np.where(gaps, float(fill), values)
    if fill == "median":
        return np.where(gaps, np.nanmedian(values, axis=0), values)
    if fill == "neighbors":
        from sklearn.impute import KNNImputer

        centre, spread = np.nanmean(values, axis=0), np.nanstd(values, axis=0)
        spread = np.where(spread > 0, spread, 1)
        return KNNImputer(n_neighbors=NEIGHBORS).fit_transform((values - centre) / spread) * spread + centre
    place, found = np.arange(len(values)), values.copy()
    for column, hole in zip(found.T, gaps.T):
        column[hole] = np.interp(place[hole], place[~hole], column[~hole])
    return found


def without_dead(
    path: Path, values: NDArray, kept: NDArray[np.intp], choices: Choices, told: list[str]
) -> tuple[NDArray, NDArray[np.intp]]:
    """Rows of one value in every column, which occurs hardly anywhere else: nothing was measured."""
    if values.shape[1] < 3 or not (values != np.round(values)).any():
        return values, kept
    flat = (values == values[:, :1]).all(axis=1)
    for value in np.unique(values[flat, 0]):
        elsewhere = values[~flat]
        if not elsewhere.size or (elsewhere == value).mean() > DEAD_SHARE:
            flat &= values[:, 0] != value
    if not flat.any():
        return values, kept
    shown = f"row{'s' * int(flat.sum() > 1)} {listed(kept[flat])} ({values[flat][0, 0]:g} in every column)"
    if not choices.drop_missing:
        raise ValueError(
            f"{path} has {shown}, as if nothing was measured. drop_missing=True leaves out such rows, "
            "missing='none' keeps them. Rows count from 0 below the header."
        )
    told.append(f"{shown}: left out")
    return values[~flat], kept[~flat]
