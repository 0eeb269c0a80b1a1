"""Bootstrap over seeds: what other seeds would have given, for fixed data sets, methods and strengths."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from unbraid.study.analysis.frames import Floats, Ints, Scored

LEAST_SEEDS = 3  # in the median cell; with fewer there is no interval


def seeds_per_cell(cells: Ints) -> int:
    """Number of seeds in the median cell."""
    return int(np.median(np.bincount(cells))) if len(cells) else 0


def resamples(cells: Ints, n: int, random_state: int, *, shorter: bool = True) -> Iterator[Ints]:
    r"""Rows of ``n`` bootstrap samples, drawn with replacement within each cell.

    Parameters
    ----------
    cells : array (n_runs,)
        Runs of a cell differ only in their seed.
    n : int
    random_state : int
    shorter : bool
        Draw one row less than a cell has: then the variance of a cell's mean over the draws is :math:`s^2 / S`, the
        unbiased estimate, where S draws of S would give :math:`s^2 (S - 1) / S^2`. This matters with three seeds.

    Yields
    ------
    array of row numbers

    References
    ----------
    McCarthy & Snowden (1985), The bootstrap and finite population sampling.

    Examples
    --------
    >>> [rows.tolist() for rows in resamples(np.array([0, 0, 1]), 1, 0, shorter=False)][0][2]
    2
    """
    order = np.argsort(cells, kind="stable")
    _, starts, sizes = np.unique(cells[order], return_index=True, return_counts=True)
    drawn = np.maximum(sizes - 1, 1) if shorter else sizes
    start, size = np.repeat(starts, drawn), np.repeat(sizes, drawn)
    rng = np.random.default_rng(random_state)
    for _ in range(n):
        yield order[start + (rng.random(len(start)) * size).astype(np.intp)]


def over_seeds(
    statistic: Callable[..., Floats], cells: Ints, arrays: Sequence[NDArray], n: int, random_state: int
) -> tuple[Floats, Floats]:
    """A statistic of all runs, and of ``n`` resamples of them (none where cells have fewer than three seeds).

    Parameters
    ----------
    statistic : callable (*arrays) -> array
    cells : array (n_runs,)
    arrays : sequence of arrays (n_runs, ...)
    n : int
    random_state : int

    Returns
    -------
    found : array (...)
    drawn : array (n or 0, ...)
    """
    found = np.asarray(statistic(*arrays))
    draws = resamples(cells, n, random_state) if seeds_per_cell(cells) >= LEAST_SEEDS else ()
    drawn = [statistic(*(values[rows] for values in arrays)) for rows in draws]
    return found, np.reshape(drawn, (-1, *found.shape))


def by_dataset(
    statistic: Callable[[Floats], Floats], table: Scored, values: Floats, n: int, random_state: int
) -> tuple[Floats, Floats]:
    """:func:`over_seeds` for a statistic of the rows of one data set; data sets are the first axis of the statistic."""

    def each(values: Floats, dataset_of: NDArray) -> Floats:
        return np.array([statistic(values[dataset_of == name]) for name in table.datasets])

    return over_seeds(each, table.cells, (values, table.dataset_of), n, random_state)


def rank_correlations(values: Floats) -> Floats:
    """Spearman's correlations of the columns; a constant column has none (NaN).

    Examples
    --------
    >>> rank_correlations(np.array([[1.0, 9.0], [2.0, 5.0], [3.0, 1.0]]))[0, 1].round(6)
    np.float64(-1.0)
    """
    return pd.DataFrame(values).corr("spearman").to_numpy()


def related(values: Floats, n: int) -> Floats:
    """Rank correlations of the first ``n`` columns with the others; 0 for constant columns."""
    return np.nan_to_num(rank_correlations(values)[:n, n:])


def median_of_last(values: Floats, n_axes: int) -> Floats:
    """Median over the last axes; empty if there are no resamples.

    >>> median_of_last(np.empty((0, 2, 3)), 2).shape
    (0,)
    """
    kept = values.shape[: values.ndim - n_axes]
    return np.median(values.reshape(*kept, int(np.prod(values.shape[values.ndim - n_axes :]))), axis=-1)
