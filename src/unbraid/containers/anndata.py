"""Single cells: fit on an AnnData, codes in ``obsm``, loadings and the model's summary in ``uns``; writing it."""

from collections.abc import Sequence
from os import PathLike
from typing import Any

import numpy as np

from unbraid.data.cells import column_of_cells, values_of_cells
from unbraid.data.observations import Observations
from unbraid.diagnosis.fitting import fit as fit_rows
from unbraid.metrics.matching import correlations
from unbraid.runtime.extras import require


def fit(
    adata: Any,
    method: str = "auto",
    *,
    key_added: str = "X_unbraid",
    use_rep: str | None = None,
    layer: str | None = None,
    labels: str | None = None,
    pairs: str | None = None,
    time: str | None = None,
    sets: str | None = None,
    covariates: Sequence[str] = (),
    **parameters: Any,
) -> Any:
    """Find the factors of single cells, and write them into the AnnData.

    ``adata.obsm[key_added]`` gets the codes, one column per factor. ``adata.uns[key_added]`` gets the method, its
    parameters, its summary, and the ``loadings``: for each variable, its correlation with each code.

    Parameters
    ----------
    adata : AnnData
    method : str
        "auto", or a name of the table of methods, for instance "hessian-ica" or "gin".
    key_added : str
    use_rep : str, optional
        An entry of ``obsm`` to fit instead of ``X``, for instance "X_pca"; usual for thousands of genes.
    layer : str, optional
        A layer to fit instead of ``X``.
    labels, pairs, time, sets : str, optional
        Columns of ``obs``: what is known about the cells, see :class:`~unbraid.Observations`. The two cells of a pair
        have the same number, cells without a partner a negative one.
    covariates : sequence of str
        Columns of ``obs``.
    **parameters
        As of :func:`unbraid.fit`, for instance ``n_factors=3, random_state=0``.

    Returns
    -------
    estimator
        Fitted.

    Examples
    --------
    >>> import anndata
    >>> z = np.random.default_rng(0).uniform(size=(300, 2))
    >>> cells = anndata.AnnData(z @ [[1.0, 2.0, 0.0], [0.0, 1.0, 1.0]])
    >>> model = fit(cells, "pca-ica", n_factors=2, random_state=0)
    >>> cells.obsm["X_unbraid"].shape, cells.uns["X_unbraid"]["loadings"].shape
    ((300, 2), (3, 2))
    """
    columns = {"labels": labels, "pairs": pairs, "time": time, "sets": sets}
    evidence = {kind: column_of_cells(adata, name) for kind, name in columns.items() if name is not None}
    if covariates:
        evidence["covariates"] = np.column_stack([column_of_cells(adata, name) for name in covariates])
    known = Observations(values_of_cells(adata, use_rep, layer), **evidence)
    model = fit_rows(known, method, **parameters)
    method = model.diagnosis_.method if method == "auto" else method
    codes = model.transform(known)
    if not isinstance(codes, np.ndarray):
        raise ValueError(f"{method} finds no table of codes that obsm could hold. Use another method.")
    summary = model.summary()
    adata.obsm[key_added] = codes
    adata.uns[key_added] = {
        "method": method,
        "evidence": dict(model.evidence_),
        "params": {name: repr(value) for name, value in model.get_params(deep=False).items()},
        "facts": {fact.name: fact.value for fact in summary.facts},
        "concerns": "\n".join(summary.concerns),
        "loadings": loadings(values_of_cells(adata, layer=layer), codes),
    }
    return model


def loadings(X: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Correlation (variables, codes) of every variable with every code; 0 where one of them is constant.

    >>> z = np.array([[0.0], [1.0], [2.0]])
    >>> loadings(np.hstack([z, -z, 0 * z]), z).ravel().round(3).tolist()
    [1.0, -1.0, 0.0]
    """
    return correlations(np.asarray(X, dtype=np.float64), np.asarray(codes, dtype=np.float64))


def write(adata: Any, path: str | PathLike, **options: Any) -> None:
    """Write an AnnData to an ``.h5ad`` file, whatever kind of text its tables hold.

    From version 3 on, pandas keeps texts in Arrow's arrays, which ``adata.write_h5ad`` of anndata 0.12 refuses. Here
    they are written as Python's strings; ``adata`` itself stays as it is.

    Parameters
    ----------
    adata : AnnData
    path : path
    **options
        As of ``AnnData.write_h5ad``, for instance ``compression="gzip"``.

    Examples
    --------
    >>> import anndata, tempfile, os
    >>> cells = anndata.AnnData(np.eye(3), obs={"batch": ["a", "b", "a"]})
    >>> path = os.path.join(tempfile.mkdtemp(), "cells.h5ad")
    >>> write(cells, path)
    >>> anndata.read_h5ad(path).obs["batch"].tolist()
    ['a', 'b', 'a']
    """
    anndata = require("anndata", "cells")
    parts = {name: dict(getattr(adata, name)) for name in ("obsm", "varm", "layers", "obsp", "varp")}
    plain = anndata.AnnData(
        adata.X, obs=_plain(adata.obs), var=_plain(adata.var), uns=_plain(dict(adata.uns)), **_plain(parts)
    )
    if adata.raw is not None:
        plain.raw = anndata.AnnData(adata.raw.X, obs=plain.obs[[]], var=_plain(adata.raw.var))
    plain.write_h5ad(path, convert_strings_to_categoricals=False, **options)


def _plain(value: Any) -> Any:
    """Frames, wherever they are, with Python's strings for texts and dates."""
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    if not (hasattr(value, "columns") and hasattr(value, "iloc")):
        return value
    frame = value.copy(deep=False)
    if frame.index.dtype.kind == "O":
        frame.index = frame.index.astype(object)
    for name in frame.columns:
        column = frame[name]
        if hasattr(column, "cat"):
            frame[name] = column.cat.rename_categories(column.cat.categories.astype(object))
        elif column.dtype.kind in "mM":
            frame[name] = column.astype(str).astype(object)
        elif column.dtype.kind == "O":
            frame[name] = column.astype(object)
    return frame
