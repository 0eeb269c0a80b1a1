"""`unbraid demo`: the table tells the truth and the report is there."""

import re

import pytest

from tests.cli.command_line import run


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("demo") / "out"


def test_demo_finds_the_factors_and_says_where_the_report_is(monkeypatch, capsys, folder, drawn):
    result = run(monkeypatch, capsys, "demo", "--points", 400, "--out", folder)
    assert result.code == 0
    scores = {m: float(s) for m, s in re.findall(r"│ (\S+\+ICA) +│ +([\d.]+)", result.out)}
    assert set(scores) == {"PCA+ICA", "LEM+ICA", "HLLE+ICA"}
    assert scores["HLLE+ICA"] > 0.98 > 0.95 > scores["PCA+ICA"]
    report = folder / "report.html"
    assert str(report) in result.out.replace("\n", "")
    page = report.read_text(encoding="utf-8")
    owners = [name for heading in re.findall(r"<h2>(.*?)</h2>", page) for name in scores if name in heading]
    assert owners == ["HLLE+ICA"] * 3 + ["PCA+ICA"] + ["LEM+ICA"] * 2, "the best first: strips, trust, settings"
    for name, score in scores.items():
        assert f"{name}: MCC {score:.4f}" in page
    assert page.count("data:image/png;base64,") == 1 + 3 + 3 + 1 + 2  # samples, maps, distances, strips, settings


def test_demo_refuses_too_few_points(monkeypatch, capsys, tmp_path):
    result = run(monkeypatch, capsys, "demo", "--points", 50, "--out", tmp_path / "out")
    assert result.code == 2
    assert "200" in result.err
    assert not (tmp_path / "out").exists()


def test_demo_leaves_a_file_alone(monkeypatch, capsys, tmp_path):
    mine = tmp_path / "mine"
    mine.write_text("keep")
    result = run(monkeypatch, capsys, "demo", "--out", mine)
    assert result.code == 2
    assert str(mine) in result.err.replace("\n", "")
    assert mine.read_text() == "keep"
