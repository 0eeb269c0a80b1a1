"""Single cells: fit on an AnnData, codes in ``obsm``, loadings and the model's summary in ``uns``."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from unbraid.data.observations import Observations
from unbraid.diagnosis.diagnose import fit as fit_rows
from unbraid.metrics.matching import correlations

MOST_BYTES = 2**32  # of a sparse layer made dense


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
    evidence = {kind: _column(adata, name) for kind, name in columns.items() if name is not None}
    if covariates:
        evidence["covariates"] = np.column_stack([_column(adata, name) for name in covariates])
    known = Observations(_values(adata, use_rep, layer), **evidence)
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
        "loadings": loadings(_values(adata, None, layer), codes),
    }
    return model


def loadings(X: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Correlation (variables, codes) of every variable with every code; 0 where one of them is constant.

    >>> z = np.array([[0.0], [1.0], [2.0]])
    >>> loadings(np.hstack([z, -z, 0 * z]), z).ravel().round(3).tolist()
    [1.0, -1.0, 0.0]
    """
    return correlations(np.asarray(X, dtype=np.float64), np.asarray(codes, dtype=np.float64))


def _column(adata: Any, name: str) -> np.ndarray:
    if name not in adata.obs:
        raise ValueError(
            f"obs has no column {name!r}. Its columns: {', '.join(map(str, adata.obs.columns)) or 'none'}."
        )
    return np.asarray(adata.obs[name])


def _values(adata: Any, use_rep: str | None, layer: str | None) -> np.ndarray:
    """The numbers to fit, dense."""
    if use_rep is not None and layer is not None:
        raise ValueError(f"use_rep={use_rep!r} and layer={layer!r} are both given; leave one out.")
    for name, places, word in ((use_rep, adata.obsm, "obsm"), (layer, adata.layers, "layers")):
        if name is not None and name not in places:
            raise ValueError(f"{word} has no {name!r}; it has: {', '.join(places) or 'nothing'}.")
    values = adata.X if use_rep is None and layer is None else adata.obsm[use_rep] if use_rep else adata.layers[layer]
    if values is None:
        raise ValueError("adata.X is None; name a layer or an entry of obsm (use_rep='X_pca').")
    if not hasattr(values, "toarray"):
        return np.asarray(values)
    needed = values.shape[0] * values.shape[1] * values.dtype.itemsize
    if needed > MOST_BYTES:
        raise ValueError(
            f"X is sparse, and dense it takes {needed / 2**30:.1f} GiB. Reduce it first (sc.pp.pca) and give "
            "use_rep='X_pca', or choose highly variable genes."
        )
    return values.toarray()
