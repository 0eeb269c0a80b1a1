"""Formulas as MathML, which browsers draw themselves: pages need no network and no script for them.

docutils converts LaTeX; a formula that it cannot convert is a warning with its place, in every build.
"""

import re

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator

logger = logging.getLogger(__name__)
# What docutils does not know, as what it knows: dots, brackets of a larger size, which are left as they are, and
# fractions without braces, of which it takes both digits for one number.
UNKNOWN = {
    r"\\dots\b": r"\\ldots",
    r"\\[bB]ig[lr]?\b": "",
    r"(\\[td]?frac) ?([0-9A-Za-z])([0-9A-Za-z])": r"\1{\2}{\3}",
}


def check(app: Sphinx, doctree: nodes.document) -> None:
    """Warn of formulas that cannot be converted; builds that write no page convert none."""
    for node in [*doctree.findall(nodes.math), *doctree.findall(nodes.math_block)]:
        try:
            formulas(node)
        except MathError as error:
            logger.warning("the formula %r is not understood: %s", node.astext(), error, location=node)


def formulas(node: nodes.math | nodes.math_block) -> list[str]:
    """MathML of each formula of a node; a blank line parts those of a block."""
    block = isinstance(node, nodes.math_block)
    texts = node.astext().split("\n\n") if block else [node.astext()]
    for pattern, known in UNKNOWN.items():
        texts = [re.sub(pattern, known, text) for text in texts]
    return [tex2mathml(text, as_block=block) for text in texts if text.strip()]


def visit_inline(self: HTML5Translator, node: nodes.math) -> None:
    self.body.append(formulas(node)[0])
    raise nodes.SkipNode


def visit_block(self: HTML5Translator, node: nodes.math_block) -> None:
    self.body.append(self.starttag(node, "div", CLASS="math"))
    self.body += [*formulas(node), "</div>\n"]
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    app.connect("doctree-read", check)
    return {"parallel_read_safe": True}
