"""What a study says on a question: table, claims, figure and words."""

from dataclasses import dataclass
from typing import Any

from unbraid.evaluation.claims import Claim


class Unanswerable(ValueError):
    """A study lacks what a question needs; the message says what, and how to add it."""


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
        Claims of the paper, with the figures and the verdict of this study.
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
        """A line per claim, which begins with its verdict."""
        return "\n".join(claim.words for claim in self.claims)

    def figure(self) -> Any:
        """The picture of the answer, a matplotlib figure."""
        raise NotImplementedError(f"{type(self).__name__} draws no figure.")

    def __str__(self) -> str:
        return "\n".join([self.title, self.words, "", self.table.to_string(index=False), *self.notes])
