"""The contract of every spectral estimator: scikit-learn's checks, new points, the way back, saving."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import unbraid as ub
from tests.facts import facts
from tests.spectral.manifolds import bent_sheets, linear_fit

EMBEDDINGS = [ub.HessianEigenmaps, ub.LTSA, ub.LaplacianEigenmaps]
FACTORS = [ub.HessianICA, ub.TangentICA, ub.LaplacianICA, ub.PCAICA]

# scikit-learn's blobs and random clouds are no manifolds: the warnings about that are right, and not the point here.
pytestmark = pytest.mark.filterwarnings(
    "ignore::unbraid.trust.warnings.TrustWarning",
    "ignore::unbraid.trust.warnings.AssumptionWarning",
    "ignore::unbraid.trust.warnings.ConvergenceWarning",
)


@parametrize_with_checks([cls(random_state=0) for cls in (ub.HessianICA, ub.LaplacianEigenmaps, ub.PCAICA)])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(
    [cls(random_state=0) for cls in (ub.HessianEigenmaps, ub.LTSA, ub.TangentICA, ub.LaplacianICA)]
)
def test_scikit_learn_contract_of_the_others(estimator, check):
    """They differ from those above in what is embedded, or in what follows."""
    check(estimator)


@pytest.mark.parametrize("cls", EMBEDDINGS + FACTORS)
def test_transform_of_the_training_points_is_fit_transform(cls):
    X, _ = bent_sheets(300, 2, n_features=30)
    model = cls(n_factors=2, random_state=0)
    codes = model.fit_transform(X)
    np.testing.assert_allclose(model.transform(X), codes, atol=1e-6)
    assert codes.shape == (300, 2)


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
    X, _ = bent_sheets(600, 2, n_features=20)
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


def discs(n):
    """Soft discs that move in a 12 x 12 picture, as bytes."""
    x, y = np.random.default_rng(0).uniform(3, 8, size=(2, n, 1, 1))
    row, column = np.mgrid[:12, :12]
    return np.round(255 * np.exp(-((row - y) ** 2 + (column - x) ** 2) / 8)).astype(np.uint8)


@pytest.mark.parametrize("cls", [ub.HessianICA, ub.LTSA, ub.LaplacianICA, ub.PCAICA])
def test_bytes_are_decoded_to_the_unit_interval(cls):
    pictures = discs(300)
    model = cls(n_factors=2, random_state=0)
    codes = model.fit_transform(pictures)
    decoded = model.inverse_transform(np.vstack([codes, 3 * codes]))
    assert decoded.shape == (600, 12, 12)
    assert decoded.min() >= 0
    assert 0.9 < decoded.max() <= 1
    error = np.abs(decoded[:300] - pictures / 255).mean()
    assert error < (0.02 if cls is not ub.PCAICA else 0.1)
    np.testing.assert_allclose(model.transform(pictures[:50] / 255), codes[:50], atol=1e-4)
    with pytest.raises(ValueError, match=facts("[0, 1]", 0, 255)):
        model.transform(pictures[:50].astype(float))


@pytest.mark.parametrize("cls", [ub.HessianEigenmaps, ub.PCAICA])
def test_dask_arrays_of_pictures_stay_lazy(cls):
    import dask.array as da

    pictures = discs(300)
    model = cls(n_factors=2, random_state=0).fit(pictures)
    lazy = model.transform(da.from_array(pictures, chunks=(150, 5, 12)))
    assert isinstance(lazy, da.Array)
    assert isinstance(clone(model).fit_transform(da.from_array(pictures)), da.Array)
    assert lazy.shape == (300, 2)
    # Products of single precision depend on the size of a block and on the threads of BLAS.
    np.testing.assert_allclose(lazy.compute(), model.transform(pictures), atol=1e-5)


@pytest.mark.parametrize("cls", [ub.HessianICA, ub.PCAICA])
@pytest.mark.parametrize("state", [np.random.RandomState, np.random.default_rng])
def test_every_kind_of_random_state_repeats_a_run(cls, state):
    X, _ = bent_sheets(150, 2, n_features=8)
    first, second = (cls(n_factors=2, random_state=state(1)).fit_transform(X) for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_parameters_are_all_shown():
    shared = ["n_factors", "n_landmarks", "n_neighbors", "outliers", "pca_components", "progress", "random_state"]
    shared = ["counts", *shared, "selection", "units"]
    assert sorted(ub.LTSA().get_params()) == shared
    assert sorted(ub.HessianEigenmaps().get_params()) == sorted([*shared, "tangent_weight"])
    turned = [*shared, "null", "contrast", "n_init", "rotation", "trust"]
    assert sorted(ub.LaplacianICA().get_params()) == sorted(turned)
    assert sorted(ub.HessianICA().get_params()) == sorted([*turned, "tangent_weight"])
    assert ub.HessianICA(3, 20).get_params()["n_neighbors"] == 20


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
