"""Angles that are known."""

import numpy as np
import pytest

from tests.facts import facts
from tests.geometry.manifolds import product
from unbraid.metrics import aligned_subspace_angle, subspace_angle


def test_same_and_permuted_and_rebased():
    _, true = product(["S2", "S2", "S3"], 50)
    assert subspace_angle(true, true) == pytest.approx(0, abs=1e-7)
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    assert subspace_angle(true, [true[2], true[1] @ turn, true[0]]) == pytest.approx(0, abs=1e-7)


def test_known_angle():
    true = [np.eye(4)[None, :, :2], np.eye(4)[None, :, 2:]]
    c, s = np.cos(0.3), np.sin(0.3)
    turn = np.array([[c, 0, -s, 0], [0, 1, 0, 0], [s, 0, c, 0], [0, 0, 0, 1.0]])
    assert subspace_angle(true, [turn @ t for t in true]) == pytest.approx(0.3)


def test_wrong_number_and_dimensions():
    _, true = product(["S2", "S2"], 20)
    assert subspace_angle(true, true[:1]) == np.pi / 2
    whole = np.concatenate(true, axis=2)
    assert subspace_angle(true, [whole[:, :, :1], whole[:, :, 1:]]) == pytest.approx(np.pi / 2)
    with pytest.raises(ValueError, match=facts(6, 3, "aligned_subspace_angle")):
        subspace_angle(true, [t[:, :3] for t in true])
    with pytest.raises(ValueError, match="dim_j"):
        subspace_angle([], true)


def test_aligned_through_a_linear_map():
    """Codes are a turned and stretched copy: the found subspaces are the true ones seen through it."""
    X, true = product(["S2", "S2"], 3000)
    rng = np.random.default_rng(0)
    stretch = np.linalg.qr(rng.normal(size=(9, 6)))[0] * 3
    found = [np.linalg.qr(stretch @ t)[0] for t in true]
    assert aligned_subspace_angle(true, found, X, X @ stretch.T) < 0.15
    mixed = [
        np.concatenate([found[0][:, :, :1], found[1][:, :, :1]], 2),
        np.concatenate([f[:, :, 1:] for f in found], 2),
    ]
    assert aligned_subspace_angle(true, mixed, X, X @ stretch.T) > 1
