"""Dask arrays: rows are picked, checked, projected and coded as tasks where their blocks are, on any scheduler.

What comes back to the caller is small: the rows of a sample. A cluster is used where a ``distributed.Client`` is open;
else Dask's threads do the work. A Zarr array, which every process can open for itself, goes the same way where a Client
is open; without one it is streamed through this process.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unbraid.data.observations import data_of
from unbraid.data.sources import as_block, is_lazy, shared
from unbraid.runtime.determinism import parallel_task

AT_ONCE = 256  # blocks that are asked for together: enough to keep workers busy, few enough for a progress bar


def whole_rows(X: Any) -> Any:
    """The same Dask array with blocks that hold whole rows."""
    return X.rechunk(dict.fromkeys(range(1, X.ndim), -1))


def codes_by_blocks(model: Any, X: Any, width: int) -> Any:
    """Codes of a Dask array, lazily; of a Zarr array where a cluster is there, computed by it; of all else None.

    Parameters
    ----------
    model : estimator
    X : anything
    width : int

    Returns
    -------
    Dask array, array (n, width) or None
    """
    X = data_of(X)
    if is_lazy(X):
        return map_lazily(model, X, width)
    blocks = shared(X)
    return map_lazily(model, blocks, width).compute() if is_lazy(blocks) else None


def map_lazily(model: Any, X: Any, width: int) -> Any:
    """A Dask array of the codes (n, width) of a Dask array, computed block by block when they are asked for.

    The model is one object of the graph, so a worker receives it once, not with every block, and keeps what it builds
    from it, such as the tree of its neighbour search.

    Parameters
    ----------
    model : estimator
        Its ``transform`` maps a block.
    X : Dask array (n, ...)
    width : int

    Returns
    -------
    Dask array (n, width)
    """
    from dask import delayed

    X = whole_rows(X)
    return X.map_blocks(
        _codes,
        model=delayed(model, pure=False, traverse=False),
        width=width,
        dtype=np.float64,
        meta=np.empty((0, width)),
        chunks=(X.chunks[0], (width,)),
        drop_axis=list(range(2, X.ndim)),
    )


def _codes(block: NDArray, model: Any, width: int) -> NDArray:
    if block.shape[0] == 0:
        return np.empty((0, width))
    with parallel_task():
        return np.asarray(model.transform(block))


def picked_rows(X: Any, rows: NDArray, work: Callable[[NDArray], NDArray]) -> Iterator[tuple[int, NDArray]]:
    """``work`` of the given rows, block after block, each done where its block is.

    Parameters
    ----------
    X : Dask array (n, ...)
    rows : array of int
        Increasing row numbers; blocks without any are not computed at all.
    work : callable (rows of a block, ...) -> array
        What to do with them before they travel: a check, a projection.

    Yields
    ------
    passed : int
        Rows of the blocks that were gone through since the last.
    done : array
    """
    from dask import compute, delayed

    X = whole_rows(X)
    blocks = X.to_delayed().reshape(-1)
    ends = np.cumsum(X.chunks[0])
    bounds = np.searchsorted(rows, np.concatenate([[0], ends]))
    shared, pick = delayed(work, pure=False, traverse=False), delayed(_picked, pure=False)
    for start in range(0, len(blocks), AT_ONCE):
        stop = min(start + AT_ONCE, len(blocks))
        tasks = []
        for k in range(start, stop):
            mine = rows[bounds[k] : bounds[k + 1]] - (ends[k] - X.chunks[0][k])
            if len(mine):
                tasks.append(pick(blocks[k], mine, shared))
        passed = int(sum(X.chunks[0][start:stop]))
        for done in compute(*tasks):
            yield passed, done
            passed = 0


def _picked(block: Any, rows: NDArray, work: Callable[[NDArray], NDArray]) -> NDArray:
    block = as_block(block)
    return work(block if len(rows) == len(block) else block[rows])


def distinct_numbers(n: int, count: int, random_state: np.random.RandomState) -> NDArray[np.int64]:
    """``count`` of the numbers below ``n``, each as likely as the others, increasing; no list of all n is made.

    Examples
    --------
    >>> found = distinct_numbers(10**12, 1000, np.random.RandomState(0))
    >>> len(found), bool((np.diff(found) > 0).all())
    (1000, True)
    """
    seed = int(random_state.randint(2**31))
    return np.sort(np.random.default_rng(seed).choice(n, count, replace=False, shuffle=False))
