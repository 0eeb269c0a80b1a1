"""
Two factors of a moving square
==============================

Pictures of a white square on black: 1024 pixels, but only two things change. PCA + ICA, a linear method, mixes them;
Hessian eigenmaps followed by ICA (HLLE + ICA) finds them.
"""

import unbraid as ub

dataset = ub.datasets.load("shapes-xy", image_size=32)
X, factors = dataset.sample(1500, random_state=0)
pictures = ub.report.plot_images(X[:24])

# %%
# The linear method first. Each dot is a picture at its true position, coloured by a code: bands should run straight
# along one axis. They do not.

linear = ub.PCAICA(n_factors=2, random_state=0).fit_transform(X)
linear_map = ub.report.plot_factor_maps(factors, linear, factor_names=dataset.factor_names)
print(f"PCA+ICA   MCC {ub.metrics.mcc(factors, linear):.4f}")

# %%
# HLLE + ICA, with everything chosen from the data. The factors are used for the score only.

model = ub.HessianICA(n_factors="auto", random_state=0)
codes = model.fit_transform(X)
factor_map = ub.report.plot_factor_maps(factors, codes, factor_names=dataset.factor_names)
print(f"HLLE+ICA  MCC {ub.metrics.mcc(factors, codes):.4f}")

# %%
# Without known factors, this is what to look at:

print(model.diagnostics_)
