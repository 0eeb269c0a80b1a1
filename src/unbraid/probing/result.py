"""What a probe found: scores, the probes of each factor, their table and their page."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from unbraid.evaluation import Evaluation, Protocol, Score
from unbraid.evaluation.table import json_text, score_cells, text_table
from unbraid.probing.probes import FactorProbe
from unbraid.report.drawing import BLUE, GREY, RED, figure, quiet
from unbraid.report.html import Report

_HEAD = ("factor", "probe", "score", "95 % interval", "chance", "measure")


@dataclass(frozen=True)
class Probe:
    """What :func:`unbraid.probe` found. ``print`` shows the tables, ``report().write(path)`` makes the page.

    Attributes
    ----------
    encoder, dataset : str
        Their names.
    n_parameters : int or None
        Trained numbers of the encoder; None where that is not known.
    n_units : int
        Width of its output.
    n_axes : int
        Codes that were scored.
    reduced : bool
        Whether these are principal components of the units.
    variance : float
        Share of the units' variance that they keep.
    evaluation : Evaluation
        Every metric with interval, chance and ceiling; ``probe["mig"]`` is one of its rows.
    factors : tuple of FactorProbe
        A linear probe and trees, for each factor.
    """

    encoder: str
    dataset: str
    n_parameters: int | None
    n_units: int
    n_axes: int
    reduced: bool
    variance: float
    evaluation: Evaluation
    factors: tuple[FactorProbe, ...]

    def __getitem__(self, name: str) -> Any:
        return self.evaluation[name]

    def read(self, kind: str = "linear") -> float:
        """Mean over factors of the probe of this kind, between chance (0) and perfect (1)."""
        shares = [p.share for p in self.factors if p.kind == kind and p.chance < 1]
        if not shares:
            raise ValueError(f"unknown kind of probe {kind!r}. Valid kinds: linear, trees.")
        return float(np.mean(shares))

    def words(self) -> list[str]:
        """What was scored and the main findings, in sentences."""
        on = f"the {self.n_axes} leading principal components ({100 * self.variance:.0f} % of the variance) of its"
        what = f"{on} {self.n_units} units" if self.reduced else f"its {self.n_axes} units"
        size = "" if self.n_parameters is None else f" ({self.n_parameters:,} parameters)"
        lines = [f"{self.encoder}{size}: scores are for {what}, which the linear probes and trees use as well."]
        above = [p for p in self.factors if p.low > p.chance]
        lost = [p.factor for p in self.factors if p.kind == "linear" and all(
            q.low <= q.chance for q in self.factors if q.factor == p.factor)]  # fmt: skip
        if lost:
            lines.append(f"Not distinguishable from chance: {', '.join(lost)}.")
        if above:
            top = max(above, key=lambda p: p.share)
            lines.append(f"Predicted best: {top.factor} ({top.measure} {top.score:.2f}, chance {top.chance:.2f}).")
        return lines

    def __str__(self) -> str:
        table = text_table([_HEAD, *_probe_rows(self.factors)], n_left=2)
        return "\n".join([*self.words(), "", table, "", str(self.evaluation)])

    def __repr__(self) -> str:
        return f"<Probe of {self.encoder!r}: {len(self.evaluation)} scores, {len(self.factors)} factor probes>"

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and strings."""
        head = {k: v for k, v in vars(self).items() if k not in ("evaluation", "factors")}
        return head | {"factors": [asdict(p) for p in self.factors], "evaluation": self.evaluation.to_dict()}

    def to_json(self, path: str | PathLike | None = None) -> str:
        """The result as JSON text, also written to ``path`` if one is given."""
        return json_text(self.to_dict(), path)

    @classmethod
    def from_json(cls, path: str | PathLike) -> "Probe":
        """Read what :meth:`to_json` wrote."""
        return cls.from_dict(json.loads(Path(path).read_text(encoding="utf-8")))

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> "Probe":
        """Rebuild from what :meth:`to_dict` returned."""
        rows = stored["evaluation"]["scores"]
        scores: list[dict[str, Any]] = [{k: math.nan if v is None else v for k, v in row.items()} for row in rows]
        protocol = stored["evaluation"]["protocol"]
        evaluation = stored["evaluation"] | {
            "scores": tuple(Score(**s) for s in scores),
            "protocol": Protocol(**protocol | {"downstream_sizes": tuple(protocol["downstream_sizes"])}),
        }
        factors = tuple(FactorProbe(**f) for f in stored["factors"])
        return cls(**dict(stored) | {"evaluation": Evaluation(**evaluation), "factors": factors})

    def report(self) -> Report:
        """The page: the probes of each factor, and every score between chance and ceiling."""
        page = Report(
            f"Probe of {self.encoder}", f"What its codes reveal about the factors of {self.dataset or 'the data'}."
        )
        add_probe(page, self)
        return page


def add_probe(page: Report, found: Probe) -> None:
    """The sections of one encoder."""
    page.section("How well each factor can be predicted").text(*found.words())
    page.figure(
        plot_factors(found.factors),
        "Score of a linear probe and of trees on held-out rows, with 95 % intervals; the grey marks are chance.",
    )
    page.table(_HEAD, _probe_rows(found.factors))
    page.section("Scores").text(
        "Chance is the score of the same codes paired with other samples, the ceiling that of codes that determine the "
        "factors. A score means something only between the two; * low is good."
    ).table(("metric", "value", "95 % interval", "chance", "ceiling"), [score_cells(s)[:-1] for s in found.evaluation])


def _probe_rows(factors: Sequence[FactorProbe]) -> list[tuple[str, ...]]:
    return [
        (p.factor, p.kind, f"{p.score:.3f}", f"{p.low:.3f} … {p.high:.3f}", f"{p.chance:.3f}", p.measure)
        for p in factors
    ]


def plot_factors(factors: Sequence[FactorProbe]) -> Any:
    """Both probes of each factor with their intervals, and chance.

    Parameters
    ----------
    factors : sequence of FactorProbe

    Returns
    -------
    matplotlib.figure.Figure
    """
    names = list(dict.fromkeys(p.factor for p in factors))
    fig = figure(7.2, 0.6 + 0.5 * len(names))
    ax = fig.subplots()
    for kind, shift, colour in (("linear", -0.14, BLUE), ("trees", 0.14, RED)):
        shown = [p for p in factors if p.kind == kind]
        place = [names.index(p.factor) + shift for p in shown]
        reach = [[p.score - p.low for p in shown], [p.high - p.score for p in shown]]
        ax.errorbar([p.score for p in shown], place, xerr=np.maximum(reach, 0), fmt="o", color=colour, label=kind, ms=5)
    for p in factors:
        k = names.index(p.factor)
        ax.plot([p.chance, p.chance], [k - 0.32, k + 0.32], color=GREY, lw=1.5)
    ax.set(yticks=range(len(names)), yticklabels=names, xlim=(-0.02, 1.02), xlabel="accuracy, or R² for numbers")
    ax.invert_yaxis()
    ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    quiet(ax)
    return fig
