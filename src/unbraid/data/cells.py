"""AnnData as observations: its numbers made dense, columns of ``obs`` as evidence, and the names of its cells."""

from typing import Any

import numpy as np

MOST_BYTES = 2**32  # of a sparse layer made dense


def column_of_cells(adata: Any, name: str) -> np.ndarray:
    """A column of ``obs``."""
    if name not in adata.obs:
        raise ValueError(
            f"obs has no column {name!r}. Its columns: {', '.join(map(str, adata.obs.columns)) or 'none'}."
        )
    return np.asarray(adata.obs[name])


def values_of_cells(adata: Any, use_rep: str | None = None, layer: str | None = None) -> np.ndarray:
    """The numbers of ``X``, of an entry of ``obsm`` or of a layer, dense."""
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
