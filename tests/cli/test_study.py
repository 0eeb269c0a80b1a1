import pytest

from tests.cli.command_line import run
from tests.study.tiny import LINEAR
from unbraid.study import Store


@pytest.fixture
def study(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.toml").write_text(LINEAR)
    return lambda command, *args: run(monkeypatch, capsys, "study", command, *args)


def test_a_study_from_spec_to_export(study, tmp_path):
    listed = study("list", "mine.toml")
    assert len(listed.out.splitlines()) == 4
    assert listed.out.splitlines()[3].split("\t")[2:] == ["isometric", "pca-ica", "3", "1"]
    part = study("run", "mine.toml", "--workers", 0, "--only", "0:2")
    assert "2 run(s) done, 0 failed, 0 left" in part.out
    assert "2 of 4 done, 0 running, 2 pending" in study("status", "mine.toml").out
    assert "2 run(s) done" in study("run", "mine.toml", "--workers", 0).out
    assert "4 of 4 done" in study("watch", "--store", "tiny.study").out
    assert "8 score(s) added" in study("rescore", "mine.toml", "--metrics", "sap,modularity").out
    ranked = study("rank", "pca-ica", "mine.toml", "--metric", "mcc").out
    assert "isometric, by the median of mcc" in ranked
    assert "pca-ica 2 (2 runs)" in ranked
    assert "scores.parquet" in study("export", "out", "mine.toml", "--codes", 50).out
    assert "4 run(s) taken" in study("merge", "out", "--store", "again").out
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
        assert "1 score(s) added" in added.out
    finally:
        del REGISTRY["mine"]


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("run", "none.toml"), "none.toml is neither a file nor a spec that is shipped: laptop, paper, smoke"),
        (("run", "mine.toml", "--max-time", "soon"), "--max-time is 'soon'"),
        (("run", "mine.toml", "--only", "a:b"), "--only is 'a:b'"),
        (("status",), "which study? Give its SPEC, or --store"),
        (("status", "--store", "nowhere"), "nowhere is not a store of a study"),
    ],
)
def test_what_a_user_can_mend_is_one_sentence(study, args, words):
    refused = study(*args)
    assert refused.code == 2
    assert words in refused.err


def test_a_failure_is_shown_and_tried_again(study, monkeypatch):
    def broken(order):
        raise FloatingPointError("the loss is nan")

    with monkeypatch.context() as patch:
        patch.setattr("unbraid.study.engine.perform", broken)
        assert "0 run(s) done, 4 failed" in study("run", "mine.toml", "--workers", 0).out
    assert "FloatingPointError: the loss is nan" in study("status", "mine.toml", "--errors").out
    assert "4 run(s) will be tried again" in study("retry", "mine.toml").out
    assert "4 run(s) done" in study("run", "mine.toml", "--workers", 0).out
