"""A figure stands in one place: pages quote ``benchmarks/figures.toml`` and the tables of ``benchmarks/RESULTS.md``."""

import re
from pathlib import Path

import pytest

pytest.importorskip("sphinx")
ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
MARKDOWN = (ROOT / "README.md", ROOT / "benchmarks" / "RESULTS.md")
GENERATED = ("auto_examples", "reference", "warnings", "generated", "_build", "reproductions")
PAGES = sorted(path for path in DOCS.rglob("*.rst") if path.relative_to(DOCS).parts[0] not in GENERATED)
DECIMAL = re.compile(r"(?<![\w.,\d])0?(\.\d{3,})(?![\w.]?\d)")


@pytest.fixture
def figures(monkeypatch):
    monkeypatch.syspath_prepend(DOCS)
    import measured

    return {key: text for key, (text, _) in measured.figures().items()}


def text_of(path):
    """A page without its code, and without what it shows as printed."""
    text = path.read_text(encoding="utf-8")
    return re.sub(r"^\.\. code-block::.*\n(?:\s*\n|   .*\n)+", "", text, flags=re.MULTILINE)


def repeated(rows):
    """Lines of one page that have two figures of a line of another: a row that was copied by hand.

    >>> repeated({"a": ["x .123 .456"], "b": ["y .456 .123"], "c": ["z .123 .789"]})
    [('a', 'b', 'x .123 .456')]
    """
    found = []
    known = [(page, line, {*DECIMAL.findall(line)}) for page, lines in rows.items() for line in lines]
    known = [row for row in known if len(row[2]) > 1]
    for i, (page, line, numbers) in enumerate(known):
        found += [(page, other, line) for other, _, theirs in known[i:] if other != page and len(numbers & theirs) > 1]
    return found


def test_the_markdown_files_quote_the_table_of_figures(figures):
    for path in MARKDOWN:
        text = path.read_text(encoding="utf-8")
        marks = re.findall(r"<!--([\w.-]+)-->", text)
        assert marks
        for key in marks:
            assert f"{figures[key]}<!--{key}-->" in text, f"{path.name} does not quote {key}"


def test_every_figure_is_in_the_results(figures):
    marks = re.findall(r"<!--([\w.-]+)-->", MARKDOWN[1].read_text(encoding="utf-8"))
    assert {*figures} == {*marks}


def test_pages_do_not_repeat_quoted_figures_by_hand(figures):
    long = {text for text in figures.values() if len(re.sub(r"\D", "", text)) > 3}
    assert long
    for path in PAGES:
        copied = [text for text in long if re.search(rf"(?<![\d.,]){re.escape(text)}(?![\d])", text_of(path))]
        assert not copied, f"{path.name} has {copied}; quote it with :measured:"


def test_no_row_of_figures_is_on_two_pages():
    rows = {path.name: text_of(path).splitlines() for path in (MARKDOWN[1], *PAGES)}
    assert not repeated(rows)


def test_every_table_is_shown():
    text = "".join(path.read_text(encoding="utf-8") for path in (MARKDOWN[1], *PAGES))
    assert not [path.name for path in (DOCS / "tables").glob("*.csv") if f"tables/{path.name}" not in text]


def test_copied_rows_are_seen():
    assert repeated({"a": ["x .123 .456"], "b": ["y .456 .123"], "c": ["z .123 .789"]}) == [("a", "b", "x .123 .456")]
