"""Distances between pictures of one brightness and one contrast, and when they are taken."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist

import unbraid as ub
from unbraid.manifold.reduction import evening_of, fit_reduction
from unbraid.metrics import mcc


def spots(factors, contrast):
    """Pictures (n, 12, 12) of a soft spot at a place, whose contrast is given."""
    grid = np.linspace(0, 1, 12)
    across, down = (np.exp(-((grid - 0.2 - 0.6 * p[:, None]) ** 2) / 0.08) for p in factors.T)
    return np.asarray(contrast)[:, None, None] * across[:, :, None] * down[:, None]


def test_evened_coordinates_keep_the_distances_of_standardised_pictures():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4)) @ rng.normal(size=(4, 30)) + rng.normal(size=30)
    reduction = fit_reduction(X.copy(), n_components=4)
    flat = X - X.mean(axis=1, keepdims=True)
    contrast = np.linalg.norm(flat, axis=1)
    wanted = np.median(contrast) * flat / contrast[:, None]
    wanted = wanted - wanted.mean(axis=0)
    axes = np.linalg.svd(wanted, full_matrices=False)[2]  # as many components as there were: four of five
    found = evening_of(reduction)(reduction(X))
    np.testing.assert_allclose(pdist(found), pdist(wanted @ axes[:4].T), rtol=1e-8, atol=1e-9)


def test_a_picture_without_contrast_stays_where_it_is():
    X = np.random.default_rng(0).uniform(size=(20, 9))
    X[3] = 0.5 + 1e-9 * X[3]
    found = evening_of(reduction := fit_reduction(X.copy(), n_components=9))(reduction(X))
    assert (
        np.linalg.norm(found[3] - np.delete(found, 3, axis=0).mean(axis=0)) < 0.5 * np.linalg.norm(found, axis=1).max()
    )


def test_contrast_that_follows_a_factor_is_evened_out():
    z = np.random.default_rng(0).uniform(size=(400, 2))
    X = spots(z, np.exp(z[:, 0]))
    plain = ub.HessianICA(2, units="given", random_state=0).fit(X)
    model = ub.HessianICA(2, random_state=0).fit(X)
    assert (plain.selection_.chosen.evened, model.selection_.chosen.evened) == (False, True)
    assert mcc(z, plain.embedding_) < 0.98 < 0.99 < mcc(z, model.embedding_)
    assert mcc(z, model.transform(X)) == pytest.approx(mcc(z, model.embedding_))
    back = model.inverse_transform(model.embedding_)
    assert np.square(back - X).mean() < 0.02 * X.var(axis=0).mean()  # pictures with their own contrast


def test_brightness_that_is_a_factor_is_kept():
    z = np.random.default_rng(0).uniform(size=(400, 2))
    X = spots(np.c_[z[:, 0], np.full(400, 0.5)], np.ones(400)) + z[:, 1, None, None]
    model = ub.HessianICA(2, random_state=0).fit(X)
    assert not model.selection_.chosen.evened
    assert mcc(z, model.embedding_) > 0.98


def test_tables_are_taken_as_they_are():
    z = np.random.default_rng(0).uniform(size=(200, 2))
    X = spots(z, np.ones(200)).reshape(200, -1)
    assert not any(c.evened for c in ub.HessianICA(2, random_state=0).fit(X).selection_.candidates)
