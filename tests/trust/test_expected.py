"""The guess of the MCC: its arithmetic, when it is made, and when it is refused."""

import re

import numpy as np
import pytest

import unbraid as ub
from tests.facts import facts
from tests.spectral.manifolds import bent_sheets
from unbraid.manifold.surroundings import torus
from unbraid.metrics import mcc
from unbraid.spectral.figures import edge_of
from unbraid.trust.expected import (
    NAMES,
    Calibration,
    ExpectedMCC,
    Trees,
    calibration,
    calibration_arrays,
    calibration_from,
    cost_of,
    guess_of,
    not_simulated,
)

# x0 <= 1: 10, else (x1 <= 5: 20, else 30); and a second tree that is a leaf of 0.5
STUMPS = Trees(
    start=100.0,
    roots=np.array([0, 5]),
    feature=np.array([0, 0, 1, 0, 0, 0]),
    threshold=np.array([1.0, np.inf, 5.0, np.inf, np.inf, np.inf]),
    left=np.array([1, 1, 3, 3, 4, 5]),
    right=np.array([2, 1, 4, 3, 4, 5]),
    value=np.array([0, 10.0, 0, 20.0, 30.0, 0.5]),
)


@pytest.fixture(scope="module")
def sheet():
    X, factors = bent_sheets(700, n_features=20)
    return X, factors, ub.HessianICA(2, random_state=0).fit(X)


@pytest.mark.parametrize(("x", "leaf"), [((0, 9), 10), ((1, 9), 10), ((2, 5), 20), ((2, 6), 30)])
def test_trees_lead_to_their_leaves(x, leaf):
    assert STUMPS(np.array(x, dtype=float)) == 100 + leaf + 0.5


def constant(value):
    return Trees(
        value, np.array([0]), np.zeros(1, int), np.array([np.inf]), np.zeros(1, int), np.zeros(1, int), np.zeros(1)
    )


def calibrated(prediction, simulated, mean, scale):
    knots, parts = np.array([0.0, 1.0]), ([0.5, 0.9], [0.1, 0.7], [0.9, 1.0])
    return Calibration(
        constant(prediction), knots, *map(np.array, parts), simulated, mean, scale, reach=1.0, sound=mean
    )


def test_what_is_expected_lies_between_the_knots():
    halfway, beyond = (calibrated(p, np.zeros((20, 2)), np.zeros(2), np.ones(2))(np.zeros(2)) for p in (0.5, 9.0))
    assert (halfway.median, halfway.low, halfway.high) == pytest.approx((0.7, 0.4, 0.95))
    assert beyond == ExpectedMCC(0.9, 0.7, 1.0)


def test_the_distance_is_that_of_the_tenth_world():
    worlds = np.arange(1.0, 31.0)[:, None]
    known = calibrated(2.0, worlds, np.array([7.0]), np.array([2.0]))
    assert known.distance(np.array([7.0])) == 10.0


def test_the_file_says_what_was_learnt():
    known = calibration()
    again = calibration_from(calibration_arrays(known))
    x = known.mean + 0.1 * known.scale
    assert again(x) == known(x)
    assert known.simulated.shape[1] == len(NAMES) == len(known.sound)
    assert (known.low <= known.median).all()
    assert (known.median <= known.high).all()
    with pytest.raises(ValueError, match=facts("expected_mcc.npz", "edges")):
        calibration_from(calibration_arrays(known) | {"names": np.array(["edges"])})


def test_a_good_sheet_gets_a_good_guess(sheet):
    X, factors, model = sheet
    guess = model.diagnostics_.expected_mcc
    true = mcc(factors, model.transform(X))
    assert guess.low <= guess.median
    assert guess.low <= true
    assert guess.median > 0.97
    assert set(model.diagnostics_.figures) == set(NAMES)


@pytest.mark.filterwarnings("ignore::unbraid.trust.warnings.TrustWarning", "ignore:UB117")
def test_factors_that_depend_get_a_lower_guess(sheet):
    """A triangle is no product: its codes are turned, and the guess must say so."""
    rng = np.random.default_rng(0)
    z = rng.uniform(size=(2000, 2))
    z = z[z.sum(axis=1) < 1]
    X = np.c_[np.sin(z), np.cos(z)] @ rng.normal(size=(4, 12))
    model = ub.HessianICA(2, random_state=0)
    codes = model.fit_transform(X)
    guess = model.diagnostics_.expected_mcc
    assert guess is None or guess.low < min(mcc(z, codes), sheet[2].diagnostics_.expected_mcc.low - 0.05)


@pytest.mark.parametrize(
    ("kind", "n", "d", "independent", "unsure", "words"),
    [
        ("hessian", 1000, 2, True, "", ()),
        ("hessian", 300, 1, True, "", ()),
        ("laplacian", 1000, 2, True, "", ()),
        ("vae", 1000, 2, True, "", ("PCA+ICA",)),
        ("hessian", 1000, 2, False, "", ("independence",)),
        ("hessian", 1000, 2, True, "no gap", ("number of factors",)),
        ("hessian", 1000, 7, True, "", ("1 to 6", 7)),
        ("hessian", 99, 2, True, "", ("100 to 20000", 99)),
        ("pca", 20_001, 2, True, "", ("100 to 20000", 20_001)),
    ],
)
def test_what_was_not_simulated_gets_no_guess(kind, n, d, independent, unsure, words):
    reason = not_simulated(kind, n, d, independent=independent, unsure=unsure)
    assert bool(reason) == bool(words)
    assert re.search(facts(*words), reason)


@pytest.mark.filterwarnings("ignore:UB116", "ignore:UB306")
def test_closed_factors_get_no_guess():
    X = torus(900, 2, np.random.RandomState(0)) @ np.random.default_rng(0).normal(size=(4, 10))
    model = ub.HessianICA(2, 15, random_state=0)
    with pytest.warns(ub.warnings.TrustWarning, match="UB211"):
        model.fit(X)
    assert model.diagnostics_.expected_mcc is None
    edge = model.diagnostics_.figures["edge"]
    assert re.search(facts(f"{100 * edge:.0f} %", "product-manifold"), model.diagnostics_.unguessed)
    assert model.diagnostics_.unguessed in str(model.diagnostics_)


def test_a_curve_whose_ends_meet_has_no_edge():
    rng = np.random.RandomState(0)
    circle = torus(400, 1, rng)
    assert edge_of(circle, 1, rng) == 0.0
    assert edge_of(circle[circle[:, 0] < 0.5], 1, rng) > 0.5


def test_what_looks_like_no_simulated_world_gets_no_guess(sheet):
    figures = sheet[2].diagnostics_.figures
    assert guess_of(figures)[0] is not None
    guess, reason = guess_of(figures | {"skew": 50.0})
    assert guess is None
    assert f"{calibration().reach:.1f}" in reason


def test_small_data_are_fitted_without_a_guess():
    X, _ = bent_sheets(80, n_features=20)
    model = ub.HessianICA(2, 10, random_state=0).fit(X)
    assert model.diagnostics_.expected_mcc is None
    assert "100 to 20000" in model.diagnostics_.unguessed
    fact = model.summary().facts[0]
    assert fact.name == "expected MCC"
    assert not re.search(r"\d", fact.value)
    assert "100 to 20000" in fact.meaning


@pytest.mark.parametrize("method", [ub.TangentICA, ub.LaplacianICA, ub.PCAICA])
def test_every_method_with_a_rotation_gets_a_guess(sheet, method):
    X, factors, _ = sheet
    model = method(2, random_state=0)
    codes = model.fit_transform(X)
    assert model.diagnostics_.expected_mcc.low <= mcc(factors, codes)
    assert set(model.diagnostics_.figures) == set(NAMES)


def test_a_violated_assumption_costs(sheet):
    figures = sheet[2].diagnostics_.figures
    assert cost_of(figures, "dependence") == pytest.approx(0, abs=0.01)
    turned = figures | {"plain_turn": 40.0, "chance_turn": 40.0, "half_turn": 40.0, "doubt": 40.0}
    assert cost_of(turned, "rotation_doubt") > cost_of(figures, "rotation_doubt")
    assert cost_of(figures, "structure") is None


def test_the_guess_is_shown_and_saved(sheet, tmp_path):
    model = sheet[2]
    model.save(tmp_path / "run")
    again = ub.load(tmp_path / "run")
    assert again.diagnostics_.expected_mcc == model.diagnostics_.expected_mcc
    fact = again.summary().facts[0]
    assert fact.name == "expected MCC"
    expected = model.diagnostics_.expected_mcc
    assert fact.value.startswith(f"{expected.median:.2f} ")
    assert 0 <= expected.low - float(re.search(r"low ([\d.]+)", fact.value)[1]) < 0.01


def test_the_bound_is_never_rounded_up():
    assert "0.91" in str(ExpectedMCC(0.999, 0.9199))
