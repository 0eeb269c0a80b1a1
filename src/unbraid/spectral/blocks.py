"""Input of any size as blocks of rows: arrays, memory maps, Dask arrays, data-set files, or an iterable of blocks."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

BLOCK_BYTES = 64 * 2**20


class Blocks:
    """Rows of a data set, read block by block as two-dimensional float32 or float64.

    Parameters
    ----------
    X : array-like, memory map, Dask array, sliceable object with a shape, or iterable of blocks
        An iterable is gone through more than once, so a generator must be given as a function that makes it, or as
        a list. Rows of more than one axis (images) are flattened. Integers become float32, uint8 images stay in
        their own unit.

    Examples
    --------
    >>> import numpy as np
    >>> rows = Blocks([np.zeros((2, 3)), np.ones((1, 3))])
    >>> len(rows), rows.n_features, [b.shape for b in rows]
    (3, 3, [(2, 3), (1, 3)])
    """

    def __init__(self, X: Any):
        X = _as_source(X)
        self._source = X
        self.on_read: Callable = lambda rows: None  # told how many rows each block had
        if _is_sliceable(X):
            self.row_shape = tuple(int(s) for s in X.shape[1:])
            self._n: int | None = int(X.shape[0])
        else:
            if isinstance(X, Iterator):
                raise TypeError(
                    "X is an iterator that can be read only once, and fitting reads it more than once. Give a list of "
                    "blocks, or a function that returns a new iterator: HessianICA().fit(lambda: blocks())."
                )
            if not (callable(X) or isinstance(X, Iterable)):
                raise TypeError(f"X is a {type(X).__name__}; it must be an array or an iterable of arrays.")
            first = next(iter(self._stream()), None)
            if first is None:
                raise ValueError("X yields no block at all: there is nothing to fit.")
            self.row_shape = tuple(first.shape[1:])
            self._n = None
        if len(self.row_shape) == 0:
            raise ValueError(
                "Expected 2D array, got 1D array instead: rows are samples, columns are features. Reshape your data "
                "with X.reshape(-1, 1) if it has a single feature or X.reshape(1, -1) if it is a single sample."
            )
        self.n_features = int(np.prod(self.row_shape))
        if self.n_features == 0:
            raise ValueError(f"Found array with 0 feature(s) (shape=({self._n}, 0)) while a minimum of 1 is required.")

    @property
    def dtype(self) -> np.dtype:
        """What the blocks are converted to."""
        kind = np.dtype(getattr(self._source, "dtype", np.float64))
        return np.dtype(np.float64) if kind == np.float64 else np.dtype(np.float32)

    def __len__(self) -> int:
        if self._n is None:
            self._n = sum(len(block) for block in self._stream())
        return self._n

    def __iter__(self) -> Iterator[NDArray]:
        for block in self._stream():
            yield self._clean(block)

    def sample(
        self, count: int, random_state: np.random.RandomState, then: Callable[[NDArray], NDArray] | None = None
    ) -> NDArray:
        """``count`` rows at random by one pass (reservoir sampling); all rows, in order, when there are no more.

        ``then`` maps the chosen rows of each block before they are kept: a projection keeps memory small. The rows are
        a fair sample, but stand in no particular order.
        """
        kept: NDArray | None = None
        total = 0
        for block in self._stream():
            number = np.arange(total, total + len(block))
            total += len(block)
            # Row t replaces a kept row with probability count / (t + 1), as if rows had come one by one.
            place = np.where(
                number < count, number, (random_state.random_sample(len(block)) * (number + 1)).astype(int)
            )
            chosen = np.flatnonzero(place < count)
            if not len(chosen):
                continue
            rows = self._clean(block if len(chosen) == len(block) else block[chosen])
            rows = then(rows) if then else rows
            if kept is None:
                room = count if self._n is None else min(count, self._n)
                kept = np.empty((min(room, max(len(rows), 1024)), rows.shape[1]), dtype=rows.dtype)
            if place[chosen].max() >= len(kept):
                more = np.empty((min(count, max(2 * len(kept), total)), rows.shape[1]), dtype=rows.dtype)
                more[: len(kept)] = kept
                kept = more
            kept[place[chosen]] = rows
        self._n = total
        if kept is None:
            return np.empty((0, self.n_features), dtype=self.dtype)
        return kept[: min(total, count)]

    def _stream(self) -> Iterator[NDArray]:
        X = self._source
        if _is_sliceable(X):
            itemsize = max(4, np.dtype(getattr(X, "dtype", np.float64)).itemsize)
            step = max(1, int(BLOCK_BYTES // max(1, itemsize * int(np.prod(X.shape[1:])))))
            for start in range(0, int(X.shape[0]), step):
                yield np.asarray(X[start : start + step])
                self.on_read(min(step, int(X.shape[0]) - start))
        else:
            make: Callable | None = X if callable(X) else None
            for block in make() if make else X:
                yield np.asarray(block)
                self.on_read(len(block))

    def _clean(self, block: NDArray) -> NDArray:
        if block.shape[1:] != self.row_shape:
            raise ValueError(
                f"X has rows of shape {block.shape[1:]}, but is expecting {self.row_shape} as in its first block."
            )
        if block.dtype.kind == "c":
            raise ValueError(
                "Complex data not supported: X holds complex numbers. Give real and imaginary parts as columns."
            )
        if block.dtype.kind == "O":
            block = block.astype(np.float64)
        if block.dtype.kind not in "fiub":
            raise ValueError(f"X holds {block.dtype} values; it must hold numbers (float or integer).")
        whole = block.dtype.kind in "iub"
        block = np.ascontiguousarray(block.reshape(len(block), -1), dtype=self.dtype)
        if not whole and block.size and not np.isfinite(block.sum()) and not np.isfinite(block).all():
            bad = int((~np.isfinite(block)).any(axis=1).sum())
            raise ValueError(
                f"Input X contains NaN or infinity ({bad} rows of a block of {len(block)}). "
                "Remove those rows or fill the gaps first."
            )
        return block


def _as_source(X: Any) -> Any:
    """Sparse matrices are refused, plain nested lists become an array; the rest is left as it is."""
    if hasattr(X, "tocsr"):
        raise TypeError("Sparse data was passed for X, but dense data is required. Use X.toarray() to convert it.")
    if hasattr(X, "iloc"):
        return np.asarray(X)
    if hasattr(X, "__array__") and not _is_sliceable(X):
        return np.asarray(X)
    if isinstance(X, list | tuple) and not all(getattr(part, "ndim", 0) >= 2 for part in X):
        return np.asarray(X)
    return X


def _is_sliceable(X: Any) -> bool:
    return hasattr(X, "shape") and hasattr(X, "__getitem__")
