"""Tutorials and examples do what they show."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.tutorials import blocks, commands, says

ROOT = Path(__file__).parents[2]
TUTORIALS = sorted(p for p in (ROOT / "docs" / "tutorials").glob("*.rst") if p.stem != "index")
EXAMPLES = sorted((ROOT / "examples").glob("plot_*.py"))
SETTINGS = os.environ | {"MPLBACKEND": "Agg", "COLUMNS": "80", "PYTHONPATH": os.pathsep.join(sys.path)}


def run(command, folder):
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, env=SETTINGS, timeout=1200
    )  # fmt: skip


def test_the_comparison_sees_a_line_that_is_missing_or_another():
    printed = "Yes: it can.\nUse: pca-ica.\n\n+ linear 0.09 %\n+ rotation 3 degrees\n"
    assert says(printed, "Yes: it can.\n...\n+ linear   0.08 %\n...\n")
    assert not says(printed, "Yes: it can.\n+ linear 0.09 %\n...\n")
    assert not says(printed, "No: it can.\n...\n")
    assert not says(printed, "...\n+ independent\n...\n")


def test_every_tutorial_has_something_to_run():
    for page in TUTORIALS:
        kinds = {block.kind for block in blocks(page.read_text(encoding="utf-8"))}
        assert kinds <= {"python", "console", "text"}
        assert "python" in kinds
    assert [page.stem for page in TUTORIALS] == ["encoder", "evidence", "images", "recordings", "researcher", "spectra"]


@pytest.mark.parametrize(
    "page", [*TUTORIALS, *(ROOT / "docs" / f"{n}.rst" for n in ("quickstart", "diagnosis", "trust"))]
)
def test_a_guide_has_a_picture_that_says_its_conclusion(page):
    figures = re.findall(r"figure:: (\S+)\n((?:   .*\n|\n)+)", page.read_text(encoding="utf-8"))
    assert figures
    for source, below in figures:
        assert (ROOT / "docs" / source.lstrip("/")).is_file()
        assert ":alt:" in below
        assert re.search(r"\n\n   \S.{40,}", below), "a caption"


@pytest.mark.slow
@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_the_tutorial_runs_and_prints_what_it_shows(page, tmp_path):
    printed, shown_after_python = "", False
    for block in blocks(page.read_text(encoding="utf-8")):
        if block.kind == "python" and block.caption:
            (tmp_path / block.caption).write_text(block.text, encoding="utf-8")
        elif block.kind == "python":
            ran = run([sys.executable, "-c", block.text], tmp_path)
            assert ran.returncode == 0, ran.stderr
            printed, shown_after_python = ran.stdout, True
            continue
        elif block.kind == "text" and shown_after_python and not block.text.startswith("$"):
            assert says(printed, block.text), printed
        elif block.kind == "console":
            _type(block.text, tmp_path)
        shown_after_python = False


def _type(text, folder):
    for command, shown in commands(text):
        program, *args = command.split()
        start = {"python": [sys.executable], "unbraid": [sys.executable, "-m", "unbraid"]}[program]
        ran = run([*start, *args], folder)
        assert ran.returncode == 0, ran.stderr
        assert says(ran.stdout, shown), ran.stdout


@pytest.mark.slow
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_example_runs(path, tmp_path):
    ran = run([sys.executable, str(path)], tmp_path)
    assert ran.returncode == 0, ran.stderr
