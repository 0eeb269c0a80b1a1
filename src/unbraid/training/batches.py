"""Batches of rows, and of what is known about them, for the objectives of all that is trained."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from unbraid.data.rows import Rows
from unbraid.data.sources import is_dataset, is_sliceable
from unbraid.networks.layout import as_images, joined
from unbraid.training.devices import Device

SCANNED_BYTES = 2**30  # float arrays up to this size are checked whole before training, larger ones batch by batch
BLOCK = 1024
FIRST = 64  # rows that are looked at in one go for one that differs


@dataclass
class Batch:
    """What an objective sees in one step.

    Attributes
    ----------
    x : Tensor
        The networks' input.
    rows : array of int
        Their numbers.
    step : int
        Steps before this one.
    log : bool
        Whether this step is recorded, so that costly terms are computed.
    values : array
        The same rows as they are stored.
    noise : callable
        ``noise(*shape)`` draws standard normal numbers for the rows of this batch.
    permutations : callable
        ``permutations(k)`` draws k orders of them, (k, batch).
    another : callable
        Draws a second batch.
    known : dict of str to array
        Of what is known about the rows, by its name (labels, time, sets, covariates), the part of this batch.
    partner : Tensor or None
        Where pairs are known: for each row of ``x``, the other row of its pair.
    """

    x: Tensor
    rows: np.ndarray
    step: int = 0
    log: bool = False
    values: Any = None
    noise: Any = None
    permutations: Any = None
    another: Any = None
    known: Mapping[str, np.ndarray] | None = None
    partner: Tensor | None = None


class Points:
    """Rows by number, as tensors, with what is known about them.

    Parameters
    ----------
    rows : Rows
        A data set without end is drawn from afresh for every batch; an iterable of blocks is read into memory.
    known : dict of str to array
        One entry per row each; ``pairs``, row numbers (m, 2), makes batches of pairs.

    Attributes
    ----------
    n : int
    endless : bool
    center : array (features,) or None
        Subtracted from vectors in float64, so that a large offset costs no digits.
    scale : float or array (features,)
        What they are divided by then.
    """

    center: np.ndarray | None = None
    scale: Any = 1.0

    def __init__(self, rows: Rows, known: Mapping[str, np.ndarray] | None = None):
        self.known = dict(known or {})
        self.pairs = self.known.pop("pairs", None)
        self.endless = rows.endless
        drawn = is_dataset(rows.source)
        if not drawn and (rows.dtype.kind == "O" or not is_sliceable(rows.source)):
            given, rows = rows, Rows(rows.array(), gaps=rows.gaps)
            rows.in_unit_interval, rows.beside = given.in_unit_interval, given.beside
        self.rows, self.n = rows, len(rows)
        if self.pairs is not None and not len(self.pairs):
            raise ValueError(
                f"pairs join no two of the {self.n} rows, so that there is nothing to learn from. Give row numbers "
                "(m, 2), or one number per row that is the same for both rows of a pair."
            )
        self._checked = rows.is_picture
        nbytes = self.n * rows.n_features * rows.dtype.itemsize
        if not self._checked and not drawn and nbytes <= SCANNED_BYTES:
            for block in rows.stored(BLOCK):
                rows.clean(block)
            self._checked = True

    def is_constant(self) -> bool:
        """Whether all rows are the same; it reads on until two differ, nearly always in the first block."""
        first = next(self.rows.stored(1))
        return all((block == first).all() for block in self.rows.stored(FIRST))

    def stored(self, index: np.ndarray, rng: np.random.Generator | None = None) -> np.ndarray:
        """These rows as they are stored; of a data set without end, as many fresh ones."""
        return self.rows.take(index, rng)

    def to_tensor(self, stored: np.ndarray) -> Tensor:
        """Stored rows as the networks take them, float32."""
        if not self._checked:
            self.rows.clean(stored)
        values = stored if self.center is None else stored - self.center
        unit = self.rows.unit * self.scale  # pictures have a unit, vectors a scale
        if np.ndim(unit):
            values, unit = values / unit, 1.0
        x = torch.from_numpy(np.array(values, dtype=np.float32, order="C"))
        return as_images(x / unit if unit != 1 else x, self.rows.row_shape)

    def with_beside(self, x: Tensor, rows: np.ndarray) -> Tensor:
        """Tensors of these rows with what networks take beside them."""
        beside = self.rows.beside
        return x if beside is None else joined(x, torch.from_numpy(beside[rows]).to(x.dtype))


class Batches:
    """Rows, or pairs of them, with replacement, as the large study draws them; a process's share of each batch.

    All randomness comes from two generators, one for rows and noise and one for data sets that draw.
    """

    def __init__(self, points: Points, batch_size: int, seed: int, device: Device):
        self.points, self.size, self.device = points, batch_size, device
        self.generator = torch.Generator().manual_seed(seed)
        self.data_rng = np.random.default_rng([seed, 1])
        n, rank = device.n_processes, device.rank
        self.share = slice(rank * batch_size // n, (rank + 1) * batch_size // n)

    def draw(self, step: int, log: bool) -> Batch:
        points = self.points
        many = points.n if points.pairs is None else len(points.pairs)
        rows = torch.randint(many, (self.size,), generator=self.generator).numpy()[self.share]
        partner = None
        if points.pairs is not None:
            rows, others = points.pairs[rows].T
            partner = self._tensor(points.stored(others, self.data_rng), others)
        values = points.stored(rows, self.data_rng)
        known = {name: of_rows[rows] for name, of_rows in points.known.items()}
        return Batch(
            self._tensor(values, rows), rows, step, log, values, self.noise, self._orders(len(rows)),
            lambda: self.draw(step, log), known, partner,
        )  # fmt: skip

    def _tensor(self, values: np.ndarray, rows: np.ndarray) -> Tensor:
        return self.points.with_beside(self.points.to_tensor(values), rows).to(self.device.torch_device)

    def noise(self, *shape: int) -> Tensor:
        return torch.randn((self.size, *shape), generator=self.generator)[self.share].to(self.device.torch_device)

    def _orders(self, n: int) -> Callable[[int], Tensor]:
        def permutations(count: int) -> Tensor:
            orders = [torch.randperm(n, generator=self.generator) for _ in range(count)]
            return torch.stack(orders).to(self.device.torch_device)

        return permutations

    def get_state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        return {"generator": self.generator.get_state()}, {"data_rng": self.data_rng.bit_generator.state}

    def set_state(self, tensors: dict[str, Tensor], state: dict[str, Any]) -> None:
        self.generator.set_state(tensors["generator"])
        self.data_rng.bit_generator.state = state["data_rng"]
