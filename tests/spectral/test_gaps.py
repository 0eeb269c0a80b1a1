"""Missing values: probabilistic PCA against complete data and against a closed form, and what cannot take them."""

import numpy as np
import pytest

import unbraid as ub
from tests.facts import facts
from unbraid.spectral import gaps
from unbraid.spectral.gaps import expected, probabilistic_pca
from unbraid.trust.warnings import ConvergenceWarning


def world(seed, missing=0.2, n=600):
    rng = np.random.default_rng(seed)
    z = rng.uniform(-1, 1, size=(n, 3))
    X = z @ rng.normal(size=(3, 12)) + 0.1 * rng.normal(size=(n, 12))
    return z, X, np.where(rng.random(X.shape) < missing, np.nan, X)


def test_without_gaps_it_is_the_closed_form():
    """Tipping and Bishop, eq. 7 and 8: principal directions, and the mean of the variances left out as the noise."""
    X = world(0)[1]
    found = probabilistic_pca(X, 3)
    values, vectors = np.linalg.eigh(np.cov(X.T, bias=True))
    assert found.noise == pytest.approx(values[:-3].mean(), rel=1e-3)
    np.testing.assert_allclose(np.abs(found.components @ vectors[:, ::-1][:, :3]), np.eye(3), atol=0.02)
    np.testing.assert_allclose(found.variances, values[::-1][:3] - found.noise, rtol=1e-3)
    np.testing.assert_allclose(found.mean, X.mean(axis=0), atol=1e-6)


@pytest.mark.parametrize("seed", range(200, 210))
def test_a_fifth_missing_costs_little(seed):
    """At most .03 of MCC, as it was set before the run; filling with means costs more."""
    z, X, gappy = world(seed)
    tables = {"all": X, "gaps": gappy, "means": np.where(np.isnan(gappy), np.nanmean(gappy, axis=0), gappy)}
    score = {
        name: ub.metrics.mcc(z, ub.PCAICA(3, random_state=0).fit_transform(table)) for name, table in tables.items()
    }
    assert score["gaps"] > score["all"] - 0.03
    assert score["gaps"] > score["means"] + 0.01


def test_masked_and_frames_and_new_rows_with_gaps():
    _, X, gappy = world(1)
    model = ub.PCAICA(3, random_state=0).fit(np.ma.masked_invalid(gappy))
    np.testing.assert_array_equal(model.transform(gappy), ub.PCAICA(3, random_state=0).fit_transform(gappy))
    whole = ub.PCAICA(3, random_state=0).fit(X)
    np.testing.assert_allclose(whole.transform(np.where(np.arange(12) < 11, X, np.nan)), whole.transform(X), atol=0.5)
    known = whole.reduction_
    W = known.components.T * np.sqrt(known.variances)
    z = np.linalg.solve(W[:11].T @ W[:11] + whole.noise_ * np.eye(3), W[:11].T @ (X[0, :11] - known.mean[:11]))
    filled = np.r_[X[0, :11], known.mean[11] + W[11] @ z][None]
    np.testing.assert_allclose(whole.transform(np.r_[X[0, :11], np.nan][None]), whole.transform(filled))


def test_with_time_too():
    _, _, gappy = world(2)
    model = ub.PCAICA(2, rotation="time", random_state=0, null="off")
    with pytest.warns(UserWarning, match="UB10"):  # rows that have no order in time
        assert model.fit_transform(gappy, time=np.arange(len(gappy))).shape == (600, 2)


def test_what_cannot_be_found_is_refused():
    _, _, gappy = world(3)
    with pytest.raises(ValueError, match=facts("n_factors='auto'", "missing")):
        ub.PCAICA("auto").fit(gappy)
    with pytest.raises(ValueError, match=facts("PCAICA", "NaN")):
        ub.ProductManifold().fit(gappy)
    with pytest.raises(ValueError, match=facts("column 4")):
        ub.HessianICA(2).fit(np.where(np.arange(12) == 4, np.nan, gappy))
    with pytest.raises(ValueError, match=facts("column 4")):
        ub.PCAICA(2).fit(np.where(np.arange(12) == 4, np.nan, gappy))
    with pytest.raises(ValueError, match=facts("1 rows")):
        expected(np.full((1, 3), np.nan), np.ones((3, 1)), 0.1)
    with pytest.raises(ValueError, match="infinity"):
        ub.PCAICA(2).fit(np.where(np.isnan(gappy), np.inf, gappy))


@pytest.mark.parametrize("cls", [ub.HessianICA, ub.TangentICA, ub.LaplacianICA])
def test_gaps_of_curved_data_are_filled_from_the_rest_of_the_row(cls, tmp_path):
    data = ub.datasets.load("isometric", n_factors=2, n_features=30, curvature=3.0)
    X, z = data.sample(600, random_state=1)
    gappy = np.where(np.random.default_rng(1).random(X.shape) < 0.2, np.nan, X)
    settings = {"n_neighbors": 15, "random_state": 0}
    model = cls(2, **settings).fit(gappy)
    whole = ub.metrics.mcc(z, cls(2, **settings).fit_transform(X))
    assert ub.metrics.mcc(z, model.transform(gappy)) > whole - 0.01
    assert ub.metrics.mcc(z, model.transform(X)) > whole - 0.01
    assert model.filling_.share == np.isnan(gappy).mean()
    assert "missing" in str(model.summary().facts)
    np.testing.assert_allclose(model.filling_(gappy), X, atol=0.2 * X.std())
    masked = np.ma.masked_array(X, np.isnan(gappy))
    # products of the same numbers at other places in memory may round differently
    np.testing.assert_allclose(model.transform(masked), model.transform(gappy), atol=1e-12)
    loaded = ub.load(model.save(tmp_path / "run"))
    np.testing.assert_allclose(loaded.transform(gappy), model.transform(gappy), atol=1e-12)


def test_a_model_of_whole_rows_refuses_gaps():
    X, _ = ub.datasets.load("isometric", n_factors=2, n_features=30).sample(300, random_state=1)
    model = ub.HessianICA(2, n_neighbors=15, random_state=0).fit(X)
    X[3, 4] = np.nan
    with pytest.raises(ValueError, match=facts("NaN", 1, 300)):
        model.transform(X)


def test_too_few_steps_are_told(monkeypatch):
    monkeypatch.setattr(gaps, "MOST_STEPS", 2)
    with pytest.warns(ConvergenceWarning, match=facts("UB405", "2 steps")):
        probabilistic_pca(world(4)[2], 3)
