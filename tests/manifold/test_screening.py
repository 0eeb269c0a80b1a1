"""Rows, cells and columns that would spoil a fit are found, and clean data are left alone."""

import numpy as np
import pytest

from unbraid.manifold.columns import cell_marks, column_scale
from unbraid.manifold.reduction import fit_reduction, reduce_rows
from unbraid.manifold.surroundings import strays


def sheet(n, d=2, *, features=20, seed=0):
    """Factors along circular arcs, turned at random: they span 2 d directions."""
    rng = np.random.default_rng(seed)
    z = rng.uniform(size=(n, d))
    return np.c_[np.sin(2 * z), np.cos(2 * z)] @ np.linalg.qr(rng.normal(size=(features, 2 * d)))[0].T


def test_clean_rows_give_the_plain_reduction():
    X = sheet(500)
    plain = fit_reduction(X.copy(), n_components=None)
    reduction, sample, kept, screen = reduce_rows(X.copy(), n_components=None, table=True)
    assert screen is None
    assert kept is None
    assert np.array_equal(reduction.components, plain.components)
    assert np.array_equal(sample, X - plain.mean)


@pytest.mark.parametrize("far", [3.0, 1e6, 1e12])
def test_strays_are_found_at_any_distance(far):
    X = sheet(400, seed=1)
    X[::40] += far * np.random.default_rng(1).normal(size=(10, 20))
    found = reduce_rows(X.copy(), n_components=None, table=True)
    assert np.flatnonzero(~found.kept).tolist() == list(range(0, 400, 40))
    alone = fit_reduction(np.delete(X, np.s_[::40], axis=0), n_components=None)
    np.testing.assert_allclose(found.reduction.components[:4], alone.components[:4], atol=1e-6)


@pytest.mark.parametrize("law", ["normal", "laplace", "exponential", "lognormal"])
def test_tails_are_no_strays(law):
    rng = np.random.default_rng(2)
    assert not strays(getattr(rng, law)(size=(1000, 2)) @ rng.normal(size=(2, 6))).any()


def test_groups_of_points_are_no_strays():
    rng = np.random.default_rng(3)
    centres = rng.normal(size=(10, 5))
    assert not strays(centres[rng.integers(10, size=500)] + 0.01 * rng.normal(size=(500, 5))).any()


def test_a_row_that_is_repeated_is_left_out_with_all_its_copies():
    X = sheet(300)
    X[:150] = X[200]  # on the manifold, and repeated
    found = reduce_rows(X.copy(), n_components=None, table=True)
    assert np.flatnonzero(~found.kept).tolist() == [*range(150), 200]
    drawn = sheet(40)[np.random.default_rng(0).integers(40, size=400)]  # all rows are repeated alike
    assert reduce_rows(drawn, n_components=None, table=True).screen is None


@pytest.mark.parametrize("mark", [0.0, 99.0, -5.0])
def test_cells_without_a_value_are_filled_with_what_was_there(mark):
    X = 3 + sheet(500)
    gaps = np.random.default_rng(0).uniform(size=X.shape) < 0.02
    gaps[:5] = False
    dirty = np.where(gaps, mark, X)
    reduction, _, _, screen = reduce_rows(dirty.copy(), n_components=None, table=True)
    np.testing.assert_allclose(screen.filled(dirty, reduction), X, atol=1e-3)


def test_zeros_that_the_rows_around_share_are_values():
    X = np.maximum(sheet(500) - 0.1, 0)  # about half of the cells are 0, as of rectified signals
    assert cell_marks(X, None) is None
    counts = np.random.default_rng(0).poisson(0.3 + np.abs(sheet(300)))
    assert cell_marks(counts.astype(float), None) is None


def test_a_column_in_another_unit_is_scaled_like_the_others():
    X = sheet(300)
    scaled = X * np.where(np.arange(20) == 7, 1e4, 1.0)
    scale = column_scale(scaled)
    assert np.flatnonzero(scale != 1).tolist() == [7]
    assert 0.2 < (scaled * scale)[:, 7].std() / X[:, 7].std() < 5
    assert column_scale(X) is None
    found = reduce_rows(scaled.copy(), n_components=None, table=True).reduction
    np.testing.assert_allclose(found.inverse(found(scaled)), scaled, atol=1e-6)  # decoded in its own unit
    noise = np.random.default_rng(0).normal(size=(300, 10)) * np.where(np.arange(10) < 2, 100, 1)
    assert column_scale(noise) is None  # the others have no structure: two factors, and noise


def test_a_column_that_counts_rows_is_left_out_unless_the_rows_are_in_its_order():
    X = sheet(300)
    assert np.flatnonzero(column_scale(np.c_[X, np.arange(300)]) == 0).tolist() == [20]
    ordered = X[np.argsort(X[:, 0])]
    assert not (column_scale(np.c_[ordered, np.linspace(0, 1, 300)]) is not None)


def test_pixels_that_are_always_saturated_are_no_gaps():
    X = sheet(500)
    X = np.minimum((X - X.min(axis=0)) / np.quantile(X - X.min(axis=0), 0.95, axis=0), 1)  # 1 in 5 % of the rows
    X = np.column_stack([X, np.ones(500)])  # and here in all
    reduction, _, _, _ = reduce_rows(X.copy(), n_components=None, table=True)
    assert np.isfinite(reduction.mean).all()
    assert np.isfinite(reduction.components).all()
