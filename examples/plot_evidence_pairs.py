"""
Evidence: pairs in which one thing changed
==========================================

Two sources, mixed by a random network, in pairs between which one of them changed; nobody says which. Contrastive
learning finds both. AdaGVAE is made for pictures and does not find them here in 1000 steps.
"""

import matplotlib.pyplot as plt
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor

import unbraid as ub

dataset = ub.datasets.load("temporal-sources", n_factors=2, random_state=0)
seen = dataset.sample_observations(2000, random_state=0, changed=1)
X, sources = dataset.sample(2000, random_state=1)

# %%
# How far from linear the mixing is: readers that are told the sources of all rows in pairs, scored on new rows.
for reader in (LinearRegression(), KNeighborsRegressor(10)):
    print(f"{type(reader).__name__}: R2 {reader.fit(seen.X, seen.factors).score(X, sources):.2f}")

# %%
models = {
    "linear ICA": ub.PCAICA(2, random_state=0).fit(seen.X),
    "VAE, no pairs": ub.BetaVAE(2, max_steps=1000, random_state=0).fit(seen.X),
    "AdaGVAE": ub.AdaGVAE(2, max_steps=1000, null="off", random_state=0).fit(seen.X, pairs=seen.pairs),
    "contrastive": ub.Contrastive(2, max_steps=600, null="off", random_state=0).fit(seen.X, pairs=seen.pairs),
}
fig, axes = plt.subplots(1, 4, figsize=(11, 3), layout="constrained")
for ax, (name, model) in zip(axes, models.items(), strict=True):
    codes = model.transform(X)
    ax.scatter(*sources.T, c=codes[:, ub.metrics.match(sources, codes).code[0]], s=3, cmap="viridis")
    ax.set(xlabel="source 1", ylabel="source 2", title=f"{name}: MCC {ub.metrics.mcc(sources, codes):.2f}")
