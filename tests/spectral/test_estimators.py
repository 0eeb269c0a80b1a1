"""The contract of every spectral estimator: scikit-learn's checks, new points, the way back, saving."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import unbraid as ub
from tests.spectral.manifolds import bent_sheets, linear_fit

EMBEDDINGS = [ub.HessianEigenmaps, ub.LTSA, ub.LaplacianEigenmaps]
FACTORS = [ub.HessianICA, ub.TangentICA, ub.LaplacianICA, ub.PCAICA]

# scikit-learn's blobs and random clouds are no manifolds: the warnings about that are right, and not the point here.
pytestmark = pytest.mark.filterwarnings(
    "ignore::unbraid.contract.warnings.TrustWarning", "ignore::unbraid.contract.warnings.ConvergenceWarning"
)


@parametrize_with_checks([cls(random_state=0) for cls in EMBEDDINGS + FACTORS])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("cls", EMBEDDINGS + FACTORS)
def test_transform_of_the_training_points_is_fit_transform(cls):
    X, _ = bent_sheets(500, 2, n_features=30)
    model = cls(n_factors=2, random_state=0)
    codes = model.fit_transform(X)
    np.testing.assert_allclose(model.transform(X), codes, atol=1e-6)
    assert codes.shape == (500, 2)


@pytest.mark.parametrize("cls", [ub.HessianEigenmaps, ub.LTSA, ub.HessianICA, ub.TangentICA])
def test_new_points_land_where_the_truth_is(cls):
    X, factors = bent_sheets(1500, 2)
    model = cls(n_factors=2, n_neighbors=14, random_state=0).fit(X[:1000])
    train, new = model.transform(X[:1000]), model.transform(X[1000:])
    assert linear_fit(train, factors[:1000]) > 0.9999
    A = np.linalg.lstsq(np.c_[train, np.ones(1000)], factors[:1000], rcond=None)[0]
    assert np.abs(np.c_[new, np.ones(500)] @ A - factors[1000:]).max() < 0.02


def test_error_estimate_knows_points_off_the_manifold():
    X, _ = bent_sheets(1200, 2)
    model = ub.HessianICA(n_factors=2, n_neighbors=14, random_state=0).fit(X[:1000])
    near, far = model.transform_error(X[1000:]), model.transform_error(X[1000:] * 3)
    assert near.shape == (200,)
    assert np.median(near) < 0.02 < 0.2 < np.median(far)


def test_error_estimate_follows_the_true_error():
    X, factors = bent_sheets(800, 2)
    model = ub.HessianICA(n_factors=2, n_neighbors=14, random_state=0).fit(X[:400])
    train = model.transform(X[:400])
    A = np.linalg.lstsq(np.c_[train, np.ones(400)], factors[:400], rcond=None)[0]
    truth = np.linalg.norm(np.c_[model.transform(X[400:]), np.ones(400)] @ A - factors[400:], axis=1)
    estimate = model.transform_error(X[400:])
    large = estimate > np.median(estimate)
    assert truth[large].mean() > 1.25 * truth[~large].mean()


@pytest.mark.parametrize("cls", [ub.HessianICA, ub.LaplacianICA, ub.PCAICA])
def test_inverse_transform_comes_back(cls):
    X, _ = bent_sheets(1000, 2, n_features=20)
    model = cls(n_factors=2, random_state=0)
    codes = model.fit_transform(X)
    back = model.inverse_transform(codes)
    error = np.linalg.norm(back - X) / np.linalg.norm(X - X.mean(axis=0))
    assert error < (0.03 if cls is not ub.PCAICA else 0.5)
    between = (codes[:-1] + codes[1:]) / 2
    if cls is ub.HessianICA:
        np.testing.assert_allclose(model.transform(model.inverse_transform(between)), between, atol=0.05)


def test_codes_are_in_units_of_the_data():
    """One step along a code moves the data by one: the rescaling of the paper."""
    X, _ = bent_sheets(2000, 2)
    model = ub.HessianICA(n_factors=2, n_neighbors=14, random_state=0)
    codes = model.fit_transform(X)
    near = np.linalg.norm(X - X[0], axis=1).argsort()[1:8]
    ratio = np.linalg.norm(codes[near] - codes[0], axis=1) / np.linalg.norm(X[near] - X[0], axis=1)
    np.testing.assert_allclose(ratio, 1, atol=0.1)
    assert codes.std(axis=0)[0] >= codes.std(axis=0)[1]


def test_images_come_back_as_images():
    images = np.random.default_rng(0).uniform(size=(60, 4, 5)) * np.linspace(0, 1, 60)[:, None, None]
    model = ub.PCAICA(n_factors=2, random_state=0).fit(images)
    assert model.inverse_transform(model.transform(images)).shape == (60, 4, 5)


@pytest.mark.parametrize("cls", EMBEDDINGS + FACTORS)
def test_save_and_load(cls, tmp_path):
    X, _ = bent_sheets(300, 2, n_features=8)
    model = cls(n_factors=2, random_state=0).fit(X)
    loaded = ub.load(model.save(tmp_path / "run"))
    np.testing.assert_array_equal(loaded.transform(X), model.transform(X))
    assert loaded.get_params() == model.get_params()
    assert str(getattr(loaded, "selection_", "")) == str(getattr(model, "selection_", ""))
    assert str(getattr(loaded, "diagnostics_", "")) == str(getattr(model, "diagnostics_", ""))


def test_random_state_repeats_a_run_and_leaves_the_global_state_alone():
    X, _ = bent_sheets(400, 2, n_features=8)
    np.random.seed(5)  # noqa: NPY002
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    model = ub.HessianICA(n_factors=2, random_state=3)
    first, second = model.fit_transform(X), clone(model).fit_transform(X)
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002
