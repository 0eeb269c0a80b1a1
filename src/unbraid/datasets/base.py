"""The contract of every data set: factors in, observations out, repeatable for one random state."""

import math
import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from unbraid.data.observations import Observations

if TYPE_CHECKING:
    from unbraid.datasets.finite import Subset

RandomState = int | np.random.RandomState | np.random.Generator | None
Sample = tuple[np.ndarray, np.ndarray]
Pairs = tuple[Sample, Sample]
Changed = int | tuple[int, int] | str


def generator(random_state: RandomState) -> np.random.Generator:
    """A numpy Generator from an integer seed, a RandomState or Generator (drawn from), or None (fresh entropy).

    >>> int(generator(0).integers(10))
    8
    """
    if isinstance(random_state, np.random.RandomState):
        return np.random.Generator(random_state._bit_generator)
    return np.random.default_rng(random_state)


def count(n: Any) -> int:
    """A checked number of observations."""
    if not isinstance(n, int | np.integer) or n < 1:
        raise ValueError(f"n is the number of observations, 1 or more; received {n!r}.")
    return int(n)


def check_room(n: int, shape: tuple[int, ...], dtype: np.dtype) -> None:
    """Refuse in advance what does not fit into the machine's memory."""
    needed = n * math.prod(shape) * np.dtype(dtype).itemsize
    if hasattr(os, "sysconf") and needed > (room := os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")):
        raise ValueError(
            f"{n} observations of shape {shape} take {needed / 2**30:.3g} GiB, and this machine has "
            f"{room / 2**30:.3g} GiB. Draw fewer, or block by block: for X, factors in dataset.blocks(n={n})."
        )


class Dataset(ABC):
    """Observations that are a function of known factors.

    ``X = observe(factors)``, with ``factors`` of shape (n, number of columns): class indices where the factors are
    discrete, numbers where they are continuous. Subclass it with :meth:`sample_factors` and :meth:`_render`, or load a
    built-in one with :func:`unbraid.datasets.load`.

    Attributes
    ----------
    name : str
    factor_names : tuple of str
        One per column of ``factors``.
    factor_sizes : tuple of int, or None where the factors are continuous
        Number of classes of each factor.
    factor_ranges : tuple of (low, high), or None where the factors are discrete
        Infinite where a factor has no bound.
    factor_groups : dict of str to slice
        Columns that only change together (a rotation matrix is nine columns, one factor). Default: each column alone.
    factor_kinds : tuple of str, or None if unknown
        Of the factors in their order, as :func:`unbraid.metrics.mcc` takes them: "interval" (one column), "circle" (an
        angle in radians) or "sphere" (a unit vector in three columns).
    shape : tuple of int
        Of one observation: (features,), (height, width) or (height, width, channels).
    dtype : numpy.dtype
        float32 images are in [0, 1], uint8 images in [0, 255].
    """

    name: str
    factor_names: tuple[str, ...]
    factor_sizes: tuple[int, ...] | None = None
    factor_ranges: tuple[tuple[float, float], ...] | None = None
    factor_kinds: tuple[str, ...] | None = None
    shape: tuple[int, ...]
    dtype: np.dtype = np.dtype(np.float32)

    @property
    def n_factors(self) -> int:
        """Number of columns of ``factors``."""
        return len(self.factor_names)

    @property
    def factor_groups(self) -> dict[str, slice]:
        return {name: slice(i, i + 1) for i, name in enumerate(self.factor_names)}

    @abstractmethod
    def sample_factors(self, n: int, random_state: RandomState = None) -> np.ndarray:
        """Draw ``n`` rows of factors."""

    @abstractmethod
    def _render(self, factors: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Observations for checked factors; ``rng`` is for noise that is not a factor."""

    def observe(self, factors: Any, random_state: RandomState = None) -> np.ndarray:
        """Observations of given factors, one row each.

        Parameters
        ----------
        factors : array (n, n_factors)
            Class indices (discrete) or values (continuous). One row may come as a flat array.
        random_state : int, RandomState, Generator or None
            For data sets whose observations carry noise; the others ignore it.

        Returns
        -------
        array (n, ...)
        """
        return self._render(self._check_factors(factors), generator(random_state))

    def sample(self, n: int, random_state: RandomState = None) -> tuple[np.ndarray, np.ndarray]:
        """``n`` observations and their factors; the same for the same random state."""
        rng = generator(random_state)
        check_room(count(n), self.shape, self.dtype)
        factors = self.sample_factors(n, rng)
        return self._render(factors, rng), factors

    def sample_pairs(
        self,
        n: int = 1,
        shared: int | str | Sequence[int | str] | None = None,
        random_state: RandomState = None,
        *,
        changed: Changed | None = None,
        step: float | None = None,
    ) -> Pairs:
        """Two samples of ``n`` whose rows agree in some factors and differ in the others.

        Parameters
        ----------
        n : int
        shared : index or name of a factor, or several, optional
            Factors in which all pairs agree; the first, if none of ``shared``, ``changed`` and ``step`` is given. A
            column of a group shares the whole group.
        random_state : int, RandomState, Generator or None
        changed : int, (int, int) or "some", optional
            How many of the other factors change in a pair: so many, between so many (both included), or between one and
            all but one of all factors. Which ones is drawn for each pair; they do change, all others stay.
        step : float, optional
            Factors that change move by a Laplace step of this mean size, as a share of their range (in their own unit
            if they have no bounds), and stop at the ends. Classes count as ordered, and move by one at least. Without
            it, factors that change are drawn anew, independently of the first row.

        Returns
        -------
        (X_a, factors_a), (X_b, factors_b)
        """
        rng = generator(random_state)
        check_room(2 * count(n), self.shape, self.dtype)
        first = self.sample_factors(n, rng)
        if changed is None and step is None:
            second = self.sample_factors(n, rng)
            columns = self.columns(0 if shared is None else shared)
            second[:, columns] = first[:, columns]
        else:
            moving = self._moving(n, () if shared is None else shared, changed, rng)
            second = self._redrawn(first, moving, rng) if step is None else self._stepped(first, moving, step, rng)
        return (self._render(first, rng), first), (self._render(second, rng), second)

    def sample_observations(self, n: int = 1, random_state: RandomState = None, **pairing: Any) -> Observations:
        """``n`` pairs as Observations with ``pairs`` and ``factors``, as methods that learn from pairs take them.

        Parameters
        ----------
        n : int
        random_state : int, RandomState, Generator or None
        **pairing
            ``shared``, ``changed`` and ``step`` of :meth:`sample_pairs`.

        Returns
        -------
        Observations
            2 n rows, the first rows of all pairs before the second ones.
        """
        (X_a, a), (X_b, b) = self.sample_pairs(n, random_state=random_state, **pairing)
        pairs = np.arange(2 * n).reshape(2, n).T
        return Observations(np.concatenate([X_a, X_b]), pairs=pairs, factors=np.concatenate([a, b]))

    def _moving(self, n: int, shared: Any, changed: Changed | None, rng: np.random.Generator) -> np.ndarray:
        """Which columns change in each pair, (n, n_factors), by whole groups."""
        kept = set(self.columns(shared))
        groups = [range(self.n_factors)[g] for g in self.factor_groups.values()]
        free = [g for g in groups if not kept & set(g) and self._n_values(g) > 1]
        low, high = self._how_many(changed, len(free), len(groups))
        moving = np.zeros((n, self.n_factors), bool)
        ranks = rng.random((n, len(free))).argsort(1).argsort(1) < rng.integers(low, high + 1, (n, 1))
        for column, group in zip(ranks.T, free):
            moving[:, list(group)] = column[:, None]
        return moving

    def _n_values(self, group: range) -> float:
        return math.inf if self.factor_sizes is None else math.prod(self.factor_sizes[c] for c in group)

    def _how_many(self, changed: Changed | None, n_free: int, n_groups: int) -> tuple[int, int]:
        if changed is None:
            return n_free, n_free
        if isinstance(changed, str) and changed == "some":
            low, high = 1, min(n_free, n_groups - 1)
        else:
            low, high = changed if isinstance(changed, tuple) and len(changed) == 2 else (changed, changed)  # type: ignore[assignment]
        if not all(isinstance(k, int | np.integer) for k in (low, high)) or not 0 <= low <= high <= n_free:
            raise ValueError(
                f"changed={changed!r} of {self.name}, of whose {n_groups} factors {n_free} can change: give a number "
                f'from 0 to {n_free}, two of them as a range, such as (1, {n_free}), or "some", for one to all but one.'
            )
        return int(low), int(high)

    def _redrawn(self, first: np.ndarray, moving: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Factors in which what moves is drawn anew, until it differs."""
        second = first.copy()
        left = moving
        while left.any():
            second = np.where(left, self.sample_factors(len(first), rng), second)
            same = second == first
            left = np.zeros_like(moving)
            for group in self.factor_groups.values():
                left[:, group] = (moving[:, group] & same[:, group]).all(axis=1, keepdims=True)
        return second

    def _stepped(self, first: np.ndarray, moving: np.ndarray, step: float, rng: np.random.Generator) -> np.ndarray:
        """Factors in which what moves has made a Laplace step within its range."""
        wide = [name for name, group in self.factor_groups.items() if len(range(self.n_factors)[group]) > 1]
        if wide or not step > 0:
            raise ValueError(
                f"step={step} of {self.name}: it must be above 0, and every factor one column. "
                f"Of several columns: {', '.join(wide) or 'none'}. Leave out step, or give shared and changed."
            )
        if self.factor_sizes is not None:
            low, high = np.zeros(self.n_factors), np.array(self.factor_sizes) - 1.0
        else:
            low, high = np.array(self.factor_ranges, dtype=float).T
        size = step * np.where(np.isfinite(high - low), high - low, 1)
        moved = np.where(moving, rng.laplace(scale=np.maximum(size, 1e-300), size=first.shape), 0)
        if self.factor_sizes is not None:
            moved = np.sign(moved) * np.maximum(np.abs(moved).round(), 1) * moving
        outward = np.clip(first + moved, low, high) == first
        return np.clip(first + np.where(outward, -moved, moved), low, high).astype(first.dtype)

    def columns(self, factor: int | str | Sequence[int | str]) -> list[int]:
        """Columns of ``factors`` that belong to a factor, a group, or several of them."""
        if isinstance(factor, Sequence) and not isinstance(factor, str):
            return sorted({c for f in factor for c in self.columns(f)})
        groups = {k: range(self.n_factors)[s] for k, s in self.factor_groups.items()}
        if isinstance(factor, str):
            if factor in groups:
                return list(groups[factor])
            if factor in self.factor_names:
                factor = self.factor_names.index(factor)
        if not isinstance(factor, int | np.integer) or not -self.n_factors <= factor < self.n_factors:
            known = ", ".join(dict.fromkeys([*self.factor_names, *groups]))
            raise ValueError(
                f"{self.name} has no factor {factor!r}. It has {self.n_factors}: {known}; give a name, or an index "
                f"below {self.n_factors}."
            )
        column = int(factor) % self.n_factors
        return next(list(c) for c in groups.values() if column in c)

    def blocks(
        self, size: int = 1024, n: int | None = None, random_state: RandomState = None
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Iterate over ``n`` sampled observations, ``size`` at a time, without keeping all in memory.

        If ``n`` is None, finite data sets iterate over all rows in their own order.
        """
        if n is None:
            raise ValueError(
                f"{self.name} is infinite: its factors are continuous. Give n, the number of observations to draw."
            )
        rng = generator(random_state)
        factors = self.sample_factors(count(n), rng)
        for start in range(0, n, size):
            part = factors[start : start + size]
            yield self._render(part, rng), part

    def subset(self, rows: Any, random_state: RandomState = None) -> "Subset":
        """A fixed part of the data set, itself a data set.

        Parameters
        ----------
        rows : int or array of int
            How many to draw, or (finite data sets) which rows.
        random_state : int, RandomState, Generator or None
        """
        from unbraid.datasets.finite import Subset

        if np.ndim(rows) != 0:
            raise ValueError(f"{self.name} has no rows to choose from; give a number to draw.")
        return Subset(self, factors=self.sample_factors(count(rows), random_state))

    def split(
        self, test: float = 0.2, n: int | None = None, random_state: RandomState = None
    ) -> tuple["Subset", "Subset"]:
        """Train and test parts that share no row.

        Parameters
        ----------
        test : float in (0, 1), or int
            Share or number of rows in the test part.
        n : int, optional
            Rows in both parts together. Required for an infinite data set; a finite one uses all rows by default.
        random_state : int, RandomState, Generator or None
        """
        rng = generator(random_state)
        whole = self.subset(self._row_count() if n is None else n, rng)
        n_test = round(test * len(whole)) if isinstance(test, float) and test < 1 else int(test)
        if not 0 < n_test < len(whole):
            raise ValueError(
                f"test={test} leaves {n_test} of {len(whole)} rows for testing; both parts need at least one."
            )
        order = rng.permutation(len(whole))
        return whole.subset(np.sort(order[n_test:])), whole.subset(np.sort(order[:n_test]))

    def _row_count(self) -> int:
        raise ValueError(f"{self.name} is infinite: its factors are continuous. Give n, the total number of rows.")

    def _check_factors(self, factors: Any) -> np.ndarray:
        factors = np.atleast_2d(np.asarray(factors))
        if factors.ndim != 2 or factors.shape[1] != self.n_factors:
            raise ValueError(
                f"{self.name} has {self.n_factors} factors ({', '.join(self.factor_names)}); received an array of "
                f"shape {factors.shape}. Give one row per observation and one column per factor."
            )
        if factors.dtype.kind not in "iufb":
            raise ValueError(f"factors must be numbers; received dtype {factors.dtype}.")
        if self.factor_sizes is not None:
            return self._check_classes(factors, self.factor_sizes)
        factors = factors.astype(np.float64)
        if not np.isfinite(factors).all():
            raise ValueError("factors contain NaN or infinity; give finite numbers.")
        for column, (low, high) in enumerate(self.factor_ranges or ()):
            slack = 1e-6 * (high - low) if np.isfinite(high - low) else 0.0
            if len(factors) and (factors[:, column].min() < low - slack or factors[:, column].max() > high + slack):
                raise ValueError(
                    f"factor {self.factor_names[column]!r} of {self.name} must be in [{low:g}, {high:g}]; received "
                    f"values from {factors[:, column].min():g} to {factors[:, column].max():g}."
                )
        return factors

    def _check_classes(self, factors: np.ndarray, sizes: tuple[int, ...]) -> np.ndarray:
        classes = factors.astype(np.int64)
        if factors.dtype.kind == "f" and not np.array_equal(classes, factors):
            raise ValueError(f"{self.name} takes class indices (whole numbers); received fractions.")
        wrong = np.flatnonzero(((classes < 0) | (classes >= np.array(sizes))).any(axis=0))
        if len(wrong):
            column = wrong[0]
            raise ValueError(
                f"factor {self.factor_names[column]!r} of {self.name} has classes 0 to {sizes[column] - 1}; "
                f"received values from {classes[:, column].min()} to {classes[:, column].max()}."
            )
        return classes

    def __repr__(self) -> str:
        size = f"{len(self)} rows" if hasattr(self, "__len__") else "infinite"
        return f"<{self.name}: {size}, factors {', '.join(self.factor_names)}, observations {self.shape} {self.dtype}>"


class Continuous(Dataset):
    """Factors drawn independently and uniformly from finite ranges.

    Subclasses give ``factor_names``, ``factor_ranges`` and ``_render``.
    """

    def sample_factors(self, n: int, random_state: RandomState = None) -> np.ndarray:
        low, high = np.array(self.factor_ranges, dtype=float).T
        return generator(random_state).uniform(low, high, size=(count(n), self.n_factors))
