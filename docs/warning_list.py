"""The directive ``.. warning-list::``: every warning with its cause and remedy, from the one list of them."""

import re

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from unbraid.contract.warnings import CODES, KINDS


def warning_list() -> list[str]:
    """The lines of a section for each kind, with an entry for each code."""
    lines: list[str] = []
    for start, kind in KINDS.items():
        about = (kind.__doc__ or "").splitlines()[0]
        lines += [f".. rubric:: {kind.__name__}", "", re.sub(r" \(UB\d\.\.\)", "", about), ""]
        for code, line in CODES.items():
            if code.startswith(start):
                lines += [f".. _{code}:", "", f"**{code}**  {_plain(line.sentence)}", ""]
                lines += [f"   *Cause:* {_plain(line.cause)}", "", f"   *What to do:* {_plain(line.remedy)}", ""]
                lines += [f"   *When to ignore it:* {_plain(line.ignore)}", ""]
    return lines


def _plain(text: str) -> str:
    """The text with an ellipsis for each figure, and names with an underscore at their end as code."""
    return re.sub(r"([\w.]*\w_)(?!\w)", r"``\1``", re.sub(r"\{[^}]*\}", "…", text))


class WarningList(SphinxDirective):
    def run(self) -> list[nodes.Node]:
        parent = nodes.container()
        lines = StringList(warning_list(), source="unbraid.contract.warnings")
        self.state.nested_parse(lines, self.content_offset, parent)
        return parent.children


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("warning-list", WarningList)
    return {"parallel_read_safe": True}
