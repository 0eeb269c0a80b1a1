"""
Evidence: the order in time
===========================

Two sources that move by sparse steps, mixed by a random network. The rows follow each other in time; contrastive
learning uses that and nothing else.
"""

import matplotlib.pyplot as plt
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor

import unbraid as ub

dataset = ub.datasets.load("temporal-sources", n_factors=2, random_state=0)
X, sources, time = dataset.sample_recording(5000, random_state=0)

# %%
# How far from linear the mixing is: readers that are told the sources of half of the rows.
for reader in (LinearRegression(), KNeighborsRegressor(10)):
    r2 = reader.fit(X[::2], sources[::2]).score(X[1::2], sources[1::2])
    print(f"{type(reader).__name__}: R2 {r2:.2f}")

# %%
linear = ub.PCAICA(2, random_state=0).fit_transform(X)
codes = ub.Contrastive(2, max_steps=600, null="off", random_state=0).fit(X, time=time).transform(X)
fig, axes = plt.subplots(1, 2, figsize=(7, 3.4), layout="constrained")
for ax, name, found in zip(axes, ("linear ICA", "contrastive, time"), (linear, codes), strict=True):
    ax.scatter(*sources.T, c=found[:, ub.metrics.match(sources, found).code[0]], s=3, cmap="viridis")
    ax.set(xlabel="source 1", ylabel="source 2", title=f"{name}: MCC {ub.metrics.mcc(sources, found):.3f}")
