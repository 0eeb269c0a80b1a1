"""The directives ``theorem-list``, ``theorem-table`` and ``free-list``: the theorems by entry and by method."""

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from unbraid.methods import METHODS
from unbraid.trust.table import FIGURES
from unbraid.trust.theorems import FREE, THEOREMS, Premise, Theorem, methods_of


def theorem_list() -> list[str]:
    """The lines of an entry for each theorem."""
    return [line for theorem in THEOREMS.values() for line in entry(theorem)]


def entry(theorem: Theorem) -> list[str]:
    """A theorem: what it says, for which methods, under which assumptions, and what stays free."""
    covers = ", ".join(" ".join([f"``{name}``", *_given(given)]) for name, given, _ in methods_of(theorem.id))
    free = ", ".join(theorem.free) or "nothing"
    parts = {
        "Evidence": ", ".join(f"``{name}``" for name in theorem.evidence),
        "Stays free": free + (f"; of flat data: {', '.join(theorem.flat)}" if theorem.flat else ""),
        "Methods": covers or "none yet",
        "Reference": theorem.reference,
    }
    lines = [f".. _theorem-{theorem.id}:", "", f"``{theorem.id}``  **{theorem.name}**", f"   {theorem.sentence}", ""]
    lines += [f"   - {assumption(premise)}" for premise in theorem.assumptions]
    lines += [""] if theorem.assumptions else []
    return [*lines, *(f"   | {name}: {text}" for name, text in parts.items() if text), ""]


def assumption(premise: Premise) -> str:
    """An assumption, with links to the figures that test it."""
    tested = " or ".join(f":ref:`{FIGURES[key].name} <figure-{key}>`" for key in premise.figures)
    without = f"; without it: {', '.join(premise.without)}" if premise.without else ""
    how = f"tested by {tested}" if tested else "cannot be tested"
    return f"{premise.words[0].upper()}{premise.words[1:]} ({how}{without})"


def _given(parameters: dict[str, str]) -> list[str]:
    return [f'with ``{name}="{value}"``' for name, value in parameters.items()]


def free_list() -> list[str]:
    """What may stay free, one line each."""
    return [f"- **{name}**: {meaning}" for name, meaning in FREE.items()] + [""]


def method_table() -> list[str]:
    """Every method with its theorem."""
    rows = [
        [f"``{name}``", method.title, f":ref:`{THEOREMS[method.theorem].name} <theorem-{method.theorem}>`"]
        for name, method in METHODS.items()
    ]
    cells = [["method", "", "theorem, with its default parameters"], *rows]
    lines = [".. list-table::", "   :header-rows: 1", ""]
    return lines + [f"   {'*' if i == 0 else ' '} - {cell}" for row in cells for i, cell in enumerate(row)] + [""]


class TheoremList(SphinxDirective):
    lines = staticmethod(theorem_list)

    def run(self) -> list[nodes.Node]:
        parent = nodes.container()
        self.state.nested_parse(StringList(self.lines(), source="unbraid.trust"), self.content_offset, parent)
        return parent.children


class FreeList(TheoremList):
    lines = staticmethod(free_list)


class TheoremTable(TheoremList):
    lines = staticmethod(method_table)


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("theorem-list", TheoremList)
    app.add_directive("free-list", FreeList)
    app.add_directive("theorem-table", TheoremTable)
    return {"parallel_read_safe": True}
