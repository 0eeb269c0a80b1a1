"""The role ``:measured:`speed.ratio-3000```: a figure of ``benchmarks/figures.toml``, with its command and date."""

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxRole

FIGURES = Path(__file__).parents[1] / "benchmarks" / "figures.toml"


@cache
def figures() -> dict[str, tuple[str, str]]:
    """Text of every figure, and where it comes from, by ``table.name``."""
    tables: dict[str, dict[str, Any]] = tomllib.loads(FIGURES.read_text(encoding="utf-8"))
    return {
        f"{table}.{name}": (text, f"{row['command']}, {row['date']}")
        for table, row in tables.items()
        for name, text in row.items()
        if name not in ("command", "date")
    }


class Measured(SphinxRole):
    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        self.env.note_dependency(str(FIGURES))
        if self.text not in figures():
            error = self.inliner.reporter.error(f"figures.toml has no {self.text!r}", line=self.lineno)
            return [], [error]
        text, source = figures()[self.text]
        return [nodes.abbreviation(text, text, explanation=source)], []


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_role("measured", Measured())
    return {"parallel_read_safe": True}
