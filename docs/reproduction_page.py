"""Directives ``.. reproduction:: NAME`` and ``.. reproductions::``: the committed pages of ``unbraid reproduce``.

They read reproductions/NAME/page.json, which the command writes; no figure is typed.
"""

import json
import re
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective, SphinxRole

HERE = Path(__file__).parent / "reproductions"
ESCAPED = str.maketrans({"*": r"\*", "`": r"\`", "|": r"\|", "_": r"\_", "\\": r"\\"})


def page_lines(page: dict[str, Any]) -> list[str]:
    """The page as lines of reStructuredText, below a title that is there already."""
    name = page["paper"]
    lines = [_text(f"{page['reference']}."), "", _text(page["about"]), ""]
    lines += [".. code-block:: bash", "", f"   unbraid reproduce {name} --scale {page['scale']}", ""]
    lines += [f"Made on {page['made']} with unbraid {page['unbraid']}.", ""]
    lines += [counts(page["claims"]), ""]
    for image in page["images"]:
        path = f"{name}/images/{image['file']}"
        lines += [f".. figure:: {path}", f"   :alt: {_text(image['caption'])}", "", f"   {_text(image['caption'])}", ""]
    lines += [".. rubric:: Verdicts", "", *claims_table(page["claims"])]
    if page["beyond"]:
        lines += [".. rubric:: What the paper leaves open", "", *claims_table(page["beyond"])]
    for table in page["tables"]:
        lines += [f".. rubric:: {_text(table['title'])}", "", *list_table(table["columns"], table["rows"])]
    lines += [".. rubric:: What was run", ""]
    rows = [[e["name"], e["cells"], f"{e['cpu_minutes']:.1f}", e["about"]] for e in page["experiments"]]
    lines += list_table(["experiment", "cells", "CPU minutes", "what"], rows)
    for experiment in page["experiments"]:
        for why in experiment["missing"]:
            lines += [f"Not run, {_text(experiment['name'])}: {_text(why)}", ""]
    return lines


def counts(claims: list[dict[str, Any]]) -> str:
    """How many claims have which verdict."""
    verdicts = [claim["verdict"] for claim in claims]
    return " ".join(f":verdict:`{v}` {verdicts.count(v)}" for v in dict.fromkeys(verdicts))


def claims_table(claims: list[dict[str, Any]]) -> list[str]:
    rows = []
    for claim in claims:
        parts = "; ".join(f"{k} {v}" if k else v for k, v in claim["parts"].items()) or "–"
        here = f"{claim['measure']}: {parts} (tolerance: {claim['tolerance']})"
        rows.append([claim["verdict"], f"{claim['text']} ({claim['source']})", claim["paper"], here, claim["why"]])
    lines = list_table(["verdict", "the paper says", "its figure", "here", "why"], rows)
    return [re.sub(r"^(   \* - )(?!verdict)(.+)", r"\1:verdict:`\2`", line) for line in lines]


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
        rows.append(f":doc:`{name}`\0{_text(page['title'])}\0{counts(page['claims'])}")
    lines = [".. list-table::", "   :header-rows: 1", ""]
    for row in ["paper\0title\0verdicts on its claims", *rows]:
        lines += [f"   {'*' if i == 0 else ' '} - {cell}" for i, cell in enumerate(row.split("\0"))]
    return [*lines, ""]


def _read(name: str) -> dict[str, Any]:
    page: dict[str, Any] = json.loads((HERE / name / "page.json").read_text(encoding="utf-8"))
    return page


def _text(text: str) -> str:
    return " ".join(text.split()).translate(ESCAPED)


class Verdict(SphinxRole):
    """A verdict on a claim, in its colour."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        kind = nodes.make_id(self.text.partition(" ")[0])
        return [nodes.inline(self.text, self.text, classes=["verdict", f"verdict-{kind}"])], []


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
    app.add_role("verdict", Verdict())
    app.add_directive("reproduction", Reproduction)
    app.add_directive("reproductions", Reproductions)
    return {"parallel_read_safe": True}
