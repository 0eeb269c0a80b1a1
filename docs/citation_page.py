"""The directives ``.. bibtex::``, from CITATION.cff, and ``.. method-papers::``, from the docstrings of the methods."""

import inspect
import re
from pathlib import Path

import yaml
from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from unbraid.methods import METHODS

CITATION = Path(__file__).parents[1] / "CITATION.cff"


def bibtex() -> str:
    """The entry of this software."""
    found = yaml.safe_load(CITATION.read_text(encoding="utf-8"))
    authors = " and ".join("{" + author["name"] + "}" for author in found["authors"])
    fields = {"title": found["title"], "author": authors, "version": found["version"], "note": found["license"]}
    return "\n".join(["@software{unbraid,", *(f"  {name} = {{{text}}}," for name, text in fields.items()), "}"])


def papers() -> list[str]:
    """Methods and what their docstrings refer to; methods of one paper share a row."""
    methods: dict[str, list[str]] = {}
    for method in METHODS.values():
        doc = inspect.getdoc(method.load()) or ""
        section = re.search(r"\nReferences\n-+\n(.*?)(\n\n\w+\n-+\n|\Z)", doc, flags=re.DOTALL)
        if section:
            methods.setdefault(" ".join(section[1].split()), []).append(f":class:`~unbraid.{method.estimator}`")
    lines = [".. list-table::", "   :header-rows: 1", "   :widths: 30 70", "", "   * - you used", "     - cite"]
    for paper, names in methods.items():
        lines += [f"   * - {', '.join(names)}", f"     - {paper}"]
    return lines


class BibTeX(SphinxDirective):
    def run(self) -> list[nodes.Node]:
        self.env.note_dependency(str(CITATION))
        return [nodes.literal_block(bibtex(), bibtex(), language="bibtex")]


class MethodPapers(SphinxDirective):
    def run(self) -> list[nodes.Node]:
        parent = nodes.container()
        self.state.nested_parse(StringList(papers(), source="docstrings"), self.content_offset, parent)
        return parent.children


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("bibtex", BibTeX)
    app.add_directive("method-papers", MethodPapers)
    return {"parallel_read_safe": True}
