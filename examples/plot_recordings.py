"""
Recordings with time
====================

One frame of a pendulum shows where it is, not where it goes. Windows of two frames show both.
"""

import matplotlib.pyplot as plt
import numpy as np

import unbraid as ub

# %%
# Thirty swings from random starts, each seen by one sensor.
rng = np.random.default_rng(0)
t = np.arange(40) * 0.15
size, phase = rng.uniform(0.3, 1, 30), rng.uniform(0, 2 * np.pi, 30)
recordings = [(a * np.sin(t + p))[:, None] for a, p in zip(size, phase, strict=True)]
speeds = [(a * np.cos(t + p)) for a, p in zip(size, phase, strict=True)]

# %%
# No window reaches from one recording into the next; ``places`` says where each row comes from.
windows = ub.DelayEmbedding(window=2, lag=4).fit(recordings)
rows = windows.transform(recordings)
recording, time = windows.places(recordings).T
speed = np.array([speeds[r][s] for r, s in zip(recording, time, strict=True)])
codes = ub.PCAICA(n_factors=2, random_state=0).fit_transform(rows)
fit = np.linalg.lstsq(np.column_stack([codes, np.ones(len(codes))]), speed, rcond=None)
explained = 1 - float(fit[1][0]) / ((speed - speed.mean()) ** 2).sum()
print(f"share of the speed's variance that two codes explain: {explained:.4f}")

# %%
plt.figure(figsize=(4.5, 4), layout="constrained")
plt.scatter(*codes.T, c=speed, s=6)
plt.colorbar(label="speed, which no single frame shows")
plt.xlabel("code 1")
plt.ylabel("code 2")
