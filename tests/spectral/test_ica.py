"""The rotation against known mixtures, a brute-force search, and laws that fool a climber."""

import numpy as np
import pytest
from scipy.stats import ortho_group

from tests.facts import facts
from unbraid.metrics import mcc
from unbraid.spectral.ica import (
    best_rotation,
    fixed_point,
    half_density_weights,
    logcosh,
    search_near,
    turns,
    whitening,
)

STATE = {"n_init": 3, "random_state": np.random.RandomState(0)}


@pytest.mark.parametrize("contrast", ["kurtosis", "logcosh"])
@pytest.mark.parametrize("d", [2, 3, pytest.param(5, marks=pytest.mark.slow)])
@pytest.mark.parametrize("source", ["uniform", "laplace"])
def test_known_mixture_is_undone(contrast, d, source):
    rng = np.random.default_rng(d)
    factors = getattr(rng, source)(size=(10_000, d))
    Y = factors @ rng.normal(size=(d, d)) + 3
    Z = whitening(Y)(Y)
    found = best_rotation(Z, contrast=contrast, n_init=3, random_state=np.random.RandomState(0))
    np.testing.assert_allclose(found.matrix @ found.matrix.T, np.eye(d), atol=1e-8)
    assert mcc(factors, Z @ found.matrix.T) > 0.998
    assert found.converged == 1
    assert found.stability > 0.99


@pytest.mark.parametrize("source", ["uniform", "laplace"])
def test_fastica_is_a_fixed_point_of_the_fourth_power(source):
    """W = orth(E[(Wz)^3 z^T] - 3 W) up to signs, and the sources of a known mixture."""
    rng = np.random.default_rng(1)
    factors = getattr(rng, source)(size=(5000, 3))
    Y = factors @ rng.normal(size=(3, 3))
    Z = whitening(Y)(Y)
    found = fixed_point(Z, np.random.RandomState(0))
    W = found.matrix
    u, _, vt = np.linalg.svd((Z @ W.T).T ** 3 @ Z / len(Z) - 3 * W)
    np.testing.assert_allclose(np.abs(u @ vt @ W.T), np.eye(3), atol=1e-3)
    assert mcc(factors, Z @ W.T) > 0.99
    assert (found.converged, found.weighted) == (1, False)


def test_no_angle_is_better():
    """Two humps beside a skewed law: the contrast has more than one optimum, and the best of all is returned."""
    rng = np.random.default_rng(3)
    humps = np.where(rng.uniform(size=1500) < 0.3, -1, 1) + 0.5 * rng.normal(size=1500)
    Y = np.c_[humps, rng.exponential(size=1500)] @ [[1.0, 0.4], [-0.3, 1.0]]
    Z = whitening(Y)(Y)
    w = half_density_weights(Z)

    def value(angle):
        R = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
        S = Z @ R.T
        S = (S - w @ S) / np.sqrt(w @ (S - w @ S) ** 2)
        return ((w @ logcosh(S)) ** 2).sum()

    R = best_rotation(Z, contrast="logcosh", **STATE).matrix
    found = value(np.arctan2(R[0, 1], R[0, 0]))
    assert found >= max(value(a) for a in np.linspace(0, np.pi / 2, 2000)) - 1e-7


def test_weights_undo_the_density_of_a_product():
    """Points of density p get about p^(-1/2) in the plane: the weighted law of a beta factor is flatter."""
    z = np.random.default_rng(0).beta(2, 5, size=(4000, 2))
    w = half_density_weights(z)
    assert w.sum() == pytest.approx(1)
    p = (z * (1 - z) ** 4).prod(axis=1)
    inside = (p > np.quantile(p, 0.2)) & (w < w.max())
    slope = np.polyfit(np.log(p[inside]), np.log(w[inside]), 1)[0]
    assert slope == pytest.approx(-0.5, abs=0.06)


def test_a_bent_density_turns_the_plain_solution_more():
    """Uniform factors, crowded in one corner of the plane as by a bent metric: weights find the axes again."""
    rng = np.random.default_rng(0)
    z = rng.uniform(-1, 1, size=(20_000, 2))
    kept = z[rng.uniform(size=len(z)) < 0.1 + 0.9 * np.exp(-((z - 0.6) ** 2).sum(axis=1) / 0.15)][:3000]
    white = whitening(kept)
    found = best_rotation(white(kept), contrast="logcosh", **STATE).matrix
    plain = search_near(white(kept), np.full(len(kept), 1 / len(kept)), logcosh, found)
    weighted_turn, plain_turn = (turns(R @ white.matrix, np.eye(2)).max() for R in (found, plain))
    assert weighted_turn < 12 < 30 < plain_turn


@pytest.mark.parametrize("seed", range(3))
def test_long_tails_are_found_where_weights_hide_them(seed):
    factors = np.minimum(np.random.default_rng(seed).exponential(size=(1500, 2)), 4)
    Z = whitening(factors)(factors)
    found = best_rotation(Z, contrast="logcosh", **STATE)
    assert not found.weighted
    assert mcc(factors, Z @ found.matrix.T) > 0.98


def test_one_factor_needs_no_rotation():
    found = best_rotation(np.random.default_rng(0).normal(size=(50, 1)), contrast="logcosh", **STATE)
    assert found.matrix.tolist() == [[1.0]]


def test_turns_leave_order_and_sign_aside():
    R = ortho_group.rvs(4, random_state=1)
    np.testing.assert_allclose(turns(R, -R[[2, 0, 3, 1]]), 0, atol=1e-5)


def test_a_flat_embedding_is_refused():
    with pytest.raises(ValueError, match=facts(2, "0.0e+00")):
        whitening(np.outer(np.arange(10.0), [1.0, 2.0]))
