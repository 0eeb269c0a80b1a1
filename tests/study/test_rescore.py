"""Scores of codes that are kept: by one process or many, stopped and gone on with."""

import pandas as pd
import pytest

import unbraid as ub
from tests.facts import facts
from unbraid.evaluation import REGISTRY
from unbraid.study import merge, rescore, run_study

from .tiny import linear, tiny


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    place = tmp_path_factory.mktemp("rescore") / "store"
    run_study(linear(), place, workers=0)
    return place


@pytest.fixture
def study(stored, tmp_path):
    """A copy that may be written to."""
    with ub.study.Store(tmp_path / "s", create=True) as store:
        merge(store, [stored])
    return ub.study.open(tmp_path / "s")


@pytest.fixture
def own_metric():
    """Registers a function of a sample under the name "mine"."""
    yield lambda score: ub.evaluation.register(ub.metrics.Metric("mine", score, needs=()))
    REGISTRY.pop("mine", None)


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_workers_give_the_bits_of_one_process(tmp_path, own_metric, workers):
    own_metric(lambda sample, protocol, seed: sample.codes[:, 0].max())  # no worker can import it
    run_study(tiny(), tmp_path / "alone", workers=0, indices=[0, 1, 4])
    with ub.study.Store(tmp_path / "shared", create=True) as store:
        merge(store, [tmp_path / "alone"])
    alone, shared = (ub.study.open(tmp_path / name) for name in ("alone", "shared"))
    metrics = ["dci", "sap", "mine"]
    assert rescore(alone, metrics) == rescore(shared, metrics, workers=workers) == 4 * 5
    pd.testing.assert_frame_equal(alone.scores(), shared.scores(), check_exact=True)
    assert rescore(shared, metrics, workers=workers) == 0
    assert not shared.store.has_writer()


def test_ctrl_c_keeps_what_was_scored_and_the_same_goes_on(study, own_metric):
    calls = []

    def slow(sample, protocol, seed):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return sample.codes.mean()

    own_metric(slow)
    with pytest.raises(KeyboardInterrupt):
        rescore(study, "mine")
    assert len(study.scores().query("metric == 'mine'")) == 2
    assert not study.store.has_writer()
    assert rescore(study, "mine") == 2
    assert len(calls) == 5


def test_codes_that_fail_do_not_stop_the_others(study, own_metric):
    def picky(sample, protocol, seed):
        if sample.codes.shape[1] == 3:
            raise FloatingPointError("three codes are too many")
        return 1.0

    own_metric(picky)
    with pytest.raises(ValueError, match=facts("2 of 4", "three codes are too many")):
        rescore(study, "mine")
    assert len(study.scores().query("metric == 'mine'")) == 2


def test_scores_are_written_on_the_way(study, own_metric, monkeypatch):
    """A kill costs what was scored since the last writing, not all."""
    monkeypatch.setattr("unbraid.study.rescoring.WRITE_EVERY", 0.0)
    seen = []

    def looking(sample, protocol, seed):
        seen.append(len(study.scores().query("metric == 'mine'")))
        return 0.0

    own_metric(looking)
    rescore(study, "mine")
    assert seen == [0, 1, 2, 3]
