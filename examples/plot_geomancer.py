"""
Split a product of two spheres
==============================

Points on S2 x S2, turned at random into twenty dimensions. GEOMANCER finds the two spheres, says how sure it is, and
gives coordinates on each.
"""

import numpy as np

import unbraid as ub
from unbraid.manifold import largest_angles
from unbraid.report import plot_angles, plot_eigenvalues, plot_subspaces

data = ub.datasets.load("product-manifold", manifolds=["S2", "S2"], n_features=20)
X, states = data.sample(2000, random_state=0)
model = ub.Geomancer(random_state=0).fit(X)
print(model.n_submanifolds_, model.dims_, f"gap {model.gap_:.3g}")

# %%
# One eigenvalue lies below the gap, so there are two submanifolds.
spectrum = plot_eigenvalues(model.spectrum_, model.n_submanifolds_, scale=model.scale_)

# %%
# In the plane of the first sphere, its own subspaces are tangent to it and the other's shrink to points.
true = data.tangents(states)
plane = np.linalg.svd(true[0].transpose(1, 0, 2).reshape(20, -1), full_matrices=False)[0][:, :3]
strokes = plot_subspaces(X, model.subspaces_, plane=plane)

# %%
# The angle to the true tangent spaces, point by point.
pairs = min(
    ([(true[0], model.subspaces_[i]), (true[1], model.subspaces_[1 - i])] for i in (0, 1)),
    key=lambda pair: largest_angles(*pair[0]).mean(),
)
angles = plot_angles([largest_angles(*pair) for pair in pairs])

# %%
# Coordinates on each sphere, and an analogy: d has the place of b on one sphere and of c on the other.
first, second = model.charts()
print(first.kind, first.coordinates.shape, f"purity {first.purity:.3f}")
