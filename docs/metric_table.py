"""The directive ``.. metric-table::``: what each metric asks and how it fails, from the one table of metrics."""

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from unbraid.metrics import METRICS


def metric_table() -> list[str]:
    """The lines of a list-table with one row for each metric."""
    lines = [".. list-table::", "   :header-rows: 1", "   :widths: 22 40 38", ""]
    lines += ["   * - metric", "     - asks", "     - known failure"]
    for metric in METRICS:
        if metric.asks:
            name = metric.public[0].partition(".")[2]
            lines += [f"   * - ``{name}``", f"     - {metric.asks}", f"     - {metric.fails}"]
    return lines


class MetricTable(SphinxDirective):
    def run(self) -> list[nodes.Node]:
        parent = nodes.container()
        self.state.nested_parse(StringList(metric_table(), source="unbraid.metrics"), self.content_offset, parent)
        return parent.children


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("metric-table", MetricTable)
    return {"parallel_read_safe": True}
