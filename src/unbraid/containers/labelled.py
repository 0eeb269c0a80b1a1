"""Arrays with named axes: an ``xarray.DataArray`` in, one with the same coordinates and an axis of factors out."""

from typing import Any

from unbraid.data.observations import Observations
from unbraid.runtime.extras import require


def transform(model: Any, X: Any, *, dim: str | None = None) -> Any:
    """Codes of a DataArray, with its coordinates along the axis of the observations.

    Parameters
    ----------
    model : fitted estimator
        With ``transform``.
    X : xarray.DataArray
    dim : str, optional
        The axis of the observations; by default the first.

    Returns
    -------
    xarray.DataArray
        Of the axes (dim, "factor").

    Examples
    --------
    >>> import numpy as np, xarray, unbraid as ub
    >>> z = np.random.default_rng(0).uniform(size=(300, 2)) @ [[1.0, 2.0, 0.0], [0.0, 1.0, 1.0]]
    >>> wind = xarray.DataArray(z, dims=("time", "place"), coords={"time": np.arange(300)})
    >>> codes = fit_transform(ub.PCAICA(2, random_state=0), wind)
    >>> codes.dims, int(codes.time[7])
    (('time', 'factor'), 7)
    """
    rows = _rows_first(X, dim)
    return _labelled(model.transform(rows.values), rows)


def fit_transform(model: Any, X: Any, *, dim: str | None = None, **evidence: Any) -> Any:
    """Fit on a DataArray, and give its codes as :func:`transform` does.

    Parameters
    ----------
    model : estimator
    X : xarray.DataArray
    dim : str, optional
        The axis of the observations; by default the first.
    **evidence
        What is known about the observations, see :class:`~unbraid.Observations`: names of coordinates along their axis,
        or arrays.

    Returns
    -------
    xarray.DataArray

    Examples
    --------
    >>> import numpy as np, xarray, unbraid as ub
    >>> day, noise = np.arange(300), np.random.default_rng(0).normal(size=(309, 2))
    >>> slow = np.convolve(noise[:, 0], np.ones(10), "valid")
    >>> z = np.column_stack([slow, noise[:300, 1]]) @ [[1.0, 2.0, 0.0], [0.0, 1.0, 1.0]]
    >>> wind = xarray.DataArray(z, dims=("day", "place"), coords={"day": day})
    >>> model = ub.PCAICA(2, rotation="time", random_state=0)
    >>> fit_transform(model, wind, time="day").shape, list(model.evidence_)
    ((300, 2), ['time'])
    """
    rows = _rows_first(X, dim)
    known = {kind: _coordinate(rows, value) if isinstance(value, str) else value for kind, value in evidence.items()}
    return _labelled(model.fit_transform(Observations(rows.values, **known)), rows)


def _coordinate(rows: Any, name: str) -> Any:
    found = {key: value.values for key, value in rows.coords.items() if value.dims == rows.dims[:1]}
    if name not in found:
        raise ValueError(f"X has no coordinate {name!r} along {rows.dims[0]!r}. It has: {', '.join(found) or 'none'}.")
    return found[name]


def _rows_first(X: Any, dim: str | None) -> Any:
    xarray = require("xarray", "cells")
    if not isinstance(X, xarray.DataArray):
        raise TypeError(f"X is a {type(X).__name__}; it must be an xarray.DataArray. Of a Dataset, choose a variable.")
    if dim is not None and dim not in X.dims:
        raise ValueError(f"X has no axis {dim!r}. Its axes: {', '.join(map(str, X.dims))}.")
    return X if dim is None else X.transpose(dim, ...)


def _labelled(codes: Any, rows: Any) -> Any:
    xarray = require("xarray", "cells")
    axis = rows.dims[0]
    kept = {name: value for name, value in rows.coords.items() if value.dims == (axis,)}
    return xarray.DataArray(codes, dims=(axis, "factor"), coords=kept, name="codes")
