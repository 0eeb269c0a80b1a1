"""Is a first line of numbers a row of data, or a header such as wavelengths?"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

RARE = 0.02  # share of the rows below that may be as regular as a header
EVEN = 1e-3  # of the step: wavelengths are rounded
LOOKED_AT = 1000  # rows below


def is_header(first: Sequence[float], below: ArrayLike) -> bool:
    """Whether a first line of numbers names the columns.

    It does if it is regular and the rows below are not: three or more evenly spaced numbers, five or more that rise
    or fall all along (one row in 60 does so by chance), or two consecutive whole numbers, as a frame without names
    has, above columns with fractions. Repeated numbers are no names.

    Parameters
    ----------
    first : sequence of float
    below : array (n, columns)
        The next rows; NaN where a cell is empty or no number.

    Returns
    -------
    bool

    Examples
    --------
    >>> rows = np.random.default_rng(0).uniform(size=(50, 6))
    >>> is_header([400, 410, 420, 430, 440, 450], rows), is_header(rows[0], rows[1:])
    (True, False)
    >>> is_header([0, 1], rows[:, :2]), is_header([0, 1], [[1, 1], [0, 1]])
    (True, False)
    """
    names, rows = np.asarray(first, dtype=float), np.asarray(below, dtype=float)[:LOOKED_AT]
    if not np.isfinite(names).all() or len(np.unique(names)) < len(names) or not len(rows):
        return False
    rules: list[Callable[[NDArray], NDArray]] = [_even] * (len(names) >= 3) + [_monotone] * (len(names) >= 5)
    if any(rule(names[None])[0] and rule(rows).mean() <= RARE for rule in rules):
        return True
    counted = len(names) == 2 and names[1] - names[0] == 1 and names[0] in (0, 1)
    return bool(counted and (np.isfinite(rows) & (rows != np.round(rows))).any(axis=0).all())


def may_be_header(first: Sequence[float]) -> bool:
    """Whether a first line that was taken for data could name the columns all the same."""
    names = np.asarray(first, dtype=float)[None]
    return bool(names.shape[1] >= 3 and _monotone(names)[0])


def _even(rows: NDArray) -> NDArray:
    steps = np.diff(rows, axis=1)
    return (np.ptp(steps, axis=1) <= EVEN * np.abs(steps).min(axis=1)) & (steps != 0).all(axis=1)


def _monotone(rows: NDArray) -> NDArray:
    steps = np.diff(rows, axis=1)
    return np.asarray((steps > 0).all(axis=1) | (steps < 0).all(axis=1))
