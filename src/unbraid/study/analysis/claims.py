"""What the paper says, what this study says, and whether the two agree: computed from intervals, never by eye."""

from dataclasses import dataclass
from math import inf, isnan
from typing import Any

VERDICTS = ("agrees", "disagrees", "cannot tell at this size")


class Unanswerable(ValueError):
    """A study lacks what a question needs; the message says what, and how to add it."""


@dataclass(frozen=True)
class Claim:
    """One sentence of the paper and the figure here that bears on it.

    Attributes
    ----------
    text : str
        The sentence.
    paper : str
        Its figure in the paper, or what the paper says where it gives none.
    measure : str
        What the figure here is.
    value, low, high : float
        The figure, and its 95 % interval over seeds; NaN where there are too few seeds for one.
    least, most : float
        The sentence holds for figures between these.
    percent : bool
        Whether figures are written as per cent.

    Examples
    --------
    >>> Claim("it rises", "rises", "slope", 0.4, 0.1, 0.7, least=0).verdict
    'agrees'
    >>> Claim("it rises", "rises", "slope", 0.4, -0.1, 0.7, least=0).verdict
    'cannot tell at this size'
    """

    text: str
    paper: str
    measure: str
    value: float
    low: float
    high: float
    least: float = -inf
    most: float = inf
    percent: bool = False

    @property
    def verdict(self) -> str:
        if isnan(self.low) or isnan(self.high):
            return VERDICTS[2]
        if self.least < self.low and self.high < self.most:
            return VERDICTS[0]
        if self.high < self.least or self.most < self.low:
            return VERDICTS[1]
        return VERDICTS[2]

    @property
    def figure_words(self) -> str:
        """The figure and what it is."""
        return f"{self._shown(self.value)}: {self.measure}"

    @property
    def interval_words(self) -> str:
        """Ends of the interval, or a dash."""
        return "–" if isnan(self.low) else f"{self._shown(self.low)} to {self._shown(self.high)}"

    @property
    def words(self) -> str:
        """Verdict, sentence and both figures."""
        none = "no interval: that needs three seeds or more of each setting"
        spread = none if isnan(self.low) else f"95 % interval {self.interval_words}"
        return (
            f"{self.verdict.capitalize()}: {self.text}. Here, {self.measure}: {self._shown(self.value)} ({spread}); "
            f"the paper: {self.paper}."
        )

    def _shown(self, x: float) -> str:
        return f"{100 * x:.1f} %" if self.percent else f"{x:.2f}"


@dataclass(frozen=True)
class Answer:
    """What a study says on one question.

    Attributes
    ----------
    title : str
        The question.
    table : DataFrame
        Every figure with its interval (``low``, ``high``: 95 %, over seeds) and the paper's (``paper``), where it
        gives one.
    claims : tuple of Claim
        Sentences of the paper, and whether this study agrees.
    source : str
        Where the paper says so.
    n_runs : int
        Runs that the answer rests on.
    notes : tuple of str
        What was left out, and how figures were made where that is not plain.
    """

    title: str
    table: Any
    claims: tuple[Claim, ...]
    source: str
    n_runs: int
    notes: tuple[str, ...]

    @property
    def words(self) -> str:
        """A line per claim, which begins with agrees, disagrees or cannot tell at this size."""
        return "\n".join(claim.words for claim in self.claims)

    def figure(self) -> Any:
        """The picture of the answer, a matplotlib figure."""
        raise NotImplementedError(f"{type(self).__name__} draws no figure.")

    def __str__(self) -> str:
        return "\n".join([self.title, self.words, "", self.table.to_string(index=False), *self.notes])
