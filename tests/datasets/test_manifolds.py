"""Squares and isometric embeddings against closed forms."""

import numpy as np
import pytest

from tests.facts import facts
from unbraid import datasets


def test_square_covers_its_area_wherever_it_stands():
    shapes = datasets.load("shapes-xy", image_size=32, dtype="float64")
    X, factors = shapes.sample(50, random_state=0)
    assert X.sum(axis=(1, 2)) == pytest.approx(8 * 8)
    pixels = np.arange(32) + 0.5
    centre = np.stack([X.sum(axis=1) @ pixels, X.sum(axis=2) @ pixels], axis=1) / 64
    side, edge = 8, 2
    assert centre == pytest.approx(side / 2 + edge / 2 + factors * (32 - side - edge))


def test_crisp_square_is_white_on_black():
    X = datasets.load("shapes-xy", image_size=(16, 16, 3), edge=0, dtype="uint8").observe([[0, 0], [0.5, 1]])
    expected = np.zeros((2, 16, 16, 3), dtype=np.uint8)
    expected[0, :4, :4] = expected[1, 12:, 6:10] = 255
    assert np.array_equal(X, expected)


def test_colours_keep_their_norm_and_move_at_one_speed():
    shapes = datasets.load("shapes-xc", image_size=32, dtype="float64")
    X = shapes.observe([[0.5, c] for c in np.linspace(0, 1, 21)]).reshape(21, -1)
    assert np.ptp(np.linalg.norm(X, axis=1)) < 1e-12
    assert np.ptp(np.linalg.norm(np.diff(X, axis=0), axis=1)) < 1e-12
    with pytest.raises(ValueError, match=facts("image_size", (16, 12, 3))):
        datasets.load("shapes-xc", image_size=(16, 12, 3))


@pytest.mark.parametrize(("d", "features", "curvature"), [(1, 3, 0.5), (2, 100, 1.0), (4, 20, 3.0)])
def test_isometric_has_an_orthonormal_jacobian_and_the_given_curvature(d, features, curvature):
    data = datasets.load("isometric", n_factors=d, n_features=features, curvature=curvature)
    rng = np.random.default_rng(0)
    z = rng.uniform(0.2, 0.8, d)
    h = 1e-3
    step = h * np.eye(d)
    jacobian = (data.observe(z + step) - data.observe(z - step)).T / (2 * h)
    assert jacobian.T @ jacobian == pytest.approx(np.eye(d), abs=1e-5)
    e = rng.standard_normal((4000, d))
    e *= 1e-3 / np.linalg.norm(e, axis=1, keepdims=True)
    second = (data.observe(z + e) - 2 * data.observe(z) + data.observe(z - e)) / 1e-6
    assert np.sqrt((second**2).sum(axis=1).mean()) == pytest.approx(curvature, rel=0.05)


def test_isometric_noise_has_its_size():
    data = datasets.load("isometric", noise=0.3)
    z = np.tile([0.5, 0.5], (200, 1))
    assert (data.observe(z, 0) - datasets.load("isometric").observe(z)).std() == pytest.approx(0.3, rel=0.02)


def test_what_the_memory_cannot_hold_is_refused():
    with pytest.raises(ValueError, match=facts(1000000000000, "7.45e+05 GiB", "dataset.blocks")):
        datasets.load("isometric").sample(10**12)
