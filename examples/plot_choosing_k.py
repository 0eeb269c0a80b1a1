"""
Choosing the neighbourhood without labels
=========================================

How many neighbours? Too few are noisy, too many bend. The factors are not known, so the choice has to come from what
the method assumes: neighbours keep their distances (local isometry), and the codes are independent. Here the factors
are known to us, and we can see whether the choice is right.
"""

import warnings

import numpy as np

import unbraid as ub
from unbraid.spectral.selection import score

X, factors = ub.datasets.load("shapes-xy", image_size=32, edge=0).sample(800, random_state=0)  # crisp edges: harder
model = ub.HessianICA(n_factors=2, random_state=0).fit(X)
selection = model.selection_
print(selection)

# %%
# The score that was maximised, for every setting; red is the one that was kept.

candidates = selection.candidates
scores = [score(selection.rule, c) for c in candidates]
figure = ub.report.plot_selection(
    [c.n_neighbors for c in candidates],
    scores,
    [c.pca_components for c in candidates],
    chosen=candidates.index(selection.chosen),
    excluded=[bool(c.excluded) for c in candidates],
)

# %%
# And the truth: the MCC of each neighbourhood size, at the PCA size that was chosen. The largest neighbourhoods warn.

warnings.simplefilter("ignore", ub.warnings.UnbraidWarning)
sizes = sorted({c.n_neighbors for c in candidates})
found = []
for k in sizes:
    trial = ub.HessianICA(2, k, pca_components=model.pca_components_, random_state=0)
    found.append(ub.metrics.mcc(factors, trial.fit_transform(X)))
    print(f"k = {k:3d}   MCC {found[-1]:.4f}{'   chosen' if k == model.n_neighbors_ else ''}")
print(f"lost by not knowing the factors: {np.max(found) - found[sizes.index(model.n_neighbors_)]:.4f}")
