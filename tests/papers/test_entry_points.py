"""Papers and data sets of other distributions: found by their entry points, and named where they are not installed."""

import importlib
import json
import re
import tomllib
from importlib import metadata
from pathlib import Path
from textwrap import dedent

import pytest
from typer.testing import CliRunner

from unbraid import datasets
from unbraid.cli import app
from unbraid.cli.reproduce import find_paper
from unbraid.datasets import registry

DOCS = Path(__file__).parents[2] / "docs" / "reproductions" / "index.rst"
SQUARES = """
from unbraid.datasets.registry import Entry

SQUARES = Entry("toy-squares", "shapes:ShapesXY", "x, y", "endless", "drawn")
"""


def documented(language):
    """The example of this language in the docs."""
    (code,) = re.findall(rf"\.\. code-block:: {language}\n\n((?:   .*\n|\n)+)", DOCS.read_text(encoding="utf-8"))
    return dedent(code)


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """The paper of the docs and a data set, in a distribution as pip would leave it on the path."""
    groups = tomllib.loads(documented("toml"))["project"]["entry-points"]
    groups["unbraid.datasets"] = {"toy-squares": "toy_squares:SQUARES"}
    lines = [line for group, points in groups.items() for line in (f"[{group}]", *map(" = ".join, points.items()))]
    info = tmp_path / "site" / "toy-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: toy\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("\n".join(lines))
    (tmp_path / "site" / "my_paper.py").write_text(documented("python"))
    (tmp_path / "site" / "toy_squares.py").write_text(SQUARES)
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    importlib.invalidate_caches()


@pytest.fixture
def nothing_installed(monkeypatch):
    none = metadata.EntryPoints()
    monkeypatch.setattr(metadata, "entry_points", lambda **wanted: none)
    monkeypatch.setattr(registry, "entry_points", lambda **wanted: none)


def run(*args):
    return CliRunner().invoke(app, args, env={"COLUMNS": "200"})


def test_a_paper_from_elsewhere_runs_by_its_name(toy, tmp_path):
    result = run("reproduce", "my-paper", "--out", str(tmp_path / "out"))
    assert result.exit_code == 0, result.output
    (claim,) = json.loads((tmp_path / "out" / "page.json").read_text())["claims"]
    assert claim["id"] == "squares-found"
    assert list(claim["parts"]) == ["16 pixels", "24 pixels"]
    assert claim["verdict"] == "reproduced"
    assert (tmp_path / "out" / "page.html").is_file()


def test_a_data_set_from_elsewhere_loads_by_its_name(toy):
    assert "toy-squares" in datasets.names()
    assert datasets.load("toy-squares", image_size=16).shape == (16, 16)
    assert "toy-squares" in run("datasets", "list").output


def test_an_unknown_paper_is_answered_with_those_installed(toy):
    with pytest.raises(ValueError, match=r"'huron'.*geomancer.*my-paper"):
        find_paper("huron")


def test_what_is_not_installed_is_answered_with_the_install(nothing_installed):
    with pytest.raises(ModuleNotFoundError, match="pip install unbraid-papers"):
        find_paper("horan")
    with pytest.raises(ModuleNotFoundError, match="pip install unbraid-papers"):
        datasets.load("gan-manifold")
    with pytest.raises(ValueError, match=r"'gan-manifoled'.*shapes-xy"):
        datasets.load("gan-manifoled")
    listed = run("datasets", "list").output
    assert "gan-manifold" in listed
    assert "pip install unbraid-papers" in listed


def test_own_data_sets_and_files_need_no_search(monkeypatch, tmp_path):
    def searched(**wanted):
        raise AssertionError(f"entry points were searched: {wanted}")

    monkeypatch.setattr(registry, "entry_points", searched)
    X = datasets.load("isometric", n_features=5).sample(200, random_state=0)[0]
    (tmp_path / "x.csv").write_text("\n".join(",".join(map(str, row)) for row in X))
    result = run("fit", str(tmp_path / "x.csv"), "--method", "pca-ica", "--factors", "2", "--out", str(tmp_path / "r"))
    assert result.exit_code == 0, result.output
