r"""Covariates (batch, session, day, drift): what they explain of the data, so that it can be taken away.

Numbers enter as they are; text and a few whole numbers as levels. Of each column of X, :math:`x - C \beta` is left,
with :math:`\beta` by least squares on the centred design C, so that its mean stays. Then the spread of each column is
made equal over the levels, as far as spreads differ by more than chance (empirical Bayes, as in Johnson, Li and
Rabinovic 2007, ComBat).
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import f as f_law

from unbraid.data.observations import WORDS
from unbraid.data.rows import Rows, row_marks

MOST_LEVELS = 20  # whole numbers of more different values are numbers
FEWEST = 5  # rows of a level: with fewer, its mean is that of its own rows
WIDEST, ROWS = 8, 1000  # columns from which on directions can be compared, and rows from which they are seen
HELD = 0.99  # of the variance that remains: the directions that hold it
CLEAR = 3.0  # times what means explain by chance, from which an effect in these directions is looked at


@dataclass(frozen=True)
class Design:
    """Covariates as the columns of a regression.

    Attributes
    ----------
    levels : list
        Of each covariate: its levels (array of str), or None for a number.
    center, scale : array (q,)
        Of the columns: one for a number, one for each level.
    """

    levels: list[NDArray | None]
    center: NDArray
    scale: NDArray

    @classmethod
    def of(cls, covariates: NDArray) -> "Design":
        """The design of covariates (n,) or (n, c); levels with few rows are refused."""
        levels = [_levels_of(column) for column in _columns(covariates)]
        for j, (column, known) in enumerate(zip(_columns(covariates), levels)):
            names, counts = np.unique(_text(column), return_counts=True)
            if known is not None and counts.min() < FEWEST:
                rare = str(names[counts.argmin()])
                raise ValueError(
                    f"covariate {j} has {len(names)} levels, and {rare!r} has {counts.min()} rows; it needs {FEWEST}. "
                    "Join small levels, or leave those rows out."
                )
        plain = cls(levels, np.zeros(1), np.ones(1))._raw(covariates)
        scale = np.where([known is None for known in levels for _ in range(_width(known))], plain.std(axis=0), 1.0)
        if not plain.std(axis=0).all():
            raise ValueError("a covariate is the same in all rows, so nothing can follow it. Leave it out.")
        return cls(levels, plain.mean(axis=0), scale)

    def _raw(self, covariates: NDArray) -> NDArray:
        columns = _columns(covariates)
        if len(columns) != len(self.levels):
            raise ValueError(f"covariates have {len(columns)} columns; the fit had {len(self.levels)}.")
        parts = []
        for column, known in zip(columns, self.levels):
            if known is None:
                parts.append(column.astype(np.float64)[:, None])
                continue
            text = _text(column)
            new = np.setdiff1d(text, known)
            if len(new):
                raise ValueError(
                    f"covariates hold {str(new[0])!r}, and the fit had {', '.join(map(str, known))}: what an unknown "
                    "level changes is not known. Fit with rows of it, too."
                )
            parts.append((text[:, None] == known).astype(np.float64))
        return np.concatenate(parts, axis=1)

    def __call__(self, covariates: NDArray) -> NDArray:
        """The centred design (n, q)."""
        return (self._raw(covariates) - self.center) / self.scale

    def groups(self, covariates: NDArray) -> list[tuple[int, NDArray[np.bool_]]]:
        """Of each level its column of the design, and its rows."""
        raw, found, start = self._raw(covariates), [], 0
        for known in self.levels:
            if known is not None:
                found += [(start + i, raw[:, start + i] > 0) for i in range(len(known))]
            start += _width(known)
        return found


@dataclass(frozen=True)
class Remembered:
    """The covariates of the rows of a fit, which are found again by their values.

    Attributes
    ----------
    marks : array (n,) of int
        Of the rows, in increasing order (:func:`unbraid.data.rows.row_marks`).
    known : array (n, c)
    """

    marks: NDArray
    known: NDArray

    @classmethod
    def of(cls, blocks: Iterable[NDArray], covariates: NDArray) -> "Remembered":
        """Of rows in blocks."""
        marks, known = row_marks(blocks), covariates.reshape(len(covariates), -1)
        order = np.argsort(marks, kind="stable")
        return cls(marks[order], known[order])

    def __call__(self, blocks: Iterable[NDArray]) -> NDArray:
        """Covariates of these rows; new ones are refused."""
        marks = row_marks(blocks)
        place = np.minimum(np.searchsorted(self.marks, marks), len(self.marks) - 1)
        new = int((self.marks[place] != marks).sum())
        if new:
            raise ValueError(
                f"the fit used covariates, and {new} of {len(marks)} rows are new: give theirs, too, as "
                "transform(Observations(X, covariates=...))."
            )
        return self.known[place]


@dataclass(frozen=True)
class Adjustment:
    """What covariates explained of some rows, and how it is taken away from these and from others.

    Attributes
    ----------
    design : Design
    slopes : array (q, n_features)
    spreads : array (q, n_features)
        What a level multiplies the rest of a column by; 1 for numbers.
    mean : array (n_features,)
    explained : float
        Share of the variance.
    overlap_chance : float
        How likely an effect in random directions would lie that much in those in which the rest of the data varies; NaN
        with few columns.
    remembered : Remembered
        The rows that were fitted.
    """

    design: Design
    slopes: NDArray
    spreads: NDArray
    mean: NDArray
    explained: float
    overlap_chance: float
    remembered: Remembered

    @classmethod
    def of(cls, X: NDArray, covariates: NDArray) -> "Adjustment":
        """Regress rows (n, n_features) on their covariates."""
        design, mean = Design.of(covariates), X.mean(axis=0, dtype=np.float64)
        C, centred = design(covariates), X - mean
        q = int(np.linalg.matrix_rank(C))
        if len(X) <= 2 * q:
            raise ValueError(f"{len(X)} rows are too few for {C.shape[1]} columns of covariates. Give fewer.")
        slopes = np.linalg.lstsq(C, centred, rcond=None)[0]
        effect = C @ slopes
        rest = centred - effect
        spreads = np.ones_like(slopes)
        for column, rows in design.groups(covariates):
            spreads[column] = _spread(rest[rows], rest)
        explained = float(np.square(effect).sum() / np.square(centred).sum())
        chance = _overlap_chance(effect, rest, q)
        return cls(design, slopes, spreads, mean, explained, chance, Remembered.of([X], covariates))

    def __call__(self, X: NDArray, covariates: NDArray | None) -> NDArray:
        """Rows without what their covariates explain; without covariates, rows of the fit are looked up."""
        covariates = self.remembered([X]) if covariates is None else covariates
        rest = X - self.mean - self.design(covariates) @ self.slopes
        for column, rows in self.design.groups(covariates):
            rest[rows] /= self.spreads[column]
        return (rest + self.mean).astype(X.dtype)

    def __str__(self) -> str:
        return f"explain {100 * self.explained:.0f} % of the variance, which was taken away"


def adjustment_to(rows: Rows, covariates: NDArray) -> Adjustment:
    """The adjustment of checked rows, which are read into memory."""
    X = rows.array().reshape(len(rows), -1)
    if np.isnan(X).any():
        raise ValueError(
            "covariates are regressed out of complete rows, and X has gaps. Fill them first, for instance by "
            "unbraid.datasets.open(path, fill='neighbors'), or use a VAE, which takes both."
        )
    return Adjustment.of(X, covariates)


def _columns(covariates: NDArray) -> list[NDArray]:
    return list(covariates.reshape(len(covariates), -1).T)


def _levels_of(column: NDArray) -> NDArray | None:
    if column.dtype.kind not in WORDS:
        values = np.unique(column)
        return np.unique(_text(values)) if len(values) <= MOST_LEVELS and (values == values.round()).all() else None
    try:
        column.astype(np.float64)
    except ValueError:
        return np.unique(_text(column))
    return None if _levels_of(column.astype(np.float64)) is None else np.unique(_text(column))


def _text(column: NDArray) -> NDArray[np.str_]:
    """Levels as text: the same whether whole numbers are held as integers, floats or truth values."""
    if column.dtype.kind in "bf":
        whole = (column == np.round(column)) & (np.abs(column) < 2**53)
        return np.where(whole, np.where(whole, column, 0).astype(np.int64).astype(str), column.astype(str))
    return column.astype(str)


def _width(levels: NDArray | None) -> int:
    return 1 if levels is None else len(levels)


def _spread(rows: NDArray, rest: NDArray) -> NDArray:
    """The spread of each column in some rows over that in all, shrunk by how much of it is chance."""
    usual = rest.std(axis=0)
    live = usual > 0
    logs = np.log(np.maximum(rows.std(axis=0)[live], 1e-3 * usual[live]) / usual[live])
    chance = 1 / (2 * len(rows))
    signal = max(float(np.square(logs).mean()) - chance, 0.0) if live.any() else 0.0
    found = np.ones_like(usual)
    found[live] = np.exp(logs * signal / (signal + chance))
    return found


def _overlap_chance(effect: NDArray, rest: NDArray, q: int) -> float:
    """How likely an effect in random directions would lie that much in those in which the rest varies (F-test)."""
    n, p = rest.shape
    if p < WIDEST:
        return float("nan")
    some = rest[:: -(-n // ROWS)]
    _, lengths, directions = np.linalg.svd(some - some.mean(axis=0), full_matrices=False)
    held = np.cumsum(np.square(lengths)) / np.square(lengths).sum()
    size = min(int(np.searchsorted(held, HELD)) + 1, p // 4)
    parts = np.array([[np.square(X @ directions[:size].T).sum(), np.square(X).sum()] for X in (effect, rest)])
    parts[:, 1] -= parts[:, 0]
    by_chance = parts[1] * q / (n - q)  # what means of rows without any effect would explain
    if parts[0, 0] < CLEAR * by_chance[0]:
        return 1.0
    inside, outside = np.maximum(parts[0] - by_chance, 1e-12 * parts[0].sum()) / [size, p - size]
    return float(f_law.sf(inside / outside, size * q, (p - size) * q))
