"""Covariates: what they explain is taken away, in fit and transform; where a factor goes with them, that is said."""

import numpy as np
import pytest

import unbraid as ub
from tests.facts import facts
from unbraid.data.covariates import Adjustment, Design

N, FEATURES = 600, 60
pytestmark = pytest.mark.filterwarnings("ignore:UB")
SETTINGS = {"n_neighbors": 15, "random_state": 0}


def world(seed, *, batches=4, with_factor=0.0):
    """Factors, clean rows, rows with an offset of each batch that explains half of the variance, and the batches."""
    X, z = ub.datasets.load("isometric", n_factors=2, n_features=FEATURES).sample(N, random_state=seed)
    rng = np.random.default_rng(seed)
    mixed = with_factor * z[:, 0] + (1 - with_factor) * rng.uniform(size=N)
    batch = np.argsort(np.argsort(mixed)) * batches // N
    offset = rng.normal(size=(batches, FEATURES))[batch]
    return z, X, X + offset * np.sqrt(X.var(axis=0).sum() / offset.var(axis=0).sum()), batch


def test_linear_effects_and_spreads_are_undone():
    rng = np.random.default_rng(0)
    truth, batch, drift = rng.normal(size=(4000, 10)), rng.integers(0, 3, 4000), rng.normal(size=4000)
    offset, gain = rng.normal(size=(3, 10)), np.array([[0.5], [1.0], [2.0]])
    X = truth * gain[batch] + offset[batch] + drift[:, None] * rng.normal(size=10)
    known = np.c_[batch, drift]
    found = Adjustment.of(X, known)
    rest = found(X, known)
    correlation = np.diag(np.corrcoef(rest.T, truth.T)[:10, 10:])
    assert correlation.min() > 0.99
    np.testing.assert_allclose(rest.mean(axis=0), X.mean(axis=0), atol=1e-6)
    spreads = np.stack([rest[batch == b].std(axis=0) for b in range(3)])
    np.testing.assert_allclose(spreads / spreads[0], 1, atol=0.06)
    assert 1 - found.explained == pytest.approx((rest * 0 + X - found.mean - found.design(known) @ found.slopes).var() /
                                                (X - X.mean(axis=0)).var(), rel=1e-6)  # fmt: skip


def test_without_an_effect_hardly_anything_is_taken_away():
    X = np.random.default_rng(1).normal(size=(2000, 20))
    found = Adjustment.of(X, np.arange(2000) % 4)
    assert found.explained < 0.005
    np.testing.assert_allclose(found(X, None), X, atol=0.3)
    assert np.abs(np.log(found.spreads)).max() < 0.02  # shrunk


@pytest.mark.parametrize("cls", [ub.HessianICA, ub.PCAICA])
def test_factors_under_batches(cls, tmp_path):
    z, clean, X, batch = world(2)
    days = np.array(["mo", "tu", "we", "th"])[batch]
    options = SETTINGS if cls is ub.HessianICA else {"random_state": 0}
    model = cls(2, **options).fit(X[:500], covariates=days[:500])
    alone = cls(2, **options).fit_transform(clean)
    assert model.adjustment_.explained == pytest.approx(0.5, abs=0.02)
    codes = model.transform(X[:500])  # known by their values
    assert ub.metrics.mcc(z[:500], codes) > ub.metrics.mcc(z, alone) - 0.03
    new = ub.Observations(X[500:], covariates=days[500:])
    assert ub.metrics.mcc(z[500:], model.transform(new)) > ub.metrics.mcc(z, alone) - 0.05
    loaded = ub.load(model.save(tmp_path / "run"))
    np.testing.assert_array_equal(loaded.transform(new), model.transform(new))
    assert "The covariates explain" in str(model.summary().facts)
    with pytest.raises(ValueError, match=facts("100", "covariates=")):
        model.transform(X[500:])
    with pytest.raises(ValueError, match=facts("'su'", "mo, th, tu, we")):
        model.transform(ub.Observations(X[500:], covariates=np.full(100, "su")))


@pytest.mark.parametrize(("share", "warned"), [(0.0, False), (1.0, True)])
def test_a_factor_that_goes_with_the_batches_is_warned_of(share, warned):
    _, clean, X, batch = world(3, with_factor=share)
    concerns = ub.HessianICA(2, **SETTINGS).fit(clean if warned else X, covariates=batch).diagnostics_.concerns
    assert any("UB118" in text for text in concerns) == warned


def test_diagnosis_and_fit_pass_covariates_on():
    _, _, X, batch = world(4)
    found = ub.diagnose(X, covariates=batch)
    assert found.n_factors == 2
    assert any("50 %" in reason for reason in found.reasons)
    model = ub.fit(X, covariates=batch, random_state=0)
    assert model.adjustment_ is not None
    assert ub.fit(X, "hessian-ica", n_factors=2, covariates=batch).rotation == "independence"


@pytest.mark.parametrize(
    ("covariates", "words"),
    [
        (np.r_[np.zeros(598), 1, 1], ("'1'", 2, 5)),
        (np.ones(600), ("the same",)),
        (np.array([f"row {i}" for i in range(600)]), ("600", "levels", "'row 0'")),
    ],
)
def test_covariates_that_say_nothing_are_refused(covariates, words):
    with pytest.raises(ValueError, match=facts(*words)):
        ub.HessianICA(2).fit(world(5)[2], covariates=covariates)


@pytest.mark.parametrize("kind", [int, float, bool, str, object])
def test_levels_are_the_same_in_any_type(kind):
    given = np.arange(20) % 2
    np.testing.assert_array_equal(Design.of(given)(given.astype(int if kind is str else kind)), Design.of(given)(given))


def test_gaps_and_covariates_do_not_go_together():
    X, batch = world(6)[2:]
    X[0, 0] = np.nan
    with pytest.raises(ValueError, match=facts("covariates", "gaps", "fill")):
        ub.PCAICA(2).fit(X, covariates=batch)
