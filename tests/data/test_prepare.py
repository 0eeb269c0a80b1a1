"""What is done to spectra before a fit, against what it must take out."""

import numpy as np

from unbraid import datasets
from unbraid.data.prepare import prepared

AXIS = np.linspace(0, 1, 60)
PEAKS = np.exp(-(((AXIS - np.array([[0.3], [0.7]])) / 0.1) ** 2))
RNG = np.random.default_rng(0)
AMOUNTS = RNG.uniform(size=(50, 2))
SPECTRA = 1 + AMOUNTS @ PEAKS


def test_a_derivative_takes_out_baselines():
    lifted = SPECTRA + RNG.uniform(size=(50, 1))
    np.testing.assert_allclose(prepared(lifted, ["derivative"]), prepared(SPECTRA, ["derivative"]), atol=1e-12)
    parabolas = RNG.normal(size=(5, 3)) @ np.arange(60.0) ** np.arange(3)[:, None]
    np.testing.assert_allclose(prepared(parabolas, ["derivative"]), np.gradient(parabolas, axis=1, edge_order=2))


def test_snv_takes_out_scatter_and_brightness():
    scattered = RNG.uniform(1, 2, size=(50, 1)) * SPECTRA + RNG.uniform(size=(50, 1))
    np.testing.assert_allclose(prepared(scattered, ["snv"]), prepared(SPECTRA, ["snv"]))


def test_a_logarithm_makes_sums_of_products():
    np.testing.assert_allclose(prepared(np.exp(SPECTRA), ["log"]), SPECTRA)


def test_arrays_are_prepared_too_and_constant_columns_stay(tmp_path):
    values = np.c_[SPECTRA, np.ones(50)]
    np.save(tmp_path / "a.npy", values)
    found = datasets.open(tmp_path / "a.npy", prepare=["spread"])
    np.testing.assert_allclose(found[:].std(axis=0), [1] * 60 + [0])
    assert found.decisions == ["prepared: spread"]
