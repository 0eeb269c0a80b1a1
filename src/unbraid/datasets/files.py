"""The user's own data: array files, folders and archives of images, torch data sets; read in blocks, never whole."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from unbraid.datasets import arrays, images

Reader = Callable[[np.ndarray], np.ndarray]
KINDS = ".npy, .npz, .h5 or .hdf5, .zarr, a folder of images, a .tar or .tar.gz of images"


class Source:
    """Observations that are read when they are asked for.

    Slices, row numbers and masks read only those rows; ``np.asarray(source)`` reads them all.

    Parameters
    ----------
    name : str
        Where it comes from.
    shape : tuple of int
        (rows, features), (rows, height, width) or (rows, height, width, channels).
    dtype : numpy.dtype
    read : callable
        ``read(rows)`` gives the rows with these numbers.
    """

    def __init__(self, name: str, shape: tuple[int, ...], dtype: Any, read: Reader):
        if len(shape) < 1 or shape[0] == 0:
            raise ValueError(f"{name} holds no rows (its shape is {shape}).")
        self.name, self.shape, self.dtype = name, tuple(int(s) for s in shape), np.dtype(dtype)
        self._read = read

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Any) -> np.ndarray:
        """Rows by number, slice, list of numbers or mask; one number gives one observation."""
        numbers = np.arange(len(self))[rows]
        return self._read(np.atleast_1d(numbers)) if np.ndim(numbers) else self._read(np.array([numbers]))[0]

    def blocks(self, size: int = 1024) -> Iterator[np.ndarray]:
        """Walk through all rows in order, ``size`` at a time."""
        if size < 1:
            raise ValueError(f"size is 1 or more; received {size}.")
        for start in range(0, len(self), size):
            yield self[start : start + size]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return self[:].astype(dtype or self.dtype, copy=False)

    def __repr__(self) -> str:
        return f"<{self.name}: {self.shape} {self.dtype}>"


def open(
    path: Any,
    key: str | None = None,
    *,
    resize: tuple[int, int] | None = None,
    skip_unreadable: bool = False,
) -> Source:
    """Open the user's own data without reading it.

    Parameters
    ----------
    path : path, array or torch data set
        .npy, .npz, .h5/.hdf5, .zarr, a folder of images (its subfolders too, in natural order), a .tar(.gz) of images,
        a numpy array, or anything with a length and items (a torch ``Dataset``; of a tuple the first part is taken,
        and tensors (channels, height, width) come with the channels last).
    key : str, optional
        Which array of an .npz, .h5 or .zarr file; needed when there are several.
    resize : (height, width), optional
        Bring images to one size. Without it, images of different sizes are an error.
    skip_unreadable : bool
        Leave out images that cannot be read. Without it, they are an error that names the first.

    Returns
    -------
    Source
        With ``shape``, ``dtype``, ``len``, slicing and ``blocks(size)``.

    Examples
    --------
    >>> import tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "spectra.npy")
    >>> np.save(path, np.zeros((10, 3)))
    >>> [block.shape for block in open(path).blocks(4)]
    [(4, 3), (4, 3), (2, 3)]
    """
    if not isinstance(path, str | os.PathLike):
        return _from_object(path)
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"there is no file or folder {path}. What can be opened: {KINDS}.")
    if path.is_file() and path.stat().st_size == 0:
        raise ValueError(f"{path} is empty (0 bytes). Copy or download it again.")
    if _is_array(path):
        if resize is not None or skip_unreadable:
            raise ValueError(f"resize and skip_unreadable are for images; {path} is an array file.")
        return Source(str(path), *arrays.open_array(path, key))
    if key is not None:
        raise ValueError(f"{path} has no keys: key is for .npz, .h5 and .zarr files. Leave it out.")
    if path.is_dir() or _is_tar(path):
        opener = images.folder if path.is_dir() else images.tar
        return Source(str(path), *opener(path, resize=resize, skip_unreadable=skip_unreadable))
    raise ValueError(f"{path} has the unknown ending {path.suffix!r}. What can be opened: {KINDS}.")


def _is_array(path: Path) -> bool:
    return path.suffix in arrays.OPENERS or (path.is_dir() and any((path / m).exists() for m in arrays.ZARR_MARKS))


def _is_tar(path: Path) -> bool:
    return path.name.endswith((".tar", ".tar.gz", ".tgz"))


def _from_object(data: Any) -> Source:
    if isinstance(data, np.ndarray):
        return Source("array", data.shape, data.dtype, lambda rows: data[rows])
    if not hasattr(data, "__len__") or not hasattr(data, "__getitem__"):
        raise TypeError(
            f"cannot open a {type(data).__name__}. Give a path ({KINDS}), a numpy array, or a torch Dataset with a "
            "length."
        )
    if len(data) == 0:
        raise ValueError(f"the {type(data).__name__} holds no rows.")
    first = _item(data, 0)

    def read(rows: np.ndarray) -> np.ndarray:
        out = np.empty((len(rows), *first.shape), dtype=first.dtype)
        for i, row in enumerate(rows):
            item = _item(data, int(row))
            if item.shape != first.shape:
                raise ValueError(
                    f"item {row} of the {type(data).__name__} has shape {item.shape} and item 0 has {first.shape}; "
                    "bring them to one shape, for instance in its transform."
                )
            out[i] = item
        return out

    return Source(type(data).__name__, (len(data), *first.shape), first.dtype, read)


def _item(data: Any, row: int) -> np.ndarray:
    item = data[row]
    if isinstance(item, tuple | list):
        item = item[0]
    channels_first = type(item).__module__.startswith("torch") and item.ndim == 3 and item.shape[0] in (1, 3, 4)
    item = np.asarray(item)
    if channels_first:
        item = item[0] if item.shape[0] == 1 else np.moveaxis(item, 0, -1)
    return item
