"""Correlations of angles and directions against closed forms and the definition written out."""

from dataclasses import replace

import numpy as np
import pytest

import unbraid as ub
from tests.facts import facts
from unbraid.metrics import mcc
from unbraid.metrics.kinds import circular_correlation, spherical_correlation
from unbraid.trust.warnings import AssumptionWarning

RNG = np.random.default_rng(0)
ANGLE = RNG.uniform(-np.pi, np.pi, 2000)


def test_circular_correlation_is_the_sum_over_pairs():
    a, b = RNG.vonmises(0.3, 2, 60), RNG.vonmises(-1, 1, 60)
    b = a + 0.5 * b
    i, j = np.triu_indices(60, 1)
    sa, sb = np.sin(a[i] - a[j]), np.sin(b[i] - b[j])
    expected = (sa * sb).sum() / np.sqrt((sa**2).sum() * (sb**2).sum())
    assert circular_correlation(a, b) == pytest.approx(expected, abs=1e-12)


def test_turned_mirrored_doubled_and_unrelated_angles():
    assert circular_correlation(ANGLE, ANGLE + 2) == pytest.approx(1, abs=1e-12)
    assert circular_correlation(ANGLE, 1 - ANGLE) == pytest.approx(-1, abs=1e-12)
    assert abs(circular_correlation(ANGLE, 2 * ANGLE)) < 0.02
    assert abs(circular_correlation(ANGLE, RNG.permutation(ANGLE))) < 0.05
    assert circular_correlation(ANGLE, np.full(2000, 0.1)) == 0


def test_noise_on_a_uniform_angle_has_the_closed_form():
    """Of uniform a and independent noise e symmetric around 0, rho = E[cos e]^2."""
    a, e = RNG.uniform(0, 2 * np.pi, 200_000), RNG.normal(0, 0.7, 200_000)
    assert circular_correlation(a, a + e) == pytest.approx(np.exp(-(0.7**2)), abs=0.01)


def test_directions_up_to_a_rotation():
    v = RNG.normal(size=(5000, 3))
    v /= np.linalg.norm(v, axis=1, keepdims=True)
    turned = v @ np.linalg.qr(RNG.normal(size=(3, 3)))[0]
    assert spherical_correlation(v, turned) == pytest.approx(1, abs=1e-9)
    assert spherical_correlation(v, RNG.permutation(v)) < 0.06


def test_mcc_matches_kinds():
    height = RNG.uniform(size=2000)
    factors = np.stack([ANGLE, height], axis=1)
    codes = np.stack([3 - 2 * height, np.angle(np.exp(1j * (1 - ANGLE)))], axis=1)
    kinds = {"kinds": ["circle", "interval"], "code_kinds": ["interval", "circle"]}
    assert mcc(factors, codes, **kinds) == pytest.approx(1, abs=1e-9)
    assert mcc(factors, codes) < 0.9  # an angle is no number: where it wraps, the two part
    assert mcc(factors, codes, kinds=["circle", "interval"]) == pytest.approx(0.5, abs=0.02)
    v = RNG.normal(size=(2000, 3))
    v /= np.linalg.norm(v, axis=1, keepdims=True)
    with_sphere = {"kinds": ["sphere", "circle"], "code_kinds": ["circle", "sphere"]}
    assert mcc(np.c_[v, ANGLE], np.c_[ANGLE, v[:, ::-1]], **with_sphere) == pytest.approx(1, abs=1e-9)


def test_errors_say_what_to_do():
    codes = np.c_[ANGLE, ANGLE]
    with pytest.raises(ValueError, match=facts("kinds", "'torus'", "'interval', 'circle', 'sphere'")):
        mcc(codes, codes, kinds=["torus", "circle"])
    with pytest.raises(ValueError, match=facts("kinds=['sphere', 'circle']", 4, 2)):
        mcc(codes, codes, kinds=["sphere", "circle"])
    with pytest.raises(ValueError, match=facts("kinds", "weak=True")):
        mcc(codes, codes, kinds=["circle", "circle"], weak=True)
    with pytest.raises(ValueError, match=facts("code_kinds", "kinds")):
        mcc(codes, codes, code_kinds=["circle", "circle"])


def test_evaluate_tells_which_factors_are_angles():
    data = ub.datasets.load("turning-patch")
    X, _ = data.sample(50, random_state=0)
    few = replace(ub.evaluation.PROTOCOLS["fast"], n_samples=60, n_train=40, n_test=20)
    with pytest.warns(AssumptionWarning, match=facts("UB106", "angle", "code_kinds=")):
        ub.evaluate(ub.PCAICA(2, random_state=0).fit(X), data, metrics="mcc", protocol=few)
