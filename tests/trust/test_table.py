"""One table of figures: whole lines, one threshold each, and everything that is shown is on it."""

import ast
import re
from pathlib import Path

import pytest

import unbraid as ub
from tests.spectral.manifolds import bent_sheets
from unbraid.methods import METHODS
from unbraid.trust.explain import about_figure, explain, key_of
from unbraid.trust.table import ASSUMPTIONS, FIGURES
from unbraid.trust.warnings import CODES


@pytest.mark.parametrize("key", FIGURES)
def test_every_line_is_whole(key):
    line = FIGURES[key]
    assert re.fullmatch(r"[a-z]+(_[a-z]+)*", key)
    assert line.meaning.endswith(".")
    assert line.meaning[0].isupper()
    assert (line.threshold is None) or line.fails
    if line.threshold is not None and key != "factor_connected":
        assert line.calibrated
    assert set(line.families) <= {method.family for method in METHODS.values()} | set(METHODS)
    assert line.remedy or not (line.code or (line.assumption and key != "flat_residual"))
    assert all(limit != line.threshold for limit in line.cases.values()), "a case that is none"


def test_warnings_and_figures_name_each_other():
    for key, line in FIGURES.items():
        if line.code:
            assert CODES[line.code].remedy == line.remedy, key
            assert CODES[line.code].figure, key
    assert all(FIGURES[code.figure].code == name for name, code in CODES.items() if code.figure)


def test_a_figure_holds_on_the_right_side_and_at_the_threshold():
    gap, doubt, isometry = FIGURES["eigengap"], FIGURES["rotation_doubt"], FIGURES["local_isometry"]
    assert (gap.holds(1.99), gap.holds(2), gap.holds(3)) == (False, True, True)
    assert (doubt.holds(15), doubt.holds(15.1)) == (True, False)
    assert (isometry.holds(0.3), isometry.holds(0.3, "laplacian"), isometry.holds(0.3, "hessian")) == (0, 1, 0)
    with pytest.raises(ValueError, match="no threshold"):
        FIGURES["expected_mcc"].limit()


def test_names_of_all_kinds_lead_to_the_key():
    assert {key_of(key) for key in FIGURES} == set(FIGURES)
    assert {assumption: key_of(assumption) for assumption in ASSUMPTIONS} == ASSUMPTIONS
    assert key_of("R-hat") == "r_hat"
    assert key_of("covered") == "factor_reach"  # the first of two figures of that name
    with pytest.raises(ValueError, match="eigengap"):
        key_of("eigen-gap-like")


@pytest.mark.parametrize("key", FIGURES)
def test_every_figure_is_explained(key):
    text = explain(key)
    assert text.startswith(key)
    assert FIGURES[key].meaning in text
    assert all(part in text for part in about_figure(key).values())
    assert "{noise" not in text


def test_no_other_file_compares_with_a_threshold_of_its_own():
    """Findings, checks and warnings of a figure are made with what ``FIGURES`` says: none is built with a number."""
    made = {"Finding": 3, "FactorCheck": 3, "finding": 4}
    for path in Path(ub.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in made:
                given = node.args[made[node.func.id] : made[node.func.id] + 1]
                given += [keyword.value for keyword in node.keywords if keyword.arg == "threshold"]
                assert not [x for x in given if isinstance(x, ast.Constant) and isinstance(x.value, float)], path


def test_the_diagnosis_the_diagnostics_and_the_summary_read_the_table():
    X = bent_sheets(400)[0]
    found = ub.diagnose(X)
    for finding in found.findings:
        line = FIGURES[finding.key]
        assert (finding.assumption, finding.remedy, finding.families) == (line.assumption, line.remedy, line.families)
        assert found[finding.key] is finding
    model = ub.HessianICA(2, random_state=0).fit(X)
    shown = [fact for fact in model.summary().facts if fact.name != "neighbour graph"]
    for fact in shown:
        line = FIGURES[key_of(fact.name)]
        assert fact.meaning.startswith(line.meaning)
        assert line.doubt in fact.meaning
    assert {"local isometry", "eigengap", "participation", "extension error"} <= {fact.name for fact in shown}


def test_every_figure_has_an_entry_in_the_docs(monkeypatch):
    pytest.importorskip("sphinx")
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "docs")
    import warning_list

    text = "\n".join(warning_list.figure_list())
    assert sorted(re.findall(r"^\.\. _figure-(\w+):", text, flags=re.M)) == sorted(FIGURES)
    assert "{" not in re.sub(r":math:`[^`]*`", "", text)
