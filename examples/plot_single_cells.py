"""
Single cells in an AnnData
==========================

Codes go to ``obsm``, where other tools look for them; loadings say which genes go with which factor.
"""

import anndata
import matplotlib.pyplot as plt
import numpy as np

import unbraid as ub

# %%
# Made cells: two independent programmes (a cell cycle and a response), 30 genes each, and 20 that follow neither.
rng = np.random.default_rng(0)
programmes = rng.uniform(size=(500, 2))
weights = np.zeros((2, 80))
weights[0, :30], weights[1, 30:60] = rng.uniform(1, 2, (2, 30))
expression = programmes @ weights + 0.1 * rng.normal(size=(500, 80))
cells = anndata.AnnData(expression)

# %%
ub.anndata.fit(cells, "pca-ica", n_factors=2, random_state=0)
print(cells)
print(f"agreement with the programmes (MCC): {ub.metrics.mcc(programmes, cells.obsm['X_unbraid']):.3f}")

# %%
plt.figure(figsize=(6, 3), layout="constrained")
plt.imshow(cells.uns["X_unbraid"]["loadings"].T, aspect="auto", cmap="RdBu", vmin=-1, vmax=1)
plt.yticks([0, 1], ["code 1", "code 2"])
plt.xlabel("gene")
plt.colorbar(label="correlation")
