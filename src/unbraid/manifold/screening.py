r"""Data with something wrong: rows that do not belong to the rest, cells without a value, columns in other units.

Only data in which :mod:`unbraid.manifold.reduction` finds something wrong come here; a fit is then one to the other
rows. A row is odd if it is a copy of one that is repeated far more often than others, or is far from all rows that
were kept:

.. math:: \min_a |x - x_a| / r_a > 4 \quad \text{over the 10 nearest kept rows},

with :math:`r_a` the distance of :math:`x_a` to its tenth neighbour. A missing cell is filled with what the principal
components say, given the other cells of its row (Everson and Sirovich 1995, Karhunen-Loeve procedure for gappy data).
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from unbraid.manifold.neighbors import Floats, NeighborSearch, distinct_rows, neighborhoods
from unbraid.manifold.reduction import FINEST, Reduced, Reduction, fit_reduction, odd_rows, places, screened_rows
from unbraid.manifold.surroundings import PIECE_NEIGHBORS, STRAY

Mask = NDArray[np.bool_]

ROUNDS = 5  # of a search for odd rows: far ones hide near ones
FILLS = 60
SAME = 1e-3  # of the usual distance to the tenth neighbour: rows closer than this are copies
FEWEST_WHOLE = 0.25  # share of the rows without a gap, from which the components are then taken
LEVERAGE = 0.9  # of a column: beyond, the others say too little about it
UNLIKE, MATTERS = 10.0, 0.2  # times the usual error of a prediction, and standard deviations of the column


@dataclass(frozen=True)
class Screen:
    """What was found wrong with a data set, to be applied to all rows of it and to new ones.

    Attributes
    ----------
    core : array (a, components + 1)
        Rows that belong together: coordinates, and distance from the space of the coordinates.
    repeated : array (r, components + 1)
        Rows that occur far more often than others.
    marks : array (3, n_features) or None
        Values of each column that stand for a missing cell; NaN where there are none.
    rows : bool
        Whether rows are looked at.
    """

    core: Floats
    repeated: Floats
    marks: NDArray | None = None
    rows: bool = True

    def truncated(self, size: int) -> "Screen":
        """The same in the first ``size`` components only: the others add to the distance from them."""
        return replace(self, core=_collapsed(self.core, size), repeated=_collapsed(self.repeated, size))

    @cached_property
    def _reach(self) -> Floats:
        return neighborhoods(self.core, min(PIECE_NEIGHBORS, len(self.core) - 1) + 1)[0][:, -1]

    @cached_property
    def _search(self) -> NeighborSearch:
        return NeighborSearch(self.core)

    def odd(self, rows: NDArray, reduction: Reduction) -> Mask:
        """Which rows do not belong to the rest."""
        if not self.rows:
            return np.zeros(len(rows), dtype=bool)
        at = _collapsed(places(rows - reduction.mean, reduction), self.core.shape[1] - 1)
        distances, near = self._search.query(at, min(PIECE_NEIGHBORS, len(self.core)))
        found = (distances / np.maximum(self._reach[near], 1e-300)).min(axis=1) > STRAY
        if len(self.repeated):
            found |= NeighborSearch(self.repeated).query(at, 1)[0][:, 0] <= SAME * np.median(self._reach)
        return found

    def filled(self, rows: NDArray, reduction: Reduction) -> NDArray:
        """The rows, with cells that have no value filled from the others."""
        if self.marks is None:
            return rows
        gaps = gaps_of(rows, self.marks)
        some = gaps.any(axis=1)
        if not some.any():
            return rows
        scale = np.ones_like(rows[0]) if reduction.scale is None else reduction.scale
        centred = (rows[some] - reduction.mean) * scale
        basis = reduction.within[: reduction.size_for(FINEST)]
        found = rows.copy()
        with np.errstate(divide="ignore", invalid="ignore"):  # a column that is left out stays as it is
            filled = reduction.mean + _fill(centred, gaps[some], basis) / scale
        found[some] = np.where(gaps[some] & (scale > 0), filled, rows[some])
        return found


def screened(
    sample: NDArray, scale: NDArray | None, marks: NDArray | None, *, n_components: int | None, rows: bool
) -> Reduced:
    """PCA without what is wrong; see :func:`unbraid.manifold.reduction.reduce_rows`."""
    raw = sample
    gaps = None if marks is None else gaps_of(raw, marks)
    if scale is not None:
        sample = raw * scale
    if gaps is not None:
        reduction = _without_gaps(sample, gaps)
        sample = reduction.mean + _fill(sample - reduction.mean, gaps, _leading(reduction))
    searched = screened_rows(len(sample))
    some = sample[searched]
    off, repeated = _odd(some) if rows else (np.zeros(len(some), dtype=bool), some[:0])
    kept = np.zeros(len(sample), dtype=bool)
    kept[searched] = ~off
    for _ in range(2):  # rows that were not searched for strays come in once these are known
        reduction = fit_reduction(sample[kept], n_components=n_components)
        at = places(some[~off] - reduction.mean, reduction)
        copies = places(repeated - reduction.mean, reduction)
        screen = Screen(at[distinct_rows(at)[0]], copies, marks, rows)
        kept = ~screen.odd(sample, reduction)
    return Reduced(_in_units(reduction, scale, raw), sample[kept] - reduction.mean, kept, screen)


def confirmed(sample: NDArray, marks: NDArray, scale: NDArray | None) -> NDArray | None:
    """The marks that are not what the other columns predict; None if there is none."""
    gaps = gaps_of(sample, marks)
    if not gaps.any():
        return None
    scaled = sample if scale is None else sample * scale
    reduction = _without_gaps(scaled, gaps)
    basis = _leading(reduction)
    centred = scaled - reduction.mean
    whole = _fill(centred, gaps, basis)
    rest = 1 - np.square(basis).sum(axis=0)
    spread = whole.std(axis=0)
    usual = np.median(np.abs(whole - whole @ basis.T @ basis), axis=0) / np.maximum(rest, 1e-12)
    least = np.maximum(UNLIKE * usual, MATTERS * spread)
    found = marks.copy()
    for mark in found:
        for j in np.flatnonzero(~np.isnan(mark)):
            cells = gaps[:, j] & (sample[:, j] == mark[j])
            apart = np.abs(centred[cells, j] - whole[cells, j])
            if not cells.any() or rest[j] < 1 - LEVERAGE or np.median(apart) <= least[j]:
                mark[j] = np.nan
    return None if np.isnan(found).all() else found


def gaps_of(rows: NDArray, marks: NDArray) -> Mask:
    """The cells with a mark, except in rows that have them in half of all cells: these are odd as a whole."""
    gaps = (rows[None] == marks[:, None]).any(axis=0)
    return gaps & (gaps.mean(axis=1) < 0.5)[:, None]


def _without_gaps(sample: NDArray, gaps: Mask) -> Reduction:
    """PCA of the rows that have no gap, or of all, filled anew three times, where these are too few."""
    whole = ~gaps.any(axis=1)
    if whole.mean() >= FEWEST_WHOLE:
        rows = sample[whole]
        return fit_reduction(rows[~_odd(rows)[0]], n_components=None)
    gaps = gaps & ~gaps.all(axis=0)  # a column that only has marks is constant
    usual = np.nanmedian(np.where(gaps, np.nan, sample), axis=0)
    rows = np.where(gaps, usual, sample)
    for _ in range(3):
        reduction = fit_reduction(rows[~_odd(rows)[0]], n_components=None)
        rows = reduction.mean + _fill(rows - reduction.mean, gaps, _leading(reduction))
    return reduction


def _odd(rows: NDArray) -> tuple[Mask, NDArray]:
    """Which rows are odd, found in rounds, and one copy of each that is repeated."""
    off = np.zeros(len(rows), dtype=bool)
    for _ in range(ROUNDS):
        inside = np.flatnonzero(~off)
        centred = rows[inside]
        found = odd_rows(places(centred, fit_reduction(centred, n_components=None)))
        if not found.any() or found.all():
            break
        off[inside[found]] = True
    first, index = distinct_rows(rows[off]) if off.any() else (np.empty(0, np.intp), np.empty(0, np.intp))
    return off, rows[off][first[np.bincount(index, minlength=len(first)) > 1]]


def _fill(centred: NDArray, gaps: Mask, basis: NDArray) -> NDArray:
    """Centred rows whose gaps agree with their own projection: the fixed point of projecting and filling."""
    found = np.where(gaps, 0.0, centred)
    some = np.flatnonzero(gaps.any(axis=1))
    part, open_ = found[some], gaps[some]
    for _ in range(FILLS):
        part = np.where(open_, part @ basis.T @ basis, part)
    found[some] = part
    return found.astype(centred.dtype)


def _leading(reduction: Reduction) -> NDArray:
    return reduction.components[: reduction.size_for(FINEST)]


def _collapsed(at: Floats, size: int) -> Floats:
    if at.shape[1] <= size + 1:
        return at
    return np.column_stack([at[:, :size], np.sqrt(np.square(at[:, size:]).sum(axis=1))])


def _in_units(reduction: Reduction, scale: NDArray | None, raw: NDArray) -> Reduction:
    """A reduction of scaled columns as one of the columns as given."""
    if scale is None:
        return reduction
    mean = np.where(scale > 0, reduction.mean / np.maximum(scale, 1e-300), raw.mean(axis=0))
    return replace(reduction, mean=mean.astype(raw.dtype), components=reduction.components * scale, scale=scale)
