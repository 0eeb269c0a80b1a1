"""Drawn dSprites against the real images, and the coloured sets against their definitions."""

import numpy as np
import pytest

from tests.facts import facts
from unbraid import datasets
from unbraid.datasets.dsprites import outlines


@pytest.fixture(scope="module")
def sprites():
    return datasets.load("dsprites")


def test_original_order_and_values(sprites):
    assert len(sprites) == 737_280
    last = sprites.factors_at([0, 1, 32, 1024, 40 * 1024, 6 * 40 * 1024, 737_279])
    assert last.tolist() == [
        [0, 0, 0, 0, 0],
        [0, 0, 0, 0, 1],
        [0, 0, 0, 1, 0],
        [0, 0, 1, 0, 0],
        [0, 1, 0, 0, 0],
        [1, 0, 0, 0, 0],
        [2, 5, 39, 31, 31],
    ]
    assert sprites.rows_of(last).tolist() == [0, 1, 32, 1024, 40_960, 245_760, 737_279]


def test_takes_the_originals_six_columns(sprites):
    assert np.array_equal(sprites.observe([[0, 2, 5, 3, 4, 1]]), sprites.observe([[2, 5, 3, 4, 1]]))


def test_equals_the_real_images(sprites, shared):
    path = shared.path("data/dsprites/dsprites_grid_46080.npz")
    if path is None:
        # without the real files: a polygon's area equals its pixel count on average over sub-pixel positions
        for shape, outline in enumerate(outlines()):
            x, y = outline.T
            area = abs(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2
            grid = np.array([[shape, 5, turn, a, b] for turn in (3, 7) for a in range(31) for b in range(31)])
            assert sprites.observe(grid).sum(axis=(1, 2)).mean() == pytest.approx(area, rel=2e-3)
        return
    with np.load(path) as real:
        rows, images = real["original_dataset_indices"][::12], real["imgs"][::12]
    wrong = (sprites.rows(rows)[0] != images).sum(axis=(1, 2))
    assert (wrong == 0).mean() > 0.999
    assert wrong.sum() / images.size < 1e-6


def test_the_whole_set_is_small(sprites):
    assert sum(v.nbytes for v in vars(sprites).values() if isinstance(v, np.ndarray)) < 10e6


def test_uint8_has_full_range():
    X = datasets.load("dsprites", dtype="uint8").observe([[1, 2, 3, 4, 5]])
    assert set(np.unique(X)) == {0, 255}
    with pytest.raises(ValueError, match=facts("dtype", "float32", "uint8", "int16")):
        datasets.load("dsprites", dtype="int16")


def test_coloured_sets_keep_the_sprite(sprites):
    factors = sprites.sample_factors(20, 0)
    mask = sprites.observe(factors)[..., None].astype(bool)
    colour = datasets.load("color-dsprites").observe(factors, 0)
    assert np.array_equal(colour > 0, np.broadcast_to(mask, colour.shape))
    first = colour[0][mask[0, ..., 0]]
    assert np.ptp(first, axis=0) == pytest.approx(0)
    assert (colour[colour > 0] >= 0.5).all()
    noisy = datasets.load("noisy-dsprites").observe(factors, 0)
    assert (noisy[np.broadcast_to(mask, noisy.shape)] == 1).all()
    assert noisy[~np.broadcast_to(mask, noisy.shape)].mean() == pytest.approx(0.5, abs=0.01)


def test_scream_inverts_the_background_under_the_sprite(sprites, tmp_path):
    factors = sprites.sample_factors(20, 0)
    mask = sprites.observe(factors)[..., None].astype(bool)
    scream = datasets.load("scream-dsprites")
    X = scream.observe(factors, 0)
    background = np.where(mask, 1 - X, X)
    # (picture + tint) / 2 with one tint per image: twice the background minus its tint is a piece of the picture
    spread = 2 * (background - background.min(axis=(1, 2), keepdims=True))
    assert spread.max() <= 1
    assert X.std() > 0.05
    with pytest.raises(ValueError, match=facts("none.jpg", "Errno 2")):
        datasets.load("scream-dsprites", picture=tmp_path / "none.jpg")
