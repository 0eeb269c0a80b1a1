import re

import pytest

from tests.cli.command_line import run
from tests.facts import facts
from tests.study.tiny import LINEAR
from unbraid.study import Store


@pytest.fixture
def study(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.toml").write_text(LINEAR)
    return lambda command, *args: run(monkeypatch, capsys, "study", command, *args)


def numbers(result):
    return [int(n) for n in re.findall(r"\d+", result.out)]


def test_a_study_from_spec_to_export(study, tmp_path):
    listed = study("list", "mine.toml")
    assert len(listed.out.splitlines()) == 4
    assert listed.out.splitlines()[3].split("\t")[2:] == ["isometric", "pca-ica", "3", "1"]
    part = study("run", "mine.toml", "--workers", 0, "--only", "0:2")
    assert numbers(part)[:3] == [2, 0, 0]
    assert numbers(study("status", "mine.toml"))[:4] == [2, 4, 0, 2]
    assert numbers(study("run", "mine.toml", "--workers", 0))[0] == 2
    assert numbers(study("watch", "--store", "tiny.study"))[:2] == [4, 4]
    assert numbers(study("rescore", "mine.toml", "--metrics", "sap,modularity"))[0] == 8
    ranked = study("rank", "pca-ica", "mine.toml", "--metric", "mcc").out
    assert "isometric" in ranked
    assert "mcc" in ranked
    assert "pca-ica 2 (2 runs)" in ranked
    assert "scores.parquet" in study("export", "out", "mine.toml", "--codes", 50).out
    assert numbers(study("merge", "out", "--store", "again"))[0] == 4
    assert Store("again").counts()["done"] == 4


def test_a_metric_of_ones_own(study, tmp_path):
    from unbraid.evaluation import REGISTRY

    study("run", "mine.toml", "--workers", 0, "--only", "0")
    (tmp_path / "plugin.py").write_text(
        "import unbraid as ub\n"
        "ub.evaluation.register(ub.metrics.Metric('mine', lambda s, p, seed: s.codes.std(), needs=()))\n"
    )
    try:
        added = study("rescore", "mine.toml", "--metrics", "mine", "--plugin", "plugin.py")
        assert numbers(added)[0] == 1
    finally:
        del REGISTRY["mine"]


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("run", "none.toml"), facts("none.toml", "laptop, paper, smoke")),
        (("run", "mine.toml", "--max-time", "soon"), facts("--max-time", "'soon'")),
        (("run", "mine.toml", "--only", "a:b"), facts("--only", "'a:b'")),
        (("status",), facts("SPEC", "--store")),
        (("status", "--store", "nowhere"), facts("nowhere")),
    ],
)
def test_what_a_user_can_mend_is_one_sentence(study, args, words):
    refused = study(*args)
    assert refused.code == 2
    assert re.search(words, refused.err)


def test_a_failure_is_shown_and_tried_again(study, monkeypatch):
    def broken(order):
        raise FloatingPointError("the loss is nan")

    with monkeypatch.context() as patch:
        patch.setattr("unbraid.study.engine.perform", broken)
        assert numbers(study("run", "mine.toml", "--workers", 0))[:2] == [0, 4]
    assert "FloatingPointError: the loss is nan" in study("status", "mine.toml", "--errors").out
    assert numbers(study("retry", "mine.toml"))[0] == 4
    assert numbers(study("run", "mine.toml", "--workers", 0))[0] == 4
