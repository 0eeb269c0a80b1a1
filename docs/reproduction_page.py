"""Directives ``.. reproduction:: NAME`` and ``.. reproductions::``: the committed pages of ``unbraid reproduce``.

They read reproductions/NAME/page.json, which the command writes; no figure is typed.
"""

import json
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from PIL import Image
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

HERE = Path(__file__).parent / "reproductions"
LONG = 12  # rows of a table that is folded
ESCAPED = str.maketrans({"*": r"\*", "`": r"\`", "|": r"\|", "_": r"\_", "\\": r"\\"})


def page_lines(page: dict[str, Any]) -> list[str]:
    """The page as lines of reStructuredText, below a title that is there already: verdicts, pictures, tables, words."""
    name, verdicts = page["paper"], [claim["verdict"] for claim in page["claims"]]
    counts = ", ".join(f"{verdicts.count(v)} {v}" for v in dict.fromkeys(verdicts))
    lines = [_text(f"{page['reference']}."), ""]
    lines += [f"Of {len(verdicts)} claims: {counts}. Made on {page['made']} with unbraid {page['unbraid']}.", ""]
    lines += cards(page["claims"])
    if page["beyond"]:
        lines += [".. rubric:: What the paper leaves open", "", *cards(page["beyond"])]
    for image in page["images"]:
        path = f"{name}/images/{image['file']}"
        with Image.open(HERE / path) as drawn:
            width = round(drawn.width * 100 / drawn.info.get("dpi", (100,))[0])  # of an inch, 100 are on the page
        lines += [f".. figure:: {path}", f"   :alt: {_text(image['caption'])}", f"   :width: {width}px", ""]
        lines += [f"   {_text(image['caption'])}", ""]
    for table in page["tables"]:
        shown = list_table(table["columns"], table["rows"])
        if len(table["rows"]) > LONG:
            lines += [f".. dropdown:: {_text(table['title'])}", "", *(f"   {line}" for line in shown)]
        else:
            lines += [f".. rubric:: {_text(table['title'])}", "", *shown]
    lines += [".. rubric:: What was run", "", _text(page["about"]), ""]
    lines += [".. code-block:: bash", "", f"   unbraid reproduce {name} --scale {page['scale']}", ""]
    rows = [[e["name"], e["cells"], f"{e['cpu_minutes']:.1f}", e["about"]] for e in page["experiments"]]
    lines += list_table(["experiment", "cells", "CPU minutes", "what"], rows)
    for experiment in page["experiments"]:
        for why in experiment["missing"]:
            lines += [f"Not run, {_text(experiment['name'])}: {_text(why)}", ""]
    return lines


def cards(claims: list[dict[str, Any]]) -> list[str]:
    """A card for each claim, in the colour of its verdict (reproductions.css)."""
    lines = [".. container:: verdicts", ""]
    for claim in claims:
        parts = "; ".join(f"{k} {v}" if k else v for k, v in claim["parts"].items()) or "–"
        said = [f"The paper ({claim['source']}): {claim['paper']}."]
        said += [f"Here, {claim['measure']}: {parts}. Tolerance: {claim['tolerance']}."]
        said += [claim["why"][:1].upper() + claim["why"][1:]]
        lines += [f"   .. container:: verdict {claim['verdict'].replace(' ', '-')}", ""]
        lines += [f"      **{claim['verdict']}** {_text(claim['text'])}", ""]
        lines += ["      .. raw:: html", "", "         <details><summary>figures of both sides</summary>", ""]
        lines += [line for text in said if text for line in (f"      {_text(text)}", "")]
        lines += ["      .. raw:: html", "", "         </details>", ""]
    return lines


def list_table(columns: list[str], rows: list[list[Any]]) -> list[str]:
    lines = [".. list-table::", "   :header-rows: 1", ""]
    for row in [columns, *rows]:
        lines += [f"   {'*' if i == 0 else ' '} - {_text(str(cell))}" for i, cell in enumerate(row)]
    return [*lines, ""]


def summary_lines() -> list[str]:
    """One row per paper: how many claims have which verdict."""
    rows = []
    for name in sorted(file.parent.name for file in HERE.glob("*/page.json")):
        page = _read(name)
        verdicts = [claim["verdict"] for claim in page["claims"]]
        words = ", ".join(f"{verdicts.count(v)} {v}" for v in dict.fromkeys(verdicts))
        rows.append(f":doc:`{name}`\0{_text(page['title'])}\0{words}")
    lines = [".. list-table::", "   :header-rows: 1", ""]
    for row in ["paper\0title\0verdicts on its claims", *rows]:
        lines += [f"   {'*' if i == 0 else ' '} - {cell}" for i, cell in enumerate(row.split("\0"))]
    return [*lines, ""]


def _read(name: str) -> dict[str, Any]:
    page: dict[str, Any] = json.loads((HERE / name / "page.json").read_text(encoding="utf-8"))
    return page


def _text(text: str) -> str:
    """Words of a page, where nothing is markup but `code`."""
    parts = " ".join(text.split()).split("`")
    if len(parts) % 2 == 0:  # a backtick without another one
        return "`".join(parts).translate(ESCAPED)
    return "".join(f"``{part}``" if i % 2 else part.translate(ESCAPED) for i, part in enumerate(parts))


class Lines(SphinxDirective):
    """A directive whose content is made of lines of reStructuredText."""

    def lines(self) -> list[str]:
        raise NotImplementedError

    def run(self) -> list[nodes.Node]:
        parent = nodes.container()
        self.state.nested_parse(StringList(self.lines(), source="unbraid reproduce"), self.content_offset, parent)
        return parent.children


class Reproduction(Lines):
    required_arguments = 1

    def lines(self) -> list[str]:
        self.env.note_dependency(str(HERE / self.arguments[0] / "page.json"))
        return page_lines(_read(self.arguments[0]))


class Reproductions(Lines):
    def lines(self) -> list[str]:
        return summary_lines()


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("reproduction", Reproduction)
    app.add_directive("reproductions", Reproductions)
    app.add_css_file("reproductions.css")
    return {"parallel_read_safe": True}
