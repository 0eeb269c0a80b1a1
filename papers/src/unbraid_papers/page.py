"""The page of a reproduction: figures of both sides, verdicts, pictures; as HTML for users and JSON for the docs."""

import json
import os
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import isinf
from pathlib import Path
from typing import Any

import numpy as np

from unbraid.report.html import Report
from unbraid_papers.bench import Bench
from unbraid_papers.paper import VERDICTS, Claim, Paper, Part, Results

KINDS = dict(zip(VERDICTS, ("good", "look", "look", "", "")))
COLUMNS = ("verdict", "the paper says", "where", "its figure", "here", "tolerance")
DPI = 100


@dataclass
class Judged:
    """A claim with its figures and its verdict."""

    verdict: str
    text: str
    source: str
    paper: str
    measure: str
    tolerance: str
    parts: dict[str, str]
    held: list[str]
    why: str

    @property
    def here(self) -> str:
        """Our figures in a line."""
        if not self.parts:
            return "–"
        return f"{self.measure}: " + "; ".join(f"{k} {v}" if k else v for k, v in self.parts.items())

    @property
    def row(self) -> tuple[str, ...]:
        return self.verdict, self.text, self.source, self.paper, self.here, self.tolerance


@dataclass
class Page:
    """Everything that a page shows; plain values, and the drawings as matplotlib figures."""

    paper: str
    title: str
    reference: str
    about: str
    scale: str
    made: str
    unbraid: str
    claims: list[Judged]
    beyond: list[Judged]
    experiments: list[dict[str, Any]]
    tables: list[dict[str, Any]]
    images: list[dict[str, str]] = field(default_factory=list)
    figures: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def summary(self) -> str:
        """How many claims have which verdict."""
        counts = Counter(c.verdict for c in self.claims)
        return ", ".join(f"{counts[v]} {v}" for v in VERDICTS if counts[v])

    def draw(self, paper: Paper, results: Results, bench: Bench) -> None:
        """Make the figures whose experiments have rows."""
        for drawing in paper.drawings:
            if all(len(results[name]) for name in drawing.experiments):
                self.figures[drawing.name] = drawing.draw(results, bench)
                self.images.append({"file": f"{drawing.name}.png", "caption": drawing.caption})

    def report(self) -> Report:
        """The HTML page."""
        page = Report(self.title, f"{self.reference}. Scale {self.scale}, unbraid {self.unbraid}, {self.made}.")
        page.section("Verdicts").text(self.about, f"Of {len(self.claims)} claims: {self.summary}.")
        page.table(COLUMNS, [c.row for c in self.claims])
        _add_reasons(page, self.claims)
        if self.beyond:
            page.section("What the paper leaves open").table(COLUMNS, [c.row for c in self.beyond])
            _add_reasons(page, self.beyond)
        if self.figures:
            page.section("Figures")
            for image in self.images:
                page.figure(self.figures[image["file"].removesuffix(".png")], image["caption"])
        for table in self.tables:
            page.section(table["title"]).table(table["columns"], table["rows"])
        page.section("What was run")
        page.table(("experiment", "cells", "CPU minutes", "what"), [_experiment_row(e) for e in self.experiments])
        lacking = [f"{e['name']}: {why}" for e in self.experiments for why in e["missing"]]
        if lacking:
            page.note(["Not run for want of a file or a package:", *lacking], "look")
        page.text("The same again:").code(f"unbraid reproduce {self.paper} --scale {self.scale}")
        return page

    def write(self, folder: Path) -> None:
        """page.html, page.json and images, the JSON last."""
        from matplotlib import pyplot as plt

        (folder / "images").mkdir(exist_ok=True)
        for name, figure in self.figures.items():
            figure.savefig(folder / "images" / f"{name}.png", dpi=DPI)
        self.report().write(folder / "page.html")
        plain = {k: v for k, v in vars(self).items() if k not in ("figures", "claims", "beyond")}
        plain |= {"claims": [asdict(c) for c in self.claims], "beyond": [asdict(c) for c in self.beyond]}
        part = folder / "page.json.part"
        part.write_text(json.dumps(plain, indent=1) + "\n", encoding="utf-8")
        os.replace(part, folder / "page.json")
        for figure in self.figures.values():
            plt.close(figure)


def page_of(paper: Paper, scale: str, results: Results, missing: Mapping[str, Sequence[str]]) -> Page:
    """Judge the claims on these results."""
    from unbraid import __version__

    return Page(
        paper=paper.name,
        title=paper.title,
        reference=paper.reference,
        about=paper.about,
        scale=scale,
        made=time.strftime("%Y-%m-%d"),
        unbraid=__version__,
        claims=[judged(claim, results, missing) for claim in paper.claims],
        beyond=[judged(claim, results, missing) for claim in paper.beyond],
        experiments=[
            {
                "name": e.name,
                "about": e.about,
                "cells": len(results[e.name]),
                "cpu_minutes": sum(row["cpu_seconds"] for row in results[e.name]) / 60,
                "missing": list(missing[e.name]),
            }
            for e in paper.experiments
        ],
        tables=[
            {
                "title": t.title,
                "columns": list(t.columns),
                "rows": [[_plain(v) for v in row] for row in t.rows(results)],
            }
            for t in paper.tables
            if all(len(results[name]) for name in t.experiments)
        ],
    )


def judged(claim: Claim, results: Results, missing: Mapping[str, Sequence[str]]) -> Judged:
    """A claim with its verdict."""
    there = all(len(results[name]) for name in claim.experiments)
    parts = dict(claim.figure({name: results[name] for name in claim.experiments})) if there else {}
    lacking = [why for name in claim.experiments for why in missing[name]]
    undecided = [name for name, figure in parts.items() if claim.holds(figure) is None]
    over = [f"The interval of {', '.join(n or 'the figure' for n in undecided)} reaches over the edge."] * bool(
        undecided
    )
    return Judged(
        verdict=claim.verdict(parts),
        text=claim.text,
        source=claim.source,
        paper=claim.paper,
        measure=claim.measure,
        tolerance=claim.tolerance,
        parts={name: _shown(figure) for name, figure in parts.items()},
        held=[name for name, figure in parts.items() if claim.holds(figure)],
        why=" ".join([claim.why, *over, *lacking]).strip(),
    )


def _shown(figure: Part) -> str:
    return f"{figure.value:.3g} (no interval)" if isinf(figure.low) else str(figure)


def _plain(value: Any) -> Any:
    return (
        value
        if isinstance(value, str | int)
        else int(value)
        if isinstance(value, np.integer)
        else round(float(value), 4)
    )


def _experiment_row(e: Mapping[str, Any]) -> tuple[Any, ...]:
    return e["name"], e["cells"], f"{e['cpu_minutes']:.1f}", e["about"]


def _add_reasons(page: Report, claims: Iterable[Judged]) -> None:
    for verdict, kind in KINDS.items():
        lines = [f"{c.text} {verdict.capitalize()}. {c.why}" for c in claims if c.verdict == verdict and c.why]
        if lines:
            page.note(lines, kind)
