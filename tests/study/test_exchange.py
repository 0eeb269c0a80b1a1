import json

import pandas as pd
import pytest

import unbraid as ub
from tests.facts import facts
from unbraid.metrics import Metric
from unbraid.study import Store, StoreError, export, merge, parse_spec, rank, rescore, run_study

from .tiny import LINEAR, TINY, content, linear


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    place = tmp_path_factory.mktemp("stored") / "store"
    run_study(linear(), place, workers=0)
    return place


@pytest.fixture
def new_metric():
    metric = Metric("first_code", lambda s, p, seed: float(s.codes[:, 0].max()), needs=())
    ub.evaluation.register(metric)
    yield metric.name
    del ub.evaluation.REGISTRY[metric.name]


def test_parts_that_ran_apart_are_merged_to_the_whole(stored, tmp_path):
    run_study(linear(), tmp_path / "a", workers=0, indices=[0, 2])
    run_study(linear(), tmp_path / "b", workers=0, indices=[1, 2, 3])
    with Store(tmp_path / "all", create=True) as store:
        assert merge(store, [tmp_path / "a", tmp_path / "b"]) == 4
        assert content(store) == content(Store(stored))
        assert merge(store, [tmp_path / "a"]) == 0
    assert run_study(linear(), tmp_path / "all", workers=0).done == 0


def test_only_parts_of_one_study_are_merged(stored, tmp_path):
    run_study(parse_spec(LINEAR.replace("pool = 200", "pool = 300")), tmp_path / "other", workers=0, indices=[0])
    with Store(tmp_path / "other") as store, pytest.raises(StoreError, match=facts(str(tmp_path / "other"))):
        merge(store, [stored])


def test_an_export_is_read_by_other_tools(stored, tmp_path):
    study = ub.study.open(stored)
    export(study, tmp_path / "out")
    runs = pd.read_parquet(tmp_path / "out" / "runs.parquet")
    pd.testing.assert_frame_equal(runs, study.runs(), check_dtype=False)
    scores = pd.read_csv(tmp_path / "out" / "scores.csv")
    assert scores["value"].tolist() == study.scores()["value"].tolist()
    assert json.loads((tmp_path / "out" / "study.json").read_text())["spec"]["pool"] == 200


def test_an_export_with_codes_is_scored_by_a_metric_that_did_not_exist(stored, tmp_path, new_metric):
    study = ub.study.open(stored)
    export(study, tmp_path / "out", codes=150, strips=True)
    with Store(tmp_path / "again", create=True) as store:
        assert merge(store, [tmp_path / "out"]) == 4
    again = ub.study.open(tmp_path / "again")
    assert rescore(again, new_metric) == 4
    scores = again.scores().query("metric == @new_metric").set_index("run")["value"]
    for run in study.runs()["run"]:
        assert scores[run] == study.codes(run)[:150, 0].max()
        assert (again.factors(run) == study.factors(run)[:150]).all()
    pd.testing.assert_frame_equal(again.runs(), study.runs())


def test_an_export_without_codes_makes_no_store(stored, tmp_path):
    export(ub.study.open(stored), tmp_path / "out")
    with (
        Store(tmp_path / "again", create=True) as store,
        pytest.raises(StoreError, match=facts("out", "--codes")),
    ):
        merge(store, [tmp_path / "out"])


def test_scores_that_are_there_are_left_alone(stored, tmp_path):
    with Store(tmp_path / "s", create=True) as store:
        merge(store, [stored])
    study = ub.study.open(tmp_path / "s")
    before = study.scores()
    assert rescore(study, ["mcc", "mig"]) == 0
    assert rescore(study, ["mcc", "mig"], again=True) == 8
    pd.testing.assert_frame_equal(study.scores(), before)  # the same codes, the same scores
    assert rescore(study, "modularity", protocol="dlib-v1") == 4
    assert "modularity" not in set(study.scores()["metric"])
    assert set(study.scores("dlib-v1")["metric"]) == {"modularity"}


def test_a_method_is_placed_among_all(stored):
    study = ub.study.open(stored)
    table = rank(study, "pca-ica", "total_correlation")
    assert table["place"].tolist() == [1, 2]
    assert table["median"].is_monotonic_increasing  # low is good
    new = rank(study, "laplacian-ica", "mcc", parameters={"n_factors": 2, "n_neighbors": 12}, seeds=1)
    assert sorted(new["place"]) == [1, 2, 3]
    best = rank(study, "pca-ica", "mcc")
    assert best["median"].is_monotonic_decreasing
    with pytest.raises(ValueError, match=facts("'dci'", "mcc, mig, total_correlation")):
        rank(study, "pca-ica", "dci")


def test_sampled_codes_are_scored_anew_too(tmp_path):
    run_study(parse_spec(TINY), tmp_path / "s", workers=0, indices=[4])
    study = ub.study.open(tmp_path / "s")
    assert rescore(study, "sap") == 2
    assert set(study.scores().query("metric == 'sap'")["representation"]) == {"mean", "sampled"}
