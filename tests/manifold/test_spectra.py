"""White noise of known variance, and flat balls."""

import numpy as np
import pytest

from unbraid.manifold.spectra import flat_ratios, has_structure, noise_floor


def spectrum(X):
    return np.linalg.svd(X - X.mean(axis=0), compute_uv=False) ** 2


@pytest.mark.parametrize("shape", [(2000, 40), (300, 300), (100, 1000)])
@pytest.mark.parametrize("signals", [0, 3])
def test_variance_and_signals_are_found(shape, signals):
    rng = np.random.default_rng(0)
    X = 0.2 * rng.normal(size=shape)
    directions = np.linalg.qr(rng.normal(size=(shape[1], 3)))[0][:, :signals]
    X += 5 * rng.normal(size=(shape[0], signals)) @ directions.T
    found = noise_floor(spectrum(X), *shape)
    assert found.size == signals
    assert found.variance == pytest.approx(0.04, rel=0.03)


def test_noise_seldom_passes_the_edge():
    rng = np.random.default_rng(0)
    sizes = [noise_floor(spectrum(rng.normal(size=(200, 50))), 200, 50).size for _ in range(200)]
    assert np.mean(sizes) < 0.02


def test_a_falling_spectrum_is_no_noise():
    assert noise_floor(np.geomspace(1, 1e-6, 50), 1000, 50).variance == 0
    assert noise_floor(np.ones(5), 1000, 5).variance == 0


def test_structure_is_dependence_between_features():
    rng = np.random.default_rng(0)
    z = rng.uniform(size=(500, 1))
    assert not has_structure(rng.exponential(size=(500, 8)), np.random.RandomState(0))
    assert has_structure(np.c_[np.cos(6 * z), np.sin(6 * z)], np.random.RandomState(0))  # uncorrelated, not independent
    assert has_structure(z @ rng.normal(size=(1, 20)) + rng.normal(size=(500, 20)), np.random.RandomState(0))


def test_flat_ratios_match_a_large_simulation():
    rng = np.random.default_rng(1)
    points = rng.normal(size=(2000, 24, 3))
    points *= rng.uniform(size=(2000, 24, 1)) ** (1 / 3) / np.linalg.norm(points, axis=2, keepdims=True)
    values = np.array([np.linalg.eigvalsh(np.cov(p.T)) for p in points])
    expected = np.exp(np.log(values[:, 1] / values[:, 0]).mean()), np.exp(np.log(values[:, 0] / values[:, 2]).mean())
    np.testing.assert_allclose(flat_ratios(24, 3), expected, rtol=0.1)
