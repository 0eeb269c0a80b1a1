"""``.. markdown-file:: PATH``: a file of the repository, such as the changelog, as sections of a page.

A link to a file of ``docs/tables`` becomes that table, folded, below the paragraph.

``.. measured-table:: NAME``: the table of ``benchmarks/RESULTS.md`` below the line ``<!--table: NAME-->``.
"""

import csv
import re
from html import escape
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "RESULTS.md"
TABLE_LINK = re.compile(r"\[([^]]+)\]\(\.\./docs/tables/([\w-]+\.csv)\)")


def sections(text: str) -> list[nodes.Node]:
    """Sections of a Markdown text, as far as the files here go: headings, paragraphs, lists, tables and words."""
    top: list[nodes.Node] = []
    at: dict[int, nodes.section] = {}
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    for block in re.split(r"\n\s*\n", re.sub(r"^(#.*)\n(?!\n)", r"\1\n\n", text, flags=re.MULTILINE)):
        heading = re.match(r"(#{2,3}) (.*)", block)
        if block.startswith("# ") or not block.strip():
            continue  # the page has its own title
        if heading:
            depth, title, made = len(heading[1]), *split(heading[2])
            at = {level: section for level, section in at.items() if level < depth}
            section = nodes.section("", nodes.title("", "", *words(title)), ids=[nodes.make_id(title)])
            (at[max(at)] if at else top).append(section)
            section.extend([paragraph(made)] if made else [])
            at[depth] = section
        else:
            (at[max(at)] if at else top).extend([body(block), *linked_tables(block)])
    return top


def split(heading: str) -> tuple[str, str]:
    """What a section is called, and the command and date behind it in brackets, as a sentence.

    >>> split("Flows (`make bench-flows`, quiet)"), split("0.1.0 (unreleased)")
    (('Flows', '`make bench-flows`, quiet.'), ('0.1.0 (unreleased)', ''))
    """
    found = re.fullmatch(r"(.+?) \((.*`.+`.*)\)", heading)
    return (found[1], f"{found[2]}.") if found else (heading, "")


def body(block: str) -> nodes.Node:
    if block.startswith("|"):
        return table(block)
    if block.startswith("- "):
        items = re.split(r"^- ", block, flags=re.MULTILINE)[1:]
        return nodes.bullet_list("", *(nodes.list_item("", paragraph(item)) for item in items))
    return paragraph(block)


def linked_tables(block: str) -> list[nodes.Node]:
    found: list[nodes.Node] = []
    for title, name in TABLE_LINK.findall(block):
        with (ROOT / "docs" / "tables" / name).open(encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file))
        summary = f"{' '.join(title.split())} ({name}, {len(rows) - 1} rows)"
        opened = nodes.raw("", f'<details class="table"><summary>{escape(summary)}</summary>', format="html")
        found += [opened, grid(rows), nodes.raw("", "</details>", format="html")]
    return found


def paragraph(block: str) -> nodes.Node:
    return nodes.paragraph("", "", *words(" ".join(block.split())))


def words(text: str) -> list[nodes.Node]:
    """Text with `code`, **bold** words and [links](address)."""
    found: list[nodes.Node] = []
    text = re.sub(r"\[([^]]+)\]\(\.\./docs/tables/[^)]+\)", r"\1", text)
    for part in re.split(r"(`[^`]+`|\*\*[^*]+\*\*|\[[^]]+\]\(https:[^)]+\))", text):
        if part.startswith("`"):
            found.append(nodes.literal("", part[1:-1]))
        elif part.startswith("**"):
            found.append(nodes.strong("", part[2:-2]))
        elif part.startswith("[") and part.endswith(")"):
            name, address = part[1:-1].split("](")
            found.append(nodes.reference("", name, refuri=address))
        elif part:
            found.append(nodes.Text(part))
    return found


def table(block: str) -> nodes.table:
    """A table of Markdown; its second line is the rule below the head."""
    rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in block.splitlines()]
    return grid([rows[0], *rows[2:]])


def grid(rows: list[list[str]]) -> nodes.table:
    head, *body = rows
    group = nodes.tgroup("", *(nodes.colspec(colwidth=1) for _ in head), cols=len(head))
    group += nodes.thead("", row(head, len(head)))
    group += nodes.tbody("", *(row(cells, len(head)) for cells in body))
    return nodes.table("", group)


def row(cells: list[str], width: int) -> nodes.row:
    cells = (cells + [""] * width)[:width]
    return nodes.row("", *(nodes.entry("", nodes.paragraph("", "", *words(cell))) for cell in cells))


class MarkdownFile(SphinxDirective):
    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        path = ROOT / self.arguments[0]
        self.env.note_dependency(str(path))
        return sections(path.read_text(encoding="utf-8"))


class MeasuredTable(SphinxDirective):
    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        self.env.note_dependency(str(RESULTS))
        found = re.search(rf"<!--table: {self.arguments[0]}-->\n((?:\|.*\n)+)", RESULTS.read_text(encoding="utf-8"))
        if found is None:
            raise self.error(f"RESULTS.md has no table {self.arguments[0]!r}")
        return [table(re.sub(r"<!--.*?-->", "", found[1]))]


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("markdown-file", MarkdownFile)
    app.add_directive("measured-table", MeasuredTable)
    return {"parallel_read_safe": True}
