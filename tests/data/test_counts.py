"""Counts: what is taken for them, the scale they are seen on, and what the methods make of it."""

import numpy as np
import pytest
from scipy.stats import poisson

import unbraid as ub
from tests.facts import facts
from unbraid.data.counts import are_counts, root_noise, scale_of
from unbraid.testing.data import known_data

pytestmark = pytest.mark.filterwarnings("ignore:UB")  # of few and noisy rows
SETTINGS = {"n_neighbors": 40, "random_state": 0}


def fields(seed, mean, n=500, p=100, depth=0.0):
    """Bumps of rates over a square, and counts of these rates; rows are seen to different depth."""
    rng = np.random.default_rng(seed)
    z, centres = rng.uniform(size=(n, 2)), rng.uniform(-0.5, 1.5, size=(p, 2))
    rates = 0.1 + np.exp(-np.square(z[:, None] - centres).sum(axis=2) / 0.18)
    rates *= mean * rng.lognormal(0, 0.5, p) / rates.mean()
    return z, rng.poisson(rates * rng.lognormal(0, depth, (n, 1)))


@pytest.mark.parametrize("mean", [0.02, 0.5, 3, 40])
def test_noise_of_a_root_is_that_of_the_poisson_law(mean):
    k = np.arange(400)
    chance = poisson.pmf(k, mean)
    assert root_noise(np.array([mean]))[0] == pytest.approx(np.sqrt(mean - (chance @ np.sqrt(k)) ** 2), rel=1e-3)


def test_every_column_has_the_same_noise():
    rates = np.array([0.05, 0.3, 1, 4, 15])
    X = np.random.default_rng(0).poisson(np.tile(rates, (20_000, 1)))
    scale = scale_of(X)
    np.testing.assert_allclose(scale(X.astype(float)).std(axis=0), 0.5, rtol=0.05)
    np.testing.assert_allclose(scale.inverse(scale(X.astype(float))), X, atol=1e-9)


def test_what_are_counts():
    rng = np.random.default_rng(1)
    assert are_counts(rng.poisson(0.1, size=(500, 20)))
    assert are_counts(rng.negative_binomial(2, 0.2, size=(500, 20)).astype(float))
    others = {
        "floats": rng.normal(size=(500, 20)),
        "negative": rng.poisson(2, size=(500, 20)) - 1,
        "binary": rng.integers(0, 2, size=(500, 20)),
        "grades": rng.integers(1, 6, size=(500, 20)),
        "grey values": rng.integers(0, 256, size=(500, 20)),
        "gaps": np.where(rng.random((500, 20)) < 0.1, np.nan, rng.poisson(2, size=(500, 20))),
    }
    assert not [name for name, table in others.items() if are_counts(table)]


def test_totals_that_vary_are_named_and_go_by_choice():
    z, X = fields(0, 3, depth=0.5)
    model = ub.HessianICA(2, **SETTINGS).fit(X)
    assert not model.counts_.total
    assert model.counts_.uneven == pytest.approx(np.sqrt(np.exp(0.25) - 1), abs=0.1)  # of log-normal depths
    assert "counts='depth'" in str(model.summary().facts)
    deep = ub.HessianICA(2, counts="depth", **SETTINGS).fit(X)
    assert deep.counts_.total == np.median(X.sum(axis=1))
    np.testing.assert_allclose(deep.transform(3 * X), deep.transform(X), atol=1e-6)
    assert ub.metrics.mcc(z, deep.transform(X)) > 0.97


@pytest.mark.parametrize("mean", [1, 10])
def test_factors_of_counts(mean):
    z, X = fields(1, mean)
    model = ub.HessianICA(2, **SETTINGS).fit(X)
    raw = ub.HessianICA(2, counts="given", **SETTINGS).fit(X)
    assert ub.metrics.mcc(z, model.transform(X)) > 0.97
    assert raw.counts_ is None
    assert ub.metrics.mcc(z, model.transform(X)) > ub.metrics.mcc(z, raw.transform(X))


def test_decoded_rows_are_counts_again(tmp_path):
    _, X = fields(2, 5)
    for method in (ub.HessianICA(2, **SETTINGS), ub.PCAICA(2, random_state=0), ub.ProductManifold(random_state=0)):
        model = method.fit(X)
        again = model.inverse_transform(model.transform(X))
        assert np.square(again - X).sum() < 0.7 * np.square(X - X.mean(axis=0)).sum()
        loaded = ub.load(model.save(tmp_path / type(model).__name__))
        np.testing.assert_array_equal(loaded.transform(X), model.transform(X))


def test_diagnosis_says_that_x_holds_counts():
    _, X = fields(3, 10)
    found = ub.diagnose(X)
    assert "counts" in found.reasons[-1]
    assert not any("counts" in reason for reason in ub.diagnose(X + 0.5).reasons)


def test_depth_is_refused_where_there_are_no_counts():
    with pytest.raises(ValueError, match=facts("counts='depth'", "whole numbers", "counts='auto'")):
        ub.HessianICA(2, counts="depth").fit(known_data().table)


def test_graph_for_export_sees_counts_as_the_model_does():
    torch = pytest.importorskip("torch")
    _, X = fields(4, 5)
    for counts in ("auto", "depth"):
        model = ub.HessianICA(2, counts=counts, **SETTINGS).fit(X)
        graphs, codes = model._graphs(), model.transform(X[:20])
        np.testing.assert_allclose(graphs.encoder(torch.tensor(X[:20])), codes, atol=1e-3)
        decoded = graphs.decoder(torch.tensor(codes))
        np.testing.assert_allclose(decoded, model.inverse_transform(codes), rtol=1e-4, atol=1e-4)
