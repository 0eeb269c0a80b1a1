"""A paper as data: experiments made of cells, and claims with the figure, the tolerance and the verdict that follows.

A verdict is computed. A claim names parts (a data set, a noise level, a method), gives a figure for each, and a range
that the figures must lie in: all parts in it is "reproduced", some "partly", none "not reproduced". A part with an
interval that reaches over the edge is not in it; where all do, one "cannot tell at this size". A claim whose cells all
lack a file or a package "cannot be tried here".
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf, isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import stats

if TYPE_CHECKING:
    from unbraid_papers.bench import Bench
    from unbraid_papers.page import Page

SCALES = ("small", "paper")
VERDICTS = ("reproduced", "partly", "not reproduced", "cannot tell at this size", "cannot be tried here")

Cell = dict[str, Any]


class Part(NamedTuple):
    """A figure, and its interval where it has one (else the figure itself)."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3g}" if self.low == self.high else f"{self.value:.3g} ({self.low:.3g} to {self.high:.3g})"


def part(value: float) -> Part:
    """A figure without an interval.

    >>> print(part(0.5))
    0.5
    """
    return Part(float(value), float(value), float(value))


def mean_part(values: Iterable[float], level: float = 0.95) -> Part:
    """The mean with Student's interval; a single value has none, so it counts neither way.

    >>> print(mean_part([0.9, 1.0, 1.1]))
    1 (0.752 to 1.25)
    """
    found = np.asarray(list(values), dtype=float)
    if len(found) < 2:
        return Part(float(found.mean()), -inf, inf)
    half = stats.t.ppf((1 + level) / 2, len(found) - 1) * found.std(ddof=1) / np.sqrt(len(found))
    return Part(float(found.mean()), float(found.mean() - half), float(found.mean() + half))


class Rows:
    """The results of an experiment: one mapping a cell, of what the cell was and what came out.

    >>> rows = Rows([{"seed": 0, "mcc": 0.9}, {"seed": 1, "mcc": 0.8}])
    >>> rows.where(seed=1)["mcc"]
    array([0.8])
    """

    def __init__(self, rows: Iterable[Mapping[str, Any]] = ()):
        self._rows = [dict(row) for row in rows]

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self._rows)

    def __getitem__(self, column: str) -> np.ndarray:
        return np.array([row[column] for row in self._rows])

    def where(self, **wanted: Any) -> "Rows":
        """Rows whose columns have these values, or one of them where a tuple or list is given."""
        return Rows(
            row
            for row in self._rows
            if all(row.get(k) in v if isinstance(v, tuple | list) else row.get(k) == v for k, v in wanted.items())
        )

    def groups(self, *columns: str) -> Iterator[tuple[Any, "Rows"]]:
        """Rows by the values of columns, in order of appearance; one column gives its value, several a tuple."""
        found: dict[Any, list[dict[str, Any]]] = {}
        for row in self._rows:
            key = tuple(row[c] for c in columns)
            found.setdefault(key[0] if len(columns) == 1 else key, []).append(row)
        for key, rows in found.items():
            yield key, Rows(rows)


Results = Mapping[str, Rows]


@dataclass(frozen=True)
class Experiment:
    """What is run: independent cells, each kept as soon as it is done.

    Attributes
    ----------
    name : str
    about : str
        What is run and how it differs from the paper's, in a sentence or two.
    cells : callable ``scale -> list of dict``
        Plain values only: they are the cell's key.
    run : callable ``(cell, bench) -> mapping``
        Plain values again. A file or package that is missing raises FileNotFoundError or ModuleNotFoundError, whose
        message is shown; anything else is a fault and stops the reproduction (cells that are done stay).
    version : int
        Raised whenever ``run`` computes something else; rows of other versions are not read.
    """

    name: str
    about: str
    cells: Callable[[str], Sequence[Cell]]
    run: Callable[[Cell, "Bench"], Mapping[str, Any]]
    version: int = 1


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, and how it is judged.

    Attributes
    ----------
    text : str
        What the paper says, in a sentence.
    source : str
        Where: the number of a figure, a table or a section.
    paper : str
        Its figure there, or "no figure".
    experiments : tuple of str
        Names of the experiments that the figure comes from.
    figure : callable ``results -> mapping of part to Part``
        ``results`` maps the names of the experiments to their Rows; parts without rows are left out.
    measure : str
        What the figure is.
    least, most : float
        The tolerance: the claim holds of a part whose figure (and whose whole interval) lies between these.
    why : str
        Why the figures differ from the paper's, or what was run in another way.
    """

    text: str
    source: str
    paper: str
    experiments: tuple[str, ...]
    figure: Callable[[Results], Mapping[str, Part]]
    measure: str
    least: float = -inf
    most: float = inf
    why: str = ""

    @property
    def tolerance(self) -> str:
        """The range in words.

        >>> Claim("", "", "", (), dict, "", least=0.95).tolerance
        'at least 0.95'
        """
        if self.most == inf:
            return f"at least {self.least:g}"
        if self.least == -inf:
            return f"at most {self.most:g}"
        return f"{self.least:g} to {self.most:g}"

    def holds(self, figure: Part) -> bool | None:
        """Whether a part is as the paper says; None where its interval reaches over the edge."""
        if isnan(figure.value):
            return None
        if self.least <= figure.low and figure.high <= self.most:
            return True
        return False if figure.high < self.least or figure.low > self.most else None

    def verdict(self, parts: Mapping[str, Part]) -> str:
        """The verdict on these parts.

        >>> claim = Claim("", "", "", (), dict, "", least=0.95)
        >>> claim.verdict({"a": part(0.99), "b": part(0.9)}), claim.verdict({"a": part(0.9)}), claim.verdict({})
        ('partly', 'not reproduced', 'cannot be tried here')
        """
        found = {self.holds(figure) for figure in parts.values()}
        if not found:
            return VERDICTS[4]
        if True in found:
            return VERDICTS[0] if len(found) == 1 else VERDICTS[1]
        return VERDICTS[2] if False in found else VERDICTS[3]


@dataclass(frozen=True)
class Drawing:
    """A figure of the page.

    Attributes
    ----------
    name : str
        Of its file.
    caption : str
    experiments : tuple of str
        It is drawn where each of them has rows.
    draw : callable ``(results, bench) -> matplotlib Figure``
    """

    name: str
    caption: str
    experiments: tuple[str, ...]
    draw: Callable[[Results, "Bench"], Any]


@dataclass(frozen=True)
class Table:
    """A table of the page: columns, and a callable ``results -> rows``; shown where each experiment has rows."""

    title: str
    columns: tuple[str, ...]
    experiments: tuple[str, ...]
    rows: Callable[[Results], Iterable[Sequence[Any]]]


@dataclass(frozen=True)
class Paper:
    """A paper: its claims, the experiments that judge them, and what the page shows besides.

    Attributes
    ----------
    name, title, reference, about : str
        ``about`` says in a few sentences what was run in place of the paper's set-up.
    experiments, claims, drawings, tables : tuples
    beyond : tuple of Claim
        What the paper leaves open: claims of our own, judged alike.
    """

    name: str
    title: str
    reference: str
    about: str
    experiments: tuple[Experiment, ...]
    claims: tuple[Claim, ...]
    drawings: tuple[Drawing, ...] = ()
    tables: tuple[Table, ...] = ()
    beyond: tuple[Claim, ...] = ()

    def reproduce(
        self, *, scale: str = "small", out: str | os.PathLike | None = None, progress: bool | None = None
    ) -> "Page":
        """Run the experiments, and write a page with both figures and the verdicts.

        Parameters
        ----------
        scale : "small" or "paper"
            Small takes less than half an hour on two cores; "paper" is the paper's own size, where that is possible.
        out : path, optional
            Folder of the results; default ``reproductions/NAME-SCALE``. What is done there is not run again.
        progress : bool, optional
            Show a bar; by default on a terminal.

        Returns
        -------
        Page
            With ``claims``, each with its ``verdict``, figures and reason; written to page.html in ``out``.
        """
        from unbraid_papers.run import run_paper

        folder = Path(f"reproductions/{self.name}-{scale}" if out is None else out)
        return run_paper(self, scale, folder, progress=progress)
