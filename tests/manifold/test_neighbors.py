"""Neighbours, pairs, distinct rows and angles against brute force."""

import numpy as np
import pytest
import scipy.linalg
from scipy.spatial.distance import cdist

from unbraid.manifold import (
    NeighborSearch,
    closest_pairs,
    distinct_rows,
    largest_angles,
    nearest,
    neighbor_pairs,
    neighborhoods,
)


@pytest.mark.parametrize("n_features", [3, 30])  # a tree, and exhaustive search
def test_nearest_by_brute_force(n_features):
    X = np.random.default_rng(0).normal(size=(200, n_features))
    lengths = cdist(X, X)
    order = np.argsort(lengths, axis=1)
    distances, near = neighborhoods(X, 6)
    np.testing.assert_array_equal(near, order[:, :6])
    distances, near = nearest(X, 5, np.array([7, 3]))
    np.testing.assert_array_equal(near, order[[7, 3], 1:6])
    np.testing.assert_allclose(distances, np.sort(lengths, axis=1)[[7, 3], 1:6])
    distances, near = NeighborSearch(X[:100]).query(X[100:], 4)
    np.testing.assert_array_equal(near, np.argsort(lengths[100:, :100], axis=1)[:, :4])


def test_beyond_many_pairs_the_search_depends_on_how_far_neighbors_are(monkeypatch):
    monkeypatch.setattr("unbraid.manifold.neighbors.BRUTE_PAIRS", 0)
    rng = np.random.default_rng(0)
    line = rng.uniform(size=(400, 1)) @ rng.normal(size=(1, 30))
    for X, tree in ((line, True), (rng.normal(size=(400, 30)), False)):
        search = NeighborSearch(X)
        near = search.query(X, 5)[1]
        assert (search._tree is not None) == tree
        np.testing.assert_array_equal(near, np.argsort(cdist(X, X), axis=1)[:, :5])


def test_a_duplicated_point_is_first_in_its_own_neighborhood_and_not_its_neighbor():
    X = np.repeat(np.random.default_rng(0).normal(size=(30, 2)), 3, axis=0)
    _, near = neighborhoods(X, 5)
    np.testing.assert_array_equal(near[:, 0], np.arange(90))
    _, others = nearest(X, 2)
    assert not (others == np.arange(90)[:, None]).any()
    np.testing.assert_array_equal(others // 3, np.repeat(np.arange(90)[:, None] // 3, 2, axis=1))


def test_pairs_by_brute_force():
    X = np.random.default_rng(0).normal(size=(60, 3))
    lengths = cdist(X, X)
    i, j, found = neighbor_pairs(X, 4, max_points=20)
    assert np.unique(i).tolist() == list(range(0, 60, 3))
    np.testing.assert_array_equal(j.reshape(20, 4), np.argsort(lengths, axis=1)[::3, 1:5])
    np.testing.assert_allclose(found, lengths[i, j])
    i, j, found = closest_pairs(X, 0.1)
    every = np.sort(lengths[np.triu_indices(60, 1)])
    np.testing.assert_allclose(np.sort(found), every[:177])
    np.testing.assert_allclose(found, lengths[i, j])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_distinct_rows_against_sorting(dtype):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 4)).astype(dtype)[rng.integers(50, size=400)]
    first, index = distinct_rows(X)
    rows, expected = np.unique(X, axis=0, return_index=True)
    assert len(first) == len(rows)
    np.testing.assert_array_equal(first, np.sort(expected))
    np.testing.assert_array_equal(X[first][index], X)


def test_rows_with_equal_projections_are_told_apart():
    """(cos 1, -1) is orthogonal to the direction of projection."""
    X = np.outer(np.arange(5.0), [np.cos(1), -1])
    assert distinct_rows(X)[0].tolist() == [0, 1, 2, 3, 4]
    assert distinct_rows(np.vstack([X, X[::-1] * (1 + 1e-12)]))[1].tolist() == [0, 1, 2, 3, 4, 4, 3, 2, 1, 0]


def test_angles_against_scipy():
    rng = np.random.default_rng(0)
    u, v = (np.linalg.qr(rng.normal(size=(10, 6, 2)))[0] for _ in range(2))
    expected = [scipy.linalg.subspace_angles(a, b).max() for a, b in zip(u, v)]
    np.testing.assert_allclose(largest_angles(u, v), expected, atol=1e-7)
    np.testing.assert_array_equal(largest_angles(u, v[:, :, :1]), np.full(10, np.pi / 2))
