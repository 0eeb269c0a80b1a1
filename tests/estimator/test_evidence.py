"""What each method uses besides X: declared in the table, taken by keyword or in Observations, refused elsewhere."""

import inspect

import numpy as np
import pytest
from sklearn import config_context
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import unbraid as ub
from tests.estimator.test_estimators import small
from tests.spectral.test_evidence import bent, world
from unbraid.methods import EVIDENCE, METHODS, methods_using
from unbraid.metrics import mcc
from unbraid.testing.data import known_data

pytestmark = pytest.mark.filterwarnings("ignore::unbraid.trust.warnings.UnbraidWarning")
DATA = known_data()
N = len(DATA.table)
KNOWN = {
    "labels": DATA.labels,
    "pairs": np.c_[: N // 2, N // 2 : N],
    "time": np.arange(N),
    "sets": np.repeat(np.arange(N // 2), 2),
    "covariates": np.arange(N),
}


@pytest.mark.parametrize("name", METHODS)
def test_the_table_names_the_keywords_of_fit(name):
    method = METHODS[name]
    keywords = [p.name for p in inspect.signature(method.load().fit).parameters.values() if p.kind is p.KEYWORD_ONLY]
    assert set(keywords) == set(method.uses) - {"labels"}
    assert set(method.needs) - {"torch"} <= set(method.uses)
    both = inspect.signature(method.load().fit_transform).parameters.values()
    assert set(keywords) <= {p.name for p in both} or any(p.kind is p.VAR_KEYWORD for p in both)


@pytest.mark.parametrize("name", METHODS)
def test_unused_evidence_is_refused_with_the_methods_that_use_it(name):
    for kind in set(EVIDENCE) - set(METHODS[name].uses):
        with pytest.raises(ValueError, match=f"{kind}.*{', '.join(methods_using(kind)) or 'none'}"):
            small(name).fit(ub.Observations(DATA.table, **{kind: KNOWN[kind]}))
    for kind in set(METHODS[name].uses) - set(small(name).uses):
        with pytest.raises(ValueError, match=f"{kind}.*rotation="):
            small(name).fit(ub.Observations(DATA.table, **{kind: KNOWN[kind]}))


def codes_of(model, X):
    return np.concatenate([np.asarray(part).reshape(N, -1) for part in model.transform(X)], 1) if isinstance(
        model, ub.Geomancer
    ) else model.transform(X)  # fmt: skip


@pytest.mark.parametrize("name", [name for name, method in METHODS.items() if set(method.needs) & set(EVIDENCE)])
def test_evidence_that_is_needed_is_asked_for(name):
    with pytest.raises(ValueError, match=r"\b(y|pairs|time|sets)\b"):
        small(name).fit(DATA.table)


@pytest.mark.parametrize("name", METHODS)
def test_observations_are_taken_as_x_and_change_nothing(name):
    estimator = small(name).set_params(random_state=0)
    kinds = [kind for kind in estimator.uses if kind != "sets"]  # a small one draws its sets itself
    used = {kind: KNOWN[kind] for kind in (kinds[:1] if name == "contrastive" else kinds)}  # which takes one alone
    known = ub.Observations(DATA.table, factors=np.arange(N), **used)
    alone = estimator.fit(DATA.table, **{"y" if kind == "labels" else kind: value for kind, value in used.items()})
    codes = codes_of(alone, DATA.table)
    assert set(alone.evidence_) == set(used)
    np.testing.assert_array_equal(codes_of(estimator.fit(known), known), codes)


@pytest.mark.parametrize(
    ("rotation", "kind"), [("pairs", "pairs"), ("time", "time"), ("condition", "labels"), ("labels", "labels")]
)
def test_a_rotation_takes_its_evidence_in_both_ways(rotation, kind):
    z, given, also = world(rotation, 300)
    X, keyword = bent(z), {"y" if kind == "labels" else kind: given[0] if given else also.get(kind, np.arange(300))}
    model = ub.HessianICA(2, 20, rotation=rotation, null="off", random_state=0)
    codes = model.fit_transform(X, **keyword)
    assert list(model.evidence_) == [kind]
    fact = model.summary().facts[-1]
    assert (fact.name, fact.value) == ("evidence", kind)
    assert model.evidence_[kind] in fact.meaning
    known = ub.Observations(X, **{kind: next(iter(keyword.values()))})
    np.testing.assert_array_equal(model.fit_transform(known), codes)
    with pytest.raises(ValueError, match="twice"):
        model.fit(known, **keyword)


def test_rows_are_sorted_by_time():
    z, _, _ = world("time", 600)
    X, order = bent(z), np.random.default_rng(1).permutation(600)
    model = ub.HessianICA(2, 20, rotation="time", null="off", random_state=0)
    days = np.datetime64("2024-01-01") + np.arange(600)
    codes = model.fit(X[order], time=days[order]).transform(X)
    assert mcc(z, codes) > 0.97
    assert mcc(z, model.fit(X[order]).transform(X)) < 0.95


def test_sets_by_a_number_per_row_are_those_of_a_third_axis():
    rng = np.random.default_rng(0)
    sets = rng.normal(size=(40, 1, 4)) + rng.normal(size=(40, 3, 4)) * [0.5, 0.5, 0.1, 0.1]
    model = ub.SelfSupervisedGIN(n_init=1, max_steps=10, n_blocks=2, hidden=4, random_state=0)
    known = model.fit(sets).theta_
    numbers = np.repeat(np.arange(40), 3)
    order = np.argsort(np.tile(np.arange(3), 40), kind="stable")  # all first members, then all second ones
    rows = sets.reshape(-1, 4)
    np.testing.assert_array_equal(model.fit(rows, sets=numbers).theta_, known)
    np.testing.assert_array_equal(model.fit(rows[order], sets=numbers[order]).theta_, known)
    assert model.fit_transform(rows, sets=numbers).shape == (120, 4)
    for bad, message in ((numbers[:-1], "119"), (np.r_[numbers[:-1], 0], "2 to 4")):
        with pytest.raises(ValueError, match=message):
            model.fit(rows, sets=bad)
    with pytest.raises(ValueError, match="augment"):
        model.set_params(augment=lambda X, rng: X).fit(rows, sets=numbers)


@pytest.mark.parametrize("kind", ["pairs", "time"])
def test_metadata_are_routed_through_a_pipeline_and_a_grid_search(kind):
    z, _, also = world(kind, 600)
    numbers = np.tile(np.arange(300), 2)  # both rows of a pair have the same number, so that folds can be cut
    X, evidence = bent(z), {"pairs": numbers, "time": np.arange(600)}[kind]
    with config_context(enable_metadata_routing=True):
        model = ub.HessianICA(2, 20, rotation=kind, null="off", random_state=0).set_fit_request(**{kind: True})
        pipeline = make_pipeline(StandardScaler(with_std=False), model)
        codes = pipeline.fit_transform(X, **{kind: also.get(kind, evidence)})
        assert mcc(z, codes) > 0.97
        folds = KFold(2) if kind == "time" else KFold(2, shuffle=True, random_state=0)
        search = GridSearchCV(
            pipeline, {"hessianica__n_neighbors": [15, 20]}, cv=folds, scoring=spread, error_score="raise"
        )
        search.fit(X, **{kind: evidence})
        assert mcc(z, search.best_estimator_.transform(X)) > 0.97
        if kind == "pairs":
            with pytest.raises(ValueError, match="cross-validation"):
                search.fit(X, pairs=also["pairs"])


def spread(model, X, y=None):
    return float(model.transform(X).std())


def test_a_grid_search_cuts_observations_with_their_pairs():
    z, _, also = world("pairs", 600)
    known = ub.Observations(bent(z), **also)
    model = ub.HessianICA(2, rotation="pairs", null="off", random_state=0)
    folds = KFold(2, shuffle=True, random_state=0)
    search = GridSearchCV(model, {"n_neighbors": [15, 20]}, cv=folds, scoring=spread, error_score="raise").fit(known)
    assert mcc(z, search.best_estimator_.transform(known)) > 0.97


@pytest.mark.parametrize(("name", "kind"), [("GIN", "labels"), ("RealNVP", "labels"), ("SelfSupervisedGIN", "sets")])
def test_a_checkpoint_of_other_evidence_is_refused(tmp_path, name, kind):
    settings = {"n_init": 1, "max_steps": 6, "n_blocks": 2, "hidden": 4, "random_state": 0}
    model = getattr(ub, name)(**settings, checkpoint=tmp_path / "c")
    model.fit(ub.Observations(DATA.table, **{kind: KNOWN[kind]}))
    model.fit(ub.Observations(DATA.table, **{kind: KNOWN[kind]}))
    other = KNOWN[kind][::-1] if kind == "sets" else np.roll(KNOWN[kind], 3)
    with pytest.raises(ValueError, match=f"{kind} was .* and is "):
        model.fit(ub.Observations(DATA.table, **{kind: other}))


def test_a_saved_run_says_what_the_fit_knew(tmp_path):
    z, _, also = world("pairs", 300)
    model = ub.fit(bent(z), "hessian-ica", n_factors=2, n_neighbors=20, random_state=0, **also)
    loaded = ub.load(model.save(tmp_path / "run"))
    assert loaded.evidence_ == model.evidence_ == ub.Observations(bent(z), **also).marks()
