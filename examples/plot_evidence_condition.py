"""
Evidence: a condition for each row
==================================

Two sources whose spread changes from segment to segment, mixed by a random network. A flow whose prior depends on the
segment finds them better than the same flow without segments, and than linear ICA.
"""

import matplotlib.pyplot as plt
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor

import unbraid as ub

dataset = ub.datasets.load("nonstationary", n_factors=2, random_state=0)
X, sources, segments = dataset.sample_conditional(6000, random_state=0)

# %%
# How far from linear the mixing is: readers that are told the sources of half of the rows.
for reader in (LinearRegression(), KNeighborsRegressor(10)):
    r2 = reader.fit(X[::2], sources[::2]).score(X[1::2], sources[1::2])
    print(f"{type(reader).__name__}: R2 {r2:.2f}")

# %%
settings = {"max_steps": 500, "n_init": 1, "null": "off", "random_state": 0}
found = {
    "linear ICA": ub.PCAICA(2, random_state=0).fit_transform(X),
    "flow, no segments": ub.RealNVP(**settings).fit(X).transform(X),
    "flow, segments": ub.RealNVP(**settings).fit(X, segments).transform(X),
}
fig, axes = plt.subplots(1, 3, figsize=(9, 3.2), layout="constrained")
for ax, (name, codes) in zip(axes, found.items(), strict=True):
    ax.scatter(*sources.T, c=codes[:, ub.metrics.match(sources, codes).code[0]], s=2, cmap="viridis")
    ax.set(xlabel="source 1", ylabel="source 2", title=f"{name}: MCC {ub.metrics.mcc(sources, codes):.2f}")
