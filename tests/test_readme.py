"""What the README shows runs, and what it points to is there."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", TEXT, re.DOTALL)


def test_five_lines_run_and_find_the_factors(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (code,) = blocks("python")
    assert len([line for line in code.splitlines() if line]) == 6  # the import, and five
    exec(compile(code, "README.md", "exec"), {})
    told, score = capsys.readouterr().out.strip().split("\n")
    assert told.startswith("yes 1.00; above ")
    assert "yes 1.00; above " in code
    assert f"# {float(score):.3f}:" in code
    assert (tmp_path / "report.html").is_file()


def test_make_targets_and_files_that_it_names_are_there():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"`make ([\w-]+)`|^\$ make ([\w-]+)", TEXT, re.MULTILINE):
        assert re.search(rf"^{''.join(target)}:|^bench-%:", makefile, re.MULTILINE)
    for path in re.findall(r"\]\(([^)]+)\)", TEXT):
        assert (ROOT / path).exists()


def test_it_fits_two_screens_and_its_picture_loads():
    assert len(TEXT.splitlines()) < 85
    assert (ROOT / "docs" / "images" / "explorer-faces.gif").stat().st_size < 1.5e6


def test_links_on_pypi_are_absolute():
    hook = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["metadata"]["hooks"]
    text = TEXT
    for rule in hook["fancy-pypi-readme"]["substitutions"]:
        text = re.sub(rule["pattern"], rule["replacement"], text)
    links = re.findall(r"\]\(([^)]+)\)", text)
    assert len(links) == len(re.findall(r"\]\(", TEXT))
    assert all(re.match(r"https://[\w.]+/unbraid/unbraid/(blob/)?main/\w", link) for link in links)
