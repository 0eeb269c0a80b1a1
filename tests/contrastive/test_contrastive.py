"""The estimator: what it learns from, what it recovers beside its baselines, and what it refuses."""

import warnings

import numpy as np
import pytest
from sklearn import config_context
from sklearn.decomposition import FastICA
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import unbraid as ub
from tests.facts import facts
from unbraid.contrastive.positives import nearest, pairs_of, segments_of, together
from unbraid.datasets.mixing import RandomMLP
from unbraid.metrics import mcc
from unbraid.trust.warnings import AssumptionWarning

QUICK = {"max_steps": 3, "batch_size": 8, "random_state": 0}
X = np.random.default_rng(0).normal(size=(40, 4))
quietly = pytest.mark.filterwarnings("ignore::unbraid.trust.warnings.AssumptionWarning")


@quietly
@pytest.mark.filterwarnings("ignore::unbraid.trust.warnings.DataWarning")  # classes of one row
@parametrize_with_checks([ub.Contrastive(n_factors=2, **QUICK)])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def paired_box(n, n_factors, seed, slope=0.1):
    """Uniform factors; the second row of a pair lies around the first by a Laplace law, within the box."""
    rng = np.random.default_rng(seed)
    first = rng.uniform(size=(n, n_factors))
    second = first + rng.laplace(scale=0.05, size=first.shape)
    while (outside := (second < 0) | (second > 1)).any():
        second[outside] = (first + rng.laplace(scale=0.05, size=first.shape))[outside]
    factors = np.concatenate([first, second])
    rows = RandomMLP(n_factors, n_factors, slope=slope, random_state=seed).forward(2 * factors - 1)
    return rows, factors, np.arange(2 * n).reshape(2, -1).T


def r_squared(reader, rows, factors):
    half = np.arange(len(rows)) % 2 == 0
    rows = (rows - rows.mean(0)) / rows.std(0)
    return reader.fit(rows[half], factors[half]).score(rows[~half], factors[~half])


def baselines(rows, factors, untrained):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        linear_ica = FastICA(factors.shape[1], random_state=0).fit_transform(rows)
    return [mcc(factors, linear_ica), mcc(factors, untrained.transform(rows))]


@pytest.mark.filterwarnings("ignore:UB122")  # of the untrained
def test_pairs_undo_a_mixing_that_linear_ica_does_not():
    rows, factors, pairs = paired_box(3000, 2, 7)
    assert r_squared(LinearRegression(), rows, factors) <= 0.85
    assert r_squared(KNeighborsRegressor(10), rows, factors) >= 0.98, "the factors are there"
    settings = {"n_factors": 2, "batch_size": 256, "learning_rate": 3e-3, "random_state": 0}
    untrained = ub.Contrastive(**settings | {"max_steps": 1, "learning_rate": 1e-12}).fit(rows, pairs=pairs)
    model = ub.Contrastive(**settings, max_steps=600).fit(rows, pairs=pairs)
    assert mcc(factors, model.transform(rows)) >= 0.98 > max(baselines(rows, factors, untrained)) + 0.05
    assert model.figures_["positive_closeness"] > 0.9
    assert (model.concerns_, model.positives_, model.n_positives_) == ([], "pairs", 3000)


@pytest.mark.slow
@pytest.mark.parametrize("objective", ["infonce", "permutation"])
def test_five_autoregressive_sources(objective):
    data = ub.datasets.load("temporal-sources", random_state=1)
    rows, factors, time = data.sample_recording(20_000, random_state=1)
    assert r_squared(LinearRegression(), rows, factors) <= 0.9
    model = ub.Contrastive(5, objective=objective, random_state=0).fit(rows, time=time)
    assert mcc(factors, model.transform(rows)) >= 0.95 > max(baselines(rows, factors, model)[:1]) + 0.1
    order = np.abs(np.corrcoef(factors.T, model.transform(rows).T)[:5, 5:]).argmax(1)
    assert np.corrcoef(model.decay_[order], data.autoregressions)[0, 1] >= 0.9, "short memories come out too long"


@pytest.mark.slow
def test_five_factors_of_a_box():
    rows, factors, pairs = paired_box(10_000, 5, 1, slope=0.2)
    assert r_squared(LinearRegression(), rows, factors) <= 0.85
    model = ub.Contrastive(5, random_state=0).fit(rows, pairs=pairs)
    assert mcc(factors, model.transform(rows)) >= 0.98 > max(baselines(rows, factors, model)[:1]) + 0.1


@pytest.mark.slow
def test_segments_give_the_squares_of_sources():
    data = ub.datasets.load("nonstationary", n_factors=2, random_state=1)
    rows, factors, segments = data.sample_conditional(20_000, random_state=1)
    model = ub.Contrastive(2, objective="segments", random_state=0).fit(rows, segments)
    linear = FastICA(2, random_state=0).fit_transform(rows)
    assert mcc(factors**2, model.transform(rows)) >= 0.9 > mcc(factors**2, linear**2)


@quietly
@pytest.mark.parametrize(
    ("objective", "evidence", "count"),
    [
        ("infonce", {"pairs": [[0, 1], [2, 3]]}, 2),
        ("infonce", {"time": np.arange(40)}, 39),
        ("infonce", {"sets": np.repeat(np.arange(20), 2)}, 40),
        ("infonce", {"y": np.repeat(["a", "b"], 20)}, 40 * 8),
        ("infonce", {"y": np.linspace(0, 1, 40)}, 40 * 8),
        ("permutation", {"time": np.arange(40)}, 39),
        ("segments", {"y": np.repeat(["a", "b", "c"], [20, 10, 10])}, 0),
        ("segments", {"time": np.arange(40)}, 0),
    ],
)
def test_every_kind_of_evidence_is_saved_with_the_model(objective, evidence, count, tmp_path):
    model = ub.Contrastive(2, objective=objective, n_segments=4, **QUICK).fit(X, **evidence)
    kind = next(iter(evidence))
    assert (model.positives_, model.n_positives_) == ("labels" if kind == "y" else kind, count)
    assert set(model.evidence_) == {model.positives_}
    loaded = ub.load(model.save(tmp_path / "run"))
    np.testing.assert_array_equal(loaded.transform(X), model.transform(X))
    assert loaded.summary().facts == model.summary().facts


@quietly
@pytest.mark.filterwarnings("ignore:UB251")
def test_y_is_left_to_the_next_step_of_a_pipeline_where_other_evidence_is_given():
    z = X[:, 0]
    alone = ub.Contrastive(2, null=1, **QUICK).fit(X, time=np.arange(40))
    beside = ub.Contrastive(2, null=1, **QUICK).fit(X, z, time=np.arange(40))
    assert (beside.positives_, set(beside.evidence_), beside.null_) == ("time", {"time"}, alone.null_)
    np.testing.assert_array_equal(beside.transform(X), alone.transform(X))
    both = ub.Observations(X, labels=z, time=np.arange(40))
    with pytest.raises(ValueError, match=facts("labels", "time")):
        ub.Contrastive(2, **QUICK).fit(both)
    with config_context(enable_metadata_routing=True):
        model = ub.Contrastive(2, null="off", **QUICK).set_fit_request(time=True)
        search = GridSearchCV(
            make_pipeline(model, LinearRegression()), {"contrastive__n_factors": [1, 2]}, cv=3, error_score="raise"
        )
        assert search.fit(X, z, time=np.arange(40)).best_estimator_[0].positives_ == "time"


@quietly
@pytest.mark.parametrize("distance", ["l1", "l2", "cosine"])
def test_codes_of_a_cosine_have_length_1(distance):
    lengths = np.linalg.norm(ub.Contrastive(2, distance=distance, **QUICK).fit_transform(X, time=np.arange(40)), axis=1)
    assert np.allclose(lengths, 1, atol=1e-6) == (distance == "cosine")


@quietly
def test_columns_of_any_unit_count_alike():
    units = np.array([1, 1e-3, 1e6, 1])
    model = ub.Contrastive(2, **QUICK)
    codes = model.fit(X, time=np.arange(40)).transform(X)
    np.testing.assert_allclose(model.fit(X * units, time=np.arange(40)).transform(X * units), codes, atol=1e-4)
    constant = np.c_[X, np.full(40, 1.7e9)]
    assert np.isfinite(model.fit(constant, time=np.arange(40)).transform(constant)).all()


@quietly
def test_a_learning_rate_that_falls_resumes_exactly(tmp_path):
    settings = {"n_factors": 2, "max_steps": 12, "batch_size": 8, "random_state": 0}
    whole = ub.Contrastive(**settings).fit(X, time=np.arange(40))
    stopped = ub.Contrastive(**settings, checkpoint=tmp_path / "c", max_seconds=0)
    with pytest.warns(UserWarning, match="UB401"):
        stopped.fit(X, time=np.arange(40))
    resumed = ub.Contrastive(**settings, checkpoint=tmp_path / "c").fit(X, time=np.arange(40))
    assert all(resumed.weights_[k].tobytes() == whole.weights_[k].tobytes() for k in whole.weights_)
    with pytest.raises(ValueError, match=facts("time")):
        ub.Contrastive(**settings, checkpoint=tmp_path / "c").fit(X, time=np.arange(40)[::-1])


@pytest.mark.parametrize(
    ("settings", "evidence", "said"),
    [
        ({}, {}, ("pairs=", "time=", "sets=", "y")),
        ({}, {"pairs": [[0, 1]], "time": np.arange(40)}, ("pairs and time", "only")),
        ({}, {"sets": np.arange(40)}, ("set", 40)),
        ({}, {"y": np.arange(40)}, (40, "classes")),
        ({}, {"y": np.zeros(40, int)}, ("one class", "[0]")),
        ({}, {"pairs": np.arange(40)}, ("pairs", 40)),
        ({"offset": 40}, {"time": np.arange(40)}, (40, "offset")),
        ({"objective": "permutation"}, {"sets": np.repeat(np.arange(20), 2)}, ("sets", "pairs=", "time=")),
        ({"objective": "segments"}, {"pairs": [[0, 1]]}, ("pairs", "y", "time=")),
        ({"objective": "segments"}, {"y": np.zeros(40, int)}, ("one segment", "n_segments")),
        ({"objective": "segments"}, {"y": np.linspace(0, 1, 40)}, ("continuous", "np.digitize")),
        ({"objective": "segments", "n_segments": 21}, {"time": np.arange(40)}, (40, "n_segments=21")),
        ({"objective": "segments", "n_segments": 4}, {"time": np.arange(40) // 2}, (21, "time", "rows 0 and 1")),
        ({"n_factors": 1, "distance": "cosine"}, {"time": np.arange(40)}, ("cosine", 2)),
        ({"preset": "patches"}, {"time": np.arange(40)}, ("patches", "images", "small")),
    ],
)
def test_bad_evidence_is_refused(settings, evidence, said):
    with pytest.raises(ValueError, match=facts(*said)):
        ub.Contrastive(**{"n_factors": 2} | QUICK | settings).fit(X, **evidence)


def test_evidence_that_says_nothing_is_warned_of():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(2000, 3))
    with pytest.warns(AssumptionWarning, match=facts("UB121", "50 %")):
        model = ub.Contrastive(2, **QUICK).fit(rows, pairs=rng.permutation(2000).reshape(-1, 2))
    assert 0.45 < model.figures_["positive_closeness"] < 0.55
    assert model.summary().concerns == model.concerns_ != []
    with pytest.warns(AssumptionWarning, match=facts("UB123")):
        ub.Contrastive(2, objective="segments", **QUICK).fit(rows, rng.integers(5, size=2000))
    first = np.arange(2000) < 1000
    with pytest.warns(AssumptionWarning, match=facts("UB104", 2, 3)):
        ub.Contrastive(2, objective="segments", **QUICK).fit(rows * np.where(first, 1, 3)[:, None], first)


@pytest.mark.parametrize(("law", "sparse"), [("laplace", True), ("gauss", False)])
def test_gaussian_steps_are_warned_of(law, sparse):
    """Of sources in a linear mixing that a few steps of training leave linear."""
    data = ub.datasets.load("temporal-sources", n_factors=2, n_layers=1, steps=law, random_state=0)
    rows, _, time = data.sample_recording(4000, random_state=0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = ub.Contrastive(2, max_steps=150, batch_size=128, random_state=0).fit(rows, time=time)
    assert ["UB122" in str(w.message) for w in caught] == ([] if sparse else [True])
    assert (model.figures_["step_kurtosis"] > 0.5) == sparse


def test_partners_belong_together():
    groups = np.array([2, 0, 2, 1, 0, 2, -1, 0])
    pairs = together(groups)
    assert len(pairs) == 6 + 6
    assert (groups[pairs[:, 0]] == groups[pairs[:, 1]]).all()
    assert (pairs[:, 0] != pairs[:, 1]).all()
    assert len(np.unique(pairs, axis=0)) == 12
    assert not np.isin([3, 6], pairs).any(), "rows without another have no partner"
    many = together(np.zeros(100, int))
    assert (np.bincount(many[:, 0]) == 8).all()
    label = np.random.default_rng(0).uniform(size=(50, 1))
    reach = np.sort(np.abs(label - label.T), axis=1)[:, 8]
    near = nearest(label)
    assert (np.abs(label[near[:, 0]] - label[near[:, 1]])[:, 0] <= reach[near[:, 0]]).all()


def test_time_is_cut_in_its_order_and_steps_cross_no_gap():
    time = np.array([5.0, 1, 2, 12, 11, 4, 3, 13])
    known = ub.Observations(np.zeros((8, 2)), time=time)
    assert segments_of(known, 2).tolist() == [1, 0, 0, 1, 1, 0, 0, 1]
    assert sorted(map(tuple, time[pairs_of(known, 2)].tolist())) == [(1, 3), (2, 4), (3, 5), (11, 13)]
