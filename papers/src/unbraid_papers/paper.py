"""A paper as data: experiments made of cells, and claims with the figures that judge them.

Verdicts are computed, see :mod:`unbraid.evaluation.claims`. A claim whose cells all lack a file or a package "cannot be
tried here".
"""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy import stats

from unbraid.evaluation.claims import Claim, Part

if TYPE_CHECKING:
    from unbraid_papers.bench import Bench
    from unbraid_papers.page import Page

SCALES = ("small", "paper")

Cell = dict[str, Any]


def mean_part(values: Iterable[float], level: float = 0.95) -> Part:
    """The mean with Student's interval; a single value has none, so it counts neither way.

    Parameters
    ----------
    values : iterable of float
    level : float
        Of the interval.

    Examples
    --------
    >>> mean_part([0.9, 1.0, 1.1]).show()
    '1 (0.752 to 1.25)'
    """
    found = np.asarray(list(values), dtype=float)
    if len(found) < 2:
        return Part(float(found.mean()), nan, nan)
    half = stats.t.ppf((1 + level) / 2, len(found) - 1) * found.std(ddof=1) / np.sqrt(len(found))
    return Part(float(found.mean()), float(found.mean() - half), float(found.mean() + half))


class Rows:
    """The results of an experiment: one mapping a cell, of what the cell was and what came out.

    Parameters
    ----------
    rows : iterable of mappings

    Examples
    --------
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
class PaperClaim(Claim):
    """A claim (see :class:`~unbraid.evaluation.claims.Claim`), and where its figures come from.

    Attributes
    ----------
    experiments : tuple of str
        Names of the experiments that the figures come from.
    figures : callable ``results -> mapping of name to Part``
        ``results`` maps the names of the experiments to their Rows; parts without rows are left out.
    small : str
        What makes the figures of the small scale not comparable with the paper's; ``differs`` is that of any scale.
    """

    experiments: tuple[str, ...]
    figures: Callable[[Results], Mapping[str, Part]]
    _: KW_ONLY
    small: str = ""

    def judge_on(self, results: Results, missing: Mapping[str, Sequence[str]], scale: str = "paper") -> Self:
        """This claim with the figures of these results; ``missing`` says what was not there for each experiment."""
        if scale == "small" and self.small:
            return replace(self, differs=self.small, small="").judge_on(results, missing)
        there = all(len(results[name]) for name in self.experiments)
        parts = self.figures({name: results[name] for name in self.experiments}) if there else {}
        undecided = ", ".join(name or "the figure" for name in self.judge(parts).undecided)
        why = (f"Undecided (the interval includes the threshold, or there is none): {undecided}.",) * bool(undecided)
        return self.judge(parts, *why, *(reason for name in self.experiments for reason in missing[name]))


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
    beyond : tuple of PaperClaim
        What the paper leaves open: claims of our own, judged alike.
    """

    name: str
    title: str
    reference: str
    about: str
    experiments: tuple[Experiment, ...]
    claims: tuple[PaperClaim, ...]
    drawings: tuple[Drawing, ...] = ()
    tables: tuple[Table, ...] = ()
    beyond: tuple[PaperClaim, ...] = ()

    def __post_init__(self) -> None:
        counts = Counter(claim.id for claim in (*self.claims, *self.beyond))
        if twice := [name for name, count in counts.items() if count > 1]:
            raise ValueError(
                f"claim ids must be unique within a paper; {self.name} has {', '.join(twice)} more than once."
            )

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
