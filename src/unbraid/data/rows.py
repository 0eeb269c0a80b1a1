"""One way from anything a user holds to blocks of rows, and one rule for the unit of pictures.

The rule. Pictures are rows of two or three axes (height, width[, channels]). Stored as bool or uint8 they are read in
[0, 1]: bytes are divided by 255, unless all of them are 0 and 1, and every method decodes to [0, 1]. All else
(floats, wider integers, tables of any type) is taken as the numbers it holds, and decoded in their own unit; so the
12 or 16 bits of a camera stay counts, as nothing says which count is white, until they are divided by a number that
is. A model that was fitted on uint8 pictures takes floats in [0, 1] as the same pictures and refuses others; one that
was fitted on floats refuses uint8 pictures, unless it asks for floats in [0, 1] anyway: then bytes are divided by
255, and refused if they are all 0 and 1, as it is unclear whether 1 is white.
"""

import hashlib
import zlib
from collections.abc import Callable, Iterable, Iterator
from copy import copy
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unbraid.data.lazy import distinct_numbers, picked_rows
from unbraid.data.sources import as_block, as_source, is_dataset, is_lazy, is_sliceable, shared

BLOCK_BYTES = 64 * 2**20
FINGERPRINT_ROWS = 64  # of what is not in memory
UNIT_ROWS = 256  # pictures that are looked at in one go for a byte above 1: nearly always the first show one


class Rows:
    """Rows of anything: arrays, memory maps, HDF5 and zarr arrays, frames, torch tensors and data sets, Dask arrays.

    Parameters
    ----------
    X : array-like, sliceable object with a shape, Dataset, or Blocks
        A list is a stack of rows of one shape, for instance of images. Blocks, arrays (rows, ...), are given as
        :class:`~unbraid.data.sources.Blocks` or by a function that returns an iterator over them. What
        :func:`unbraid.datasets.open` returns is sliceable. Of a torch DataLoader, the data set is read, in its order.
    fewest : int
        Rows that are needed; fewer are an error.
    gaps : bool
        Whether values may be missing, NaN.
    drawn : int
        Rows that stand for a data set without end when statistics are taken.

    Attributes
    ----------
    row_shape : tuple of int
    n_features : int
    dtype : numpy dtype
        As stored.
    names : list of str or None
        Column names of a frame.
    is_picture : bool
        Whether rows are bytes or bools of two or three axes.
    unit : float
        What the stored values are divided by; 255 for bytes.
    endless : bool
        Whether each look at a row draws it afresh.

    Examples
    --------
    >>> from unbraid.data.sources import Blocks
    >>> rows = Rows(Blocks([np.zeros((2, 3)), np.ones((1, 3))]))
    >>> len(rows), rows.n_features, [b.shape for b in rows]
    (3, 3, [(2, 3), (1, 3)])
    >>> float(Rows(np.full((2, 4, 4), 51, np.uint8)).array().max())
    0.2...
    """

    def __init__(self, X: Any, *, fewest: int = 1, gaps: bool = False, drawn: int = 10_000):
        X, self.names = as_source(X)
        self.gaps = gaps
        self.source = X
        self.on_read: Callable[[int], Any] = _pass  # called with the number of rows of each block
        self.columns: NDArray[np.intp] | None = None  # set by keep: of a table, those that are read
        self.scale: Callable[[NDArray], NDArray] | None = None  # of checked rows, where a method wants another one
        self.beside: NDArray | None = None  # numbers (n, q) that a network takes beside each row
        self._draws = is_dataset(X)
        self.endless = self._draws and not hasattr(X, "rows")
        self._n: int | None
        if self._draws:
            self.row_shape = tuple(X.shape)
            self._n = drawn if self.endless else len(X)
            self.dtype = np.dtype(X.dtype)
        elif is_sliceable(X):
            if any(isinstance(s, float) for s in X.shape):  # NaN, as of a Dask array that was filtered
                raise ValueError(f"X has the unknown shape {X.shape}. Call X.compute_chunk_sizes() first.")
            self.row_shape = tuple(int(s) for s in X.shape[1:])
            self._n = int(X.shape[0]) if len(X.shape) else 0
            self.dtype = np.dtype(X.dtype)
        else:
            first = next(iter(self.stored()), None)
            if first is None:
                raise ValueError("X yields no block at all: there is nothing to fit.")
            self.row_shape, self.dtype, self._n = tuple(first.shape[1:]), first.dtype, None
        self._check_kind(fewest)
        self.n_features = int(np.prod(self.row_shape))
        self.is_picture = self.dtype.kind in "bu" and self.dtype.itemsize == 1 and len(self.row_shape) in (2, 3)
        self.unit = self._find_unit()
        self.in_unit_interval = False  # set by read_as: floats must then lie in [0, 1]

    def _check_kind(self, fewest: int) -> None:
        if self.dtype.kind == "c":
            raise ValueError(
                "Complex data not supported: X holds complex numbers. Give real and imaginary parts as columns."
            )
        if self.dtype.kind not in "fiubO":
            raise ValueError(f"X holds {self.dtype} values; it must hold numbers (float or integer).")
        if len(self.row_shape) == 0:
            raise ValueError(
                "Expected 2D array, got 1D array instead: rows are samples, columns are features. Reshape your data "
                "with X.reshape(-1, 1) if it has a single feature or X.reshape(1, -1) if it is a single sample."
            )
        shape = (self._n, *self.row_shape)
        if min(self.row_shape) == 0:
            raise ValueError(f"Found array with 0 feature(s) (shape={shape}) while a minimum of 1 is required.")
        if self._n is not None and self._n < fewest:
            raise ValueError(
                f"Found array with {self._n} sample(s) (shape={shape}) while a minimum of {fewest} is required. "
                "Give more rows."
            )

    def _find_unit(self) -> float:
        """255 for bytes, unless all of them are 0 and 1 (as dSprites is stored)."""
        if not self.is_picture or self.dtype.kind == "b":
            return 1.0
        if self._draws:
            return 255.0
        blocks = shared(self.source)
        if is_lazy(blocks):
            return 255.0 if bool((blocks > 1).any()) else 1.0
        return 255.0 if any(block.size and block.max() > 1 for block in self.stored(size=UNIT_ROWS)) else 1.0

    def read_as(self, *, unit: float, is_picture: bool, unit_interval: bool = False) -> None:
        """Read new rows as those that a model was fitted on, or refuse them; see the rule above.

        ``unit_interval`` says that the model takes floats in [0, 1] only.
        """
        if self.is_picture and not (is_picture or unit_interval):
            raise ValueError(
                "X holds uint8 pictures, and the model was fitted on floats, whose unit is unknown. Give floats in the "
                "unit of the training data, for instance X / 255."
            )
        if self.is_picture and is_picture and self.dtype.kind == "u":  # True is 1 in any unit
            self.unit = unit
        if self.is_picture and not is_picture and self.dtype.kind == "u" and self.unit == 1:
            raise ValueError(
                "X holds uint8 pictures of 0 and 1 only, and the model was fitted on floats: 1 may be white or almost "
                "black. Give X.astype(bool) or X / 255."
            )
        self.in_unit_interval = (is_picture or unit_interval) and len(self.row_shape) > 1

    def keep(self, columns: NDArray[np.intp]) -> None:
        """Read these columns of a table only, as if it had no others."""
        self.columns = columns
        self.row_shape, self.n_features = (len(columns),), len(columns)

    def _kept(self, block: NDArray) -> NDArray:
        return block if self.columns is None else np.take(block, self.columns, axis=1)

    @property
    def float_dtype(self) -> np.dtype:
        """What the rows are converted to: float32 if it holds their values, else float64."""
        fits = self.dtype.kind != "O" and np.can_cast(self.dtype, np.float32)
        return np.dtype(np.float32 if fits else np.float64)

    def __len__(self) -> int:
        if self._n is None:
            self._n = sum(len(block) for block in self.stored())
        return self._n

    def __iter__(self) -> Iterator[NDArray]:
        """Checked float blocks (rows, *row_shape), in order."""
        for block in self.stored():
            yield self.clean(block)

    def array(self) -> NDArray:
        """All rows in memory, checked, as floats; not to be written to, as they may be X itself."""
        blocks = list(self)
        return blocks[0] if len(blocks) == 1 else np.concatenate(blocks)

    def stored(self, size: int | None = None, most: int | None = None) -> Iterator[NDArray]:
        """Blocks as they are stored; of ``size`` rows, and only the first ``most`` rows, where given."""
        X = self.source if most is None else shared(self.source)  # a few rows may be read where the blocks are
        if not (self._draws or is_sliceable(X)):
            yield from self._given_blocks(most)
            return
        assert self._n is not None
        n = self._n if most is None else min(most, self._n)
        itemsize = max(4, self.dtype.itemsize)
        step = size or max(1, int(BLOCK_BYTES // max(1, itemsize * int(np.prod(self.row_shape)))))
        for start in range(0, n, step):
            stop = min(start + step, n)
            if self._draws:
                yield self.take(np.arange(start, stop), np.random.default_rng(start))
            else:
                yield self._kept(self._as_declared(as_block(X[start:stop])))
            self.on_read(stop - start)

    def _given_blocks(self, most: int | None) -> Iterator[NDArray]:
        seen = 0
        for given in self.source:
            block = as_block(as_source(given)[0])
            if block.ndim and not len(block):
                continue
            if hasattr(self, "row_shape"):
                block = self._kept(block)
                self._check_block(block)
            block = block if most is None else block[: most - seen]
            yield block
            self.on_read(len(block))
            seen += len(block)
            if most is not None and seen >= most:
                return

    def _check_block(self, block: NDArray) -> None:
        if block.shape[1:] != self.row_shape:
            raise ValueError(
                f"X has rows of shape {block.shape[1:]}, but is expecting {self.row_shape} as in its first block."
            )
        if block.dtype != self.dtype and (block.dtype.itemsize == 1 or self.dtype.itemsize == 1):
            raise ValueError(
                f"X has a block of {block.dtype} after one of {self.dtype}, and bytes are read in a unit of their own. "
                "Give all blocks in one type."
            )

    def _as_declared(self, block: NDArray) -> NDArray:
        """The block, if it has the type that X says it has: the rule of units, and what is refused, go by that type."""
        if (block.dtype.kind, block.dtype.itemsize) != (self.dtype.kind, self.dtype.itemsize):
            raise ValueError(
                f"X says that it holds {self.dtype} and holds {block.dtype}. Give it its type, for instance "
                f"X.map_blocks(np.asarray, dtype={block.dtype.name!r}) of a Dask array."
            )
        return block

    def take(self, rows: NDArray, rng: np.random.Generator | None = None) -> NDArray:
        """These rows as they are stored, in any order; of a data set without end, as many fresh ones."""
        return self._kept(self._taken(rows, rng))

    def _taken(self, rows: NDArray, rng: np.random.Generator | None) -> NDArray:
        X = self.source
        if self.endless:
            return X.sample(len(rows), rng)[0]
        if self._draws:
            return X.rows(rows, rng)[0]
        if isinstance(X, np.ndarray):
            return X[rows]
        if not is_sliceable(X):
            raise TypeError("rows of an iterable of blocks cannot be looked up by number; give an array or a file.")
        unique, back = np.unique(rows, return_inverse=True)  # HDF5 and zarr want increasing rows without repeats
        return self._as_declared(as_block(X[unique]))[back]

    def picked(self, numbers: NDArray[np.intp]) -> Iterator[NDArray]:
        """The rows with these increasing numbers, as checked flat floats, block by block; others are not read.

        Of blocks that come one after the other, all are gone through.
        """
        if self._draws or not is_sliceable(self.source):
            start = 0
            for block in self.stored():
                here = numbers[(numbers >= start) & (numbers < start + len(block))] - start
                start += len(block)
                if len(here):
                    yield self._flat(block[here])
            return
        step = max(1, BLOCK_BYTES // (self.float_dtype.itemsize * self.n_features))
        for start in range(0, len(numbers), step):
            yield self._flat(self.take(numbers[start : start + step]))

    def clean(self, block: NDArray) -> NDArray:
        """Stored values as checked floats in the model's unit."""
        self._check_block(block)
        try:
            values = np.ascontiguousarray(block, dtype=self.float_dtype)
        except OverflowError as error:
            raise ValueError(
                f"X holds whole numbers that float64 cannot hold ({error}). Rescale or remove them."
            ) from error
        except (TypeError, ValueError) as error:  # Python objects that are no numbers; scikit-learn's words are kept
            raise type(error)(f"X holds values that are not numbers: {error}. Fill gaps, and encode text.") from error
        if self.unit != 1:
            values = values / values.dtype.type(self.unit)
        self.check(values, exact=block.dtype.kind in "iub")
        return values if self.scale is None else self.scale(values)

    def check(self, values: NDArray, *, exact: bool = False) -> None:
        """Finite; pictures within [0, 1]. ``exact`` values are whole numbers, which are finite."""
        if self.gaps and not exact and np.isnan(values).any():
            values = np.nan_to_num(values, nan=0.0, posinf=np.inf, neginf=-np.inf)
        flat = values.reshape(-1)
        with np.errstate(over="ignore", invalid="ignore"):
            doubtful = not exact and not np.isfinite(flat @ flat)
        if doubtful and not np.isfinite(values).all():
            bad = int((~np.isfinite(values)).reshape(len(values), -1).any(axis=1).sum())
            raise ValueError(
                f"Input X contains NaN or infinity ({bad} rows of a block of {len(values)}). "
                "Remove those rows or fill the gaps first. PCAICA, and spectral methods and autoencoders that were "
                "fitted on rows with gaps, take NaN for missing values."
            )
        if doubtful:
            raise ValueError(
                f"X reaches {np.abs(values).max():.3g}, and the squares of such numbers do not fit into "
                f"{values.dtype}. Rescale X, for instance X / np.abs(X).max(), or remove what marks a missing value."
            )
        bounded = self.in_unit_interval or (self.is_picture and self.unit == 1)
        if bounded and values.size and (values.min() < 0 or values.max() > 1):
            raise ValueError(
                f"pictures must lie in [0, 1]; received values from {values.min():g} to {values.max():g}. Give uint8 "
                "pictures if the model was fitted on such, or scale them: X / 255, or (X - X.min()) / (X.max() - "
                "X.min())."
            )

    def sample(
        self,
        count: int,
        random_state: np.random.RandomState,
        then: Callable[[NDArray], NDArray] | None = None,
    ) -> NDArray:
        """``count`` rows at random, flattened, by one pass (reservoir sampling); all, in order, if there are no more.

        ``then`` maps the chosen rows of each block before they are kept: a projection keeps memory small. The rows are
        a fair sample, but stand in no particular order.
        """
        blocks = shared(self.source)
        if is_lazy(blocks):
            return self._sample_lazily(blocks, count, random_state, then)
        kept: NDArray | None = None
        total = 0
        for block in self.stored():
            number = np.arange(total, total + len(block))
            total += len(block)
            # Row t replaces a kept row with probability count / (t + 1), as if rows had come one by one.
            place = np.where(
                number < count, number, (random_state.random_sample(len(block)) * (number + 1)).astype(int)
            )
            chosen = np.flatnonzero(place < count)
            if not len(chosen):
                continue
            rows = self._flat(block if len(chosen) == len(block) else block[chosen], then)
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
            return np.empty((0, self.n_features), dtype=self.float_dtype)
        return kept[: min(total, count)]

    def _sample_lazily(self, X: Any, count: int, random_state: np.random.RandomState, then: Any) -> NDArray:
        """The same of a Dask array, in the order of its rows: each is prepared where its block is."""
        rules = copy(self)  # without the rows: what a task needs to check some of them
        rules.source, rules.on_read = None, _pass
        n = int(X.shape[0])
        if n <= count:
            random_state.random_sample(n)  # as many numbers as a pass draws: what follows is then the same
        rows = np.arange(n) if n <= count else distinct_numbers(n, count, random_state)
        parts = []
        for passed, done in picked_rows(X, rows, partial(rules._flat_as_declared, then=then)):
            self.on_read(passed)
            parts.append(done)
        return np.concatenate(parts)

    def _flat(self, block: NDArray, then: Callable[[NDArray], NDArray] | None = None) -> NDArray:
        """Stored rows as checked, flat floats, mapped by ``then``."""
        rows = self.clean(block).reshape(len(block), -1)
        return then(rows) if then else rows

    def _flat_as_declared(self, block: NDArray, then: Callable[[NDArray], NDArray] | None) -> NDArray:
        return self._flat(self._kept(self._as_declared(block)), then)

    def fingerprint(self) -> str:
        """Identifies this data: shape, type, and a checksum of all rows in memory, or of some elsewhere."""
        if isinstance(self.source, np.ndarray) and not isinstance(self.source, np.memmap):
            blocks: Iterable[NDArray] = [self.source]
        elif self._draws or is_sliceable(self.source):
            rows = np.unique(np.linspace(0, len(self) - 1, FINGERPRINT_ROWS).astype(int))
            blocks = [self.take(rows, np.random.default_rng(0))]
        else:
            blocks = self.stored()
        found = 0
        for block in blocks:
            found = checksum(block.astype(self.float_dtype) if block.dtype.kind == "O" else block, found)
        return f"{' x '.join(map(str, (len(self), *self.row_shape)))} {self.dtype} {found:08x}"


def _pass(rows: int) -> None:
    """Nobody asks how far the reading is."""


def row_marks(blocks: Iterable[NDArray]) -> NDArray[np.int64]:
    """A number for each row of checked blocks, by which it is found again in any order, type or kind of data.

    >>> X = np.random.default_rng(0).normal(size=(4, 3))
    >>> row_marks(Rows(X))[[2, 0]].tolist() == row_marks(Rows(X[[2, 0]].astype(np.float32))).tolist()
    True
    """
    rows = (row for block in blocks for row in np.ascontiguousarray(block, dtype=np.float32))
    digests = b"".join(hashlib.blake2b(row.tobytes(), digest_size=8).digest() for row in rows)
    return np.frombuffer(digests, dtype=np.int64).copy()


def checksum(values: NDArray, start: int = 0) -> int:
    """CRC-32 of the numbers of an array in their order, whatever its layout in memory; ``start`` is that of others.

    >>> checksum(np.arange(6).reshape(2, 3).T) == checksum(np.arange(6).reshape(2, 3).T.copy())
    True
    """
    return zlib.crc32(np.ascontiguousarray(values).data.cast("B") if values.size else b"", start)
