"""The result of a diagnosis: findings, and the answer that follows from them, as text, a frame, JSON and a page."""

import json
import math
from dataclasses import asdict, dataclass, field
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unbraid.diagnosis.identified import Help, Option, helps, options
from unbraid.methods import METHODS
from unbraid.runtime.extras import require
from unbraid.trust.expected import ExpectedMCC
from unbraid.trust.table import ASSUMPTIONS, FIGURES
from unbraid.trust.theorems import FREE, HARMLESS, THEOREMS, Theorem, theorem_of

if TYPE_CHECKING:
    from unbraid.report.html import Report

LOOPS, RING, FOR_LOOPS = FIGURES["edge"].assumption, FIGURES["noisy_ring"].assumption, "product-manifold"
WRAPS = "With care: a factor wraps around. Its code is an angle (product-manifold); all factors pass their checks."
LEGEND = "+ holds   ? inconclusive   ! fails, and bears on the answer   - fails, but costs little"
HOLDS = {True: "holds", False: "fails", None: "inconclusive"}
SIGNS = {True: "+", False: "-", None: "?"}
HARM = 0.01  # MCC that a failed assumption must cost to bear on the answer
DECISIVE = (
    "structure",
    "edge",
    "dimension_gap",
    "column_share",
    "small_columns",
    "separability",
)  # whatever score is expected
ANSWERS = {
    "yes": "Yes: the factors of these data can be found.",
    "with care": "With care: the codes probably follow the factors, but check them before you rely on them.",
    "no": "No: do not take codes of these data for their factors.",
    "unsure": "Cannot tell whether the factors of these data can be found.",
}
AXES = (
    "The axes of a box cannot be checked: if your factors depend on each other, they may be other directions, such as "
    "the diagonals of the box that the codes fill."
)


@dataclass(frozen=True)
class Finding:
    """One assumption, and whether it holds.

    Attributes
    ----------
    assumption : str
        Its name; :mod:`unbraid.trust.table` has the figure that tests it.
    holds : bool or None
        None if the check is inconclusive.
    figure : float or None
        What was measured; None if nothing could be.
    threshold : float or None
        Beyond it the assumption fails.
    words : str
        The finding as a sentence.
    power : float or None
        Share of draws in which a clear violation, with as many points and factors as these data, is detected; None if
        it was not simulated.
    violation : str
        The violation that was simulated to find the power.
    remedy : str
        What to do, or which data to collect, if it does not hold.
    decides : bool
        Whether the answer depends on it; other findings are for information.
    families : tuple of str
        The families of methods that assume it.
    cost : float or None
        About how much MCC it costs that it does not hold; None if that is not known.
    """

    assumption: str
    holds: bool | None
    figure: float | None
    threshold: float | None
    words: str
    power: float | None = None
    violation: str = ""
    remedy: str = ""
    decides: bool = True
    families: tuple[str, ...] = ("spectral",)
    cost: float | None = None

    @property
    def key(self) -> str:
        """The key of its figure in :data:`unbraid.trust.table.FIGURES`."""
        return ASSUMPTIONS[self.assumption]

    def __str__(self) -> str:
        figure = "" if self.figure is None else f" {self.figure:.3g}"
        threshold = "" if self.threshold is None else f" (threshold {self.threshold:.3g})"
        power = "" if self.power is None else f" Power: {self.violation} is detected in {100 * self.power:.0f} %."
        remedy = f" {self.remedy}" if self.remedy and self.holds is not True else ""
        return f"{self.assumption}: {HOLDS[self.holds]}.{figure}{threshold} {self.words}{self.price}{power}{remedy}"

    @property
    def price(self) -> str:
        """What it costs, as a sentence; empty if that is not known."""
        if self.cost is None:
            return ""
        return f" It costs about {self.cost:.2f} MCC." if self.cost >= HARM else " It hardly affects the MCC."


@dataclass(frozen=True)
class Diagnosis:
    """Whether the factors of some data can be found, by which method, and why.

    Attributes
    ----------
    verdict : {"yes", "with care", "no", "unsure"}
    method : str
        The method to use, a name of the table of methods; after "no", the best guess.
    n_factors : int
        Estimated number of factors; 0 if there is no structure.
    findings : list of Finding
    reasons : list of str
        Why this method.
    n_rows, n_used : int
        Rows of the data, and how many of them were examined.
    rotation : str
        What rotates the codes of a spectral method: "independence", or the evidence that was found to determine them.
    evidence : tuple of str
        What was given besides the data.
    twin : str
        Where the codes may be Gaussian: whether a twin made by :func:`unbraid.theory.entangle` fits as well.
    expected_mcc : ExpectedMCC or None
        What the MCC of such codes was in similar simulated data sets; None where that cannot be said, and for methods
        other than HLLE+ICA and PCA+ICA.
    unguessed : str
        Why it cannot be said.
    concerns : list of str
        What a first fit warns of.
    """

    verdict: str
    method: str
    n_factors: int
    findings: list[Finding]
    reasons: list[str] = field(default_factory=list)
    n_rows: int = 0
    n_used: int = 0
    rotation: str = "independence"
    evidence: tuple[str, ...] = ()
    twin: str = ""
    expected_mcc: ExpectedMCC | None = None
    unguessed: str = ""
    concerns: list[str] = field(default_factory=list)

    @property
    def theorem(self) -> Theorem | None:
        """The theorem that covers the method with this evidence; None if one of its assumptions fails, is inconclusive
        or cannot be tested."""
        known = self._theorem
        return known if self._covered and known.holds(self._held) else None

    @property
    def free(self) -> tuple[str, ...]:
        """What stays ambiguous beyond order and sign: keys of :data:`unbraid.trust.theorems.FREE`."""
        return self._theorem.free_given(self._held) if self._covered else ("everything",)

    @property
    def would_help(self) -> list[Help]:
        """Further evidence that would identify the factors, where more than a function of each stays free."""
        if set(self.free) <= set(HARMLESS) or (self.evidence and any(option.holds for option in self.options)):
            return []  # with evidence, another method may do with what is there
        return helps(self._theorem, self._held, self.evidence, self.n_factors)

    @property
    def options(self) -> list[Option]:
        """The methods that the evidence allows, those whose assumptions hold first, then the faster ones."""
        return options(self._held, self.evidence, self.n_rows, self._theorem) if self.n_factors else []

    @property
    def _theorem(self) -> Theorem:
        return theorem_of(self.method, rotation=self.rotation)

    @property
    def _covered(self) -> bool:
        """Whether there is the evidence that the theorem needs, and a code for all that varies."""
        whole = all(self._held.get(key, True) for key in ("left_over", "small_columns"))
        return bool(self.n_factors) and whole and set(self._theorem.evidence) <= set(self.evidence)

    @property
    def _held(self) -> dict[str, bool | None]:
        return {f.key: f.holds for f in self.findings}

    @property
    def claims(self) -> list[str]:
        """What is identified, what stays free, and what would help, in sentences."""
        covered, hints = self.theorem, self.would_help
        said = [f"Covered by a theorem: {covered.sentence} ({covered.reference})"] if covered else []
        if "everything" in self.free:
            said.append(
                f"No theorem was shown to cover {self.method} on these data. {THEOREMS['none'].sentence} "
                f"({THEOREMS['none'].reference})"
            )
        else:
            left = " ".join(FREE[what] for what in self.free) or "Nothing."
            said.append(f"What stays free besides order and sign: {left}")
        said += [self.twin] if self.twin and "everything" not in self.free else []
        said += [AXES] if self.rotation == "independence" and self.n_factors > 1 else []
        if hints:
            asked, reason = "; or ".join(hint.asks for hint in hints), hints[0].reason
            said.append(f"{reason[:1].upper()}{reason[1:]}. Further evidence would identify the factors: {asked}.")
        return said

    def __getitem__(self, assumption: str) -> Finding:
        """The finding on an assumption, by its name or by the key of its figure."""
        name = FIGURES[assumption].assumption if assumption in FIGURES else assumption
        for found in self.findings:
            if found.assumption == name:
                return found
        names = ", ".join(repr(found.assumption) for found in self.findings)
        raise KeyError(f"there is no finding on {assumption!r}. Available: {names}.")

    @property
    def answer(self) -> str:
        """The verdict as a sentence, with the assumptions that decide it."""
        said = [WRAPS if self.only_wraps else ANSWERS[self.verdict]]
        if self.expected_mcc is not None:
            said.append(f"Expected MCC: {self.expected_mcc}.")
        elif self.verdict == "unsure" and self.unguessed:
            said.append(f"There is no expected MCC: {self.unguessed}.")
        known = {f.assumption: f for f in self.findings}
        costs = [f"{c} (about {known[c].cost:.2f} MCC)" if known[c].cost else c for c in self.causes]
        said += [f"In doubt: {', '.join(costs)}."] if costs else []
        codes = [concern.partition(":")[0] for concern in self.concerns]
        said += [f"A fit warns: {', '.join(codes)}."] if codes and self.verdict == "with care" else []
        return " ".join(said)

    @property
    def doubts(self) -> list[str]:
        """The answer, unless it is a yes: what a reader of the codes should know first."""
        return [] if self.verdict == "yes" else [self.answer]

    @property
    def only_wraps(self) -> bool:
        """Whether a factor wraps around, and the method has verified it with all others."""
        return self.verdict == "with care" and self.method == FOR_LOOPS

    @property
    def one_ring(self) -> bool:
        """Whether the method fits one ring with much noise, whose angle is the only factor."""
        return self.method == FOR_LOOPS and any(f.assumption == RING and f.holds is False for f in self.findings)

    @property
    def causes(self) -> list[str]:
        """The assumptions that lead to any other answer than "yes", those without which there is none first."""
        doubtful = [] if self.verdict == "yes" else self._doubtful
        wanted = [f for f in doubtful if f.holds is (False if self.verdict == "no" else None)]
        decisive = [f for f in wanted if f.key in DECISIVE]
        return [f.assumption for f in decisive or (wanted if self.verdict == "no" else []) or doubtful]

    @property
    def remedies(self) -> list[str]:
        """What to do, or which data to collect, for the assumptions that do not hold."""
        return list(dict.fromkeys(f.remedy for f in self._doubtful if f.remedy))

    @property
    def _doubtful(self) -> list[Finding]:
        """The deciding findings that do not hold; a loop is in no doubt where the method has verified it."""
        known = LOOPS if self.only_wraps else None
        return [f for f in self.findings if f.decides and f.holds is not True and f.assumption != known]

    @property
    def warned(self) -> list[str]:
        """What a first fit warns of, without the remedies that are given already."""
        return [next((c.removesuffix(r) for r in self.remedies if c.endswith(r)), c).rstrip() for c in self.concerns]

    def __str__(self) -> str:
        lines = [self.answer, f"Use: {self._method_words()}", *(f"  {reason}" for reason in self.reasons), ""]
        width = max((len(f.assumption) for f in self.findings), default=0)
        lines += [f"{_mark(f)} {f.assumption:{width}s}  {f.words}{f.price}" for f in self.findings]
        lines += ["", LEGEND, "", "What is identified:", *(f"  {claim}" for claim in self.claims)]
        if self.evidence and self.options:
            lines += ["", f"Methods that use {' or '.join(self.evidence)}:"]
            lines += [f"  {SIGNS[option.holds]} {option}" for option in self.options]
        lines += ["", "What a fit warns of:", *(f"  {concern}" for concern in self.warned)] if self.concerns else []
        lines += ["", "What would help:", *(f"  {remedy}" for remedy in self.remedies)] if self.remedies else []
        return "\n".join(lines)

    def to_frame(self) -> Any:
        """The findings as a pandas DataFrame, one row per assumption."""
        pandas = require("pandas", "metrics")
        return pandas.DataFrame([asdict(f) for f in self.findings]).set_index("assumption")

    def to_json(self, path: str | PathLike[str] | None = None) -> str:
        """Everything as JSON, also written to ``path`` if given; numbers that are not finite are null.

        Parameters
        ----------
        path : str or path, optional

        Returns
        -------
        str
        """
        derived = {
            "answer": self.answer,
            "remedies": self.remedies,
            "theorem": None if self.theorem is None else asdict(self.theorem),
            "free": self.free,
            "would_help": [asdict(hint) for hint in self.would_help],
            "options": [asdict(option) for option in self.options],
        }
        text = json.dumps(_finite(asdict(self) | derived), indent=1)
        if path is not None:
            Path(path).write_text(text + "\n", encoding="utf-8")
        return text

    def report(self) -> "Report":
        """A page; ``report().write("diagnosis.html")`` writes it."""
        from unbraid.report.html import Report

        page = Report(
            "Can the factors of these data be found?",
            f"{self.n_rows} observations, {self.n_used} examined; estimated number of factors: {self.n_factors}.",
        )
        self.add_to(page)
        return page

    def add_to(self, page: "Report") -> None:
        """Add the answer and the findings to a page, as two sections."""
        page.section("Can the factors be found?").note([self.answer], "good" if self.verdict == "yes" else "look")
        page.text(f"Method: {self._method_words()}", *self.reasons)
        if self.concerns:
            page.heading("What a fit warns of").text(*self.warned)
        if self.remedies:
            page.heading("What would help").text(*self.remedies)
        page.heading("What is identified").text(*self.claims)
        if self.evidence and self.options:
            page.heading(f"Methods that use {' or '.join(self.evidence)}").table(
                ["method", "theorem", "assumptions", "in doubt", "cost"],
                [[" ".join([o.method, *(f"{k}={v}" for k, v in o.parameters.items())]), THEOREMS[o.theorem].reference,
                  HOLDS[o.holds], "; ".join(o.doubts), o.cost] for o in self.options],
            )  # fmt: skip
        page.section("What was measured").table(
            ["assumption", "result", "figure", "threshold", "power", "costs (MCC)", "in words"],
            [[f.assumption, HOLDS[f.holds], *map(_short, (f.figure, f.threshold, f.power, f.cost)), _with_violation(f)]
             for f in self.findings],
        )  # fmt: skip
        page.text(
            "Power is the share of draws in which a clear violation is detected, simulated with as many points and "
            "factors as these data have. An assumption that holds with little power has not been shown to hold."
        )

    def _method_words(self) -> str:
        method = METHODS[self.method]
        guess = ", as the best guess" if self.verdict == "no" else ""
        return f"{self.method} ({method.title}){guess}."


def finding(key: str, holds: bool | None, figure: float | None, words: str, **more: Any) -> Finding:
    """The finding on the assumption that a figure tests, with the threshold and the remedy of the table, or ``more``.

    >>> finding("local_isometry", False, 0.3, "").threshold
    0.5
    """
    line = FIGURES[key]
    known = {name: getattr(line, name) for name in ("threshold", "remedy", "decides", "families")}
    return Finding(line.assumption, holds, figure, words=words, **known | more)


def measured(key: str, figure: float, words: str, *, otherwise: bool | None = False) -> Finding:
    """The finding that the threshold of the table makes of a figure; ``otherwise`` if it does not hold."""
    return finding(key, True if FIGURES[key].holds(figure) else otherwise, figure, words)


def _mark(finding: Finding) -> str:
    return "!" if finding.holds is False and finding.decides else SIGNS[finding.holds]


def _with_violation(finding: Finding) -> str:
    violation = f" Power is that for {finding.violation}." if finding.violation else ""
    return finding.words + violation


def _short(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {name: _finite(inner) for name, inner in value.items()}
    return [_finite(inner) for inner in value] if isinstance(value, list | tuple) else value
