"""Bad input gets an error that says what to do, or a warning that says what was done."""

import numpy as np
import pytest

import unbraid as ub
from tests.facts import facts
from tests.spectral.manifolds import bent_sheets
from unbraid.trust.warnings import TrustWarning

X, FACTORS = bent_sheets(400, 2, n_features=10)


@pytest.mark.parametrize(
    ("parameters", "data", "words"),
    [
        ({}, np.where(np.arange(4000).reshape(400, 10) == 7, np.inf, X), ("infinity", 1, 400)),
        ({}, np.ones((50, 3)), ("X", 50)),
        ({}, 1e-300 * X, ("4.9e-301", "float64")),
        ({}, 1e300 * X, ("6.69e+299", "float64")),
        ({"n_neighbors": 5}, X, ("n_neighbors", 5, 6)),
        ({"n_neighbors": 12}, X[:8], ("n_neighbors", 12, "n_samples = 8")),
        ({}, X[:5], ("n_samples = 5", 2, 6)),
        ({"n_neighbors": "many"}, X, ("n_neighbors", "'many'", "'auto'")),
        ({"n_neighbors": 10, "tangent_weight": -1}, X, ("tangent_weight", -1)),
        ({"n_factors": 0}, X, ("n_factors", 0, "'auto'")),
        ({"n_factors": 5}, X[:, :3], ("n_factors", 5, "n_features = 3")),
        ({"n_factors": 2}, np.outer(np.arange(40.0), [1.0, 2.0, 3.0]), ("n_factors", 2, 1)),
        ({"selection": "best"}, X, ("selection", "'best'", "'combined'", "'edges'", "'closest'")),
        ({"n_landmarks": 3}, X, ("n_landmarks", 3, 10)),
        ({"pca_components": 0}, X, ("pca_components", 0, "'auto'")),
        ({"contrast": "skew"}, X, ("contrast", "'skew'", "'kurtosis'", "'logcosh'")),
        ({}, [[1.0, 2.0], [3.0]], ("inhomogeneous",)),
        ({}, np.array([["a", "b"]] * 30), ("X", "<U1")),
        ({}, (block for block in [X]), ("iterator", "unbraid.Blocks")),
        ({}, [], ("X", "list")),
    ],
)
def test_clear_errors(parameters, data, words):
    with pytest.raises((ValueError, TypeError), match=facts(*words)):
        ub.HessianICA(random_state=0, **parameters).fit(data)


def test_two_clouds_far_apart_have_no_single_embedding():
    with pytest.raises(ValueError, match=facts(10, 2, "50 %", "n_neighbors")):
        ub.HessianICA(n_factors=2, n_neighbors=10, random_state=0).fit(np.vstack([X, X + 100]))
    with pytest.raises(ValueError, match=facts(200, 2, "50 %", "n_neighbors")):
        ub.HessianICA(n_factors=2, random_state=0).fit(np.vstack([X, X + 100]))


def test_a_small_piece_is_placed_by_the_local_maps_with_a_warning():
    stray = X[:20] + 50
    with pytest.warns(TrustWarning, match=facts("UB207", 2, 20)):
        model = ub.HessianICA(n_factors=2, n_neighbors=10, outliers="keep", random_state=0).fit(np.vstack([X, stray]))
    assert model.diagnostics_.n_graph_components == 2
    assert model.transform(np.vstack([X, stray])).shape == (420, 2)
    assert np.median(model.transform_error(stray)) > 10 * np.median(model.transform_error(X[::7] * 1.001))


def test_duplicates_share_a_code():
    doubled = np.vstack([X, X[:100]])
    model = ub.HessianICA(n_factors=2, n_neighbors=12, random_state=0)
    codes = model.fit_transform(doubled)
    assert model.diagnostics_.n_duplicates == 100
    np.testing.assert_allclose(codes[400:], codes[:100], atol=1e-9)
    assert ub.metrics.mcc(FACTORS, codes[:400]) > 0.99


def test_gaussian_factors_are_warned_of():
    z = np.random.default_rng(0).normal(size=(2000, 2))
    with pytest.warns(TrustWarning, match=facts("UB205", "codes 1, 2")):
        ub.HessianICA(n_factors=2, n_neighbors=14, random_state=0).fit(z @ [[1.0, 0.3, 0.0], [0.0, 1.0, 0.5]])


@pytest.mark.filterwarnings("ignore::unbraid.trust.warnings.ConvergenceWarning", "ignore:UB11")
def test_noise_without_structure_is_not_trusted():
    cloud = np.random.default_rng(0).normal(size=(250, 12))
    with pytest.warns(TrustWarning):
        ub.HessianICA(n_factors=2, random_state=0).fit(cloud)


@pytest.mark.filterwarnings("ignore::unbraid.trust.warnings.ConvergenceWarning")
@pytest.mark.parametrize("cls", [ub.HessianICA, ub.LaplacianICA, ub.PCAICA])
def test_automatic_factors_of_noise_are_refused_in_words(cls):
    cloud = np.random.default_rng(0).normal(size=(400, 30))
    with pytest.warns(TrustWarning, match=facts("UB209")):
        cls(n_factors="auto", random_state=0).fit(cloud)


def test_an_unclear_number_of_factors_is_said():
    cube = np.random.default_rng(0).uniform(size=(600, 3))
    with pytest.warns(TrustWarning, match=facts("UB210", 3, "2 to 3")):
        model = ub.PCAICA(n_factors="auto", random_state=0).fit(cube)
    assert model.n_factors_ == 3


@pytest.mark.parametrize("noise", [0, 0.02])
@pytest.mark.parametrize("d", [1, 2])
def test_automatic_factors_of_a_noisy_sheet(d, noise):
    X, _ = bent_sheets(1000, d, noise=noise)
    model = ub.PCAICA(n_factors="auto", random_state=0).fit(X)
    assert model.n_factors_ == d


def test_transform_before_fit_and_with_wrong_width():
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        ub.HessianICA().transform(X)
    model = ub.HessianICA(n_factors=2, n_neighbors=10, random_state=0).fit(X)
    with pytest.raises(ValueError, match=facts(3, "HessianICA", 10)):
        model.transform(X[:, :3])
    with pytest.raises(ValueError, match=facts((4, 3), "(n, 2)")):
        model.inverse_transform(np.zeros((4, 3)))
