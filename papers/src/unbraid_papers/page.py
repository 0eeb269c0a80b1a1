"""The page of a reproduction: figures of both sides, verdicts, pictures; as HTML for users and JSON for the docs."""

import io
import json
import os
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from unbraid.evaluation.claims import VERDICTS
from unbraid.report.html import Report
from unbraid.report.study import VERDICT_NOTES
from unbraid_papers.bench import Bench
from unbraid_papers.paper import Paper, PaperClaim, Results

DPI = 200  # two pixels of the picture for one of the page


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
    claims: list[PaperClaim]
    beyond: list[PaperClaim]
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
        """The HTML page: verdicts as cards, pictures, tables."""
        page = Report(self.title, f"{self.reference}. Scale {self.scale}, unbraid {self.unbraid}, {self.made}.")
        page.text(f"Of {len(self.claims)} claims: {self.summary}.")
        page.section("Verdicts").cards(map(_card, self.claims))
        if self.beyond:
            page.section("What the paper leaves open").cards(map(_card, self.beyond))
        if self.figures:
            page.section("Figures")
            for image in self.images:
                page.figure(self.figures[image["file"].removesuffix(".png")], image["caption"])
        for table in self.tables:
            page.section(table["title"]).table(table["columns"], table["rows"])
        page.section("What was run").text(self.about)
        page.table(("experiment", "cells", "CPU minutes", "what"), [_experiment_row(e) for e in self.experiments])
        lacking = [f"{e['name']}: {why}" for e in self.experiments for why in e["missing"]]
        if lacking:
            page.note(["Not run because a file or a package is missing:", *lacking], "look")
        page.text("To run it again:").code(f"unbraid reproduce {self.paper} --scale {self.scale}")
        return page

    def write(self, folder: Path) -> None:
        """page.html, page.json and images, the JSON last."""
        from matplotlib import pyplot as plt

        (folder / "images").mkdir(exist_ok=True)
        for name, figure in self.figures.items():
            _save(figure, folder / "images" / f"{name}.png")
        self.report().write(folder / "page.html")
        plain = {k: v for k, v in vars(self).items() if k not in ("figures", "claims", "beyond")}
        plain |= {"claims": [*map(_claim_values, self.claims)], "beyond": [*map(_claim_values, self.beyond)]}
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
        claims=[claim.judge_on(results, missing, scale) for claim in paper.claims],
        beyond=[claim.judge_on(results, missing, scale) for claim in paper.beyond],
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


def _save(figure: Any, path: Path) -> None:
    """A PNG of 256 colours, dithered, which is a third as large."""
    drawn = io.BytesIO()
    figure.savefig(drawn, dpi=DPI)
    image = Image.open(drawn).convert("RGB")
    image.quantize(palette=image.quantize(256)).save(path, optimize=True, dpi=(DPI, DPI))


def _card(claim: PaperClaim) -> tuple[str, str, str, list[str]]:
    """A claim as a card: colour, verdict, sentence, and the figures of both sides."""
    said = f"The paper ({claim.source}): {claim.paper}."
    here = f"Here, {claim.here}. Tolerance: {claim.tolerance}."
    return VERDICT_NOTES[claim.verdict], claim.verdict, claim.text, [said, here, claim.reason]


def _claim_values(claim: PaperClaim) -> dict[str, Any]:
    """A claim in page.json."""
    return {
        "id": claim.id,
        "verdict": claim.verdict,
        "text": claim.text,
        "source": claim.source,
        "paper": claim.paper,
        "measure": claim.measure,
        "tolerance": claim.tolerance,
        "parts": {name: figure.show(claim.percent) for name, figure in claim.parts.items()},
        "held": claim.held,
        "why": claim.reason,
    }


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
