"""Rows that differ."""

import numpy as np
from numpy.typing import NDArray

GRAIN = 1e-9  # of the largest value: rows that agree to this are the same point


def distinct_rows(X: NDArray) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Where each different row stands first, in order, and the place of every row among these.

    Parameters
    ----------
    X : array of shape (n, n_features)

    Returns
    -------
    first : array of int
        ``X[first]`` are the different rows.
    index : array of int, of length n
        ``X[first][index]`` is X again.

    Examples
    --------
    >>> first, index = distinct_rows(np.array([[1.0, 2.0], [0.0, 1.0], [1.0, 2.0]]))
    >>> first.tolist(), index.tolist()
    ([0, 1], [0, 1, 0])
    """
    grain = GRAIN * max(float(np.abs(X).max(initial=0)), 1e-300)
    # Equal rows have equal projections: only rows whose projections meet need to be compared, and sorting one column
    # is quicker than sorting rows.
    projected = X @ np.cos(np.arange(X.shape[1]))
    order = np.argsort(projected)
    meets = np.diff(projected[order]) <= 4 * grain * X.shape[1]
    suspects = np.sort(order[np.append(meets, False) | np.insert(meets, 0, False)])
    original = np.arange(len(X))
    if len(suspects):
        rounded = np.round(X[suspects].astype(np.float64) / grain).astype(np.int64)
        _, first, group = np.unique(rounded, axis=0, return_index=True, return_inverse=True)
        original[suspects] = suspects[first][group.ravel()]
    first = np.flatnonzero(original == np.arange(len(X)))
    return first, np.searchsorted(first, original)
