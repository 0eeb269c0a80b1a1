"""
A microscope stack
==================

Counts of a 16-bit camera keep their values: every frame of the stack is an observation, and the codes follow the spot.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import tifffile

import unbraid as ub

# %%
# A spot that moves under the objective, as a 12-bit camera stores it: counts, with an offset and shot noise.
rng = np.random.default_rng(0)
place = rng.uniform(size=(600, 2))
axis = np.linspace(-0.3, 1.3, 24)
squares = (axis[:, None] - place[:, 0, None, None]) ** 2 + (axis - place[:, 1, None, None]) ** 2
counts = rng.poisson(100 + 3000 * np.exp(-squares / 0.09)).astype(np.uint16)
stack = Path(tempfile.mkdtemp()) / "stack.tif"
tifffile.imwrite(stack, counts)

# %%
# ``open`` reads nothing yet; what is read later is what was stored.
frames = ub.datasets.open(stack)
print(frames)
model = ub.HessianICA(n_factors=2, random_state=0).fit(frames)
codes = model.transform(frames)
print(f"agreement with the true place (MCC): {ub.metrics.mcc(place, codes):.3f}")

# %%
figure, axes = plt.subplots(1, 3, figsize=(9, 3), layout="constrained")
axes[0].imshow(frames[0], cmap="gray")
axes[0].set_title("one frame, in counts")
for axis_, values, name in zip(axes[1:], place.T, ("first", "second"), strict=True):
    axis_.scatter(*codes.T, c=values, s=8)
    axis_.set(title=f"colour: {name} place", xlabel="code 1", ylabel="code 2")
