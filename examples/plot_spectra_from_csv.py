"""
Spectra from a CSV file
=======================

Columns by name: the spectrum is data, and the concentrations beside it are only there to score the result.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas

import unbraid as ub
from unbraid.data.frames import column_of

# %%
# A mixture of two substances, measured at 40 wavelengths.
rng = np.random.default_rng(0)
amounts = rng.uniform(size=(400, 2))
wavelengths = np.linspace(400, 700, 40)
lines = np.exp(-(((wavelengths - np.array([[500], [560]])) / 40) ** 2))
names = [f"{w:.0f} nm" for w in wavelengths]
table = pandas.DataFrame(amounts @ lines + 0.005 * rng.normal(size=(400, 40)), columns=names)
path = Path(tempfile.mkdtemp()) / "spectra.csv"
table.assign(dye=amounts[:, 0], salt=amounts[:, 1]).to_csv(path, index=False)

# %%
# The same on the command line: ``unbraid fit spectra.csv --method pca-ica --factors 2 --factors-from dye,salt``.
spectra = ub.datasets.open(path, columns=names)
truth = np.column_stack([column_of(path, name) for name in ("dye", "salt")])
model = ub.PCAICA(n_factors=2, random_state=0).fit(spectra)
print(f"agreement with the amounts (MCC): {ub.metrics.mcc(truth, model.transform(spectra)):.3f}")

# %%
# Each column of ``mixing_`` is the spectrum of one factor.
plt.figure(figsize=(6, 3), layout="constrained")
plt.plot(wavelengths, model.mixing_ / np.abs(model.mixing_).max(axis=0) * np.sign(model.mixing_.sum(axis=0)))
plt.plot(wavelengths, lines.T, "k:", label=["true spectra", None])
plt.xlabel("wavelength (nm)")
plt.legend()
