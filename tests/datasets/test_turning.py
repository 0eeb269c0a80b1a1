"""The turntable and the turning patch: what wraps around, and a metric that is exactly a product."""

import numpy as np
import pytest

from tests.facts import facts
from unbraid import datasets


def metric(data, factors, step=1e-3):
    """Inner products of the derivatives of the images by the factors, by central differences."""
    shifts = step * np.eye(len(factors))
    moved = np.array([(data.observe(factors + s)[0] - data.observe(factors - s)[0]).ravel() for s in shifts])
    derivatives = moved.astype(np.float64) / (2 * step)
    return derivatives @ derivatives.T


def test_the_patch_has_a_product_metric():
    patch = datasets.load("turning-patch", moves=2)
    known = metric(patch, np.zeros(3))
    scale = np.sqrt(np.outer(np.diag(known), np.diag(known)))
    for factors in ([1.0, 0.1, -0.1], [-2.0, 0.14, 0.1], [2.5, -0.14, 0.0]):
        assert metric(patch, np.array(factors)) / scale == pytest.approx(np.eye(3), abs=0.02)


def test_off_the_middle_the_metric_is_no_product():
    patch = datasets.load("turning-patch", pivot=0.2)
    found = metric(patch, np.array([np.pi / 2, 0.0]))
    assert abs(found[0, 1]) > 0.2 * np.sqrt(found[0, 0] * found[1, 1])


@pytest.mark.parametrize("data", [datasets.load("turning-patch"), datasets.load("turntable", image_size=16)])
def test_a_whole_turn_changes_nothing_and_half_a_turn_does(data):
    assert data.factor_kinds[:2] == ("circle", "interval")
    start, half, end = data.observe([[-np.pi, 0.1], [0.0, 0.1], [np.pi, 0.1]])
    assert end == pytest.approx(start, abs=1e-4)
    assert np.abs(half - start).max() > 0.1


def test_errors():
    with pytest.raises(ValueError, match=facts("moves", "0, 1 or 2", 3)):
        datasets.load("turning-patch", moves=3)
    with pytest.raises(ValueError, match=facts("light", 180, 200)):
        datasets.load("turntable", light=200)
