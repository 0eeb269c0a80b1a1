"""What is checked before a fit: missing values, structure, units, connectedness, dimension and noise."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from unbraid.data.counts import Counts, counts_of
from unbraid.data.observations import Observations
from unbraid.data.rows import Rows
from unbraid.data.sources import column_names, is_dataset, is_lazy, is_sliceable
from unbraid.diagnosis.findings import Finding, finding, measured
from unbraid.estimator.summary import counted
from unbraid.manifold.neighbors import Floats, distinct_rows
from unbraid.manifold.reduction import FINEST, Look, Reduction, affordable_rows, reduce_rows, wide_rows
from unbraid.manifold.spectra import structure
from unbraid.manifold.surroundings import apart, off_tangent
from unbraid.spectral.gaps import Filling
from unbraid.spectral.selection import estimated_dimension
from unbraid.trust.table import FIGURES
from unbraid.trust.warnings import UnbraidWarning

if TYPE_CHECKING:  # made only where something is wrong with the data
    from unbraid.manifold.screening import Screen

Fitted = TypeVar("Fitted")

MOST_ROWS = 2000  # that are looked at
FEWEST_ROWS = 30
MOST_FACTORS = 6  # beyond, local Hessians need more neighbours than any data of these sizes have
MOST_LEVELS = 20  # values of a column that may be a category
MOST_CELLS = 2**27  # that are searched for missing values: 1 GB of float64
LOCAL_COMPONENTS = 20  # in which tangents are looked for: twice the dimension and one more is enough (Whitney)


def completed(known: Observations) -> tuple[Observations, Filling | None]:
    """The same with the gaps of X (NaN, masked) filled, and what filled them; larger data are refused later on.

    >>> X = np.random.default_rng(0).normal(size=(50, 2)) @ [[1.0, 0.0, 2.0, 1.0], [0.0, 1.0, 1.0, 2.0]]
    >>> X[3, 1] = np.nan
    >>> found, filling = completed(Observations(X))
    >>> bool(np.isfinite(found.X).all()), filling.share
    (True, 0.005)
    """
    X = known.X
    if isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X):
        X = np.ma.filled(X.astype(np.result_type(X.dtype, np.float32)), np.nan)
    rows = Rows(X, gaps=True)
    looked = is_sliceable(rows.source) and not is_dataset(rows.source) and not is_lazy(rows.source)
    if not looked or rows.dtype.kind not in "fO" or len(rows) * rows.n_features > MOST_CELLS:
        return known, None
    values = rows.array()
    if not np.isnan(values).any():
        return known, None
    filling = Filling.of(values.reshape(len(values), -1))
    return replace(known, X=filling(values)), filling


def told_of_gaps(filling: Filling) -> str:
    """What was done."""
    return (
        f"{100 * filling.share:.1f} % of X is missing; it was filled with what principal components expect, given the "
        "other values of the row. How well that works is not part of the expected MCC."
    )


@dataclass(frozen=True)
class Survey:
    """The rows that are examined.

    Attributes
    ----------
    source : Any
        The data.
    look : Look
        All examined rows in principal components, from which a fit can start.
    sample : array (m, features)
        Some of these rows, centred.
    rows : array of int
        Numbers of the distinct rows among them.
    points : array (number of distinct rows, components)
        The distinct rows in the principal components above the noise.
    d : int
        Number of factors.
    is_table : bool
    counts : Counts or None
        The scale of counts, if the data are counts.
    starts : dict
        Fits made for the diagnosis, by method: the recommended method continues from there.
    """

    source: Any
    look: Look
    sample: NDArray
    rows: NDArray[np.intp]
    points: Floats
    d: int
    is_table: bool = True
    counts: Counts | None = None
    starts: dict[str, Any] = field(default_factory=dict)

    @property
    def n(self) -> int:
        """Rows of the data."""
        return self.look.n

    @property
    def flat(self) -> bool:
        """Whether d principal components hold everything above the noise."""
        reduction = self.look.reduction
        left = reduction.residuals[min(self.d, len(reduction.residuals)) - 1]
        return bool(FIGURES["flat_residual"].holds(left) or reduction.noise_size <= self.d)

    @cached_property
    def pieces(self) -> tuple[float, int]:
        """Share of the points outside the largest piece, and the number of pieces."""
        return apart(self.points)

    @property
    def disconnected(self) -> bool:
        """Whether more points lie apart than a few outliers."""
        return not FIGURES["apart"].holds(self.pieces[0])

    @cached_property
    def category(self) -> str:
        """What to do about a column whose few values are the pieces, such as a batch among measurements."""
        if not (self.disconnected and self.is_table):
            return ""
        rows = np.concatenate(list(Rows(self.source).picked(self.rows)))
        for j, column in enumerate(rows.T):
            values, level = np.unique(column, return_inverse=True)
            pieces = [self.points[level == i] for i in range(len(values))] if 1 < len(values) <= MOST_LEVELS else []
            if pieces and all(len(piece) > 2 and FIGURES["apart"].holds(apart(piece)[0]) for piece in pieces):
                return (
                    f" {_column(self.source, j)} has {len(values)} values, and each of them is a piece. If it is a "
                    "category, leave it out, or give it as a covariate (covariates=) or a condition (labels=)."
                )
        return ""

    def points_of(self, rows: NDArray[np.intp]) -> Floats:
        """Rows of the data by their numbers, in increasing order, in the principal components above the noise."""
        look = self.look
        source = Rows(self.source)
        source.scale = self.counts
        blocks = [_placed(block, look.reduction, look.screen) for block in source.picked(rows)]
        found = np.concatenate(blocks)[:, : self.points.shape[1]]
        return np.where(np.isnan(found), 0.0, found)  # outliers have no place: the middle

    def leading(self, points: Floats) -> Floats:
        """As many principal components as there are factors."""
        return points[:, : self.d]

    @cached_property
    def noise(self) -> float:
        """Share of the variance of a neighbourhood off its tangent."""
        return off_tangent(self.points[:, :LOCAL_COMPONENTS], self.d)


def _placed(rows: NDArray, reduction: Reduction, screen: "Screen | None") -> Floats:
    """Rows in principal components; NaN for outliers."""
    if screen is None:
        return reduction(rows)
    rows = screen.filled(rows, reduction)
    return np.where(screen.odd(rows, reduction)[:, None], np.nan, reduction(rows))


def survey_of(X: Any, n_factors: int | str, rng: np.random.RandomState) -> tuple[Survey, float]:
    """Read some of the rows, reduce them and estimate their dimension; also return the figure of their structure."""
    source = Rows(X)
    source.scale = counts = counts_of(source)
    n = len(source)
    rows = np.sort(rng.permutation(n)[:MOST_ROWS])
    few = affordable_rows(source.n_features, source.float_dtype.itemsize, len(rows))
    seen = np.sort(rng.permutation(len(rows))[:few])
    sample = np.concatenate(list(source.picked(rows[seen])))
    table = len(source.row_shape) == 1
    reduction, sample, inside, screen = reduce_rows(sample, n_components=None, table=table)
    examined = len(rows)
    if few < len(rows):
        points = np.concatenate([_placed(block, reduction, screen) for block in source.picked(rows)])
        inside = np.isfinite(points[:, 0])
        points = points[inside]
    else:
        points = np.asarray(sample @ reduction.within.T, dtype=np.float64)  # it is centred already
    rows = rows if inside is None else rows[inside]
    first = distinct_rows(points)[0]
    if len(first) < FEWEST_ROWS:
        shape = source.row_shape
        pictures = f" The rows are pictures of the shape {shape}; recordings are ub.Observations.recordings(X)."
        raise ValueError(
            f"X has {len(first)} distinct rows, and a diagnosis needs at least {FEWEST_ROWS}. Provide more data, or "
            f"choose a method by name.{pictures if len(shape) == 2 else ''}"
        )
    structured = structure(sample, rng)
    least = 1 if n_factors == "auto" else int(n_factors) + 1
    holds, wide = FIGURES["structure"].holds(structured), wide_rows(sample, reduction)
    look = Look(reduction, points, n, holds, rows, screen=screen, n_odd=examined - len(rows), wide=wide)
    kept = look.truncated(max(reduction.size_for(FINEST), least))
    look = replace(look, dimension=estimated_dimension(kept) if n_factors == "auto" else None)
    points = kept.points[first]
    d = max(1, min(int(n_factors) if look.dimension is None else look.dimension.dim, points.shape[1]))
    return Survey(X, look, sample, rows[first], points, d, table, counts), structured


def survey_findings(survey: Survey, structured: float) -> list[Finding]:
    """The findings before a fit; without structure, or if the points are disconnected, nothing further is checked."""
    found = [_structure(survey, structured)]
    if not found[0].holds:
        return found
    found += [_outliers(survey)] if survey.look.n_odd else []
    found += [_units(survey)] if survey.is_table else []
    found.append(_connected(survey))
    found.append(_dimension(survey))
    return found if survey.disconnected else [*found, _noise(survey), _linear(survey)]


def quietly(fit: Callable[[], Fitted]) -> Fitted:
    """The result of a fit without its warnings, which the findings make redundant."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnbraidWarning)
        return fit()


def _structure(survey: Survey, figure: float) -> Finding:
    if np.sum(np.ptp(survey.sample, axis=0) > 0) == 1:
        words = "Only one column varies: it is the factor itself."
        return finding("structure", True, None, words)
    words = (
        "The columns depend on each other far more than by chance."
        if FIGURES["structure"].holds(figure)
        else "The columns look independent: there is no structure to find, or each of them is a factor already."
    )
    return measured("structure", figure, words)


def _outliers(survey: Survey) -> Finding:
    examined = len(survey.look.points) + survey.look.n_odd
    words = (
        f"{survey.look.n_odd} of {examined} rows do not belong to the rest: they lie far from all others, or repeat "
        "one row. They were left out."
    )
    return measured("outliers", survey.look.n_odd / examined, words, otherwise=None)


def _units(survey: Survey) -> Finding:
    scale = survey.look.reduction.scale
    variances = survey.sample.var(axis=0, dtype=np.float64)
    if scale is not None:
        variances = np.divide(variances, scale**2, out=np.zeros_like(variances), where=scale > 0)
    largest = int(variances.argmax())
    share = float(variances[largest] / variances.sum())
    holds = True if FIGURES["column_share"].holds(share) or np.sum(variances > 0) == 1 else None
    words = (
        "No single column dominates."
        if holds
        else f"{_column(survey.source, largest)} holds {100 * share:.3g} % of the variance; the others hardly matter."
    )
    if scale is not None and ((scale > 0) & (scale != 1)).any():
        words += " It was scaled down to the spread of the others."
    return finding("column_share", holds, share, words)


def _connected(survey: Survey) -> Finding:
    share, pieces = survey.pieces
    if not survey.disconnected:
        return finding("apart", True, share, "Neighbour graph connected.")
    words = f"The points fall into {pieces} disconnected pieces; {100 * share:.0f} % of them lie outside the largest."
    return finding("apart", False, share, words)


def _column(X: Any, j: int) -> str:
    """A column by its name, or by its number."""
    names = column_names(X)
    return f"Column {j} (counted from 0)" if names is None else f"Column {names[j]!r}"


def _dimension(survey: Survey) -> Finding:
    estimate, d = survey.look.dimension, survey.d
    few = d <= MOST_FACTORS
    if estimate is None:
        return finding("dimension_gap", True if few else None, float(d), f"{counted(d, 'factor')}, as specified.")
    if survey.points.shape[1] == 1:
        return finding("dimension_gap", True, 1.0, "1 factor: the data vary along a single line.")
    if not estimate.clear:
        words = f"The local spectra show no clear gap; the best guess is {counted(d, 'factor')}."
        return finding("dimension_gap", None, float(estimate.gap), words)
    words = f"{counted(d, 'factor')}: the local spectra fall by a factor of {min(estimate.gap, 1e9):.3g} after them."
    more = "" if few else f" More than {MOST_FACTORS} cannot be unrolled from {len(survey.points)} points."
    return finding("dimension_gap", True if few or survey.flat else None, float(estimate.gap), words + more)


def _noise(survey: Survey) -> Finding:
    figure = survey.noise
    words = (
        f"{100 * figure:.0f} % of the variance of a small neighbourhood lies off its tangent space (noise, curvature)."
    )
    return measured("off_tangent", figure, words, otherwise=None)


def _linear(survey: Survey) -> Finding:
    left = float(survey.look.reduction.residuals[min(survey.d, len(survey.look.reduction.residuals)) - 1])
    words = (
        f"Outside {counted(survey.d, 'principal component')} there is {100 * left:.2g} % of the variance, "
        + ("and the rest is noise: the data are flat, and a linear method is exact."
           if survey.flat else "so the data are curved: a linear method is not enough.")
    )  # fmt: skip
    return finding("flat_residual", survey.flat, left, words)
