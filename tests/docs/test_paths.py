"""Files and make targets that pages name exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GENERATED = ("auto_examples", "reference", "generated", "_build", "sg_execution_times.rst")
PAGES = [
    *(ROOT / name for name in ("CONTRIBUTING.md", "README.md", "benchmarks/RESULTS.md", "benchmarks/figures.toml")),
    *(
        path
        for path in sorted((ROOT / "docs").rglob("*.rst"))
        if path.relative_to(ROOT / "docs").parts[0] not in GENERATED
    ),
]
FOLDERS = (".github", "benchmarks", "docs", "examples", "packaging", "papers", "scripts", "src", "studies", "tests")
FILE = re.compile(r"(?<![\w./-])(?:\.\./)*((?:[\w.-]+/)+[\w-]+\.(?:py|toml|md|rst|yml|json|js|css))\b")
SCRIPT = re.compile(r"(?<![\w./-])((?:bench|calibrate|compare|experiment)_\w+\.py)\b")
TARGET = re.compile(r"`make ([a-z][\w-]+)")


def tails():
    """Every path of the repository, and what is left of it without its first folders."""
    found = set()
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*"):
            parts = path.relative_to(ROOT).parts
            found |= {"/".join(parts[i:]) for i in range(len(parts))}
    return found


@pytest.mark.parametrize("pattern", [FILE, SCRIPT], ids=["file", "script"])
def test_files_that_pages_name_exist(pattern):
    known = tails()
    missing = {
        (page.name, name)
        for page in PAGES
        for name in pattern.findall(page.read_text(encoding="utf-8"))
        if name not in known
    }
    assert not missing


def test_make_targets_that_pages_name_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = {*re.findall(r"^([a-z][\w-]*):", makefile, flags=re.MULTILINE)}
    targets |= {path.stem.replace("bench_", "bench-") for path in (ROOT / "benchmarks").glob("bench_*.py")}
    named = {(page.name, name) for page in PAGES for name in TARGET.findall(page.read_text(encoding="utf-8"))}
    assert named
    assert not {(page, name) for page, name in named if name not in targets}
