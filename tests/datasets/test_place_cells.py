"""Cells along a path: rates by their formula, bins by interpolation, and what is said without the file."""

import numpy as np
import pytest

from tests.datasets import originals
from tests.facts import facts
from unbraid import datasets


@pytest.fixture
def path(tmp_path):
    originals.place_cells(tmp_path)
    return tmp_path / "sargolini.npz"


def test_counts_are_poisson_with_the_rates_of_the_formula(path):
    data = datasets.load("place-cells", n_cells=6, n_directions=3, width=0.3, rate=20.0, bin=0.5, file=path)
    factors = np.tile([[0.4, 0.7, 1.0]], (20_000, 1))
    far = ((data.centres - [0.4, 0.7]) ** 2).sum(axis=1)
    rates = 10 * np.r_[np.exp(-far / (2 * 0.3**2)), np.exp(2 * (np.cos(1.0 - data.headings) - 1))]
    counts = data.observe(factors, 0)
    np.testing.assert_allclose(counts.mean(axis=0), rates, atol=4 * np.sqrt(10 / 20_000))
    np.testing.assert_allclose(counts.var(axis=0), rates, rtol=0.06)


def test_the_path_is_that_of_the_file(path, tmp_path):
    data = datasets.load("place-cells", n_cells=2, n_directions=1, file=path)
    X, factors, time = data.sample_recording(data.n_rows, random_state=0)
    middle = 0.05 + time
    np.testing.assert_allclose(factors[:, :2], 0.5 + 0.45 * np.sin(middle[:, None] * [0.31, 0.47]), atol=1e-3)
    heading = np.arctan2(0.47 * np.cos(0.47 * middle), 0.31 * np.cos(0.31 * middle))
    assert np.abs(np.angle(np.exp(1j * (factors[:, 2] - heading))))[1:-1].max() < 0.01
    with pytest.raises(ValueError, match=facts(data.n_rows + 1, data.n_rows, 0.1)):
        data.sample(data.n_rows + 1)
    np.savez(tmp_path / "other.npz", t=np.arange(5.0), pos=np.zeros((4, 2)))
    with pytest.raises(ValueError, match=facts("other.npz", "(5,)", "(4, 2)")):
        datasets.load("place-cells", file=tmp_path / "other.npz")


def test_without_the_file_it_says_how_to_get_it(monkeypatch, tmp_path):
    monkeypatch.setenv("UNBRAID_DATA", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=facts("sargolini.npz", "datasets get place-cells", "file=")):
        datasets.load("place-cells")
    with pytest.raises(ValueError, match=facts("width", -1.0)):
        datasets.load("place-cells", width=-1.0)
