"""Rows in the order of time: which follow each other, and where a recording is interrupted."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

GAP = 1.5  # times the usual step: rows farther apart in time belong to different recordings


def ordered(time: NDArray) -> NDArray[np.intp]:
    """The rows in the order of time; each must have its own.

    >>> ordered(np.array([3.0, 1.0, 2.0])).tolist()
    [1, 2, 0]
    """
    order = np.argsort(time, kind="stable")
    between = np.diff(time[order])
    repeated = np.flatnonzero(between == between.dtype.type(0))
    if len(repeated):
        row, other = order[repeated[0]], order[repeated[0] + 1]
        raise ValueError(
            f"time is the same in {len(repeated) + 1} or more rows, for instance {time[row]} in rows {row} and "
            f"{other}. Give each row its own time; times of several recordings must leave a gap between one and the "
            "next."
        )
    return order


def steps(time: NDArray, offset: int = 1) -> NDArray[np.intp]:
    """Rows (m, 2) that are ``offset`` steps apart in time; no step crosses a gap.

    The usual step is the median one; a longer time between two rows than 1.5 of it is a gap. So the rows of several
    recordings can be given one after the other, with times that leave a gap between them.

    Parameters
    ----------
    time : array (n,)
        Numbers or dates, in any order.
    offset : int

    Returns
    -------
    array of int (m, 2)
        The earlier row first.

    Examples
    --------
    >>> steps(np.array([0, 1, 2, 10, 11])).tolist()
    [[0, 1], [1, 2], [3, 4]]
    >>> steps(np.array([3.0, 1.0, 2.0])).tolist()
    [[1, 2], [2, 0]]
    """
    order = ordered(time)
    between = np.diff(time[order])
    if not len(between):
        raise ValueError(f"time has {len(time)} row; at least 2 are needed.")
    piece = np.cumsum(np.r_[0, between > GAP * np.median(between)])
    first, last = order[:-offset], order[offset:]
    found = np.column_stack([first, last])[piece[:-offset] == piece[offset:]]
    if not len(found):
        raise ValueError(
            f"no two rows are {offset} steps apart in time: of {len(time)} rows the longest run without a gap has "
            f"{int(np.bincount(piece).max())}. Give a smaller offset, or longer recordings."
        )
    return found


def apart(times: list[NDArray]) -> list[NDArray]:
    """Times of several recordings; one that begins before the last has ended is moved behind it, with a gap.

    >>> [part.tolist() for part in apart([np.array([0, 1, 2]), np.array([0, 1]), np.array([90, 91])])]
    [[0, 1, 2], [12, 13], [90, 91]]
    """
    if any(time.dtype.kind not in "biufmM" or len(time) < 2 for time in times):
        return times
    moved = times[:1]
    for time in times[1:]:
        last = np.sort(moved[-1])
        behind = last[-1] + 10 * np.diff(last).max() - time.min()
        moved.append(time if time.min() > last[-1] else time + behind)
    return moved


def consecutive(parts: list[Any]) -> tuple[NDArray, NDArray[np.float64]]:
    """Recordings (length, ...) one after the other as rows, and times that leave a gap between them.

    >>> rows, time = consecutive([np.zeros((3, 2)), np.ones((2, 2))])
    >>> rows.shape, steps(time).tolist()
    ((5, 2), [[0, 1], [1, 2], [3, 4]])
    """
    arrays = [np.ma.asarray(part) if np.ma.isMaskedArray(part) else np.asarray(part) for part in parts]
    shapes = sorted({array.shape[1:] for array in arrays})
    if len(shapes) > 1 or min(map(len, arrays), default=0) < 2:
        raise ValueError(
            f"the recordings have rows of the shapes {shapes} and lengths {[len(a) for a in arrays[:8]]}; they must "
            "have rows of one shape and at least two of them each."
        )
    starts = np.cumsum([0, *(len(array) + 9 for array in arrays[:-1])])
    join = np.ma.concatenate if any(map(np.ma.isMaskedArray, arrays)) else np.concatenate
    return join(arrays), np.concatenate([start + np.arange(len(a)) for start, a in zip(starts, arrays)])
