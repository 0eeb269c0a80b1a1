"""Missing values in what is diagnosed, and fitted without a choice of method."""

import numpy as np
import pytest

import unbraid as ub

pytestmark = pytest.mark.filterwarnings("ignore:UB")


def world(missing=0.1):
    X, z = ub.datasets.load("isometric", n_factors=2, n_features=20).sample(600, random_state=0)
    return z, X, np.where(np.random.default_rng(0).random(X.shape) < missing, np.nan, X)


@pytest.mark.parametrize("masked", [False, True])
def test_gaps_are_filled_and_said(masked):
    z, X, gappy = world()
    given = np.ma.masked_invalid(gappy) if masked else gappy
    found, whole = ub.diagnose(given), ub.diagnose(X)
    assert (found.n_factors, found.verdict) == (2, "with care" if whole.verdict == "yes" else whole.verdict)
    assert any("missing" in reason for reason in found.reasons)
    model = ub.fit(given, random_state=0)
    assert ub.metrics.mcc(z, model.transform(given)) > 0.97
    assert any("missing" in reason for reason in model.diagnosis_.reasons)


def test_methods_without_gaps_and_covariates_see_filled_values():
    angle = np.random.default_rng(1).uniform(0, 2 * np.pi, 600)
    X = np.c_[np.cos(angle), np.sin(angle)] @ np.random.default_rng(2).normal(size=(2, 8))
    gappy = np.where(np.random.default_rng(0).random(X.shape) < 0.05, np.nan, X)
    model = ub.fit(gappy, random_state=0)
    assert type(model).__name__ == "ProductManifold"
    assert any("filled values" in reason for reason in model.diagnosis_.reasons)
    turned = np.exp(1j * (model.transform(gappy)[:, 0] - angle)), np.exp(1j * (model.transform(gappy)[:, 0] + angle))
    assert max(abs(turn.mean()) for turn in turned) > 0.99
    z, _, gappy = world(0.05)
    batch = np.arange(600) % 3
    model = ub.fit(gappy, covariates=batch, random_state=0)
    assert model.adjustment_ is not None
    assert ub.metrics.mcc(z, model.transform(ub.Observations(gappy, covariates=batch))) > 0.97


def test_a_network_that_was_chosen_takes_new_rows_with_gaps(tmp_path):
    data = ub.datasets.load("temporal-sources", n_factors=2, n_features=6, random_state=0)
    X, factors, time = data.sample_recording(2000, random_state=0)
    gappy = np.where(np.random.default_rng(0).random(X.shape) < 0.02, np.nan, X)
    steps = {"max_steps": 300, "batch_size": 256, "learning_rate": 2e-3, "null": "off"}
    model = ub.fit(gappy, time=time, **steps, random_state=0)
    codes = model.transform(gappy)
    assert type(model) is ub.Contrastive
    assert ub.metrics.mcc(factors, codes) > 0.9
    np.testing.assert_array_equal(model.transform(np.ma.masked_invalid(gappy)), codes)
    model.save(tmp_path / "run")
    np.testing.assert_array_equal(ub.load(tmp_path / "run").transform(gappy), codes)
    with pytest.raises(ValueError, match="NaN"):  # a fit of complete rows was never told how to fill
        model.fit(X, time=time).transform(gappy)
