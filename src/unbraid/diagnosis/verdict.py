"""What the findings say together: the verdict, by what each costs and the score that is expected, and the method."""

from collections.abc import Sequence
from dataclasses import replace

from unbraid.diagnosis.findings import DECISIVE, FOR_LOOPS, HARM, LOOPS, RING, Finding
from unbraid.diagnosis.survey import MOST_FACTORS, Survey
from unbraid.trust.expected import ExpectedMCC, cost_of
from unbraid.trust.theorems import theorem_of

INSTEAD = "hessian-ica"  # fitted if the recommended method does not accept a setting
FROM_TIME = "contrastive"  # trained where an embedding does not give the factors of a recording
FEWEST_STEPS = 2000  # rows of a recording that it needs; .99 and more on recordings of 3,000
AGREED = 6.5  # rotation doubt of an embedding that is kept; mixings that it misses have 7 to 16
ENOUGH, GOOD = 0.8, 0.9  # "yes" if 95 % of similar data sets had an MCC above the first, "no" if below the second
OF_CODES = ("rotation_doubt", "dependence", "raggedness", "emptiness", "separability")
OF_EVIDENCE = (
    "autocorrelation",
    "coherence",
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
    round_ = states.get("edge") is False and states.get("verified") is True  # the method has an angle for it
    hopeless = states.get("structure") is False or (countless and states.get("apart") is False)
    if hopeless or (expected and expected.high < GOOD):
        return "no"
    arbitrary = states.get("separability") is False  # any rotation of the codes is as good
    units = any(states.get(key, True) is None for key in ("column_share", "small_columns"))
    if round_ and not units:
        return "with care"
    if countless or arbitrary or units or not expected or expected.median < GOOD:
        return "unsure"
    return "yes" if expected.low >= ENOUGH and not warned else "with care"


def labels_serve(findings: list[Finding]) -> bool:
    """Whether a conditional method has what it needs."""
    about = [f for f in findings if f.families == ("flows",)]
    informative = any(f.holds for f in findings if f.key in ("class_information", "evidence_turn"))
    return informative and bool(about) and all(f.holds is not False for f in about) and about[0].holds is True


def method_for(
    verdict: str, survey: Survey, findings: list[Finding], rotation: str, expected: ExpectedMCC | None
) -> tuple[str, list[str]]:
    """The name of a method and why."""
    states = {finding.assumption: finding.holds for finding in findings}
    if not states["structure"]:
        return "pca-ica", ["There is no structure to find; this shows the directions of largest variance."]
    if states.get(RING) is False:
        return FOR_LOOPS, ["The rows go around one ring under much noise: its angle is fitted, and cannot be verified."]
    if states.get(LOOPS) is False:
        return FOR_LOOPS, ["A factor wraps around: it needs an angle instead of a code."]
    if verdict != "yes" and _may_learn_from_time(survey, findings, expected):
        return FROM_TIME, [
            "The codes of an embedding depend on each other, but rows that follow each other are alike: a network that "
            "tells them from other rows finds factors that move independently, in steps that are not Gaussian, through "
            "a mixing of any shape. It is trained, which takes about a minute."
        ]
    if rotation != "independence":
        embedding = "pca-ica" if survey.flat else INSTEAD
        return embedding, [f"The codes are rotated by {rotation}: {theorem_of(embedding, rotation=rotation).sentence}"]
    if verdict != "yes" and labels_serve(findings):
        return "gin", [
            "Without labels the answer would be different; the labels meet the conditions of GIN that can be checked, "
            "and GIN needs neither a product nor non-Gaussian factors."
        ]
    if survey.flat:
        exact = "exact, and " if verdict == "yes" else ""
        return "pca-ica", [f"The data are flat: the linear method is {exact}the least sensitive to noise."]
    if survey.disconnected:
        return "pca-ica", [
            "The points are disconnected, so no nonlinear method can embed them together; this is the baseline."
            + survey.category
        ]
    if survey.d > MOST_FACTORS or "independent codes" not in states:
        return "pca-ica", [
            "There are too many factors for so few points to use a nonlinear method; this is the baseline."
        ]
    reason = "The data are curved, with few factors: this method is proven to work under the assumptions below."
    return "hessian-ica", [reason] if held(findings) else ["The data are curved, with few factors."]


def _may_learn_from_time(survey: Survey, findings: list[Finding], expected: ExpectedMCC | None) -> bool:
    """Whether a recording is long enough, remembers, is curved, and the codes of its embedding are not independent.

    Factors can depend on each other, as where an animal does not visit all of a box alike: an embedding of which
    much is expected is kept if rotations under different assumptions agree on its codes. So is one of data whose noise
    hides the distances between neighbours, which the theory of learning from time leaves out.
    """
    agreed = any(f.key == "rotation_doubt" and f.figure is not None and f.figure <= AGREED for f in findings)
    states = {found.key: found.holds for found in findings}
    decided = survey.flat or survey.disconnected or survey.d < 2 or survey.n < FEWEST_STEPS
    noisy = states.get("local_isometry", False) is None
    kept = decided or noisy or bool(agreed and expected and expected.median >= GOOD)
    return not kept and states.get("autocorrelation") is True and states.get("dependence") is False
