"""Local isometry against cases with a known answer."""

import numpy as np
import pytest

from tests.facts import facts
from tests.spectral.manifolds import bent_sheets
from unbraid.manifold.neighbors import diagonal_rescaling, isometry_of_pairs
from unbraid.metrics import local_isometry


def test_true_factors_of_an_isometric_manifold_score_one():
    X, factors = bent_sheets(1000, 2)
    assert local_isometry(X, factors) > 0.999
    assert local_isometry(X, factors * [5.0, 0.1] + 3) == pytest.approx(local_isometry(X, factors), abs=1e-9)


def test_entangled_and_random_codes_score_low():
    X, factors = bent_sheets(1000, 2)
    radius = np.hypot(*factors.T)
    angle = np.arctan2(*factors.T) + 6 * radius
    swirled = np.c_[radius * np.cos(angle), radius * np.sin(angle)]
    noise = np.random.default_rng(0).normal(size=factors.shape)
    assert local_isometry(X, factors) > local_isometry(X, swirled) > local_isometry(X, noise)
    assert abs(local_isometry(X, noise)) < 0.15


def test_paper_score_over_the_closest_pairs_by_brute_force():
    X, factors = bent_sheets(60, 2)
    i, j = np.triu_indices(60, 1)
    lengths = np.linalg.norm(X[i] - X[j], axis=1)
    near = np.argsort(lengths)[: round(0.05 * len(lengths))]
    expected = isometry_of_pairs(factors[i[near]] - factors[j[near]], lengths[near])[0]
    assert local_isometry(X, factors, pairs="closest") == pytest.approx(expected, abs=1e-12)


def test_rescaling_is_the_least_squares_one():
    rng = np.random.default_rng(0)
    steps, lengths = rng.normal(size=(200, 3)), rng.uniform(1, 2, size=200)
    best = diagonal_rescaling(steps, lengths)

    def loss(scale):
        return np.sum((np.linalg.norm(steps * scale, axis=1) - lengths) ** 2)

    for nudge in np.vstack([np.eye(3), -np.eye(3)]) * 1e-3:
        assert loss(best) <= loss(best + nudge) + 1e-12


def test_constant_codes_score_zero():
    X, _ = bent_sheets(100, 2)
    assert local_isometry(X, np.ones((100, 2))) == 0


@pytest.mark.parametrize(
    ("X", "codes", "words"),
    [
        (np.zeros((5, 2)), np.zeros((4, 2)), ("X", 5, "codes", 4)),
        (np.zeros((2, 2)), np.zeros((2, 2)), (3, 2)),
        (np.full((5, 2), np.nan), np.zeros((5, 2)), ("NaN",)),
    ],
)
def test_bad_input(X, codes, words):
    with pytest.raises(ValueError, match=facts(*words)):
        local_isometry(X, codes)


def test_unknown_pairs():
    with pytest.raises(ValueError, match=facts("pairs", "'all'", "'edges'", "'closest'")):
        local_isometry(np.eye(4), np.eye(4), pairs="all")
