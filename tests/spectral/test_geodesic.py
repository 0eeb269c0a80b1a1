"""Isomap + ICA: scikit-learn's Isomap up to signs, small samples, new rows, and a hole that its figures show."""

import numpy as np
import pytest
from sklearn.manifold import Isomap

import unbraid as ub
from tests.spectral.manifolds import bent_sheets
from unbraid.manifold.neighbors import neighborhoods
from unbraid.metrics import mcc
from unbraid.spectral.embeddings import unfolded

pytestmark = pytest.mark.filterwarnings("ignore:UB")


@pytest.mark.parametrize("d", [1, 2, 3])
def test_the_embedding_is_that_of_isomap(d):
    X = bent_sheets(150, d, n_features=8, noise=0.01)[0]
    distances, near = neighborhoods(X, 11)
    found = unfolded(X, near, distances, d, np.random.RandomState(0))
    theirs = Isomap(n_neighbors=10, n_components=d, eigen_solver="dense").fit(X)
    Y = theirs.embedding_ / np.linalg.norm(theirs.embedding_, axis=0)
    assert np.abs(np.sum(found.vectors * Y, axis=0)) == pytest.approx(np.ones(d), abs=1e-6)
    assert found.values[:d] == pytest.approx(1 / np.square(theirs.embedding_).sum(axis=0), rel=1e-6)


@pytest.mark.parametrize(("d", "n"), [(2, 150), (3, 300)])
def test_few_rows_with_noise(d, n):
    X, factors = bent_sheets(2 * n, d, noise=0.01)
    model = ub.GeodesicICA(d, random_state=0).fit(X[:n])
    assert mcc(factors[:n], model.embedding_) > 0.98
    assert mcc(factors[n:], model.transform(X[n:])) > 0.97


def test_more_rows_than_landmarks():
    X, factors = bent_sheets(1200)
    model = ub.GeodesicICA(2, 12, n_landmarks=300, random_state=0).fit(X)
    assert model.n_landmarks_ == 300
    assert mcc(factors, model.transform(X)) > 0.99


def test_a_hole_bends_geodesics_and_shows_in_the_local_isometry():
    z = np.random.default_rng(0).uniform(-1, 1, size=(600, 2))
    z = z[(z**2).sum(axis=1) > 0.4]
    X = np.c_[np.sin(z), np.cos(z)]
    hessian, geodesic = (cls(2, 12, random_state=0).fit(X) for cls in (ub.HessianICA, ub.GeodesicICA))
    assert mcc(z, hessian.embedding_) > 0.995
    assert geodesic.diagnostics_.local_isometry < hessian.diagnostics_.local_isometry - 0.02
