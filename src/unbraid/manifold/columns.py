"""Columns that spoil the distances of a table: in other units, counting the rows, or with marks for missing cells."""

import numpy as np
from numpy.typing import NDArray

from unbraid.manifold.neighbors import Floats
from unbraid.manifold.spectra import has_structure

GAP = 30.0  # between the spreads of columns in different units
SEEN_ROWS = 1000  # of which spreads and repeated values are seen
FEWEST_ALIKE = 3  # columns in one unit
FEWEST_COUNTED = 20  # rows that are said to be counted
MOST_MARKED = 0.2  # share of the rows that lack a value in a column; more is a part of the data
FEWEST_MARKED = 5  # cells
DISTINCT = 0.9  # share of the other values of a column that occur once


def column_scale(sample: NDArray) -> NDArray | None:
    """What columns in other units are multiplied by, and 0 for those that count the rows; None if there are none.

    The spread (between quartiles) of up to half of the columns exceeds that of all others 30 times, and the others
    depend on each other, so they are not noise. They are then given the median spread of the others.

    Parameters
    ----------
    sample : array (n, n_features)

    Returns
    -------
    array (n_features,) or None

    Examples
    --------
    >>> t = np.random.default_rng(0).uniform(0, 2, 300)
    >>> X = np.c_[np.sin(t), np.cos(t), np.sin(2 * t), 1000 * t, np.arange(300)]
    >>> column_scale(X[:, :3]) is None, column_scale(X)[[0, 4]], bool(column_scale(X)[3] < 0.01)
    (True, array([1., 0.]), True)
    """
    some = np.asarray(sample[:: -(-len(sample) // SEEN_ROWS)], dtype=np.float64)
    spread = np.subtract(*np.quantile(some, [0.75, 0.25], axis=0))
    counts = _counting(sample, spread)
    live = (spread > 0) & ~counts
    order = np.argsort(np.where(live, -spread, 0.0), kind="stable")[: int(live.sum())]
    high = np.flatnonzero(spread[order[:-1]] > GAP * spread[order[1:]])
    high = high[high < min(len(order) // 2, len(order) - FEWEST_ALIKE)]
    scale = np.where(counts, 0.0, 1.0)
    if len(high):
        other, alike = order[: high[-1] + 1], order[high[-1] + 1 :]
        if has_structure(some[:, alike], np.random.RandomState(0)):
            scale[other] = np.median(spread[alike]) / spread[other]
    return None if (scale == 1).all() else scale.astype(sample.dtype)


def _counting(sample: NDArray, spread: Floats) -> NDArray[np.bool_]:
    """Which columns grow by constant steps, although rows that follow each other have nothing else in common."""
    n, p = sample.shape
    none = np.zeros(p, dtype=bool)
    if n < FEWEST_COUNTED:
        return none
    counts = (spread > 0) & _even(sample[:FEWEST_COUNTED])
    counts[counts] = _even(sample[:, counts])
    rest = sample[:, (spread > 0) & ~counts].astype(np.float64)
    if not counts.any() or not rest.shape[1]:
        return none
    rest = (rest - rest.mean(axis=0)) / np.maximum(rest.std(axis=0), 1e-300)
    follow = np.abs((rest[1:] * rest[:-1]).mean(axis=0))
    return counts if follow.max() < 4 / n**0.5 else none  # shuffled rows stay below it


def _even(columns: NDArray) -> NDArray[np.bool_]:
    steps = np.diff(columns.astype(np.float64), axis=0)
    return np.ptp(steps, axis=0) <= 1e-6 * np.abs(steps).max(axis=0)


def cell_marks(sample: NDArray, scale: NDArray | None) -> NDArray | None:
    """Values that stand for a missing or a saturated cell: of each column 0, its least and its greatest; else NaN.

    Such a value is repeated in a column whose other values hardly are, and is not what the other columns predict.
    """
    some = sample[:: -(-len(sample) // SEEN_ROWS)]
    candidates = np.stack([np.zeros_like(some[0]), some.min(axis=0), some.max(axis=0)])
    marks = np.full(candidates.shape, np.nan, dtype=np.float64)
    for mark, values, fewest in zip(marks, candidates, (1, 3, 3)):
        count = (some == values).sum(axis=0)
        found = (count >= fewest) & (count <= MOST_MARKED * len(some))
        shared, columns = np.unique(values[found], return_counts=True)
        found |= np.isin(values, shared[columns > 1])  # what marks a cell in several columns does so in all
        mark[found] = values[found]
    for j in np.flatnonzero(~np.isnan(marks).all(axis=0)):
        rest = some[~np.isin(some[:, j], marks[:, j]), j]
        if len(np.unique(rest)) < DISTINCT * len(rest):
            marks[:, j] = np.nan
    if sum(int((some == mark).sum()) for mark in marks) < FEWEST_MARKED:
        return None
    from unbraid.manifold.screening import confirmed

    return confirmed(sample, marks, scale)
