"""Bad input gets an error that says what to do, or a warning that says what was done."""

import numpy as np
import pytest

import unbraid as ub
from tests.spectral.manifolds import bent_sheets
from unbraid.trust.warnings import TrustWarning

X, FACTORS = bent_sheets(400, 2, n_features=10)


@pytest.mark.parametrize(
    ("parameters", "data", "words"),
    [
        ({}, np.where(np.arange(4000).reshape(400, 10) == 7, np.nan, X), "NaN or infinity"),
        ({}, np.ones((50, 3)), "all 50 rows of X are equal"),
        ({}, 1e-300 * X, "differ by .*e-.* at most, and the squares"),
        ({}, 1e300 * X, "squares of such numbers do not fit into float64"),
        ({"n_neighbors": 5}, X, "at least 6 points"),
        ({"n_neighbors": 12}, X[:8], "larger than the number of different points"),
        ({}, X[:5], "too few for 2 factor"),
        ({"n_neighbors": "many"}, X, "'auto' or a positive integer"),
        ({"n_neighbors": 10, "tangent_weight": -1}, X, "0 or positive"),
        ({"n_factors": 0}, X, "'auto' or a positive integer"),
        ({"n_factors": 5}, X[:, :3], "Ask for at most"),
        ({"n_factors": 2}, np.outer(np.arange(40.0), [1.0, 2.0, 3.0]), "varies in only 1 direction"),
        ({"selection": "best"}, X, "'combined', 'edges', 'closest'"),
        ({"n_landmarks": 3}, X, "an integer from 10 on"),
        ({"pca_components": 0}, X, "the size of the PCA"),
        ({"contrast": "skew"}, X, "'kurtosis', 'logcosh'"),
        ({}, [[1.0, 2.0], [3.0]], "inhomogeneous"),
        ({}, np.array([["a", "b"]] * 30), "must hold numbers|could not convert"),
        ({}, (block for block in [X]), "function that returns a new iterator"),
        ({}, [], "nothing to fit"),
    ],
)
def test_clear_errors(parameters, data, words):
    with pytest.raises((ValueError, TypeError), match=words):
        ub.HessianICA(random_state=0, **parameters).fit(data)


def test_two_clouds_far_apart_have_no_single_embedding():
    with pytest.raises(ValueError, match=r"2 pieces.*Raise n_neighbors"):
        ub.HessianICA(n_factors=2, n_neighbors=10, random_state=0).fit(np.vstack([X, X + 100]))
    with pytest.raises(ValueError, match="pieces"):
        ub.HessianICA(n_factors=2, random_state=0).fit(np.vstack([X, X + 100]))


def test_a_small_piece_is_placed_by_the_local_maps_with_a_warning():
    stray = X[:20] + 50
    with pytest.warns(TrustWarning, match=r"20 point\(s\) outside it were placed"):
        model = ub.HessianICA(n_factors=2, n_neighbors=10, random_state=0).fit(np.vstack([X, stray]))
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
    with pytest.warns(TrustWarning, match="cannot be told from Gaussians"):
        ub.HessianICA(n_factors=2, n_neighbors=14, random_state=0).fit(z @ [[1.0, 0.3, 0.0], [0.0, 1.0, 0.5]])


@pytest.mark.filterwarnings("ignore::unbraid.trust.warnings.ConvergenceWarning")
def test_noise_without_structure_is_not_trusted():
    cloud = np.random.default_rng(0).normal(size=(500, 12))
    with pytest.warns(TrustWarning):
        ub.HessianICA(n_factors=2, random_state=0).fit(cloud)


@pytest.mark.filterwarnings("ignore::unbraid.trust.warnings.ConvergenceWarning")
@pytest.mark.parametrize("cls", [ub.HessianICA, ub.LaplacianICA, ub.PCAICA])
def test_automatic_factors_of_noise_are_refused_in_words(cls):
    cloud = np.random.default_rng(0).normal(size=(400, 30))
    with pytest.warns(TrustWarning, match="the data have no structure"):
        cls(n_factors="auto", random_state=0).fit(cloud)


def test_an_unclear_number_of_factors_is_said():
    cube = np.random.default_rng(0).uniform(size=(600, 3))
    with pytest.warns(TrustWarning, match="fill all 3 directions"):
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
    with pytest.raises(ValueError, match="X has 3 features, but HessianICA is expecting 10"):
        model.transform(X[:, :3])
    with pytest.raises(ValueError, match=r"must be \(n, 2\)"):
        model.inverse_transform(np.zeros((4, 3)))
