"""The page of a real store: nothing but the store is read."""

import pytest
from typer.testing import CliRunner

import unbraid as ub
from tests.study.tiny import linear
from unbraid.cli import app
from unbraid.study import run_study


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    place = tmp_path_factory.mktemp("study") / "store"
    run_study(linear(seeds=3), place, workers=0)
    return place


def test_questions_read_a_store(store):
    answer = ub.study.analysis.variance(ub.study.open(store), n_resamples=20)
    assert answer.n_runs == 6
    assert set(answer.table["metric"]) == {"mig"}
    assert "paper" in answer.words


def test_the_command_writes_the_page(store, tmp_path):
    out = tmp_path / "page.html"
    result = CliRunner().invoke(app, ["study", "report", "--store", str(store), "--out", str(out)])
    assert result.exit_code == 0, result.output
    text = out.read_text()
    assert "tiny" in text
    study = ub.study.open(store)
    assert all(run[:8] in text for run in study.runs()["run"])
    assert text.count('<figure id="run-') == sum(study.strip(run) is not None for run in study.runs()["run"])
    assert "Usefulness" in text  # 200 stored codes are too few, and the page says so


def test_a_store_that_is_not_there(tmp_path):
    result = CliRunner().invoke(app, ["study", "report", "--store", str(tmp_path / "none")])
    assert result.exit_code != 0
