"""Scores of held-out rows against closed forms, and against what says nothing."""

import numpy as np
import pytest

from unbraid.nulls.scores import class_odds, partner_auc, predicted_ranks

RNG = np.random.default_rng(0)


def test_class_odds_are_the_information_of_the_class():
    """Two classes that no code confuses: log 2 nats; the prior's weight takes less than 2 %."""
    y = np.arange(3000) % 2
    codes = RNG.normal(size=(3000, 1)) + 20 * y[:, None]
    assert class_odds(codes[:2000], y[:2000], codes[2000:], y[2000:]) == pytest.approx(np.log(2), abs=0.02)


def test_class_odds_see_variances_alone():
    """N(0, 1) against N(0, 9): the mutual information by quadrature."""
    y = np.arange(20000) % 2
    codes = RNG.normal(size=(20000, 1)) * np.where(y, 3, 1)[:, None]
    x = np.linspace(-15, 15, 20001)
    densities = np.stack([np.exp(-0.5 * (x / s) ** 2) / s / np.sqrt(2 * np.pi) for s in (1, 3)])
    information = 0.5 * np.trapezoid(densities * np.log(densities / densities.mean(axis=0)), x).sum()
    found = class_odds(codes[:10000], y[:10000], codes[10000:], y[10000:])
    assert found == pytest.approx(information, abs=0.02)


def test_scores_of_nothing():
    codes, y, u = RNG.normal(size=(4000, 3)), RNG.integers(4, size=4000), RNG.normal(size=(4000, 2))
    pairs = RNG.permutation(4000).reshape(-1, 2)
    assert abs(class_odds(codes[:2000], y[:2000], codes[2000:], y[2000:])) < 0.02
    assert abs(predicted_ranks(codes[:2000], u[:2000], codes[2000:], u[2000:])) < 0.06
    assert partner_auc(codes, pairs, RNG) == pytest.approx(0.5, abs=0.02)


def test_predicted_ranks_of_a_linear_map_and_of_squares():
    codes = RNG.normal(size=(600, 2))
    values = np.c_[codes @ [2.0, -1.0], codes[:, 0] ** 2]
    assert predicted_ranks(codes[:400], values[:400], codes[400:], values[400:]) > 0.98


def test_partner_auc_is_the_mean_over_codes():
    """One code that partners share, one that they do not: (1 + .5) / 2; no unit or sign matters."""
    z = RNG.normal(size=(4000, 2))
    z[2000:, 0] = z[:2000, 0]
    pairs = np.c_[:2000, 2000:4000]
    for codes in (z, z * [-1000, 1e-6]):
        assert partner_auc(codes, pairs, RNG) == pytest.approx(0.75, abs=0.02)


def test_constant_codes_say_nothing():
    y = np.arange(60) % 3
    codes = np.zeros((60, 2))
    assert class_odds(codes[:40], y[:40], codes[40:], y[40:]) == pytest.approx(0, abs=0.02)
    assert predicted_ranks(codes[:40], y[:40, None].astype(float), codes[40:], y[40:, None].astype(float)) == 0
    assert partner_auc(codes, np.c_[:30, 30:60], RNG) == 0.5
