"""R-hat for codes: closed forms, and codes that are or are not found again."""

import numpy as np
import pytest

import unbraid as ub
from tests.facts import facts
from tests.spectral.manifolds import bent_sheets
from unbraid.spectral.refits import SAME, SOURCES, Refit, Reliability, aligned_with, intraclass
from unbraid.trust.table import FIGURES
from unbraid.trust.warnings import TrustWarning


def standardised(Z):
    return (Z - Z.mean(axis=0)) / Z.std(axis=0)


@pytest.fixture(scope="module")
def sheet():
    X, factors = bent_sheets(600, n_features=20)
    return X, factors, ub.HessianICA(2, 12, trust="full", random_state=0).fit(X)


def test_the_share_in_common_is_that_of_the_signal():
    """Codes that are a signal with independent noise of variance s2 correlate by 1 / (1 + s2)."""
    rng = np.random.default_rng(0)
    signal = rng.normal(size=(20_000, 2))
    noise = np.array([0.25, 1.0])
    refits = [standardised(signal + rng.normal(size=signal.shape) * np.sqrt(noise)) for _ in range(4)]
    assert intraclass(refits) == pytest.approx(1 / (1 + noise), abs=0.02)


def test_r_hat_is_the_spread_over_all_against_the_spread_in_common():
    found = Reliability(np.array([1.0, 0.25]), np.zeros(2))
    assert found.r_hat.tolist() == [1.0, 2.0]


def test_alignment_undoes_order_sign_and_scale():
    rng = np.random.default_rng(0)
    codes = rng.normal(size=(400, 3))
    aligned, correlation = aligned_with(codes, codes[:, [2, 0, 1]] * [-2.0, 3.0, -0.1] + 7)
    assert correlation == pytest.approx(np.ones(3))
    assert aligned == pytest.approx(standardised(codes))


def test_a_turn_is_the_angle_between_codes():
    """Standardised independent codes turned by 30 degrees correlate by cos 30."""
    assert Refit("seed", "", np.cos(np.radians([30.0, 0.0]))).turn == pytest.approx([30.0, 0.0], abs=1e-6)


def test_good_codes_are_found_again(sheet):
    X, factors, model = sheet
    found = model.diagnostics_.reliability
    assert found.per_code.min() > 0.98
    assert found.r_hat.max() < 1.02
    assert set(found.by_source()) == set(SOURCES)
    assert not [refit.failed for refit in found.refits if refit.failed]
    truth = aligned_with(factors, model.transform(X))[1]
    assert (np.degrees(np.arccos(truth.clip(0, 1))) <= found.direction.max()).all()


def test_the_second_method_rests_on_other_assumptions(sheet):
    refits = {refit.source: refit for refit in sheet[2].diagnostics_.reliability.refits}
    assert refits["method"].about == "Laplacian eigenmaps"
    X, _ = bent_sheets(300, n_features=20)
    with pytest.warns(TrustWarning):  # few points
        other = ub.LaplacianICA(2, 8, trust="full", random_state=0).fit(X).diagnostics_.reliability
    assert next(refit.about for refit in other.refits if refit.source == "method") == "LTSA"


def test_two_codes_turned_at_random_have_a_known_r_hat():
    """Matched angles between random turns are even in [0, 45] degrees: the mean cosine is sin 45 / (pi / 4) = .90."""
    rng = np.random.default_rng(0)
    angles = rng.uniform(0, np.pi / 2, size=400)
    between = np.abs(angles[:, None] - angles)
    matched = np.cos(np.minimum(between, np.pi / 2 - between))
    r = matched[~np.eye(400, dtype=bool)].mean()
    assert r == pytest.approx(np.sin(np.pi / 4) / (np.pi / 4), abs=0.01)
    assert Reliability(np.array([r]), np.zeros(1)).r_hat[0] > FIGURES["r_hat"].limit()


def test_gaussian_factors_are_not_found_again():
    """Nothing says how they are turned: halves turn them by chance."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 2)) @ rng.normal(size=(2, 6))
    with pytest.warns(TrustWarning, match=facts("UB212")):
        model = ub.HessianICA(2, 15, trust="full", random_state=0).fit(X)
    found = model.diagnostics_.reliability
    assert found.r_hat.max() > FIGURES["r_hat"].limit()
    assert found.direction.max() > 20


@pytest.mark.filterwarnings("ignore:UB306", "ignore:UB117")
def test_a_refit_that_fails_counts_as_not_found():
    """Two clouds joined by a thin bridge: halves fall apart, and say so."""
    rng = np.random.default_rng(0)
    left, right = rng.uniform(size=(200, 2)), rng.uniform(size=(200, 2)) + [1.6, 0]
    bridge = np.c_[np.linspace(1, 1.6, 4), np.full(4, 0.5)]  # a random half keeps too few of its points
    X = np.concatenate([left, bridge, right]) @ rng.normal(size=(2, 5))
    with pytest.warns(TrustWarning, match=facts("UB212")):
        found = ub.HessianICA(2, 8, trust="full", random_state=0).fit(X).diagnostics_.reliability
    failed = [refit for refit in found.refits if refit.failed]
    assert failed
    assert all("pieces" in refit.failed for refit in failed)
    assert all(refit.turn.tolist() == [90.0, 90.0] for refit in failed)
    solved = 1 + sum(refit.source in SAME and not refit.failed for refit in found.refits)
    wanted = 1 + sum(refit.source in SAME for refit in found.refits)
    assert found.per_code.max() <= solved * (solved - 1) / (wanted * (wanted - 1)) + 1e-9


def test_other_evidence_is_used_in_refits_too():
    X, factors = bent_sheets(400, n_features=20)
    known = np.full_like(factors, np.nan)
    known[::10] = factors[::10]
    model = ub.HessianICA(2, 12, rotation="labels", trust="full", null="off", random_state=0).fit(X, known)
    assert model.diagnostics_.reliability.per_code.min() > 0.98


def test_one_factor_needs_no_rotation():
    X, _ = bent_sheets(300, d=1, n_features=10)
    found = ub.HessianICA(1, 25, trust="full", random_state=0).fit(X).diagnostics_.reliability
    assert found.per_code[0] > 0.99
    assert "evidence" not in found.by_source()


def test_cheap_is_the_default_and_makes_no_refits():
    X, _ = bent_sheets(300, n_features=20)
    assert ub.HessianICA(2, 12, random_state=0).fit(X).diagnostics_.reliability is None


def test_refits_do_not_change_the_codes(sheet):
    X, _, model = sheet
    cheap = ub.HessianICA(2, 12, random_state=0).fit(X)
    assert np.array_equal(cheap.embedding_, model.embedding_)


def test_unknown_trust_is_refused():
    with pytest.raises(ValueError, match=facts("trust", "'fully'", "'cheap'", "'full'")):
        ub.HessianICA(2, trust="fully").fit(np.eye(30))


def test_refits_are_kept_in_saved_runs_and_shown(sheet, tmp_path):
    model = sheet[2]
    model.save(tmp_path / "run")
    again = ub.load(tmp_path / "run")
    found, kept = model.diagnostics_.reliability, again.diagnostics_.reliability
    assert kept.per_code.tolist() == found.per_code.tolist()
    assert [refit.about for refit in kept.refits] == [refit.about for refit in found.refits]
    summary = again.summary()
    assert {"reliability", "R-hat", "direction"} <= {fact.name for fact in summary.facts}
    assert len(found.refits) in {len(part.rows) for part in summary.sections}
    assert f"{found.per_code[0]:.3f}" in str(again.diagnostics_)


def test_the_automatic_fit_takes_it_too():
    X, _ = bent_sheets(400, n_features=20)
    model = ub.fit(X, trust="full", random_state=0)
    assert type(model) is ub.HessianICA
    assert model.diagnostics_.reliability.r_hat.max() < 1.02
