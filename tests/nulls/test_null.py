"""The null of a fit: it refuses evidence that says nothing, changes no code, and is kept with the model."""

import warnings

import numpy as np
import pytest

import unbraid as ub
from tests.facts import facts
from tests.spectral.test_evidence import bent, world
from unbraid.estimator.base import Estimator
from unbraid.methods import METHODS
from unbraid.nulls.null import NullTest
from unbraid.trust.warnings import TrustWarning

# Gaussian factors, short runs and small classes are what these worlds are made of.
pytestmark = pytest.mark.filterwarnings("ignore::unbraid.trust.warnings.UnbraidWarning")


def recording(n=450, n_cells=30, seed=0):
    """Spike counts of cells with place fields, along a path in a square that has no corners to hide in."""
    rng = np.random.default_rng(seed)
    place = np.abs((np.cumsum(rng.normal(scale=0.08, size=(n, 2)), axis=0) + rng.uniform(size=2)) % 2 - 1)
    fields = rng.uniform(-0.1, 1.1, size=(n_cells, 2))
    rates = 20 * np.exp(-((place[:, None] - fields) ** 2).sum(axis=2) / 0.15)
    return np.sqrt(rng.poisson(rates)), rng


def turned(X, **settings):
    """A small fit by the order of rows, and the codes of its warnings."""
    model = ub.HessianICA(2, 20, rotation="time", random_state=0, **settings)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X)
    return model, {str(warning.message)[:5] for warning in caught}


def test_a_shuffled_recording_is_refused():
    """The question of CEBRA#226: the order of time shuffled, and the same pretty picture."""
    X, rng = recording()
    real, codes = turned(X)
    assert real.null_.p <= 0.05
    assert "UB251" not in codes
    shuffled, codes = turned(rng.permutation(X))
    assert shuffled.null_.p > 0.05
    assert "UB251" in codes
    assert any("UB251" in concern for concern in shuffled.summary().concerns)


@pytest.mark.parametrize("kind", ["condition", "pairs", "labels"])
def test_evidence_of_each_kind_is_told_from_shuffled_evidence(kind):
    z, given, also = world(kind, 400)
    settings = {"rotation": kind, "null": 19, "random_state": 0}
    null = ub.HessianICA(2, 20, **settings).fit(bent(z), *given, **also).null_
    assert null.p == 0.05
    assert len(null.nulls) == 19
    assert null.score > null.nulls.max()
    assert null.n_train + null.n_held == 400
    rng = np.random.default_rng(1)
    if kind == "pairs":
        also = {"pairs": np.c_[also["pairs"][:, 0], rng.permutation(also["pairs"][:, 1])]}
    else:
        known = np.isfinite(np.asarray(given[0], float).reshape(400, -1)).all(axis=1)
        labels = given[0].copy()
        labels[known] = rng.permutation(labels[known])
        given = (labels,)
    assert ub.HessianICA(2, 20, **settings).fit(bent(z), *given, **also).null_.p > 0.05


def test_codes_do_not_depend_on_the_null():
    X, _ = recording(300)
    for state in (0, None):
        generator = np.random.default_rng(3)
        shared = {"random_state": generator if state is None else state}
        first = ub.HessianICA(2, 20, rotation="time", null=2, **shared).fit_transform(X)
        after = generator.bit_generator.state
        generator = np.random.default_rng(3)
        shared = {"random_state": generator if state is None else state}
        second = ub.HessianICA(2, 20, rotation="time", null="off", **shared).fit_transform(X)
        np.testing.assert_array_equal(first, second)
        assert generator.bit_generator.state == after


def test_the_null_is_saved_and_in_the_summary(tmp_path):
    X, _ = recording(300)
    model = ub.HessianICA(2, 20, rotation="time", null=3, random_state=0).fit(X)
    back = ub.load(model.save(tmp_path / "run"))
    np.testing.assert_array_equal(back.null_.nulls, model.null_.nulls)
    assert (back.null_.p, back.null_.evidence) == (model.null_.p, "time")
    assert [fact.value for fact in back.summary().facts if fact.name == "null of the evidence"] == [str(model.null_)]
    again = ub.HessianICA(2, 20, rotation="time", null=3, random_state=0).fit(X)
    np.testing.assert_array_equal(again.null_.nulls, model.null_.nulls)


STAR = np.c_[np.zeros(300, int), np.arange(1, 301)]


@pytest.mark.parametrize(
    ("rotation", "evidence", "why"),
    [
        ("pairs", {"pairs": STAR}, (300, "row 0")),
        ("pairs", {"pairs": 399 - STAR[:, ::-1]}, (300, "row 399")),
        ("labels", {"y": np.where(np.arange(400)[:, None] % 40, np.nan, world("labels", 400)[0])}, ("labelled rows",)),
    ],
)
def test_evidence_that_no_null_can_test_is_warned_of(rotation, evidence, why):
    X = bent(world("labels", 400)[0])
    with pytest.warns(TrustWarning, match=facts("UB253", *why)):
        model = ub.HessianICA(2, 20, rotation=rotation, random_state=0).fit(X, **evidence)
    assert model.null_ is None
    with pytest.raises(ValueError, match=facts(*why)):
        model.null_test(X, **evidence)


def test_without_evidence_there_is_no_null():
    model = ub.HessianICA(2, 20, random_state=0).fit(recording(300)[0])
    assert model.null_ is None
    assert "null of the evidence" not in {fact.name for fact in model.summary().facts}
    with pytest.raises(ValueError, match="structure"):
        model.null_test(recording(300)[0])


def test_a_refit_forgets_the_last_null():
    X, _ = recording(300)
    model = ub.HessianICA(2, 20, rotation="time", null=2, random_state=0).fit(X)
    assert model.null_ is not None
    assert model.set_params(rotation="independence").fit(X).null_ is None


def test_where_it_is_too_costly_the_summary_says_how_to_run_it():
    X, rng = recording(300)
    labels = (X[:, 0] > np.median(X[:, 0])).astype(int)
    model = ub.RealNVP(max_steps=20, n_init=1, n_blocks=2, hidden=8, random_state=0).fit(X[:, :4], labels)
    assert model.null_ is None
    fact = next(fact for fact in model.summary().facts if fact.name == "null of the evidence")
    assert "null_test" in fact.meaning
    found = model.null_test(X[:, :4], labels, n_null=3)
    assert model.null_ is found
    assert (found.n_steps, found.evidence) == (20, "labels")


@pytest.mark.parametrize(("name", "evidence"), [("ada-gvae", "pairs"), ("self-supervised-gin", "sets")])
def test_trained_methods_are_refitted_short(name, evidence):
    rng = np.random.default_rng(0)
    z = np.repeat(rng.normal(size=(100, 3)), 2, axis=0) + 0.1 * rng.normal(size=(200, 3))
    known = {"pairs": np.arange(200).reshape(-1, 2), "sets": np.repeat(np.arange(100), 2)}[evidence]
    settings = {"n_init": 1, "n_blocks": 2, "hidden": 8} if evidence == "sets" else {"n_factors": 3}
    model = METHODS[name].load()(max_steps=10, null=4, random_state=0, **settings).fit(z, **{evidence: known})
    assert model.null_.p == 0.2
    assert model.null_.n_steps == 10


def test_ctrl_c_skips_the_null_and_keeps_the_fit(monkeypatch):
    def interrupted(*given, **settings):
        raise KeyboardInterrupt

    monkeypatch.setattr("unbraid.nulls.null.null_test", interrupted)
    X, _ = recording(300)
    model = ub.HessianICA(2, 20, rotation="time", random_state=0).fit(X)
    assert model.null_ is None
    assert model.transform(X).shape == (300, 2)
    assert "interrupted" in model.summary().facts[-2].meaning + model.summary().facts[-1].meaning


def test_too_little_evidence_is_an_error_only_where_the_null_was_asked_for():
    X, _ = recording(300)
    y = np.full((300, 2), np.nan)
    y[:12] = X[:12, :2]
    assert ub.HessianICA(2, 20, rotation="labels", random_state=0).fit(X, y).null_ is None
    with pytest.raises(ValueError, match=facts(4, 5)):
        ub.HessianICA(2, 20, rotation="labels", null=19, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match=facts("null", "'no'", "'auto'", "'off'")):
        ub.HessianICA(2, 20, rotation="time", null="no").fit(X)


@pytest.mark.parametrize("name", METHODS)
def test_every_method_that_uses_evidence_has_the_parameter(name):
    cls, evidence = METHODS[name].load(), set(METHODS[name].uses) - {"covariates"}  # these identify nothing
    assert ("null" in cls().get_params()) == bool(evidence)
    if evidence:
        assert cls(null="off").get_params()["null"] == "off"


class Mine(Estimator):
    """A method of others: the slowest direction. Its ``fit`` says that it uses time."""

    def __init__(self, flip=False):
        self.flip = flip

    def fit(self, X, y=None, *, time=None):
        known = self._observed(X, time=time)
        X = self._read(known).array()[np.argsort(known.time)]
        step = np.cov(np.diff(X, axis=0).T)
        self.direction_ = np.linalg.solve(np.cov(X.T), step).sum(axis=0)
        return self

    def transform(self, X):
        return self._read_new(X).array() @ self.direction_[:, None]


class Child(Mine):
    def fit(self, X, y=None, *, time=None):
        return super().fit(X, y, time=time)


@pytest.mark.parametrize("cls", [Mine, Child])
def test_a_method_of_others_has_it_by_the_keywords_of_its_fit(cls, monkeypatch):
    runs = []
    monkeypatch.setattr(cls, "_run_null", lambda self, *given: runs.append(Estimator._run_null(self, *given)))
    walk = np.cumsum(np.random.default_rng(0).normal(size=(200, 3)), axis=0)
    model = cls(null=19).fit(walk, time=np.arange(200))
    assert model.null_.p == 0.05
    assert len(runs) == 1 + 20  # the fit and its refits, in which it is off; once each, also where fit calls a parent's
    assert "null" not in ub.ProductManifold().get_params()


@pytest.mark.parametrize(
    ("score", "nulls", "p"),
    [(1.0, np.zeros(19), 0.05), (0.0, np.zeros(19), 1.0), (1.0, [0.0, 2.0, np.nan], 0.75), (np.nan, np.zeros(4), 1.0)],
)
def test_p_counts_ties_and_failures_against_the_evidence(score, nulls, p):
    assert NullTest("time", "AUC", "permuted", score, np.array(nulls), 20, 10).p == pytest.approx(p)
