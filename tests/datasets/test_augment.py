"""Affine augmentations against numpy's exact shifts and turns, and scipy's interpolation."""

import numpy as np
import pytest
from scipy.ndimage import affine_transform

from tests.facts import facts
from unbraid.datasets.augment import Affine, AffineSets

X = np.random.default_rng(0).random((6, 12, 12), dtype=np.float32)


def test_nothing_chosen_changes_nothing():
    assert np.array_equal(Affine(kinds=())(X, 0), X)


def test_quarter_turns():
    assert Affine(kinds=("rotation",), rotation=(90, 90))(X, 0) == pytest.approx(np.rot90(X, axes=(1, 2)), abs=1e-5)
    colour = np.stack([X, 1 - X, X], axis=-1)
    turned = Affine(kinds=("rotation",), rotation=(180, 180))(colour, 0)
    assert turned == pytest.approx(colour[:, ::-1, ::-1], abs=1e-5)


def test_agrees_with_scipy():
    augment = Affine()
    inverse = augment._inverse(6, 12, 12, np.random.default_rng(3))
    for image, (row_x, row_y), found in zip(X, inverse, augment(X, 3)):
        matrix = np.array([[row_y[1], row_y[0]], [row_x[1], row_x[0]]])
        expected = affine_transform(image, matrix, offset=(row_y[2], row_x[2]), order=1, mode="grid-constant")
        assert found == pytest.approx(expected, abs=1e-5)


def test_ranges():
    inverse = Affine()._inverse(5000, 28, 28, np.random.default_rng(0))
    size = 1 / np.sqrt(np.linalg.det(inverse[:, :, :2]))
    angle = np.degrees(np.arctan2(inverse[:, 1, 0], inverse[:, 0, 0]))
    middle = np.linalg.solve(inverse[:, :, :2], ([13.5, 13.5] - inverse[:, :, 2])[:, :, None])[:, :, 0]
    shift = (middle - 13.5) / 28
    for values, low, high in ((size, 0.8, 1.25), (angle, 0, 5), (shift, -0.1, 0.1)):
        assert low - 1e-9 <= values.min() < low + 0.02 * (high - low)
        assert high + 1e-9 >= values.max() > high - 0.02 * (high - low)


def test_scales_are_uniform_as_in_the_paper():
    """Appendix B; on a logarithmic scale the mean would be 1.0083, nine standard errors away."""
    inverse = Affine(kinds=("scaling",))._inverse(5000, 28, 28, np.random.default_rng(0))
    size = 1 / np.sqrt(np.linalg.det(inverse[:, :, :2]))
    assert size.mean() == pytest.approx(1.025, abs=0.0055)


def test_scaling_changes_the_ink_by_its_square():
    image = np.zeros((1, 28, 28))
    image[:, 8:20, 10:18] = 1
    half = Affine(kinds=("scaling",), scaling=(0.5, 0.5))(image, 0)
    assert half.sum() / image.sum() == pytest.approx(0.25, rel=0.02)


def test_sets_hold_the_original_and_the_seven_combinations():
    sets = AffineSets(noise=0)
    assert [p.kinds for p in sets.parts] == [
        (),
        ("translation",),
        ("rotation",),
        ("scaling",),
        ("translation", "rotation"),
        ("translation", "scaling"),
        ("rotation", "scaling"),
        ("translation", "rotation", "scaling"),
    ]
    assert np.array_equal(sets(X, 1), sets(X, 1))
    assert sets(X, 1).shape == (6, 8, 12, 12)
    assert np.array_equal(sets(X, 1)[:, 0], X)
    assert all(np.abs(sets(X, 1)[:, k] - X).max() > 0.05 for k in range(1, 8))
    noisy = AffineSets(noise=0.01, translation=0, rotation=(0, 0), scaling=(1, 1))(np.zeros((50, 28, 28)), 0)
    assert noisy.std() == pytest.approx(0.01, rel=0.02)


def test_wrong_settings():
    with pytest.raises(ValueError, match=facts("'shear'", "translation, rotation, scaling")):
        Affine(kinds=("shear",))
    with pytest.raises(ValueError, match=facts("scaling", (0, 1))):
        Affine(scaling=(0, 1))
    with pytest.raises(ValueError, match=facts("(n, height, width", (3, 4))):
        Affine()(np.zeros((3, 4)))
