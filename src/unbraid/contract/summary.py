"""What a fitted estimator says about itself, as data: a page, a terminal and a study show it without knowing it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Fact:
    """A figure, its value as text, and what it means."""

    name: str
    value: str
    meaning: str


@dataclass(frozen=True)
class Section:
    """A part of a page: words, and a picture by its name with the arrays it draws.

    ``picture`` is a name of :data:`unbraid.report.pictures.PICTURES`; "" is a section of words and tables alone.
    ``columns`` and ``rows`` make a table, ``marked`` is the row that stands out, ``folded`` the line that it hides
    behind.
    """

    title: str
    text: str = ""
    picture: str = ""
    data: dict[str, Any] = field(default_factory=dict)
    caption: str = ""
    columns: Sequence[str] = ()
    rows: Sequence[Sequence[Any]] = ()
    marked: int | None = None
    folded: str = ""


@dataclass(frozen=True)
class Summary:
    """What :meth:`unbraid.contract.estimator.Estimator.summary` returns.

    Attributes
    ----------
    title : str
        The method, as people write it.
    facts : list of Fact
        Everything that was measured.
    choices : list of str
        How the settings were chosen, in sentences.
    concerns : list of str
        What should make one look twice; empty when nothing does.
    checked : bool
        Whether anything was measured that could speak against the result: only then does no concern mean something.
    sections : list of Section
        What this method has to show beyond codes and traversals.
    n_shown : int
        Codes worth looking at, the first ones.
    settings : dict
        Chosen settings for a row of a table, such as the number of neighbours.
    """

    title: str
    facts: list[Fact]
    choices: list[str] = field(default_factory=list)
    concerns: list[str] = field(default_factory=list)
    checked: bool = False
    sections: list[Section] = field(default_factory=list)
    n_shown: int = 0
    settings: dict[str, Any] = field(default_factory=dict)
