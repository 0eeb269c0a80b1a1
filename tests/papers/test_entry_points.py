"""Papers and data sets of other distributions: found by their entry points, and named where they are not installed."""

import importlib
import json
from importlib import metadata

import pytest
from typer.testing import CliRunner

from unbraid import datasets
from unbraid.cli import app
from unbraid.cli.reproduce import find_paper
from unbraid.datasets import registry

TOY = """
from unbraid.datasets.registry import Entry
from unbraid_papers import Experiment, Paper, PaperClaim, part


def doubled(results):
    return {f"n = {row['n']}": part(row["twice"]) for row in results["line"]}


PAPER = Paper(
    name="toy",
    title="Doubling",
    reference="Nobody (2026)",
    about="Numbers.",
    experiments=(
        Experiment("line", "Doubles.", lambda scale: [{"n": 1}, {"n": 2}], lambda c, _: {"twice": 2 * c["n"]}),
    ),
    claims=(
        PaperClaim("it-doubles", "It doubles.", "Figure 1", "4", "twice n", ("line",), doubled, least=3),
    ),
)
SQUARES = Entry("toy-squares", "shapes:ShapesXY", "x, y", "endless", "drawn")
"""
POINTS = """
[unbraid.papers]
toy = toy_paper:PAPER

[unbraid.datasets]
toy-squares = toy_paper:SQUARES
"""


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """A distribution of one module, as pip would leave it on the path."""
    info = tmp_path / "site" / "toy_paper-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: toy-paper\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(POINTS)
    (tmp_path / "site" / "toy_paper.py").write_text(TOY)
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
    result = run("reproduce", "toy", "--out", str(tmp_path / "out"))
    assert result.exit_code == 0, result.output
    (claim,) = json.loads((tmp_path / "out" / "page.json").read_text())["claims"]
    assert (claim["id"], claim["verdict"], claim["held"]) == ("it-doubles", "partly", ["n = 2"])
    assert (tmp_path / "out" / "page.html").is_file()


def test_a_data_set_from_elsewhere_loads_by_its_name(toy):
    assert "toy-squares" in datasets.names()
    assert datasets.load("toy-squares", image_size=16).shape == (16, 16)
    assert "toy-squares" in run("datasets", "list").output


def test_an_unknown_paper_is_answered_with_those_installed(toy):
    with pytest.raises(ValueError, match=r"'huron'.*geomancer.*toy"):
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
