"""What the networks are fed: rows of an array, a memory map, a file or a data set as checked float batches."""

import zlib
from typing import Any

import numpy as np
import torch
from torch import Tensor

from unbraid.datasets.base import Dataset
from unbraid.datasets.finite import Finite
from unbraid.networks.autoencoder import STRIDE

SCANNED_BYTES = 2**30  # float arrays up to this size are checked whole before training, larger ones batch by batch
BLOCK = 1024


class Points:
    """Rows by number.

    Parameters
    ----------
    X : array, memory map, HDF5 or zarr array (n, features), (n, height, width) or (n, height, width, channels); Dataset
        Images are uint8 (0 to 255, or 0 and 1 only), bool, or floats in [0, 1]. A data set without end is drawn
        from afresh for every batch.
    drawn : int
        Rows that stand for a data set without end when statistics are taken.
    fewest : int
        Rows that are needed.

    Attributes
    ----------
    row_shape : as given; ``shape``: as the networks see it, (channels, height, width) or (features,)
    unit : what the values are divided by to lie in [0, 1]
    """

    def __init__(self, X: Any, drawn: int = 10_000, fewest: int = 2):
        self.source: Any = (
            X if (hasattr(X, "shape") and hasattr(X, "__getitem__")) or isinstance(X, Dataset) else _array(X)
        )
        self.endless = isinstance(X, Dataset) and not isinstance(X, Finite)
        if isinstance(self.source, Dataset):
            self.row_shape = tuple(self.source.shape)
            self.n = drawn if self.endless else len(self.source)  # type: ignore[arg-type]
        else:
            self.row_shape = tuple(int(s) for s in self.source.shape[1:])
            self.n = int(self.source.shape[0])
        self.dtype = np.dtype(self.source.dtype)
        self._check_kind(fewest)
        self.is_image = len(self.row_shape) > 1
        self.shape = channels_first(self.row_shape)
        self.unit = self._unit()
        self.checked = self.dtype.kind in "bu" and self.is_image
        if not self.checked and not isinstance(self.source, Dataset) and self._nbytes() <= SCANNED_BYTES:
            for start in range(0, self.n, BLOCK):
                self._check_values(np.asarray(self.source[start : start + BLOCK]))
            self.checked = True

    def _nbytes(self) -> int:
        return self.n * int(np.prod(self.row_shape)) * self.dtype.itemsize

    def _check_kind(self, fewest: int) -> None:
        if self.dtype.kind not in "biuf":
            raise ValueError(f"X has dtype {self.dtype}; it must hold real numbers (float, uint8 or bool).")
        if len(self.row_shape) not in (1, 2, 3):
            received = (self.n, *self.row_shape)
            raise ValueError(
                f"X has shape {received}; it must be (n, features), (n, height, width) or (n, height, width, channels)."
                " Reshape your data with X.reshape(-1, 1) if it has a single feature, X.reshape(1, -1) if it is a"
                " single sample."
            )
        if min(self.row_shape, default=0) == 0:
            raise ValueError(
                f"Found array with 0 feature(s) (shape={(self.n, *self.row_shape)}); at least 1 is needed."
            )
        if self.n < fewest:
            raise ValueError(
                f"Found array with {self.n} sample(s) (shape={(self.n, *self.row_shape)}) while a minimum of {fewest} "
                "is required. Give more rows."
            )

    def _unit(self) -> float:
        """255 for bytes, unless all of them are 0 and 1 (as dSprites is stored)."""
        if not self.is_image or self.dtype != np.uint8:
            return 1.0
        if isinstance(self.source, Dataset):
            return 255.0
        return 255.0 if any(block.max() > 1 for block in self.blocks(raw=True)) else 1.0

    def take(self, rows: np.ndarray, rng: np.random.Generator | None = None) -> Tensor:
        """These rows as the networks take them, float32."""
        return self.to_tensor(self.raw(rows, rng))

    def raw(self, rows: np.ndarray, rng: np.random.Generator | None = None) -> np.ndarray:
        """These rows as they are stored; of a data set without end, as many fresh ones."""
        if self.endless:
            values = self.source.sample(len(rows), rng)[0]
        elif isinstance(self.source, Finite):
            values = self.source.rows(rows, rng)[0]
        elif isinstance(self.source, np.ndarray):
            values = self.source[rows]
        else:  # HDF5 and zarr want increasing rows without repeats
            unique, back = np.unique(rows, return_inverse=True)
            values = np.asarray(self.source[unique])[back]
        if not self.checked:
            self._check_values(values)
        return values

    def to_tensor(self, values: np.ndarray, dtype: torch.dtype = torch.float32) -> Tensor:
        x = torch.from_numpy(np.require(values, requirements=("C", "W"))).to(dtype)
        if self.unit != 1:
            x = x / self.unit
        return as_images(x, self.row_shape)

    def blocks(self, size: int = BLOCK, raw: bool = False, most: int | None = None) -> Any:
        """All rows (or the first ``most``) in order."""
        n = self.n if most is None else min(most, self.n)
        for start in range(0, n, size):
            stop = min(start + size, n)
            if isinstance(self.source, Dataset):
                values = self.raw(np.arange(start, stop), np.random.default_rng(start))
            else:
                values = np.asarray(self.source[start:stop])
            yield values if raw else self.to_tensor(values)

    def _check_values(self, values: np.ndarray) -> None:
        check_values(values, self.is_image, self.unit)

    def fingerprint(self) -> str:
        """Tells this data from other data: shape, type, and a checksum of some rows."""
        rows = np.unique(np.linspace(0, self.n - 1, 16).astype(int))
        some = self.raw(rows, np.random.default_rng(0))
        return f"{self.n} x {self.row_shape} {self.dtype} {zlib.crc32(np.ascontiguousarray(some).tobytes()):08x}"


def check_values(values: np.ndarray, is_image: bool, unit: float = 1.0) -> None:
    """Finite; images within [0, unit]."""
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        where = np.argwhere(~np.isfinite(values))[0]
        raise ValueError(
            f"X contains NaN or infinity (input contains NaN, first at {tuple(where.tolist())} of a block). "
            "Remove these rows or fill them in."
        )
    if is_image and values.size and (values.min() < 0 or values.max() > unit):
        raise ValueError(
            f"images must lie in [0, {unit:g}]; received values from {values.min():g} to {values.max():g}. Give uint8 "
            "images, or scale them: (X - X.min()) / (X.max() - X.min())."
        )


def _array(X: Any) -> np.ndarray:
    if hasattr(X, "toarray"):
        raise TypeError("X is a sparse matrix; the networks need dense data. Use X.toarray().")
    array = np.asarray(X)
    return array.reshape(len(array), -1)[:, :0] if array.ndim == 0 else array


def channels_first(row_shape: tuple[int, ...]) -> tuple[int, ...]:
    """The networks' shape of a point; sides of images must be divisible by 16."""
    if len(row_shape) == 1:
        return row_shape
    height, width = row_shape[:2]
    if height % STRIDE or width % STRIDE:
        up = tuple(-(-side // STRIDE) * STRIDE for side in (height, width))
        raise ValueError(
            f"images are {height} x {width}, and both sides must be divisible by {STRIDE}. Pad or resize them to "
            f"{up[0]} x {up[1]}, or flatten them: X.reshape(len(X), -1)."
        )
    return (row_shape[2] if len(row_shape) == 3 else 1, height, width)


def as_images(x: Tensor, row_shape: tuple[int, ...]) -> Tensor:
    """Rows to the networks' layout: (n, c, h, w), channels last in memory."""
    if len(row_shape) == 1:
        return x
    return x.unsqueeze(-1).permute(0, 3, 1, 2) if len(row_shape) == 2 else x.permute(0, 3, 1, 2)


def as_rows(x: Tensor, row_shape: tuple[int, ...]) -> np.ndarray:
    """The networks' layout back to rows as they were given."""
    if len(row_shape) > 1:
        x = x.permute(0, 2, 3, 1)
    return np.ascontiguousarray(x.reshape(len(x), *row_shape).numpy())
