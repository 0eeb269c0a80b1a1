"""
An encoder and a decoder for HLLE+ICA
=====================================

HLLE+ICA finds the factors of smooth data, but it has no network: the Hessian autoencoder learns one from its codes,
and then encodes and decodes images that neither of them has seen. A plain autoencoder with the same networks
reconstructs as well and mixes the factors.
"""

import unbraid as ub
from unbraid.report import plot_grid

# %%
# Pictures of a square whose position is all that changes: 600 to learn from, 200 to test on.

X, factors = ub.datasets.load("shapes-xy", image_size=32).sample(800, random_state=0)
new, new_factors = X[600:], factors[600:]
hae = ub.HessianAutoencoder(n_factors=2, preset="patches", max_steps=500, random_state=0).fit(X[:600])
plain = ub.Autoencoder(n_factors=2, preset="patches", max_steps=500, random_state=0).fit(X[:600])
for name, model in (("Hessian autoencoder", hae), ("plain autoencoder", plain)):
    print(f"{name}: MCC on new images {ub.metrics.mcc(new_factors, model.transform(new)):.3f}")

# %%
# Around one image, the first code moves from row to row and the second from column to column: one coordinate each.

codes = hae.transform(new)
figure = plot_grid(
    hae.inverse_transform, codes.mean(0) - codes.std(0), 0.4 * codes.std(0), 6, codes=codes, factors=new_factors
)

# %%
# The plain autoencoder's codes bend and mix them.

codes = plain.transform(new)
figure = plot_grid(
    plain.inverse_transform, codes.mean(0) - codes.std(0), 0.4 * codes.std(0), 6, codes=codes, factors=new_factors
)
