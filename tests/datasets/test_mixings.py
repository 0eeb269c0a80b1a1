"""Mixings that are nonlinear by measure: what their volume does, and what simple methods get from them."""

import numpy as np
import pytest

from tests.facts import facts
from unbraid import datasets
from unbraid.datasets.difficulty import difficulty
from unbraid.datasets.mixing import RandomFolds


def log_determinant(mixing, z, step=1e-5):
    """log|det J| of a mixing at points z, by central differences."""
    d = z.shape[1]
    moved = z[:, None] + step * np.concatenate([np.eye(d), -np.eye(d)])
    x = mixing.forward(moved.reshape(-1, d)).reshape(len(z), 2, d, d)
    return np.linalg.slogdet((x[:, 0] - x[:, 1]) / (2 * step))[1]


@pytest.mark.parametrize("n_features", [2, 5, 10])
def test_volume_is_kept_or_changed_as_asked(n_features):
    z = np.random.default_rng(0).normal(scale=3, size=(20, n_features))
    keeps, changes = (RandomFolds(n_features, 2, keep_volume=kept, random_state=1) for kept in (True, False))
    np.testing.assert_allclose(log_determinant(keeps, z), 0, atol=1e-6)
    assert log_determinant(changes, z).std() > 0.5
    for mixing in (keeps, changes):
        np.testing.assert_allclose(mixing.inverse(mixing.forward(z)), z, atol=1e-9)


@pytest.mark.parametrize("mixing", ["volume-preserving", "volume-changing"])
@pytest.mark.parametrize("seed", [0, 1, 100, 101])
def test_nonlinear_mixings_have_their_stated_difficulty_on_fresh_points(mixing, seed):
    """The limits with a margin for other points than those it was drawn by."""
    data = datasets.load("gin-mixture", mixing=mixing, random_state=seed)
    assert data.difficulty.is_nonlinear
    found = difficulty(*data.sample(3000, random_state=7))
    assert found.linear <= 0.87
    assert max(found.raw, found.pca_ica) <= 0.8
    assert found.neighbors >= 0.94


def test_the_papers_mixing_is_nearly_linear():
    found = datasets.load("gin-mixture").difficulty
    assert found.linear > 0.98
    assert not found.is_nonlinear


def test_difficulty_of_known_answers():
    rng = np.random.default_rng(0)
    factors = rng.uniform(-1, 1, (2000, 2))
    assert difficulty(rng.normal(size=(2000, 3)), factors).neighbors < 0.1  # X says nothing
    plain = difficulty(factors, factors)
    assert plain.raw == pytest.approx(1)
    assert plain.linear == pytest.approx(1)
    assert plain.pca_ica > 0.99
    squared = difficulty(np.column_stack([factors[:, 0] ** 2, factors[:, 1]]), factors[:, :1])
    assert squared.linear < 0.05


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"mixing": "twisted"}, ("twisted", "volume-preserving")),
        ({"mixing": "volume-changing", "n_factors": 1}, (1, "realnvp")),
    ],
)
def test_mixings_that_cannot_be(settings, expected):
    with pytest.raises(ValueError, match=facts(*expected)):
        datasets.load("gin-mixture", **settings)
