"""What the README shows runs, and what it points to is there."""

import re
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", TEXT, re.DOTALL)


def test_ten_lines_run_and_find_the_factors(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (code,) = blocks("python")
    assert len([line for line in code.splitlines() if line]) <= 10
    names = {}
    exec(compile(code, "README.md", "exec"), names)
    assert names["codes"].shape == (1000, 2)
    assert float(capsys.readouterr().out.split()[-1]) > 0.99
    assert np.abs(names["pictures"] - names["X"][:5]).max() < 0.6
    assert (tmp_path / "run" / "config.json").is_file()


def test_make_targets_and_files_that_it_names_are_there():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"make (\w+)", TEXT):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)
    for path in re.findall(r"\]\(([^)]+)\)", TEXT):
        assert (ROOT / path).is_file()


def test_estimators_that_it_names_are_there():
    import unbraid

    table = TEXT.split("## What is in the box")[1].split("\n\n")[1]
    for name in re.findall(r"`(\w+)`", table):
        assert hasattr(unbraid, name)
