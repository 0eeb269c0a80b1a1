"""The directive ``.. method-chart::``: "Which method for my data?" as a drawing and as a list, from one table.

The questions stand in the order in which :func:`unbraid.diagnose` decides; ``tests/docs`` holds each row against it.

The role ``:users:`pairs```: the classes whose ``fit`` takes that evidence.
The role ``:fitted:`methods```: the methods of ``unbraid fit``.
"""

from dataclasses import dataclass
from html import escape

from docutils import nodes
from docutils.statemachine import StringList
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective, SphinxRole

from unbraid.diagnosis.survey import MOST_FACTORS
from unbraid.methods import METHODS


@dataclass(frozen=True)
class Row:
    """A question; yes leads to a method, no to the next row. ``lines`` is the question as it is drawn."""

    name: str
    lines: tuple[str, ...]
    method: str
    remark: str
    page: str

    @property
    def question(self) -> str:
        return " ".join(self.lines)

    @property
    def title(self) -> str:
        return METHODS[self.method].title


ROWS = (
    Row(
        "structure", ("Are the columns as unrelated", "as shuffled ones?"),
        "pca-ica", "nothing to find; it shows the largest directions", "diagnosis",
    ),
    Row(
        "loops", ("Does a factor wrap around:", "an angle, a phase, a full turn?"),
        "product-manifold", "an angle for what turns, a length for the rest", "theory/product-manifold",
    ),
    Row(
        "labels", ("Is an assumption in doubt, and has", "every row a label that changes the factors?"),
        "gin", "needs neither a box nor non-Gaussian factors", "theory/gin",
    ),
    Row(
        "flat", ("Are the data flat: do as many principal", "components as factors hold nearly all?"),
        "pca-ica", "exact for linear mixtures", "spectral",
    ),
    Row(
        "pieces", ("Do the points lie in pieces", "with nothing between?"),
        "pca-ica", "a baseline; better: fit each piece alone", "warnings/UB207",
    ),
    Row(
        "many", (f"More than {MOST_FACTORS} factors,", "or very few points for their number?"),
        "pca-ica", "a baseline; better: hold some factors still", "diagnosis",
    ),
)  # fmt: skip
LAST = Row("curved", (), "hessian-ica", "curved data with few factors", "theory/hessian-ica")

STEP, LEFT, RIGHT, BOX, HIGH = 74, 10, 400, 300, 50
STYLE = (
    ".method-chart rect{fill:#eaf1f8;stroke:#3a6ea5}.method-chart .found rect{fill:#eef6ea;stroke:#4a7c3a}"
    ".method-chart text{font:14px sans-serif;fill:#1c2733}.method-chart .small{font-size:12px}"
    ".method-chart .name{font-weight:bold}.method-chart path{stroke:#5a6672;fill:none;stroke-width:1.5}"
    ".method-chart .word{font-size:12px;fill:currentColor}"
    ".method-chart a text{text-decoration:none}.method-chart a:focus rect,.method-chart a:hover rect{stroke-width:3}"
)


def drawing(address) -> str:
    """The chart as SVG; ``address`` gives the link to a page of the docs."""
    height = STEP * len(ROWS) + HIGH + 20
    parts = [
        f'<svg class="method-chart" viewBox="0 0 {RIGHT + BOX + 40} {height}" role="group" '
        'aria-labelledby="chart-title chart-text" xmlns="http://www.w3.org/2000/svg">',
        '<title id="chart-title">Which method for my data?</title>',
        '<desc id="chart-text">Questions from top to bottom; yes leads to the method on the right, no to the next '
        "question. The list below says the same.</desc>",
        f"<style>{STYLE}</style>",
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0,0 L8,4 L0,8 z" style="fill:#5a6672;stroke:none"/></marker></defs>',
    ]
    for i, row in enumerate(ROWS):
        y = 10 + STEP * i
        middle, under = y + HIGH / 2, y + HIGH
        parts += [_box(LEFT, y, row.lines), _found(row, y, address)]
        parts += [_arrow(LEFT + BOX + 40, middle, RIGHT - 4, middle, "yes", RIGHT - 40, middle - 5)]
        parts += [_arrow(LEFT + 60, under, LEFT + 60, y + STEP - 4, "no", LEFT + 68, under + 17)]
    return "\n".join([*parts, _found(LAST, 10 + STEP * len(ROWS), address, x=LEFT), "</svg>"])


def _box(x: int, y: int, lines: tuple[str, ...], wide: int = BOX + 40) -> str:
    text = "".join(f'<text x="{x + 10}" y="{y + 21 + 18 * i}">{escape(line)}</text>' for i, line in enumerate(lines))
    return f'<g><rect x="{x}" y="{y}" width="{wide}" height="{HIGH}" rx="6"/>{text}</g>'


def _found(row: Row, y: int, address, x: int = RIGHT) -> str:
    words = (
        f'<text class="name" x="{x + 10}" y="{y + 21}">{escape(row.title)}  ({row.method})</text>'
        f'<text class="small" x="{x + 10}" y="{y + 39}">{escape(row.remark)}</text>'
    )
    box = f'<rect x="{x}" y="{y}" width="{BOX + 30}" height="{HIGH}" rx="6"/>'
    return f'<a class="found" href="{escape(address(row.page))}">{box}{words}</a>'


def _arrow(x1: float, y1: float, x2: float, y2: float, word: str, x: float, y: float) -> str:
    line = f'<path d="M{x1},{y1} L{x2},{y2}" marker-end="url(#tip)"/>'
    return f'{line}<text class="word" x="{x}" y="{y}">{word}</text>'


def text_list() -> list[str]:
    """The same as a numbered list of reStructuredText."""
    lines = []
    for row in ROWS:
        lines += [f"#. {row.question} Then :doc:`{row.title} </{row.page}>` (``{row.method}``): {row.remark}."]
    return [*lines, f"#. Otherwise :doc:`{LAST.title} </{LAST.page}>` (``{LAST.method}``): {LAST.remark}.", ""]


class MethodChart(SphinxDirective):
    def run(self) -> list[nodes.Node]:
        listed = nodes.container()
        self.state.nested_parse(StringList(text_list(), source="docs/method_chart.py"), self.content_offset, listed)
        return [chart(), *listed.children]


class chart(nodes.General, nodes.Element):
    """Where the drawing goes."""


class Users(SphinxRole):
    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        found: list[nodes.Node] = []
        for method in (method for method in METHODS.values() if self.text in method.uses):
            name = method.estimator
            words, target = nodes.literal(name, name), f"unbraid.{name}"
            link = addnodes.pending_xref("", words, refdomain="py", reftype="class", reftarget=target)
            found += [nodes.Text(", " * bool(found)), link]
        return found or [nodes.Text("none yet; checked and kept")], []


class Fitted(SphinxRole):
    """The methods of ``unbraid fit``."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        found: list[nodes.Node] = []
        for name in (name for name, method in METHODS.items() if method.fits):
            found += [nodes.Text(", " * bool(found)), nodes.literal(name, name)]
        return found, []


def visit_chart(self, node: chart) -> None:
    here = self.builder.current_docname
    self.body.append(drawing(lambda page: self.builder.get_relative_uri(here, page)))
    raise nodes.SkipNode


def skip_chart(self, node: chart) -> None:
    raise nodes.SkipNode  # the list says it all


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_node(chart, html=(visit_chart, None), text=(skip_chart, None), latex=(skip_chart, None))
    app.add_directive("method-chart", MethodChart)
    app.add_role("users", Users())
    app.add_role("fitted", Fitted())
    return {"parallel_read_safe": True}
