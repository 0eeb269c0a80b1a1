"""Rows left out, cells filled and columns scaled before a spectral fit, where they would spoil it."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unbraid.data.counts import COUNTS
from unbraid.data.covariates import Adjustment, adjustment_to
from unbraid.data.observations import Observations
from unbraid.data.rows import Rows
from unbraid.export.exportable import Exportable
from unbraid.manifold.neighbors import Floats
from unbraid.manifold.reduction import Reduced, Reduction, reduce_rows

if TYPE_CHECKING:  # made only where something is wrong with the data
    from unbraid.manifold.screening import Screen

OUTLIERS = ("clip", "nan", "keep")
UNITS = ("auto", "given")


class Screened(Exportable):
    """Base of estimators that leave out rows, mend cells and scale columns that would spoil the fit.

    Attributes
    ----------
    outliers_ : array of int
        Rows that were left out, as they do not belong to the rest.
    filled_ : array of int
        Rows with cells that were filled, as they had no value.
    screen_ : Screen or None
        The rule for these rows; None if nothing was wrong. ``reduction_.scale`` has the scale of columns, if any.
    adjustment_ : Adjustment or None
        What covariates explained, and how it is taken away.
    """

    outliers: str
    units: str
    counts: str
    reduction_: Reduction
    screen_: "Screen | None" = None
    adjustment_: Adjustment | None = None
    _parameter_constraints = {"outliers": OUTLIERS, "units": UNITS, "counts": COUNTS}

    def _read(self, X: Any, *, fewest: int = 2) -> Rows:
        rows = super()._read(X, fewest=fewest)
        covariates = X.covariates if isinstance(X, Observations) else None
        self.adjustment_ = None if covariates is None else adjustment_to(rows, covariates)
        return self._adjusted(rows, covariates)

    def _read_new(self, X: Any) -> Rows:
        return self._adjusted(super()._read_new(X), X.covariates if isinstance(X, Observations) else None)

    def _adjusted(self, rows: Rows, covariates: NDArray | None) -> Rows:
        """The rows in memory without what covariates explain, if the fit had any."""
        if self.adjustment_ is None:
            return rows
        values = rows.array()
        return Rows(self.adjustment_(values.reshape(len(values), -1), covariates).reshape(values.shape))

    def _reduce(self, sample: NDArray, data: Rows, n_components: int | None) -> Reduced:
        return reduce_rows(
            sample,
            n_components=n_components,
            table=len(data.row_shape) == 1,
            rows=self.outliers != "keep",
            units=self.units == "auto",
        )

    def _screened(self, block: NDArray) -> tuple[NDArray, NDArray[np.bool_] | None]:
        """Rows, flat and with their cells filled, and which of them are outliers; None if there can be none."""
        rows = block.reshape(len(block), -1)
        if self.screen_ is None:
            return rows, None
        rows = self.screen_.filled(rows, self.reduction_)
        return rows, self.screen_.odd(rows, self.reduction_)

    def _bounds(self, codes: Floats) -> Floats:
        """Between which values the codes of outliers stay: the range of these codes, or NaN."""
        found = np.stack([codes.min(axis=0), codes.max(axis=0)])
        return np.full_like(found, np.nan) if self.outliers == "nan" else found

    def _list_odd(self, X: Any) -> None:
        """Number the rows that are outliers, and those with a cell that was filled."""
        odd, filled = [np.empty(0, dtype=bool)], [np.empty(0, dtype=bool)]
        for block in self._read_new(X) if self.screen_ is not None else ():
            rows, off = self._screened(block)
            odd.append(np.zeros(len(rows), dtype=bool) if off is None else off)
            filled.append((rows != block.reshape(len(block), -1)).any(axis=1))
        self.outliers_, self.filled_ = (np.flatnonzero(np.concatenate(flags)) for flags in (odd, filled))

    def _place(self, rows: NDArray) -> Floats:
        """The coordinates of rows; NaN for outliers."""
        rows, odd = self._screened(rows)
        found = self.reduction_(rows)
        return found if odd is None else np.where(odd[:, None], np.nan, found)


def bounded(codes: Floats, odd: NDArray[np.bool_], bounds: Floats) -> Floats:
    """Codes of which those of odd rows stay within bounds (2, d); NaN bounds make them NaN."""
    return np.where(odd[:, None], np.clip(codes, *bounds), codes)
