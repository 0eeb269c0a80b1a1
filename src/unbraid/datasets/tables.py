"""Images from files: complete factor grids, and tables of labelled rows."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from unbraid.datasets.base import RandomState
from unbraid.datasets.finite import Finite, Grid, Listed

Reader = Callable[[np.ndarray], np.ndarray]


class Recorded(Finite):
    """Images that are read from a file.

    Parameters
    ----------
    name : str
    factor_names, factor_sizes : sequences
    shape, dtype
        Of one observation.
    read : callable
        ``read(rows)`` returns the images with these row numbers.
    """

    def __init__(
        self,
        name: str,
        factor_names: Sequence[str],
        factor_sizes: Sequence[int],
        shape: tuple[int, ...],
        dtype: np.dtype,
        read: Reader,
    ):
        self.name, self.shape, self.dtype = name, tuple(shape), np.dtype(dtype)
        self.factor_names = tuple(factor_names)
        self.factor_sizes = tuple(int(s) for s in factor_sizes)
        self._read = read

    def _render_rows(self, rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return self._read(rows)


class LoadedGrid(Recorded, Grid):
    """A complete grid of discrete factors, its rows in the grid's order."""

    def _render(self, factors: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return self._read(np.ravel_multi_index(tuple(factors.T), self.factor_sizes))


class Table(Recorded, Listed):
    """Rows of images with labels; the labels do not determine the image.

    :meth:`sample` draws rows without replacement, :meth:`observe` gives the first image with the given labels.

    Parameters
    ----------
    factors : array (n, n_factors) of int
    *recorded
        As of :class:`Recorded`.
    """

    def __init__(self, factors: np.ndarray, *recorded: Any):
        super().__init__(*recorded)
        self._factors = factors.astype(np.int64)
        self._first: dict[bytes, int] = {}

    def sample_conditional(self, n: int, random_state: RandomState = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """As :meth:`sample`, with the first factor as the label."""
        X, factors = self.sample(n, random_state)
        return X, factors, factors[:, 0].copy()

    def _render(self, factors: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        if not self._first:
            for row, key in enumerate(map(bytes, self._factors.astype(np.int16))):
                self._first.setdefault(key, row)
        rows = [self._first.get(bytes(row), -1) for row in factors.astype(np.int16)]
        if -1 in rows:
            missing = factors[rows.index(-1)].tolist()
            raise ValueError(
                f"{self.name} has no image with the factors {missing}; its rows are recorded images, not drawn ones."
            )
        return self._read(np.array(rows))
