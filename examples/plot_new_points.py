"""
New points, and the way back
============================

A fitted model places new observations by local affine maps, says how far each is to be trusted, and makes observations
from codes.
"""

import numpy as np

import unbraid as ub

dataset = ub.datasets.load("shapes-xy", image_size=32)
X, factors = dataset.sample(1500, random_state=0)
X_new, factors_new = dataset.sample(500, random_state=1)
model = ub.HessianICA(n_factors=2, random_state=0).fit(X)

# %%
# Codes of pictures that the model has not seen, and their error estimates.

codes_new = model.transform(X_new)
errors = model.transform_error(X_new)
print(f"MCC on new pictures {ub.metrics.mcc(factors_new, codes_new):.4f}")
print(f"median error estimate {np.median(errors):.4f} standard deviations")

# %%
# A picture that is not of this kind gets a large estimate.

two_squares = np.maximum(X_new[:1], X_new[1:2])
print(f"two squares in one picture: {model.transform_error(two_squares)[0]:.2f}")

# %%
# From codes to pictures: one code moves, the other is held in the middle.

codes = model.transform(X)
strips = ub.report.plot_traversals(model.inverse_transform, codes, span="quantiles", base="median")

# %%
# There and back: the error of a picture that is coded and decoded, next to how much pictures differ.

again = model.inverse_transform(codes_new)
print(f"error {np.sqrt(np.mean((again - X_new) ** 2)):.4f}, spread {X_new.std(axis=0).mean():.4f}")
