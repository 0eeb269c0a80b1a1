"""Claims: tolerances, intervals and the verdicts that follow."""

from dataclasses import replace
from math import nan

import pytest

from unbraid.evaluation.claims import Claim, Part, part

ABOVE_HALF = Claim("above-half", "It is above a half.", "Figure 1", "0.7", "share", least=0.5)


@pytest.mark.parametrize(
    ("figures", "verdict"),
    [
        ({"a": part(0.5), "b": part(0.9)}, "reproduced"),
        ({"a": Part(0.6, 0.4, 0.8), "b": Part(0.6, 0.55, 0.7)}, "partly"),
        ({"a": part(0.1), "b": part(0.9)}, "partly"),
        ({"a": Part(0.6, 0.4, 0.8), "b": part(0.1)}, "not reproduced"),
        ({"a": Part(0.6, 0.4, 0.8)}, "cannot tell at this size"),
        ({"a": part(nan)}, "cannot tell at this size"),
        ({"a": Part(0.9, nan, nan)}, "cannot tell at this size"),
        ({}, "cannot be tried here"),
    ],
)
def test_the_verdict_follows_from_the_figures(figures, verdict):
    assert ABOVE_HALF.judge(figures).verdict == verdict


@pytest.mark.parametrize(
    ("value", "outcome", "says"), [(0.9, "reproduced", "agree"), (0.1, "not reproduced", "disagree")]
)
def test_what_differs_makes_figures_not_comparable_and_keeps_what_they_say(value, outcome, says):
    found = replace(ABOVE_HALF, differs="100 points in place of 1,000.").judge({"": part(value)}, "Noisy.")
    assert (found.verdict, found.outcome) == ("not comparable", outcome)
    assert found.reason == f"100 points in place of 1,000. The figures here {says}. Noisy."
    assert replace(ABOVE_HALF, differs="Other data.").verdict == "cannot be tried here"


def test_the_ends_of_an_exclusive_tolerance_are_outside():
    rises = Claim("rises", "It rises.", "Figure 1", "rises", "slope", least=0.0, exclusive=True)
    assert rises.judge({"": part(0.0)}).verdict == "not reproduced"
    assert rises.judge({"": Part(-0.2, -0.4, 0.0)}).verdict == "not reproduced"
    assert rises.judge({"": Part(0.2, 0.0, 0.4)}).verdict == "cannot tell at this size"
    assert rises.judge({"": Part(0.2, 0.1, 0.4)}).verdict == "reproduced"
    assert rises.judge({"": Part(-0.2, -0.4, -0.1)}).verdict == "not reproduced"


def test_a_judged_claim_has_figures_reasons_and_words():
    found = ABOVE_HALF.judge({"": Part(0.6, 0.55, 0.7)}, "Fewer points.")
    assert (found.value, found.low, found.high) == (0.6, 0.55, 0.7)
    assert found.why == "Fewer points."
    for fact in ("It is above a half.", "share: 0.6 (0.55 to 0.7)", "0.7", "Fewer points."):
        assert fact in found.words
    assert not ABOVE_HALF.parts


@pytest.mark.parametrize("name", ["", "Above half", "above_half", "-above", "It rises."])
def test_an_id_is_kebab_case(name):
    with pytest.raises(ValueError, match="kebab-case"):
        Claim(name, "", "", "", "")
