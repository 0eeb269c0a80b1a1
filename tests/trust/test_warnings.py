"""One list of warnings: every code is used, every use is on the list with its figures, and nothing warns beside it."""

import ast
import re
import string
import warnings
from pathlib import Path

import pytest

import unbraid
from tests.cli.command_line import run
from tests.facts import facts
from unbraid.trust.explain import explain, explanation, sentence
from unbraid.trust.table import FIGURES
from unbraid.trust.warnings import CODES, KINDS, TrustWarning, emit, explain_command, format_warning, warn, without_hint

SRC = Path(unbraid.__file__).parent
LIST = SRC / "trust" / "warnings.py"


def calls_of(tree):
    """(name, call) of every call of ``format_warning``, ``warn`` and anything named ``warnings.warn``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "warnings":
            yield from (("warnings.warn", node) for name in node.names if name.name.startswith("warn"))
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            if name in ("format_warning", "warn", "warnings.warn", "warnings.warn_explicit"):
                yield name, node


FOUND = [
    (f"{path.relative_to(SRC)}:{call.lineno}", name, call)
    for path in sorted(SRC.rglob("*.py"))
    if path != LIST
    for name, call in calls_of(ast.parse(path.read_text(encoding="utf-8")))
]
GIVEN = [(place, call) for place, name, call in FOUND if name in ("format_warning", "warn")]


def fields_of(code):
    text = CODES[code].sentence + CODES[code].remedy
    return {field for _, field, _, _ in string.Formatter().parse(text) if field}


def test_the_walk_sees_every_way_to_warn():
    source = "import warnings\nfrom warnings import warn\nwarnings.warn('a', UserWarning)\nwarn('UB101', causes='')"
    assert sorted(name for name, _ in calls_of(ast.parse(source))) == ["warn", "warnings.warn", "warnings.warn"]


def test_nothing_warns_beside_the_list():
    beside = [place for place, name, _ in FOUND if name not in ("format_warning", "warn")]
    assert not beside, f"warnings.warn is called in {beside}; add a code to trust/warnings.toml"


def test_every_code_is_used_and_known():
    used = {place: ast.literal_eval(call.args[0]) for place, call in GIVEN}
    assert set(used.values()) == set(CODES), "codes that are unknown, or that nothing gives"


@pytest.mark.parametrize(("place", "call"), GIVEN, ids=[place for place, _ in GIVEN])
def test_every_use_brings_the_figures_of_its_sentence(place, call):
    names = {keyword.arg for keyword in call.keywords} - {"stacklevel"}
    assert names == fields_of(ast.literal_eval(call.args[0]))


@pytest.mark.parametrize("code", CODES)
def test_every_line_is_whole(code):
    line = CODES[code]
    assert re.fullmatch(r"UB\d\d\d", code)
    assert code[:3] in KINDS
    for text in (line.remedy, line.cause, line.ignore):
        assert text.endswith(".")
        assert text[0].isupper() or text.startswith(("print(", "n_submanifolds_", "model."))
    assert "{" not in line.cause + line.ignore


def test_a_warning_has_its_code_class_and_place():
    with pytest.warns(TrustWarning, match=facts("UB203", "1.50", "n_factors")) as caught:
        _fits()
    assert caught[0].filename == __file__
    assert caught[0].lineno == _fits.__code__.co_firstlineno + 1
    with pytest.raises(KeyError):
        warn("UB000")


def _fits():
    _estimator()


def _estimator():
    warn("UB203", gap=1.5)


def test_one_code_is_silenced_by_python_s_own_filter():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.filterwarnings("ignore", message=".*UB203")
        warn("UB203", gap=1.5)
        emit(format_warning("UB202", isometry=0.1) + " " + format_warning("UB203", gap=1.5))
        emit(format_warning("UB208"))
    assert [str(w.message)[:5] for w in caught] == ["UB208"]


def test_a_warning_ends_with_where_to_read_on():
    with pytest.warns(TrustWarning) as caught:
        emit(format_warning("UB202", isometry=0.1) + " " + format_warning("UB203", gap=1.5))
    text = str(caught[0].message)
    assert text.endswith("unbraid explain UB202 UB203")
    assert without_hint(text) == format_warning("UB202", isometry=0.1) + " " + format_warning("UB203", gap=1.5)
    assert explain_command(["nothing of ours, not even UB 203"]) == ""


@pytest.mark.parametrize("code", CODES)
def test_every_warning_is_explained(code):
    parts = explanation(code)
    assert len(parts) == 4 + bool(CODES[code].figure)
    assert all(len(text) > 10 for text in parts.values())
    text = explain(code.lower())
    assert text.startswith(code)
    assert "{" not in text
    for part in (sentence(code), *parts.values()):
        assert part in text


def test_an_unknown_code_lists_the_known_ones():
    with pytest.raises(ValueError, match=facts("'UB999'", "UB101, UB102", "eigengap")):
        explain("UB999")


def test_the_command_explains(monkeypatch, capsys):
    assert run(monkeypatch, capsys, "explain", "UB202", "ub203").out == f"{explain('UB202')}\n\n{explain('UB203')}\n"
    every = run(monkeypatch, capsys, "explain")
    assert re.findall(r"^  (\w+)  ", every.out, flags=re.M) == [*CODES, *FIGURES]
    wrong = run(monkeypatch, capsys, "explain", "UB2")
    assert (wrong.code, "UB201" in wrong.err) == (2, True)


def test_every_code_has_a_page_and_a_link_to_it(monkeypatch, tmp_path):
    pytest.importorskip("sphinx")
    docs = Path(__file__).parents[2] / "docs"
    monkeypatch.syspath_prepend(docs)
    import warning_list

    monkeypatch.setattr(warning_list, "PAGES", tmp_path)
    (tmp_path / "UB999.rst").touch()
    warning_list.write_pages()
    assert sorted(path.stem for path in tmp_path.glob("*.rst")) == sorted(CODES), "a code that is gone has no page"
    assert re.findall(r"^:doc:`warnings/(UB\d+)`", "\n".join(warning_list.warning_list()), flags=re.M) == list(CODES)
    for code in CODES:
        page = (tmp_path / f"{code}.rst").read_text(encoding="utf-8")
        assert "{" not in page
        assert all(f"\n{title}\n{'-' * len(title)}\n" in page for title in explanation(code))
        assert (docs / f"{warning_list.about(code)}.rst").is_file()
