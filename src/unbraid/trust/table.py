"""The one table of figures: what each means, its threshold, how that was calibrated, and the remedy.

The division of labour: ``diagnosis_`` tells whether the data meet the assumptions of a method, before a fit;
``diagnostics_`` holds the figures of one fit; ``summary()`` presents both. All three, the warnings
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
    """An entry of the table.

    Attributes
    ----------
    name : str
        As shown to users.
    meaning : str
        One sentence.
    formula : str
        In the markup of the docs.
    threshold : float or None
        Beyond it the figure is in doubt; None if that depends on the data, or the figure only informs.
    fails : {"above", "below", ""}
        On which side of the threshold.
    cases : mapping
        Thresholds of special cases: a kind of factor or method, a number of factors.
    calibrated : str
        How the threshold was chosen.
    code : str
        The code of its warning.
    remedy : str
        What to do, or which data to collect.
    assumption : str
        The assumption that the diagnosis tests by this figure; empty if it does not use it.
    decides : bool
        Whether the verdict of the diagnosis depends on it.
    power : mapping
        By number of factors: share of draws in which a clear violation is detected, for each number of points of
        :data:`unbraid.trust.support.POWER_POINTS`; empty where it was not simulated.
    families : tuple of str
        The families of the methods it concerns, or a single method.
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
    power: Mapping[str, list[float]] = field(default_factory=dict)
    families: tuple[str, ...] = ("spectral",)

    def limit(self, case: object = None) -> float:
        """The threshold, or that of a special case."""
        limit = self.cases.get(str(case), self.threshold)
        if limit is None:
            raise ValueError(f"{self.name} has no threshold.")
        return limit

    def holds(self, value: float, case: object = None) -> bool:
        """Whether a value passes; the threshold itself does."""
        return bool(value <= self.limit(case) if self.fails == "above" else value >= self.limit(case))

    @property
    def doubt(self) -> str:
        """The threshold in words; empty if there is none.

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
