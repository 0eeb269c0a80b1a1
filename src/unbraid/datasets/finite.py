"""Data sets whose rows have numbers: factor grids, and chosen parts of any data set."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from unbraid.datasets.base import Changed, Dataset, Pairs, RandomState, count, generator

Agreement = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


class Finite(Dataset):
    """A data set whose rows have numbers, 0 to ``len(dataset) - 1``, in its own order."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def factors_at(self, rows: Any) -> np.ndarray:
        """Factors of the rows with these numbers."""

    def _render_rows(self, rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return self._render(self.factors_at(rows), rng)

    def rows(self, rows: Any, random_state: RandomState = None) -> tuple[np.ndarray, np.ndarray]:
        """Observations and factors of the rows with these numbers."""
        rows = self._check_rows(rows)
        return self._render_rows(rows, generator(random_state)), self.factors_at(rows)

    def blocks(
        self, size: int = 1024, n: int | None = None, random_state: RandomState = None
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        if n is not None:
            yield from super().blocks(size, n, random_state)
            return
        rng = generator(random_state)
        for start in range(0, len(self), size):
            yield self.rows(np.arange(start, min(start + size, len(self))), rng)

    def subset(self, rows: Any, random_state: RandomState = None) -> "Subset":
        if np.ndim(rows) == 0:
            if count(rows) > len(self):
                raise ValueError(f"{self.name} has {len(self)} rows; received {rows}. Ask for at most {len(self)}.")
            rows = np.sort(generator(random_state).choice(len(self), size=rows, replace=False))
        return Subset(self, rows=self._check_rows(rows))

    def _row_count(self) -> int:
        return len(self)

    def _agreement(self, columns: tuple[int, ...]) -> Agreement:
        """As :meth:`_agree_in`, kept for the next time."""
        known = self.__dict__.setdefault("_agreements", {})
        if columns not in known:
            known[columns] = self._agree_in(columns)
        return known[columns]

    def _agree_in(self, columns: tuple[int, ...]) -> Agreement:
        """Each row's group of rows with equal ``columns``; the rows by group, where each starts, how many it has."""
        if not columns:
            return np.zeros(len(self), int), np.arange(len(self)), np.zeros(1, int), np.array([len(self)])
        values = self.factors_at(np.arange(len(self)))[:, list(columns)]
        if self.factor_sizes is not None:
            values = np.ravel_multi_index(tuple(values.T), [self.factor_sizes[c] for c in columns])[:, None]
        _, group = np.unique(values, axis=0 if values.shape[1] > 1 else None, return_inverse=True)
        group = group.reshape(-1)
        sizes = np.bincount(group)
        return group, np.argsort(group, kind="stable"), np.cumsum(sizes) - sizes, sizes

    def _check_rows(self, rows: Any) -> np.ndarray:
        rows = np.atleast_1d(np.asarray(rows))
        if rows.dtype == bool and rows.shape == (len(self),):
            rows = np.flatnonzero(rows)
        if rows.dtype.kind not in "iu" and rows.size:
            raise ValueError(f"rows must be whole numbers; received dtype {rows.dtype}.")
        rows = rows.astype(np.int64)
        if rows.size and (rows.min() < 0 or rows.max() >= len(self)):
            raise ValueError(
                f"{self.name} has rows 0 to {len(self) - 1}; received rows from {rows.min()} to {rows.max()}."
            )
        return rows


class Grid(Finite):
    """Every combination of discrete factors, once, the last factor changing fastest.

    Subclasses give ``factor_names``, ``factor_sizes`` and ``_render``. Factors are drawn independently and uniformly.
    """

    factor_sizes: tuple[int, ...]

    def __len__(self) -> int:
        return int(np.prod(self.factor_sizes))

    def sample_factors(self, n: int, random_state: RandomState = None) -> np.ndarray:
        return generator(random_state).integers(self.factor_sizes, size=(count(n), self.n_factors))

    def factors_at(self, rows: Any) -> np.ndarray:
        return np.stack(np.unravel_index(self._check_rows(rows), self.factor_sizes), axis=-1).astype(np.int64)

    def rows_of(self, factors: Any) -> np.ndarray:
        """Row numbers of given factors."""
        return np.ravel_multi_index(self._check_factors(factors).T, self.factor_sizes)


class Listed(Finite):
    """Rows that do not form a grid. :meth:`sample` draws them without replacement."""

    _factors: np.ndarray

    def __len__(self) -> int:
        return len(self._factors)

    def factors_at(self, rows: Any) -> np.ndarray:
        return self._factors[self._check_rows(rows)]

    def sample_factors(self, n: int, random_state: RandomState = None) -> np.ndarray:
        return self.factors_at(self._draw(n, generator(random_state)))

    def sample(self, n: int, random_state: RandomState = None) -> tuple[np.ndarray, np.ndarray]:
        rng = generator(random_state)
        return self.rows(self._draw(n, rng), rng)

    def sample_pairs(
        self,
        n: int = 1,
        shared: int | str | Sequence[int | str] | None = None,
        random_state: RandomState = None,
        *,
        changed: Changed | None = None,
        step: float | None = None,
    ) -> Pairs:
        """Pairs of rows; the partner of a row is drawn from the rows that agree with it in all factors that stay.

        So factors that may change do so if there is a row in which they have. There are no steps between rows.
        """
        if step is not None:
            raise ValueError(
                f"{self.name} has {len(self)} fixed rows, and no step can be made between them. Give changed."
            )
        rng = generator(random_state)
        first = rng.integers(len(self), size=count(n))
        if changed is None:
            same = self._agreement(tuple(self.columns(0 if shared is None else shared)))
            return self.rows(first, rng), self.rows(_partners(first, same, rng), rng)
        second = first.copy()
        stays = ~self._moving(n, () if shared is None else shared, changed, rng)
        kinds, kind = np.unique(stays, axis=0, return_inverse=True)
        for i, columns in enumerate(kinds):
            here = kind.reshape(-1) == i
            second[here] = _partners(first[here], self._agree_in(tuple(np.flatnonzero(columns).tolist())), rng)
        return self.rows(first, rng), self.rows(second, rng)

    def _draw(self, n: int, rng: np.random.Generator) -> np.ndarray:
        if count(n) > len(self):
            raise ValueError(
                f"{self.name} has {len(self)} rows here and draws without replacement; received n={n}. "
                f"Ask for at most {len(self)}."
            )
        return rng.choice(len(self), size=n, replace=False)


def _partners(first: np.ndarray, same: Agreement, rng: np.random.Generator) -> np.ndarray:
    """For each row, one of its group at random."""
    group, order, starts, sizes = same
    return order[starts[group[first]] + rng.integers(sizes[group[first]])]


class Subset(Listed):
    """Chosen rows of a data set. :meth:`sample` draws them without replacement.

    Parameters
    ----------
    parent : Dataset
    rows : array of int, optional
        Their numbers, where the data set is finite.
    factors : array (n, n_factors), optional
        Their factors, where it has no end.
    """

    def __init__(self, parent: Any, rows: np.ndarray | None = None, factors: np.ndarray | None = None):
        self.parent, self._rows = parent, rows
        self._factors = parent.factors_at(rows) if factors is None else factors
        self.name = parent.name
        self.factor_names, self.factor_sizes = parent.factor_names, parent.factor_sizes
        self.factor_ranges = parent.factor_ranges
        self.shape, self.dtype = parent.shape, parent.dtype

    @property
    def factor_groups(self) -> dict[str, slice]:
        return self.parent.factor_groups

    def subset(self, rows: Any, random_state: RandomState = None) -> "Subset":
        chosen = super().subset(rows, random_state)._rows
        return Subset(self.parent, None if self._rows is None else self._rows[chosen], self._factors[chosen])

    def _render(self, factors: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return self.parent._render(factors, rng)

    def _render_rows(self, rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        if self._rows is None:
            return self._render(self.factors_at(rows), rng)
        return self.parent._render_rows(self._rows[rows], rng)
