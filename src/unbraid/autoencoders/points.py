"""What the networks are fed: rows of any source as float batches in the networks' layout."""

import numpy as np
import torch
from torch import Tensor

from unbraid.data.rows import Rows, is_sliceable
from unbraid.datasets.base import Dataset
from unbraid.networks.autoencoder import STRIDE

SCANNED_BYTES = 2**30  # float arrays up to this size are checked whole before training, larger ones batch by batch
BLOCK = 1024


class Points:
    """Rows by number, as tensors.

    Parameters
    ----------
    rows : Rows
        A data set without end is drawn from afresh for every batch; an iterable of blocks is read into memory.

    Attributes
    ----------
    n : int
    shape : tuple of int
        Of a point as the networks see it: (channels, height, width) or (features,).
    is_image : bool
    endless : bool
    center : array (features,) or None
        Subtracted from vectors in float64, so that a large offset costs no digits.
    """

    center: np.ndarray | None = None

    def __init__(self, rows: Rows):
        self.shape = channels_first(rows.row_shape)
        self.is_image = len(self.shape) > 1
        self.endless = rows.endless
        drawn = isinstance(rows.source, Dataset)
        if not drawn and (rows.dtype.kind == "O" or not is_sliceable(rows.source)):
            bounded, rows = rows.in_unit_interval, Rows(rows.array())
            rows.in_unit_interval = bounded
        self.rows, self.n = rows, len(rows)
        self._checked = rows.is_picture
        nbytes = self.n * rows.n_features * rows.dtype.itemsize
        if not self._checked and not drawn and nbytes <= SCANNED_BYTES:
            for block in rows.stored(BLOCK):
                rows.clean(block)
            self._checked = True

    def stored(self, index: np.ndarray, rng: np.random.Generator | None = None) -> np.ndarray:
        """These rows as they are stored; of a data set without end, as many fresh ones."""
        return self.rows.take(index, rng)

    def to_tensor(self, stored: np.ndarray) -> Tensor:
        """Stored rows as the networks take them, float32."""
        if not self._checked:
            self.rows.clean(stored)
        values = stored if self.center is None else stored - self.center
        x = torch.from_numpy(np.array(values, dtype=np.float32, order="C"))
        return as_images(x / self.rows.unit if self.rows.unit != 1 else x, self.rows.row_shape)


def channels_first(row_shape: tuple[int, ...]) -> tuple[int, ...]:
    """The networks' shape of a point; sides of images must be divisible by 16."""
    if len(row_shape) == 1:
        return row_shape
    if len(row_shape) > 3:
        raise ValueError(
            f"X has rows of shape {row_shape}; it must be (n, features), (n, height, width) or (n, height, width, "
            "channels). Flatten the rows: X.reshape(len(X), -1)."
        )
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
