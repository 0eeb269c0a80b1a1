"""Missing values in data to diagnose: filled as the spectral methods fill them, which is then said."""

from dataclasses import replace

import numpy as np

from unbraid.data.observations import Observations
from unbraid.data.rows import Rows
from unbraid.data.sources import is_dataset, is_lazy, is_sliceable
from unbraid.spectral.gaps import Filling

MOST_CELLS = 2**27  # that are searched for gaps: 1 GB of float64


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


def told(filling: Filling) -> str:
    """What was done."""
    return (
        f"{100 * filling.share:.1f} % of X is missing; it was filled with what principal components expect, given the "
        "other values of the row. How well that works is not part of the expected MCC."
    )
