"""How far codes may be turned, where the truth is known."""

import warnings

import numpy as np
import pytest

import unbraid as ub
from unbraid.metrics import mcc
from unbraid.spectral.figures import _bootstrap_turns, code_uncertainty
from unbraid.spectral.ica import CONTRASTS, best_rotation, half_density_weights, turns, whitening
from unbraid.trust.table import FIGURES
from unbraid.trust.warnings import UnbraidWarning


def found_on(factors, seed=0):
    rng = np.random.RandomState(seed)
    mixed = factors @ np.random.default_rng(seed).normal(size=(factors.shape[1],) * 2)
    white = whitening(mixed)
    rotation = best_rotation(white(mixed), contrast="logcosh", n_init=3, random_state=rng)
    codes = white(mixed) @ rotation.matrix.T
    return codes, code_uncertainty(codes, rotation, rng)


@pytest.mark.parametrize("d", [2, 3])
def test_independent_codes_are_certain(d):
    factors = np.random.default_rng(d).uniform(size=(2000, d))
    codes, found = found_on(factors)
    assert mcc(factors, codes) > 0.99
    assert found.doubt < 5
    assert found.per_code.shape == (d,)
    assert found.per_code.max() < 10


def test_fewer_points_are_less_certain():
    rng = np.random.default_rng(0)
    small, large = (np.mean([found_on(rng.uniform(size=(n, 2)), s)[1].doubt for s in range(4)]) for n in (150, 1000))
    assert small > 1.5 * large


def test_the_bootstrap_turn_is_the_spread_of_fresh_samples():
    """The 90 % turn over bootstraps is near the 90 % turn over samples drawn afresh."""
    rng = np.random.default_rng(0)
    fresh, boots = [], []
    for _ in range(25):
        z = rng.triangular(0, 0.3, 1, size=(600, 2))
        white = whitening(z)
        S = white(z)
        R = best_rotation(S, contrast="logcosh", n_init=3, random_state=np.random.RandomState(0)).matrix
        fresh.append(turns(R @ white.matrix, np.eye(2)).max())
        codes = S @ R.T
        weights = half_density_weights(codes)
        boots.append(_bootstrap_turns(codes, weights, CONTRASTS["logcosh"], np.random.RandomState(0)).max(axis=1))
    ratio = np.quantile(np.concatenate(boots), 0.9) / np.quantile(fresh, 0.9)
    assert 0.6 < ratio < 1.7


def test_a_triangle_is_doubtful():
    """A triangle is no product: its halves ask for other axes than the whole."""
    rng = np.random.default_rng(0)
    z = rng.uniform(size=(4000, 2))
    _, found = found_on(z[z.sum(axis=1) < 1])
    assert not FIGURES["rotation_doubt"].holds(found.doubt)


def test_gaussian_factors_are_doubtful():
    _, found = found_on(np.random.default_rng(0).normal(size=(2000, 3)))
    assert not FIGURES["rotation_doubt"].holds(found.doubt)


def test_one_code_cannot_turn():
    _, found = found_on(np.random.default_rng(0).uniform(size=(100, 1)))
    assert (found.per_code.tolist(), found.doubt) == ([0.0], 0.0)


def test_codes_that_depend_on_each_other_are_told():
    """A triangle is no product: every rotation of it leaves two dependent codes."""
    square = np.random.default_rng(0).uniform(-1, 1, size=(3000, 2))
    triangle = square[square.sum(axis=1) < 0]
    for points, depend in [(square[:1500], False), (triangle, True)]:
        X = np.c_[np.sin(points), np.cos(points)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnbraidWarning)
            found = ub.HessianICA(n_factors=2, n_neighbors=15, random_state=0).fit(X).diagnostics_
        assert any(concern.startswith("UB211") for concern in found.concerns) == depend
        assert (found.dependence > 0.15) == depend
