"""
Evidence: would a shuffled recording have looked the same?
==========================================================

Contrastive learning gives pretty codes for any order of the rows. The null compares with shuffled orders on rows that
were held out, and says which picture means something.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

import unbraid as ub

dataset = ub.datasets.load("temporal-sources", n_factors=2, random_state=0)
X, sources, time = dataset.sample_recording(1500, random_state=0)
orders = {"recorded": time, "shuffled": np.random.default_rng(0).permutation(time)}

# %%
# The shuffled order is refused by UB251; the picture alone would not show it.
fig, axes = plt.subplots(1, 2, figsize=(8, 3), layout="constrained", sharex=True)
for ax, (name, order) in zip(axes, orders.items(), strict=True):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = ub.Contrastive(2, max_steps=100, batch_size=128, null=19, random_state=0).fit(X, time=order)
    print(name, f"p {model.null_.p:.2f}", sorted({str(warning.message)[:5] for warning in caught}))
    ax.hist(model.null_.nulls, bins=10, color="0.7", label="19 shuffled orders")
    ax.axvline(model.null_.score, color="C3", label="the order given")
    score = ub.metrics.mcc(sources, model.transform(X))
    ax.set(xlabel="held-out score", title=f"{name}: p = {model.null_.p:.2f}, MCC {score:.2f}")
    ax.legend(fontsize=8)
