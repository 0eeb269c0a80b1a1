"""What is claimed with and without evidence: the theorem, what stays free, what would help, and what is fitted."""

import json
import re
import warnings

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter1d
from scipy.special import ndtr

import unbraid as ub
from tests.facts import facts
from tests.spectral.manifolds import bent_sheets
from unbraid.trust.theorems import FREE, THEOREMS
from unbraid.trust.warnings import AssumptionWarning

N = 600
MIX = np.random.default_rng(7).normal(size=(2, 5))


def in_time(rates, n=N):
    """Gaussian factors, flat data."""
    rng = np.random.default_rng(1)
    z = rng.normal(size=(n, 2))
    for t in range(1, n):
        z[t] += np.array(rates) * z[t - 1]
    return z, z @ MIX


@pytest.fixture(scope="module")
def gaussian():
    return np.random.default_rng(0).normal(size=(N, 2))


@pytest.fixture(scope="module")
def without(gaussian):
    return ub.diagnose(gaussian @ MIX)


def test_a_theorem_covers_a_yes():
    found = ub.diagnose(bent_sheets(500)[0])
    assert (found.verdict, found.theorem, found.free) == ("yes", THEOREMS["horan"], ("function per factor",))
    assert (found.would_help, found.twin) == ([], "")
    flat = ub.diagnose(np.random.default_rng(0).uniform(size=(N, 2)) @ MIX)
    assert (flat.theorem.id, flat.free) == ("comon", ("scale",))


def test_gaussian_factors_may_be_rotated_and_their_twin_fits_as_well(without):
    assert without.theorem is None
    assert without.free == ("scale", "rotation")
    assert without.twin.startswith("A twin")
    assert {hint.evidence for hint in without.would_help} == {"time", "pairs", "labels"}
    assert any("5 rows" in hint.asks for hint in without.would_help)
    assert {hint.reason for hint in without.would_help} <= {"Gaussian factors", "Gaussian factors, a rotation in doubt"}


@pytest.mark.parametrize("kind", ["dependent", "noise", "clusters"])
def test_nothing_is_claimed_where_no_theorem_holds(kind):
    rng = np.random.default_rng(0)
    z = rng.uniform(size=(3 * N, 2))
    X = {
        "dependent": z[z.sum(axis=1) < 1][:N] @ MIX,
        "noise": rng.normal(size=(N, 6)),
        "clusters": 9 * np.eye(5)[rng.integers(3, size=N)] + rng.normal(size=(N, 5)),
    }[kind]
    found = ub.diagnose(X)
    assert (found.theorem, found.free) == (None, ("everything",))
    assert "sobi" not in [hint.theorem for hint in found.would_help]
    assert (found.would_help == []) == (kind == "noise")


def test_nothing_is_claimed_where_something_varies_that_no_code_follows():
    data = ub.datasets.load("light-tunnel", view="light")  # four numbers, three codes
    (first, _), (second, _) = data.sample_pairs(500, random_state=0, changed=1)
    X = np.concatenate([first, second])
    found = ub.diagnose(X / X.std(axis=0), pairs=np.arange(1000).reshape(2, -1).T)
    assert found["left_over"].holds is False
    assert (found.theorem, found.free) == (None, ("everything",))


def test_order_in_time_identifies_gaussian_factors_of_different_rates():
    z, X = in_time((0.9, 0.2))
    order = np.random.default_rng(3).permutation(N)
    found = ub.diagnose(X[order], time=order)
    assert (found.verdict, found.method, found.rotation) == ("yes", "pca-ica", "time")
    assert (found.theorem.id, found.free, found.would_help) == ("sobi", ("scale",), [])
    assert found["order in time"].holds
    assert found["evidence determines the codes"].holds
    assert {o.holds for o in found.options if o.parameters == {"rotation": "time"}} == {True}
    model = ub.fit(X[order], time=order, random_state=0)
    assert (type(model), model.rotation, list(model.evidence_)) == (ub.PCAICA, "time", ["time"])
    assert ub.metrics.mcc(z[order], model.transform(X[order])) > 0.99


@pytest.mark.parametrize("wrong", ["shuffled", "one rate"])
def test_time_that_says_nothing_is_not_used(wrong):
    _, X = in_time((0.5, 0.5) if wrong == "one rate" else (0.6, 0.1))
    time = np.arange(N) if wrong == "one rate" else np.random.default_rng(0).permutation(N)
    found = ub.diagnose(X, time=time)
    assert found["order in time"].holds is (wrong == "one rate")
    assert found["evidence determines the codes"].holds is False
    assert (found.rotation, found.theorem, found.free) == ("independence", None, ("scale", "rotation"))
    assert "time" not in [hint.evidence for hint in found.would_help]


def test_pairs_conditions_and_a_few_labels_identify_gaussian_factors(gaussian):
    rng, half = np.random.default_rng(0), N // 2
    z = gaussian.copy()
    kept = rng.integers(2, size=half)
    z[half + np.arange(half), kept] = z[np.arange(half), kept]
    pairs = np.c_[:half, half:N]
    found = ub.diagnose(z @ MIX, pairs=pairs)
    assert (found.verdict, found.rotation, found.theorem.id) == ("yes", "pairs", "sparse-pairs")
    assert ub.diagnose(gaussian @ MIX, pairs=pairs).free == ("scale", "rotation")
    labels = np.full((N, 2), np.nan)
    labels[:20] = gaussian[:20]
    known = ub.diagnose(gaussian @ MIX, labels)
    assert (known.verdict, known.rotation, known.free) == ("yes", "labels", ())
    model = ub.fit(gaussian @ MIX, labels=labels, random_state=0)
    assert np.abs(np.corrcoef(gaussian.T, model.transform(gaussian @ MIX).T)[:2, 2:]).max(axis=1).min() > 0.999
    few = ub.diagnose(gaussian @ MIX, np.where(np.arange(N)[:, None] < 3, gaussian, np.nan))
    assert few["labelled rows"].holds is False
    assert few.rotation == "independence"


@pytest.mark.parametrize(("law", "d", "free"), [("normal", 2, ()), ("normal", 3, ("linear map",)), ("uniform", 3, ())])
def test_labels_of_one_factor_leave_what_independence_does_not_show(law, d, free):
    z = getattr(np.random.default_rng(0), law)(size=(N, d))
    X = z @ np.random.default_rng(1).normal(size=(d, 5))
    found = ub.diagnose(X, np.where(np.arange(N) < 20, z[:, 0], np.nan))
    assert (found.rotation, found.theorem) == ("labels", None)
    assert found.verdict == ("unsure" if free else "yes")
    assert set(found.free) == {"function per factor", *free}


@pytest.mark.parametrize(
    ("evidence", "why"),
    [
        ({"time": np.random.default_rng(0).permutation(N)}, "autocorrelation"),
        ({"labels": np.random.default_rng(0).integers(3, size=N)}, "evidence_turn"),
        ({"labels": np.random.default_rng(0).normal(size=N)}, "labelled_rows"),
        ({"labels": np.array(["a"] * N)}, "evidence_turn"),
        ({"pairs": np.c_[:10, 20:30]}, "pair_sparsity"),
        ({"pairs": np.c_[: N // 2, N // 2 : N]}, "pair_sparsity"),
    ],
)
def test_a_fit_says_why_it_does_not_use_what_was_given(gaussian, evidence, why):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = ub.fit(gaussian @ MIX, random_state=0, **evidence)
    said = [str(warning.message) for warning in caught if "UB110" in str(warning.message)]
    words = model.diagnosis_[why].words
    assert len(said) == 1
    assert words in said[0]
    assert any(words in reason for reason in model.diagnosis_.reasons)


@pytest.mark.parametrize(
    ("evidence", "why"),
    [
        ({"time": np.arange(N)}, "autocorrelation"),
        ({"pairs": np.c_[: N // 2, N // 2 : N]}, "pair_sparsity"),
        ({"pairs": np.zeros((0, 2), int)}, "pair_sparsity"),
        ({"labels": np.zeros(N, int)}, "evidence_turn"),
        ({"labels": np.full(N, np.nan)}, "labelled_rows"),
        ({"labels": np.arange(N) % 3}, None),
    ],
)
def test_a_mistake_is_told_even_where_the_codes_do_without_the_evidence(evidence, why):
    X = np.random.default_rng(0).uniform(size=(N, 2)) @ MIX
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = ub.fit(X, random_state=0, **evidence).diagnosis_
    said = [str(warning.message) for warning in caught if "UB110" in str(warning.message)]
    assert (found.verdict, len(said)) == ("yes", why is not None)
    assert why is None or found[why].words in said[0]


def test_numbers_among_none_are_known_factors_and_words_are_refused(gaussian):
    one = [float(value) if i < 20 else None for i, value in enumerate(gaussian[:, 0])]
    assert ub.diagnose(gaussian @ MIX, one).rotation == "labels"
    with pytest.raises(ValueError, match=facts("labels", N - 1, "row 1")):
        ub.diagnose(gaussian @ MIX, np.array(["a"] + [None] * (N - 1), dtype=object))


def test_a_condition_identifies_flat_factors_and_an_idle_one_does_not():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=1500)
    z = rng.normal(size=(1500, 2)) * np.array([[1, 0.8], [0.7, 1], [1, 1.3]])[y]
    found = ub.diagnose(z @ MIX, y)
    held = {option.parameters.get("rotation"): option.holds for option in found.options}
    assert held["condition"] is True
    assert "labels" not in held, "labels of a condition are no factors"
    idle = ub.diagnose(rng.normal(size=(N, 2)) @ MIX, rng.integers(5, size=N))
    assert idle["evidence determines the codes"].holds is False
    assert (idle.method, idle.free) == ("pca-ica", ("scale", "rotation"))


def test_every_form_says_what_is_identified(without, tmp_path):
    read = json.loads(without.to_json(tmp_path / "d.json"))
    assert (read["theorem"], read["free"]) == (None, ["scale", "rotation"])
    assert [hint["evidence"] for hint in read["would_help"]] == [hint.evidence for hint in without.would_help]
    page = without.report().write(tmp_path / "d.html").read_text(encoding="utf-8")
    for text in (str(without), page):
        assert "rotation" in text
        assert all(hint.asks.split(" (")[0] in text for hint in without.would_help)
        assert without.twin[:40] in text
    assert set(without.free) <= set(FREE)


def test_what_is_identified_is_saved_with_a_model(tmp_path):
    _, X = in_time((0.9, 0.2))
    model = ub.fit(X, time=np.arange(N), random_state=0)
    loaded = ub.load(model.save(tmp_path / "run"))
    assert loaded.diagnosis_ == model.diagnosis_
    assert loaded.diagnosis_.theorem.id == "sobi"


def test_one_factor_is_judged_alike_with_and_without_time():
    """There is nothing to rotate, so the order of the rows is no reason to trust the code more."""
    there_and_back = np.abs(np.arange(N) * 0.0137 % 2 - 1)
    X = np.sin(there_and_back[:, None] * np.linspace(1, 4, 30)) + 0.2 * np.random.default_rng(0).normal(size=(N, 30))
    without, given = ub.diagnose(X), ub.diagnose(X, time=np.arange(N))
    assert (given.n_factors, given["order in time"].holds) == (1, True)
    assert (given.verdict, given.rotation, given.expected_mcc) == (
        without.verdict,
        "independence",
        without.expected_mcc,
    )


def test_many_rows_in_time_are_tested_on_rows_that_follow_each_other():
    _, X = in_time((0.9, 0.2), n=5000)
    assert ub.diagnose(X, time=np.arange(5000)).rotation == "time"


def test_two_conditions_identify_gaussian_factors_of_a_curved_sheet():
    classes = np.arange(1000) % 2
    z = np.random.default_rng(0).normal(size=(1000, 2)) * np.array([[1, 1.5], [1.5, 1]])[classes]
    a, b = (z @ [[0.8, 0.6], [-0.6, 0.8]]).T / 3
    X = np.column_stack([np.sin(a), np.cos(a), np.sin(b), np.cos(b)])
    model = ub.fit(X, labels=classes, random_state=0)
    assert (type(model), model.rotation, model.diagnosis_.verdict) == (ub.HessianICA, "condition", "yes")
    linear = ub.PCAICA(2, random_state=0).fit_transform(X)
    assert ub.metrics.mcc(z, model.transform(X)) > 0.98 > ub.metrics.mcc(z, linear) + 0.1


def test_a_recording_that_no_embedding_shows_is_learned_from_time():
    data = ub.datasets.load("temporal-sources", n_factors=2, n_features=6, random_state=0)
    X, factors, time = data.sample_recording(2000, random_state=0)
    model = ub.fit(X, time=time, max_steps=300, batch_size=256, learning_rate=2e-3, null="off", random_state=0)
    found = model.diagnosis_
    assert (type(model), model.positives_, model.n_factors) == (ub.Contrastive, "time", 2)
    assert (found.verdict, found.method, found.rotation) == ("unsure", "contrastive", "independence")
    linear = ub.PCAICA(2, random_state=0).fit_transform(X)
    assert ub.metrics.mcc(factors, model.transform(X)) > 0.95 > ub.metrics.mcc(factors, linear) + 0.1


def test_a_factor_that_follows_the_other_later_is_not_found_by_time():
    """The same signal ten rows apart, so that both are independent in a row: time finds their sum and difference."""
    slow = np.convolve(np.random.default_rng(0).normal(size=2017), np.full(8, 8**-0.5), "valid")
    z = ndtr(np.c_[slow[10:], slow[:-10]])
    found = ub.diagnose(z @ MIX, time=np.arange(len(z)))
    assert (found["independent over time"].holds, found["evidence determines the codes"].holds) == (False, True)
    assert found.rotation == "independence"
    with pytest.warns(AssumptionWarning, match=facts("UB120", 3)):
        turned = ub.PCAICA(2, rotation="time").fit_transform(z @ MIX)
    with pytest.warns(AssumptionWarning, match="UB110"):
        plain = ub.fit(z @ MIX, time=np.arange(len(z)), random_state=0).transform(z @ MIX)
    assert ub.metrics.mcc(z, plain) > 0.95 > 0.75 > ub.metrics.mcc(z, turned)


def test_an_embedding_that_serves_is_kept_though_its_factors_depend_on_each_other():
    """Place cells on a path that stays in some parts of a box for long."""
    rng = np.random.default_rng(1)
    speed = gaussian_filter1d(rng.normal(size=(2500, 2)), 5, axis=0)
    place = np.abs((np.cumsum(0.05 * speed / speed.std(), axis=0) + 2 * rng.uniform(size=2)) % 2 - 1)
    near = np.square(place[:, None] - rng.uniform(size=(60, 2))).sum(axis=2)
    X = gaussian_filter1d(np.sqrt(rng.poisson(3 * np.exp(-near / 0.08))), 2, axis=0)
    found = ub.diagnose(X, time=np.arange(len(X)))
    assert (found.verdict, found.method, found["independent codes"].holds) == ("with care", "hessian-ica", False)


def test_times_that_are_the_same_are_refused(gaussian):
    with pytest.raises(ValueError, match=facts("time", 5, "rows 5 and 6")):
        ub.diagnose(gaussian @ MIX, time=np.r_[np.arange(6), 5, np.arange(6, N - 1)])


@pytest.mark.parametrize("method", ["auto", "gin"])
def test_a_class_of_one_member_is_told_once(gaussian, method):
    """By the method that leaves it out; a diagnosis has a finding for it."""
    labels = np.r_[7, np.arange(1, N) % 3]
    settings = {} if method == "auto" else {"max_steps": 2}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ub.fit(gaussian @ MIX, method=method, labels=labels, random_state=0, **settings)
    assert [str(warning.message)[:5] for warning in caught].count("UB303") == (method == "gin")
    sizes = next(f for f in ub.diagnose(gaussian @ MIX, labels=labels).findings if f.key == "class_size")
    assert re.search(facts("besides 1"), sizes.words)
