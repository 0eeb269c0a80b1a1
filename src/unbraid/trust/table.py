"""The one table of figures: what each says, where it is in doubt, where that was calibrated, and what to do then.

The division of labour: ``diagnosis_`` asks of the data, before a fit, whether the assumptions of a method hold at all;
``diagnostics_`` are the figures of one fit; ``summary()`` is what a page shows, made from both. All three, the warnings
(:mod:`unbraid.trust.warnings`), ``unbraid explain`` and the docs read their names, thresholds and remedies here, from
``figures.toml`` beside this file.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from string import Template
from typing import Any, Literal


@dataclass(frozen=True)
class Figure:
    """A line of the table.

    Attributes
    ----------
    name : str
        As people read it.
    meaning : str
        One sentence.
    formula : str
        In the markup of the docs.
    threshold : float or None
        Where doubt begins; None where it depends on the data, or the figure only informs.
    fails : {"above", "below", ""}
        On which side of the threshold.
    cases : mapping
        Thresholds of special cases: a kind of factor or method, a number of factors.
    calibrated : str
        On what the threshold was chosen.
    code : str
        The warning that is given.
    remedy : str
        What to do, or to collect.
    assumption : str
        The assumption of which the diagnosis says by this figure whether it holds; empty where it does not look at it.
    decides : bool
        Whether the verdict of the diagnosis depends on it.
    families : tuple of str
        The rooms of the methods that it matters to, or the one method.
    """

    name: str
    meaning: str
    formula: str = ""
    threshold: float | None = None
    fails: Literal["above", "below", ""] = ""
    cases: Mapping[str, float] = field(default_factory=dict)
    calibrated: str = ""
    code: str = ""
    remedy: str = ""
    assumption: str = ""
    decides: bool = True
    families: tuple[str, ...] = ("spectral",)

    def limit(self, case: object = None) -> float:
        """The threshold, of a special case where it has one."""
        limit = self.cases.get(str(case), self.threshold)
        if limit is None:
            raise ValueError(f"{self.name} has no threshold.")
        return limit

    def holds(self, value: float, case: object = None) -> bool:
        """Whether a value is on the right side of the threshold; the threshold itself is."""
        return bool(value <= self.limit(case) if self.fails == "above" else value >= self.limit(case))

    @property
    def doubt(self) -> str:
        """Where doubt begins, in words; empty where there is no threshold.

        >>> FIGURES["local_isometry"].doubt
        'below 0.5 (laplacian: 0.2)'
        """
        if self.threshold is None:
            return ""
        cases = ", ".join(f"{case}: {limit:g}" for case, limit in self.cases.items())
        return f"{self.fails} {self.threshold:g}" + (f" ({cases})" if cases else "")


def _figures() -> dict[str, Figure]:
    table = tomllib.loads((files("unbraid.trust") / "figures.toml").read_text(encoding="utf-8"))

    def line(entry: dict[str, Any]) -> Figure:
        texts = {name: Template(entry.get(name, "")).substitute(table["shared"]) for name in ("calibrated", "remedy")}
        return Figure(**entry | texts | {"families": tuple(entry.get("families", ["spectral"]))})

    return {key: line(entry) for key, entry in table["figures"].items()}


FIGURES = _figures()
ASSUMPTIONS = {figure.assumption: key for key, figure in FIGURES.items() if figure.assumption}


def key_of(name: str) -> str:
    """The key of a figure, by itself, by the name of the figure or by that of the assumption it tests.

    Parameters
    ----------
    name : str

    Returns
    -------
    str
        A key of ``FIGURES``.

    Examples
    --------
    >>> key_of("eigengap"), key_of("Local isometry"), key_of("filled box"), key_of("non-gaussian")
    ('eigengap', 'local_isometry', 'emptiness', 'separability')
    """
    wanted = _bare(name)
    for key, figure in FIGURES.items():
        if wanted in {_bare(key), _bare(figure.assumption)}:
            return key
    for key, figure in FIGURES.items():
        if wanted == _bare(figure.name):
            return key
    raise ValueError(f"there is no figure {name!r}. Available: {', '.join(FIGURES)}.")


def _bare(name: str) -> str:
    return name.lower().replace("-", " ").replace("_", " ")
