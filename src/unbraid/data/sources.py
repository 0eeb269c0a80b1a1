"""What X may be, recognised by one rule each: arrays, frames, tensors, torch data sets, lists, blocks.

A list or tuple is a stack: its parts are rows of one shape (numbers, spectra, images). Blocks, each with many rows, are
given as :class:`Blocks`, or by a function that returns a new iterator over them. Tables of the same columns and
different lengths are several recordings.
"""

import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unbraid.data.observations import are_recordings, data_of, is_anndata
from unbraid.data.order import consecutive

SHOWN = 3  # shapes that an error lists
BLOCK_BYTES = 32 * 2**20  # of the blocks that a Zarr array is read in, at least one of its chunks


class Blocks:
    """Rows in blocks, one block after the other; for what does not fit into memory, or comes in parts.

    Parameters
    ----------
    blocks : iterable of arrays (rows, ...), or a function that returns an iterator over them
        It is gone through more than once, so an iterator that can be read only once is refused.

    Examples
    --------
    >>> import unbraid as ub
    >>> z = np.random.default_rng(0).uniform(size=(500, 2)) @ [[1.0, 2.0, 0.0], [0.0, 1.0, 1.0]]
    >>> ub.PCAICA(2, random_state=0).fit_transform(Blocks([z[:200], z[200:]])).shape
    (500, 2)
    """

    def __init__(self, blocks: Iterable[Any] | Callable[[], Iterable[Any]]):
        if isinstance(blocks, Iterator):
            raise TypeError(
                "X is an iterator that can be read only once, and fitting reads it more than once. Give a list of "
                "blocks, or a function that returns a new iterator: unbraid.Blocks(lambda: read_blocks())."
            )
        if not (callable(blocks) or isinstance(blocks, Iterable)):
            raise TypeError(f"blocks is a {type(blocks).__name__}; it must be a list of arrays, or a function.")
        self.blocks = blocks

    def __iter__(self) -> Iterator[Any]:
        return iter(self.blocks() if callable(self.blocks) else self.blocks)


def is_sliceable(X: Any) -> bool:
    """Whether rows can be had by slices, as of an array."""
    return hasattr(X, "shape") and hasattr(X, "__getitem__") and hasattr(X, "dtype")


def is_dataset(X: Any) -> bool:
    """Whether X draws its rows from known factors, as :class:`unbraid.datasets.base.Dataset` does."""
    return hasattr(X, "sample") and hasattr(X, "factor_names")


def is_lazy(X: Any) -> bool:
    """Whether X is a Dask array, which is mapped block by block and not computed."""
    return hasattr(type(X), "map_blocks") and hasattr(type(X), "dask")


def is_frame(X: Any) -> bool:
    """Whether X is a table with named columns, as of pandas or polars. Its type tells: a column may have any name."""
    return hasattr(type(X), "columns") and hasattr(type(X), "to_numpy")


def shared(X: Any) -> Any:
    """A Zarr array as the Dask array of its blocks, where a cluster is there to read them; all else as it is.

    Parameters
    ----------
    X : anything
        A ``zarr.Array``, or what :func:`unbraid.datasets.open` gives of one. One in memory is left as it is: no other
        process could read it.

    Returns
    -------
    Dask array or X
    """
    zarr, distributed = sys.modules.get("zarr"), sys.modules.get("distributed")
    if zarr is None or distributed is None or is_lazy(X):
        return X
    array = getattr(X, "stored", X)
    if not isinstance(array, zarr.Array) or isinstance(array.store, zarr.storage.MemoryStore) or 0 in array.shape:
        return X
    try:
        distributed.Client.current()
    except ValueError:
        return X
    from dask.array import from_zarr

    step = array.chunks[0]
    row_bytes = array.dtype.itemsize * int(np.prod(array.shape[1:]))
    rows = step * max(1, BLOCK_BYTES // max(1, step * row_bytes))
    return from_zarr(array, chunks=(min(rows, array.shape[0]), *array.shape[1:]))


def column_names(X: Any) -> list[str] | None:
    """Of a frame, cells or an opened table; None where the columns have no names."""
    X = data_of(X)
    names = X.var_names if is_anndata(X) else X.columns if is_frame(X) else getattr(X, "names", None)
    return None if names is None else [str(name) for name in names]


def as_source(X: Any) -> tuple[Any, list[str] | None]:
    """Something with rows (an array or alike, a data set or :class:`Blocks`), and the column names of a frame."""
    X = data_of(X)
    if is_anndata(X):
        from unbraid.data.cells import values_of_cells

        return values_of_cells(X), None
    if is_frame(X):
        _check_columns(X)
        names = list(X.columns)
        values = np.asarray(X.to_numpy())
        if values.dtype.kind == "O" and hasattr(X, "isna"):  # pandas.NA, of its nullable types, is no number
            values = np.where(X.isna().to_numpy(), np.nan, values)
        return values, names if all(isinstance(n, str) for n in names) else None
    if is_tensor(X):
        return array_of_tensor(X), None
    _check_dense(X)
    if is_dataset(X) or is_sliceable(X) or isinstance(X, Blocks):
        return X, None
    if hasattr(X, "__array__"):
        return np.asarray(X), None
    if isinstance(X, list | tuple):
        return _stack(X), None
    return _of_torch(X), None


def as_block(given: Any) -> NDArray:
    """Some rows as an array, once they are computed; gaps and sparse rows, which numpy would drop, are refused."""
    block = given.compute() if is_lazy(given) else given
    _check_dense(block)
    return np.asarray(block)


def _check_dense(X: Any) -> None:
    """Refuse sparse rows and masked values."""
    if hasattr(type(X), "tocsr"):
        raise TypeError("Sparse data was passed for X, but dense data is required. Use X.toarray() to convert it.")
    if isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X):
        raise ValueError(
            f"X is a masked array with {np.ma.count_masked(X)} masked values, and none may be missing. Remove those "
            "rows or fill the gaps first."
        )


def _check_columns(frame: Any) -> None:
    """Refuse dates and durations of polars, which it would turn into numbers; numpy's types speak for themselves."""
    kinds = dict(zip(frame.columns, getattr(frame, "dtypes", ())))
    odd = {name: kind for name, kind in kinds.items() if hasattr(kind, "is_temporal") and kind.is_temporal()}
    if odd:
        shown = ", ".join(f"{name!r} ({kind})" for name, kind in list(odd.items())[:SHOWN])
        raise ValueError(
            f"X has columns of dates or times: {shown}{', ...' * (len(odd) > SHOWN)}. Leave them out, give them as "
            "time=, or convert them to numbers in a unit of your choice."
        )


def _stack(parts: list | tuple) -> NDArray:
    """Rows of one shape as an array, or the rows of several recordings; what looks like blocks is refused."""
    if not len(parts):
        raise ValueError("X is an empty list: there is nothing to fit.")
    if are_recordings(parts):
        return consecutive(list(parts))[0]
    shapes = {tuple(getattr(part, "shape", ())) for part in parts}
    if len(shapes) > 1 and max(map(len, shapes)) >= 2:
        shown = ", ".join(map(str, sorted(shapes)[:SHOWN])) + (", ..." if len(shapes) > SHOWN else "")
        raise ValueError(
            f"X is a list of {len(parts)} arrays of different shapes ({shown}). It must be a stack of rows of one "
            "shape, or several recordings (length, features) with the same features. Bring images to one size, give "
            "all recordings the same columns, and other blocks of rows as unbraid.Blocks(X)."
        )
    types = {np.dtype(part.dtype) for part in parts if isinstance(part, np.ndarray)}
    if len(types) > 1 and np.dtype(np.uint8) in types:
        raise ValueError(
            f"X is a list of arrays of different types ({', '.join(sorted(map(str, types)))}), and bytes are read in a "
            "unit of their own. Give all in one type."
        )
    return np.asarray([as_source(part)[0] if shapes != {()} else part for part in parts])


def _of_torch(X: Any) -> Any:
    """A torch data set or loader as rows in its order; a function as blocks; all else is refused."""
    data = sys.modules.get("torch.utils.data")
    if data is not None and isinstance(X, data.DataLoader):
        _check_loader(X, data)
        X = X.dataset
    if data is not None and isinstance(X, data.TensorDataset):
        return as_source(X.tensors[0])[0]
    if data is not None and isinstance(X, data.IterableDataset):
        raise TypeError(f"X is a {type(X).__name__} without a length. Give unbraid.Blocks(lambda: batches_of(X)).")
    if data is not None and isinstance(X, data.Dataset):
        from unbraid.data.files import source_of_items

        return source_of_items(X)
    if callable(X) or isinstance(X, Iterator):
        return Blocks(X)
    if isinstance(X, str | bytes) or hasattr(X, "__fspath__"):
        raise TypeError(f"X is the text or path {X!r}. Open a file first: X = unbraid.datasets.open(path).")
    raise TypeError(
        f"X is a {type(X).__name__}; it must be an array, a frame, a list of rows, a data set, or unbraid.Blocks of "
        "arrays with many rows each."
    )


def _check_loader(loader: Any, data: Any) -> None:
    """Batches, shuffling and workers do not matter, as rows are read in the order of the data set; these do."""
    plain = loader.collate_fn in (data.default_collate, data.default_convert)
    whole = isinstance(loader.sampler, data.SequentialSampler | data.RandomSampler)
    if not (plain and whole and not loader.drop_last):
        raise TypeError(
            "X is a DataLoader with a sampler, collate_fn or drop_last of its own, so that its rows are not those of "
            "its data set. Give the data set itself, a torch.utils.data.Subset of it, or unbraid.Blocks of its batches."
        )


def is_tensor(X: Any) -> bool:
    """Whether X is a torch tensor."""
    return hasattr(type(X), "detach") and hasattr(type(X), "cpu")


def array_of_tensor(X: Any) -> np.ndarray:
    """The numbers of a dense tensor: of a graph, on any device, negated or conjugated only in name.

    What has no numbers (a meta tensor) or no one shape (a nested one), and what is sparse, is refused.
    """
    try:
        X = X.detach().cpu().resolve_conj().resolve_neg()
        return (X.float() if str(X.dtype) == "torch.bfloat16" else X).numpy()  # numpy has no bfloat16
    except (TypeError, RuntimeError, NotImplementedError) as error:
        shape = "" if X.is_nested else f" of shape {tuple(X.shape)}"
        raise TypeError(
            f"X is a torch tensor{shape} ({X.dtype}, {X.layout}, on {X.device}) that is no array of numbers "
            f"({str(error).strip().splitlines()[0].rstrip('.')}). Give a dense tensor in memory, for instance "
            "X.to_dense(), X.float() or torch.stack(parts)."
        ) from error
