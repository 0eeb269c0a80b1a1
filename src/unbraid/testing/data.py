"""Known data for the checks, and every kind of input that holds them."""

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from unbraid import datasets
from unbraid.data.sources import Blocks
from unbraid.methods import method_of_class


@dataclass(frozen=True)
class Data:
    """Rows that all checks use: one table and one set of pictures of the same two factors.

    Attributes
    ----------
    factors : array (n, 2)
    table : array (n, 4)
        A curved surface.
    pictures : array (n, 16, 16) of uint8
        A bright spot whose position is the two factors.
    noise : array (n, 4)
        Independent of the factors.
    labels : array (n,) of int
        The quadrant of the factors; given to every ``fit``, which may ignore them.
    """

    factors: NDArray
    table: NDArray
    pictures: NDArray
    noise: NDArray
    labels: NDArray


@functools.cache
def known_data(n: int = 80) -> Data:
    rng = np.random.default_rng(0)
    u = rng.uniform(size=(n, 2))
    table = np.stack([u[:, 0], u[:, 1], 0.3 * np.sin(2 * u[:, 0]), 0.2 * u[:, 0] * u[:, 1]], axis=1)
    place = np.linspace(-0.25, 1.25, 16)
    squares = (place[:, None] - u[:, 0, None, None]) ** 2 + (place - u[:, 1, None, None]) ** 2
    pictures = np.round(255 * np.exp(-squares / 0.08)).astype(np.uint8)
    return Data(u, table, pictures, rng.normal(size=(n, 4)), (u[:, 0] > 0.5) + 2 * (u[:, 1] > 0.5))


def needed_evidence(model: Any, n: int) -> dict[str, NDArray]:
    """What a method needs besides X and labels, generated for an even number of rows."""
    rows, method = np.arange(n), method_of_class(type(model))
    known = {"pairs": rows.reshape(2, -1).T, "time": rows, "sets": rows // 2, "covariates": rows}
    return {name: value for name, value in known.items() if method and name in method.needs}


@contextmanager
def kinds_of(X: NDArray, folder: Path) -> Iterator[dict[str, Any]]:
    """The same rows in every kind that :class:`~unbraid.data.rows.Rows` reads, by its name.

    Those whose library is not installed are left out.

    Parameters
    ----------
    X : array (n, ...)
    folder : Path
        For files; they stay open within the context.
    """
    np.save(folder / "X.npy", X)
    some = len(X) // 3
    kinds: dict[str, Any] = {
        "an array in Fortran order": np.asfortranarray(X),
        "a memory map": np.load(folder / "X.npy", mmap_mode="r"),
        "a file": datasets.open(folder / "X.npy"),
        "blocks": Blocks([X[:some], X[some:]]),
        "a list of arrays": list(X),
        "a function that yields blocks": lambda: iter([X[:some], X[some:]]),
    }
    if X.dtype == np.float64:
        kinds["a list of rows"] = X.tolist()
    if find_spec("torch"):
        import torch

        kinds["a torch tensor"] = torch.from_numpy(X)
        tensors = torch.utils.data.TensorDataset(torch.from_numpy(X), torch.zeros(len(X)))
        kinds["a TensorDataset"] = tensors
        kinds["a DataLoader"] = torch.utils.data.DataLoader(tensors, batch_size=7)
    if find_spec("pandas") and X.ndim == 2:
        import pandas

        kinds["a frame"] = pandas.DataFrame(X)
    if find_spec("dask"):
        import dask.array

        kinds["a Dask array"] = dask.array.from_array(X, chunks=(some, *X.shape[1:]))
    if find_spec("zarr"):
        import zarr

        kinds["a zarr array"] = zarr.open_array(folder / "X.zarr", mode="w", shape=X.shape, dtype=X.dtype)
        kinds["a zarr array"][:] = X
    with h5py.File(folder / "X.h5", "w") as file:
        kinds["an HDF5 array"] = file.create_dataset("X", data=X)
        yield kinds
