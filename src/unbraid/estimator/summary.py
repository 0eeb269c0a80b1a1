"""The summary of a fitted estimator, as data that reports, terminals and studies show without knowing the method."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from unbraid.methods import method_of_class
from unbraid.trust.table import FIGURES


@dataclass(frozen=True)
class Fact:
    """A figure, its value as text, and what it means."""

    name: str
    value: str
    meaning: str

    @classmethod
    def of(cls, key: str, value: str, more: str = "") -> "Fact":
        """A line of the table of figures with its value, and further remarks.

        >>> Fact.of("r_hat", "1.01").meaning.rpartition(". ")[2]
        'In doubt above 1.02.'
        """
        line = FIGURES[key]
        doubt = f" In doubt {line.doubt}." if line.doubt else ""
        return cls(line.name, value, line.meaning + doubt + (f" {more}" if more else ""))


@dataclass(frozen=True)
class Section:
    """A part of a page: paragraphs, a picture by its name with the arrays it draws, and a table.

    Attributes
    ----------
    title : str
    text : sequence of str
        Paragraphs.
    picture : str
        A name of :data:`unbraid.report.pages.PICTURES`; "" is a section without one.
    data : dict
        What the picture is called with.
    rows_as : str
        The keyword by which the page adds rows of the data to these; "" where the picture needs none.
    caption : str
    columns, rows : sequences
        A table.
    marked : int, optional
        The row of the table that stands out.
    """

    title: str
    text: Sequence[str] = ()
    picture: str = ""
    data: dict[str, Any] = field(default_factory=dict)
    rows_as: str = ""
    caption: str = ""
    columns: Sequence[str] = ()
    rows: Sequence[Sequence[Any]] = ()
    marked: int | None = None


@dataclass(frozen=True)
class Summary:
    """What :meth:`unbraid.estimator.base.Estimator.summary` returns.

    Attributes
    ----------
    title : str
        The method, as people write it.
    facts : list of Fact
        Everything that was measured.
    choices : list of str
        How the settings were chosen, in sentences.
    concerns : list of str
        Reasons for doubt; empty when there are none.
    note : str
        What it means that there are no concerns.
    checked : bool
        Whether anything was measured that could raise a concern: only then is the absence of concerns good news.
    sections : list of Section
        What this method has to show beyond codes and traversals.
    n_shown : int
        Codes worth looking at; 0 for a method whose ``transform`` gives something else than codes.
    order : "spread", list of float or None
        Which come first: those that vary most, those of the largest numbers here, or as they are.
    decodes : bool
        Whether there is an ``inverse_transform``.
    reconstructs : bool
        Whether it was trained to give the data back, so that reconstructions are worth a look.
    settings : dict
        Chosen settings for a row of a table, such as the number of neighbours.
    kinds : list of str
        What the codes are, factor by factor: "interval", "circle" (an angle in radians, which wraps around) or "sphere"
        (three columns). Empty where all codes are plain numbers.
    """

    title: str
    facts: list[Fact]
    choices: list[str] = field(default_factory=list)
    concerns: list[str] = field(default_factory=list)
    note: str = ""
    checked: bool = False
    sections: list[Section] = field(default_factory=list)
    n_shown: int = 0
    order: Literal["spread"] | list[float] | None = None
    decodes: bool = True
    reconstructs: bool = False
    settings: dict[str, Any] = field(default_factory=dict)
    kinds: list[str] = field(default_factory=list)


def title_of(model: Any) -> str:
    """How people write the method of an estimator, by the table of methods; a user's own class has its parent's title.

    >>> class HessianICA: ...
    >>> class Mine(HessianICA): ...
    >>> title_of(Mine()), title_of(3)
    ('HLLE+ICA', 'int')
    """
    method = method_of_class(type(model))
    return method.title if method else type(model).__name__


def counted(n: int, what: str) -> str:
    """A number and what it counts.

    >>> counted(1, "piece"), counted(0, "orphan")
    ('1 piece', '0 orphans')
    """
    return f"{n} {what}{'' if n == 1 else 's'}"


def codes_in_words(columns: Iterable[int]) -> str:
    """Columns of the codes under the names that they have on every page, counted from 1.

    >>> codes_in_words([0]), codes_in_words([1, 2, 3])
    ('code 1', 'codes 2, 3, 4')
    """
    numbers = [str(column + 1) for column in columns]
    return f"code{'s' if len(numbers) != 1 else ''} {', '.join(numbers)}"


def training_section(history: list[dict[str, Any]], text: str) -> Section:
    """How a training went, in words alone where it ended before anything was recorded."""
    if not history:
        return Section("Training", ("It ended before anything was recorded.",))
    return Section("Training", (text,), picture="losses", data={"history": history})
