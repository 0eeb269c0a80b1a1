"""A claim, the figures that bear on it, and its verdict, computed from a tolerance and not judged by eye.

A claim has parts (a data set, a noise level, a method; a single one has the name ""), each with a figure, and a
tolerance for these figures: the claim is "reproduced" if all parts are within it, "partly" if some are, "not
reproduced" if none is. A part whose interval includes the threshold is undecided; if all are, the verdict is "cannot
tell at this size". Figures from fewer points or shorter training than the paper's are "not comparable" with it, however
well they agree. A claim without figures "cannot be tried here".
"""

import re
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from math import inf, isnan
from typing import NamedTuple, Self

REPRODUCED, PARTLY, NOT_REPRODUCED = "reproduced", "partly", "not reproduced"
NOT_COMPARABLE, CANNOT_TELL, CANNOT_BE_TRIED = "not comparable", "cannot tell at this size", "cannot be tried here"
VERDICTS = (REPRODUCED, PARTLY, NOT_REPRODUCED, NOT_COMPARABLE, CANNOT_TELL, CANNOT_BE_TRIED)
AGREEMENT = {REPRODUCED: "agree", PARTLY: "agree in part", NOT_REPRODUCED: "disagree", CANNOT_TELL: "do not decide"}


class Part(NamedTuple):
    """A figure and its interval.

    Parameters
    ----------
    value : float
    low, high : float
        Ends of the interval: the value itself if it is exact, NaN if there are too few values for an interval.
    """

    value: float
    low: float
    high: float

    def show(self, percent: bool = False) -> str:
        """The figure and its interval.

        >>> Part(0.5, 0.4, 0.61).show(), Part(0.5, 0.4, 0.61).show(percent=True)
        ('0.5 (0.4 to 0.61)', '50.0 % (40.0 % to 61.0 %)')
        """
        value, low, high = (f"{100 * x:.1f} %" if percent else f"{x:.3g}" for x in self)
        if isnan(self.low) or isnan(self.high):
            return f"{value} (no interval)"
        return value if self.low == self.high else f"{value} ({low} to {high})"


def part(value: float) -> Part:
    """An exact figure.

    Parameters
    ----------
    value : float

    Examples
    --------
    >>> part(0.5).show()
    '0.5'
    """
    return Part(float(value), float(value), float(value))


@dataclass(frozen=True)
class Claim:
    """A sentence of a paper, how it is judged, and, once it is, the figures.

    Attributes
    ----------
    id : str
        Kebab-case and unique within its paper.
    text : str
        The claim, in one sentence.
    source : str
        Where: the number of a figure, a table or a section.
    paper : str
        The paper's figure, or its wording if there is none.
    measure : str
        What the figure here is.
    least, most : float
        The tolerance: the claim holds for a part whose figure and interval are within these limits.
    exclusive : bool
        The limits themselves are excluded: "more than" instead of "at least".
    percent : bool
        Show figures as percentages.
    differs : str
        What makes the figures not comparable with the paper's: fewer points, shorter training, other data.
    why : str
        Why the figures differ from the paper's, or what was done differently.
    parts : mapping of name to Part
        The figures; none before :meth:`judge`.

    Examples
    --------
    >>> claim = Claim("it-rises", "It rises.", "Figure 1", "rises", "slope", least=0.95)
    >>> claim.judge({"a": part(0.99), "b": part(0.9)}).verdict
    'partly'
    >>> claim.judge({"a": part(0.9)}).verdict, claim.judge({"": Part(0.96, 0.9, 1.0)}).verdict, claim.verdict
    ('not reproduced', 'cannot tell at this size', 'cannot be tried here')
    >>> replace(claim, differs="100 points in place of 1,000.").judge({"a": part(0.99)}).verdict
    'not comparable'
    """

    id: str
    text: str
    source: str
    paper: str
    measure: str
    _: KW_ONLY
    least: float = -inf
    most: float = inf
    exclusive: bool = False
    percent: bool = False
    differs: str = ""
    why: str = ""
    parts: Mapping[str, Part] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", self.id):
            raise ValueError(f"the id of a claim is kebab-case, such as 'mcc-of-faces'; received {self.id!r}.")

    def judge(self, parts: Mapping[str, Part], *reasons: str) -> Self:
        """This claim with figures; ``reasons`` are added to ``why``."""
        return replace(self, parts=dict(parts), why=" ".join([self.why, *reasons]).strip())

    def holds(self, figure: Part) -> bool | None:
        """Whether a part agrees with the paper; None if its interval includes the threshold or is unknown."""
        if any(isnan(x) for x in figure):
            return None
        if self.exclusive and (figure.high == self.least or figure.low == self.most):
            return False
        inside = self.least <= figure.low and figure.high <= self.most
        if inside and not (self.exclusive and {figure.low, figure.high} & {self.least, self.most}):
            return True
        return False if figure.high < self.least or figure.low > self.most else None

    @property
    def verdict(self) -> str:
        return NOT_COMPARABLE if self.differs and self.parts else self.outcome

    @property
    def outcome(self) -> str:
        """The verdict by the figures alone, whatever makes them not comparable."""
        found = {self.holds(figure) for figure in self.parts.values()}
        if not found:
            return CANNOT_BE_TRIED
        if True in found:
            return REPRODUCED if len(found) == 1 else PARTLY
        return NOT_REPRODUCED if False in found else CANNOT_TELL

    @property
    def held(self) -> list[str]:
        """Names of the parts that agree with the paper."""
        return [name for name, figure in self.parts.items() if self.holds(figure)]

    @property
    def undecided(self) -> list[str]:
        """Names of the undecided parts."""
        return [name for name, figure in self.parts.items() if self.holds(figure) is None]

    @property
    def tolerance(self) -> str:
        """The range in words.

        >>> Claim("c", "", "", "", "", least=0.95).tolerance
        'at least 0.95'
        >>> Claim("c", "", "", "", "", most=0, exclusive=True).tolerance
        'less than 0'
        """
        if self.most == inf:
            return f"{'more than' if self.exclusive else 'at least'} {self.least:g}"
        if self.least == -inf:
            return f"{'less than' if self.exclusive else 'at most'} {self.most:g}"
        return f"{self.least:g} to {self.most:g}"

    @property
    def here(self) -> str:
        """What was measured, and the figures with their intervals."""
        shown = ((name, figure.show(self.percent)) for name, figure in self.parts.items())
        return f"{self.measure}: {'; '.join(f'{name} {figure}'.lstrip() for name, figure in shown) or '–'}"

    @property
    def words(self) -> str:
        """Verdict, sentence and both figures."""
        said = f"{self.verdict.capitalize()}: {self.text} Here, {self.here}; the paper: {self.paper}."
        return f"{said} {self.reason}".strip()

    @property
    def reason(self) -> str:
        """What makes it not comparable, what the figures say nevertheless, and what else there is to say."""
        if not (self.differs and self.parts):
            return self.why
        return f"{self.differs} The figures here {AGREEMENT[self.outcome]}. {self.why}".strip()

    @property
    def value(self) -> float:
        """The figure of a claim with a single part; ``low`` and ``high`` are the ends of its interval."""
        return self._single.value

    @property
    def low(self) -> float:
        return self._single.low

    @property
    def high(self) -> float:
        return self._single.high

    @property
    def _single(self) -> Part:
        (found,) = self.parts.values()
        return found
