"""
Evidence: pairs in which one thing changed
==========================================

Pictures of a square, in pairs between which x or y changed, nobody says which. AdaGVAE learns from that; a VAE of the
same size without pairs does not.
"""

import matplotlib.pyplot as plt

import unbraid as ub

dataset = ub.datasets.load("shapes-xy", image_size=32)
pairs = dataset.sample_observations(1500, random_state=0, changed=1)
X, factors = dataset.sample(1000, random_state=1)

# %%
settings = {"max_steps": 600, "random_state": 0}
found = {
    "linear ICA": ub.PCAICA(2, random_state=0).fit(pairs.X).transform(X),
    "VAE, no pairs": ub.BetaVAE(2, **settings).fit(pairs.X).transform(X),
    "AdaGVAE, pairs": ub.AdaGVAE(2, null="off", **settings).fit(pairs.X, pairs=pairs.pairs).transform(X),
}
fig, axes = plt.subplots(1, 3, figsize=(9, 3.2), layout="constrained")
for ax, (name, codes) in zip(axes, found.items(), strict=True):
    ax.scatter(*factors.T, c=codes[:, ub.metrics.match(factors, codes).code[0]], s=4, cmap="turbo")
    ax.set(xlabel="x", ylabel="y", title=f"{name}: MCC {ub.metrics.mcc(factors, codes):.2f}")
