"""One table of theorems: whole entries, figures that exist, a closed vocabulary, and an entry for every method."""

import re
from pathlib import Path

import pytest

from unbraid.methods import EVIDENCE, METHODS
from unbraid.spectral.evidence import INDEPENDENT, ROTATIONS
from unbraid.trust.table import FIGURES
from unbraid.trust.theorems import CASES, FREE, THEOREMS, helpful, methods_of, theorem_of

HORAN = (
    "structure",
    "apart",
    "local_isometry",
    "dimension_gap",
    "dependence",
    "raggedness",
    "emptiness",
    "rotation_doubt",
)


@pytest.mark.parametrize("key", THEOREMS)
def test_every_entry_is_whole(key):
    theorem = THEOREMS[key]
    assert theorem.sentence[0].isupper()
    assert theorem.sentence.endswith(".")
    assert theorem.reference
    assert set(theorem.evidence) <= set(EVIDENCE)
    assert bool(theorem.asks) == bool(theorem.evidence)
    assert set(theorem.free) | set(theorem.flat) <= set(FREE)
    for premise in theorem.assumptions:
        assert set(premise.figures) <= set(FIGURES)
        assert all(FIGURES[figure].assumption for figure in premise.figures), "a figure that no finding has"
        assert set(premise.without) <= set(FREE)
        assert bool(premise.failing) or not premise.without


def test_every_method_has_an_entry_and_every_rotation_its_case():
    assert {method.theorem for method in METHODS.values()} <= set(THEOREMS)
    assert set(CASES["rotation"]["values"]) == set(ROTATIONS) - set(INDEPENDENT)
    for rotation, evidence in ROTATIONS.items():
        found = theorem_of("hessian-ica", rotation=rotation)
        assert found.evidence == ((evidence,) if evidence else ())
    assert theorem_of("beta-vae").free == ("everything",)
    assert theorem_of("vae", rotation="time").id == "none", "only methods with a rotation have its cases"


@pytest.mark.parametrize("name", [name for name, method in METHODS.items() if method.needs and method.fits])
def test_a_method_has_no_theorem_on_evidence_that_it_does_not_use(name):
    assert set(theorem_of(name).evidence) <= set(METHODS[name].uses)


@pytest.mark.parametrize(
    ("failing", "free"),
    [
        ({}, ("function per factor",)),
        ({"separability": False}, ("function per factor", "rotation")),
        ({"separability": None}, ("function per factor", "rotation")),
        ({"rotation_doubt": None}, ("function per factor", "rotation")),
        ({"dependence": False}, ("everything",)),
        ({"dependence": None}, ("everything",)),
        ({"local_isometry": False, "flat_residual": False}, ("everything",)),
        ({"local_isometry": False, "flat_residual": True}, ("scale",)),
    ],
)
def test_what_stays_free_follows_from_what_was_found(failing, free):
    held = dict.fromkeys((*HORAN, "separability"), True) | failing
    assert THEOREMS["horan"].free_given(held) == free
    assert (THEOREMS["horan"].holds(held) is True) == (free in (("function per factor",), ("scale",)))


def test_what_was_not_measured_is_not_claimed():
    assert THEOREMS["horan"].free_given({}) == ("everything",)
    assert THEOREMS["horan"].holds({}) is None
    assert all(THEOREMS[key].holds(dict.fromkeys(FIGURES, True)) is None for key in ("gin", "geomancer", "none", "tcl"))


def test_help_asks_for_what_is_not_there_and_could_work():
    gaussian = dict.fromkeys(HORAN, True) | {"separability": False}
    assert [t.id for t in helpful(gaussian, (), 3)] == ["sobi", "sparse-pairs", "variances", "labelled-rows"]
    assert "7 rows" in THEOREMS["labelled-rows"].asked(3)
    dependent = gaussian | {"dependence": False}
    assert "sobi" not in [t.id for t in helpful(dependent, (), 3)]
    shuffled = gaussian | {"autocorrelation": False, "evidence_turn": False}
    assert {t.evidence for t in helpful(shuffled, ("time",), 3)} == {("pairs",), ("labels",)}
    curved = gaussian | {"local_isometry": False, "flat_residual": False}
    assert not {t.id for t in helpful(curved, (), 3)} & set(CASES["rotation"]["values"].values())
    assert helpful(gaussian, (), 0) == []


def test_methods_of_a_theorem_and_theorem_of_a_method_agree():
    for key in THEOREMS:
        for name, parameters, _ in methods_of(key):
            assert theorem_of(name, **parameters).id == key


def test_the_page_has_every_entry(monkeypatch):
    pytest.importorskip("sphinx")
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "docs")
    import theorem_list

    text = "\n".join(theorem_list.theorem_list())
    assert re.findall(r"^\.\. _theorem-([\w-]+):", text, flags=re.M) == list(THEOREMS)
    assert all(theorem.reference in text for theorem in THEOREMS.values())
    assert all(f"``{name}``" in "\n".join(theorem_list.method_table()) for name in METHODS)
    assert all(name in "\n".join(theorem_list.free_list()) for name in FREE)
