"""The verdict on some data, from the findings, what each costs, and the score that is expected of the codes."""

from collections.abc import Sequence
from dataclasses import replace

from unbraid.diagnosis.findings import DECISIVE, HARM, Finding
from unbraid.trust.expected import ExpectedMCC, cost_of
from unbraid.trust.theorems import theorem_of

ENOUGH, GOOD = 0.8, 0.9  # "yes" if 95 % of similar data sets had an MCC above the first, "no" if below the second
OF_CODES = ("rotation_doubt", "dependence", "raggedness", "emptiness", "separability")
OF_EVIDENCE = (
    "autocorrelation",
    "lagged_turn",
    "evidence_turn",
    "pair_sparsity",
    "conditional_dependence",
    "labelled_rows",
)


def deciding(findings: Sequence[Finding], rotation: str) -> list[Finding]:
    """The findings on codes that evidence rotates: what its theorem assumes decides, the rest informs.

    >>> from unbraid.diagnosis.findings import finding
    >>> deciding([finding("separability", False, 0.1, "")], "time")[0].decides
    False
    """
    needed = {key for premise in theorem_of("hessian-ica", rotation=rotation).assumptions for key in premise.figures}
    return [replace(f, decides=f.key in needed) if f.key in OF_CODES + OF_EVIDENCE else f for f in findings]


def held(findings: Sequence[Finding]) -> bool | None:
    """Whether all deciding assumptions hold; None if one is inconclusive and none fails.

    >>> from unbraid.diagnosis.findings import finding
    >>> held([finding("structure", True, 9.0, ""), finding("edge", None, None, "")]) is None
    True
    """
    states = {finding.holds for finding in findings if finding.decides}
    return False if False in states else None if None in states else True


def priced(finding: Finding, figures: dict[str, float]) -> Finding:
    """The finding with what it costs in MCC, if it does not hold; it bears on the answer only if that is much.

    Parameters
    ----------
    finding : Finding
    figures : dict
        Of the fit; empty if no score can be expected.
    """
    cost = None if finding.holds else cost_of(figures, finding.key)
    if cost is None:
        return finding
    return replace(finding, cost=cost, decides=finding.decides and (cost >= HARM or finding.key in DECISIVE))


def verdict_of(findings: Sequence[Finding], expected: ExpectedMCC | None, *, warned: bool = False) -> str:
    """The answer for codes rotated by independence.

    Parameters
    ----------
    findings : sequence of Finding
    expected : ExpectedMCC or None
        Of the codes.
    warned : bool
        Whether the fit warns of anything.

    Returns
    -------
    {"yes", "with care", "no", "unsure"}

    Examples
    --------
    >>> from unbraid.diagnosis.findings import finding
    >>> fine = [finding("structure", True, 9.0, "")]
    >>> verdict_of(fine, ExpectedMCC(0.99, 0.93)), verdict_of(fine, ExpectedMCC(0.9, 0.7)), verdict_of(fine, None)
    ('yes', 'with care', 'unsure')
    """
    states = {f.key: f.holds for f in findings if f.decides or f.key == "verified"}
    countless = states.get("dimension_gap", True) is None
    round_ = states.get("edge") is False and states.get("verified") is True
    hopeless = states.get("structure") is False or (countless and states.get("apart") is False)
    if round_ or hopeless or (expected and expected.high < GOOD):
        return "no"
    arbitrary = states.get("separability") is False  # any rotation of the codes is as good
    units = any(states.get(key, True) is None for key in ("column_share", "small_columns"))
    if countless or arbitrary or units or not expected or expected.median < GOOD:
        return "unsure"
    return "yes" if expected.low >= ENOUGH and not warned else "with care"


def labels_serve(findings: list[Finding]) -> bool:
    """Whether a conditional method has what it needs."""
    about = [f for f in findings if f.families == ("flows",)]
    informative = any(f.holds for f in findings if f.key in ("class_information", "evidence_turn"))
    return informative and bool(about) and all(f.holds is not False for f in about) and about[0].holds is True
