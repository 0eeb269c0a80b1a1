"""Encoders whose symmetry is known: the identity, a mixture, and one that is not linear in the group."""

import numpy as np
import pytest

import unbraid as ub
from tests.facts import facts
from unbraid.theory import equivariance, is_disentangled, is_equivariant

ANGLES = [0.5, 1.3, 2.2]


def turns(first, second):
    """Rotations in one plane of R^4: elements of one SO(2) of SO(2) x SO(2)."""

    def by(angle):
        turn = np.eye(4)
        turn[first, [first, second]] = np.cos(angle), -np.sin(angle)
        turn[second, [first, second]] = np.sin(angle), np.cos(angle)
        return lambda x: x @ turn.T

    return [by(angle) for angle in ANGLES]


ACTIONS = {"a": turns(0, 1), "b": turns(2, 3)}
PARTS = [[0, 1], [2, 3]]


@pytest.fixture
def torus():
    t = np.random.default_rng(0).uniform(0, 2 * np.pi, size=(2, 600))
    return np.c_[np.cos(t[0]), np.sin(t[0]), np.cos(t[1]), np.sin(t[1])]


def test_identity_is_disentangled(torus):
    found = equivariance(lambda x: x, ACTIONS, torus, PARTS)
    np.testing.assert_allclose(found.equivariance_error, 0, atol=1e-20)
    np.testing.assert_allclose(found.invariance_error[[0, 1], [1, 0]], 0, atol=1e-20)
    # A turn by t moves a point of the circle by |2 sin(t / 2)|; unrelated points differ by 2 in the mean square.
    expected = np.mean([2 - 2 * np.cos(t) for t in ANGLES]) / 2
    np.testing.assert_allclose(np.diag(found.invariance_error), expected, rtol=0.01)
    assert is_disentangled(lambda x: x, ACTIONS, torus, PARTS)


def test_a_mixture_is_equivariant_but_entangled(torus):
    mix = np.linalg.qr(np.random.default_rng(1).normal(size=(4, 4)))[0]
    assert is_equivariant(lambda x: x @ mix, ACTIONS, torus)
    assert not is_disentangled(lambda x: x @ mix, ACTIONS, torus, PARTS)
    assert equivariance(lambda x: x @ mix, ACTIONS, torus, PARTS).leak() > 0.1


def test_angles_are_not_linear_codes(torus):
    """An angle in (-pi, pi] jumps, so a turn does not act linearly on it; the other factor leaves it alone."""

    def angles(x):
        return np.c_[np.arctan2(x[:, 1], x[:, 0]), np.arctan2(x[:, 3], x[:, 2])]

    found = ub.theory.equivariance(angles, ACTIONS, torus)
    assert not is_equivariant(angles, ACTIONS, torus)
    assert found.leak() == pytest.approx(0, abs=1e-20)


def test_errors(torus):
    with pytest.raises(ValueError, match=facts("actions")):
        equivariance(lambda x: x, {}, torus)
    with pytest.raises(ValueError, match=facts("2 factors", 1, "subspaces=[[0, 1], [2]]")):
        equivariance(lambda x: x, ACTIONS, torus, [[0, 1]])
    with pytest.raises(ValueError, match=facts("8 samples", "4 codes", 16)):
        equivariance(lambda x: x, ACTIONS, torus[:8], PARTS)
    with pytest.raises(ValueError, match=facts("3 codes", "600 samples")):
        equivariance(lambda x: x[:3], ACTIONS, torus)
    with pytest.raises(ValueError, match=facts("code 7", 4)):
        equivariance(lambda x: x, ACTIONS, torus, [[0, 1], [7]])
