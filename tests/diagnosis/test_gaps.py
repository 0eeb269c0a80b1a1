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
    _, _, gappy = world(0.05)
    model = ub.fit(gappy, covariates=np.arange(600) % 3, random_state=0)
    assert model.adjustment_ is not None
