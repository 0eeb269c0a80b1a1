"""The directive ``.. benchmark-results::``: ``benchmarks/RESULTS.md`` as sections of a page, kept once."""

import re
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

RESULTS = Path(__file__).parents[1] / "benchmarks" / "RESULTS.md"


def sections(text: str) -> list[nodes.Node]:
    """Sections of a Markdown text, as far as RESULTS.md goes: headings, paragraphs, tables, code and bold words."""
    top: list[nodes.Node] = []
    at: dict[int, nodes.section] = {}
    for block in re.split(r"\n\s*\n", text):
        heading = re.match(r"(#{2,3}) (.*)", block)
        if block.startswith("# "):
            continue  # the page has its own title
        if heading:
            depth, title = len(heading[1]), heading[2]
            at = {level: section for level, section in at.items() if level < depth}
            section = nodes.section("", nodes.title("", "", *words(title)), ids=[nodes.make_id(title)])
            (at[max(at)] if at else top).append(section)
            at[depth] = section
        else:
            (at[max(at)] if at else top).append(table(block) if block.startswith("|") else paragraph(block))
    return top


def paragraph(block: str) -> nodes.Node:
    return nodes.paragraph("", "", *words(" ".join(block.split())))


def words(text: str) -> list[nodes.Node]:
    """Text with `code` and **bold** words."""
    found: list[nodes.Node] = []
    for part in re.split(r"(`[^`]+`|\*\*[^*]+\*\*)", text):
        if part.startswith("`"):
            found.append(nodes.literal("", part[1:-1]))
        elif part.startswith("**"):
            found.append(nodes.strong("", part[2:-2]))
        elif part:
            found.append(nodes.Text(part))
    return found


def table(block: str) -> nodes.table:
    """A table of Markdown; its second line is the rule below the head."""
    rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in block.splitlines()]
    head, body = rows[0], rows[2:]
    group = nodes.tgroup("", *(nodes.colspec(colwidth=1) for _ in head), cols=len(head))
    group += nodes.thead("", row(head, len(head)))
    group += nodes.tbody("", *(row(cells, len(head)) for cells in body))
    return nodes.table("", group)


def row(cells: list[str], width: int) -> nodes.row:
    cells = (cells + [""] * width)[:width]
    return nodes.row("", *(nodes.entry("", nodes.paragraph("", "", *words(cell))) for cell in cells))


class BenchmarkResults(SphinxDirective):
    def run(self) -> list[nodes.Node]:
        self.env.note_dependency(str(RESULTS))
        return sections(RESULTS.read_text(encoding="utf-8"))


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("benchmark-results", BenchmarkResults)
    return {"parallel_read_safe": True}
