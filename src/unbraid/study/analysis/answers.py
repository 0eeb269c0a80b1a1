"""The answer of a study to a question: table, claims, figure and summary."""

from dataclasses import dataclass
from typing import Any

from unbraid.evaluation.claims import Claim


class Unanswerable(ValueError):
    """A study does not have what a question needs; the message says what is missing and how to add it."""


@dataclass(frozen=True)
class Answer:
    """The answer of a study to one question.

    Attributes
    ----------
    title : str
        The question.
    table : DataFrame
        Every figure with its interval (``low``, ``high``: 95 %, over seeds) and the paper's value
        (``paper``), if it gives one.
    claims : tuple of Claim
        Claims of the paper, with the figures and the verdict of this study.
    source : str
        Section or figure of the paper.
    n_runs : int
        Number of runs behind the answer.
    notes : tuple of str
        What was left out, and how numbers were computed where it is not obvious.
    """

    title: str
    table: Any
    claims: tuple[Claim, ...]
    source: str
    n_runs: int
    notes: tuple[str, ...]

    @property
    def words(self) -> str:
        """One line per claim, beginning with its verdict."""
        return "\n".join(claim.words for claim in self.claims)

    def figure(self) -> Any:
        """The matplotlib figure of the answer."""
        raise NotImplementedError(f"{type(self).__name__} has no figure.")

    def __str__(self) -> str:
        return "\n".join([self.title, self.words, "", self.table.to_string(index=False), *self.notes])
