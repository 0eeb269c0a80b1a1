"""A page for each warning, and the directives ``warning-list`` and ``figure-list``, from the two tables of trust.

The pages are written to ``docs/warnings`` before a build, as ``warnings/UB203.rst``; an address never changes.
"""

import re
from pathlib import Path

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from unbraid.trust.explain import explanation, sentence
from unbraid.trust.table import FIGURES, Figure
from unbraid.trust.warnings import CODES, KINDS, kind_of

PAGES = Path(__file__).parent / "warnings"
# The page on what such a warning is about, by how its code begins; the longest beginning counts.
ABOUT = {
    "UB101": "diagnosis",
    "UB102": "theory/gin",
    "UB103": "theory/gin",
    "UB104": "theory/gin",
    "UB105": "theory/product-manifold",
    "UB106": "theory/product-manifold",
    "UB107": "metrics",
    "UB108": "identifiability",
    "UB109": "identifiability",
    "UB110": "identifiability",
    "UB11": "trust",
    "UB119": "theory/product-manifold",
    "UB12": "contrastive",
    "UB120": "identifiability",
    "UB124": "autoencoders",
    "UB125": "autoencoders",
    "UB130": "autoencoders",
    "UB20": "theory/hessian-ica",
    "UB21": "theory/hessian-ica",
    "UB212": "trust",
    "UB213": "theory/product-manifold",
    "UB22": "theory/gin",
    "UB23": "theory/product-manifold",
    "UB24": "theory/geomancer",
    "UB25": "trust",
    "UB252": "theory/gin",
    "UB301": "files",
    "UB302": "theory/gin",
    "UB303": "theory/gin",
    "UB304": "files",
    "UB305": "identifiability",
    "UB306": "diagnosis",
    "UB401": "autoencoders",
    "UB402": "theory/geomancer",
    "UB403": "theory/hessian-ica",
    "UB404": "files",
    "UB405": "theory/hessian-ica",
}


def about(code: str) -> str:
    """The page on what a warning is about."""
    return ABOUT[max((start for start in ABOUT if code.startswith(start)), key=len)]


def warning_page(code: str) -> str:
    """The page of a warning."""
    kind = kind_of(code)
    lines = [code, "=" * len(code), "", _plain(sentence(code)), ""]
    for title, text in explanation(code).items():
        silence = title == "To silence it"
        lines += [title, "-" * len(title), ""]
        lines += [".. code-block:: python", "", "   import warnings", "", f"   {text}"] if silence else [_plain(text)]
        lines += [""]
    whose = _without_codes(kind.__doc__ or "")
    lines += [f"It is one of the kind ``unbraid.warnings.{kind.__name__}``: {whose[0].lower()}{whose[1:]}", ""]
    key = CODES[code].figure
    figure = f" Its figure: :ref:`{FIGURES[key].name} <figure-{key}>`." if key else ""
    lines += [f"What it is about: :doc:`/{about(code)}`.{figure} All warnings: :doc:`/warnings`.", ""]
    return "\n".join(lines)


def write_pages(app: Sphinx | None = None) -> None:
    """Write the pages that changed, and take away those of codes that are gone."""
    PAGES.mkdir(exist_ok=True)
    for path in PAGES.glob("*.rst"):
        if path.stem not in CODES:
            path.unlink()
    for code in CODES:
        path, text = PAGES / f"{code}.rst", warning_page(code)
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def warning_list() -> list[str]:
    """The lines of a section for each kind, with a link to the page of each code."""
    lines: list[str] = []
    for kind in dict.fromkeys(KINDS.values()):
        lines += [f".. rubric:: {kind.__name__}", "", _without_codes(kind.__doc__ or ""), ""]
        for code in CODES:
            if kind_of(code) is kind:
                lines += [f".. _{code}:", "", f":doc:`warnings/{code}`  {_plain(sentence(code))}", ""]
    return lines


# The parts of the page on figures; a figure stands in the first that it belongs to.
PARTS = {
    "Assumptions of the diagnosis": lambda figure: bool(figure.assumption),
    "Evidence": lambda figure: len(figure.families) > 1,
    "Spectral methods": lambda figure: figure.families == ("spectral",),
    "Flows": lambda figure: figure.families == ("flows",),
    "Autoencoders": lambda figure: figure.families == ("autoencoders",),
    "Contrastive learning": lambda figure: figure.families == ("contrastive",),
    "GEOMANCER": lambda figure: figure.families == ("geometry",),
    "Checks of a product manifold": lambda figure: figure.families == ("product",),
}


def figure_list() -> list[str]:
    """The lines of a section for each part, with an entry for each figure."""
    lines: list[str] = []
    left = dict(FIGURES)
    for title, belongs in PARTS.items():
        lines += [f".. rubric:: {title}", ""]
        for key in [key for key, figure in left.items() if belongs(figure)]:
            lines += _entry(key, left.pop(key))
    if left:
        raise ValueError(f"figures that stand in no part: {', '.join(left)}")
    return lines


def _entry(key: str, figure: Figure) -> list[str]:
    star = " (informs)" if not figure.decides else ""
    title = f"{figure.name}; assumption: {figure.assumption}{star}" if figure.assumption else figure.name
    parts = {
        "Formula": figure.formula,
        "In doubt": figure.doubt and f"{figure.doubt}; calibration: {figure.calibrated}",
        "What to do": _plain(re.sub(r"\{[^}]*\}", "…", figure.remedy)),
        "Warning": figure.code and f":doc:`warnings/{figure.code}`",
    }
    lines = [f".. _figure-{key}:", "", f"``{key}``  **{title}**", f"   {_plain(figure.meaning)}", ""]
    return [*lines, *(f"   | {name}: {text}" for name, text in parts.items() if text), ""]


def _without_codes(text: str) -> str:
    return re.sub(r" \(UB[^)]*\)", "", text.splitlines()[0])


def _plain(text: str) -> str:
    """The text with names as code: calls with settings, an underscore at the end, a value."""
    text = re.sub(r"(\w+\(\*\*[\w.]+\))", r"``\1``", text)
    return re.sub(r"([\w.]*\w_(?!\w)|\b\w+=(?:'\w+'|\.\.\.|\w+|(?=[ ,])))", r"``\1``", text)


class WarningList(SphinxDirective):
    lines = staticmethod(warning_list)

    def run(self) -> list[nodes.Node]:
        parent = nodes.container()
        self.state.nested_parse(StringList(self.lines(), source="unbraid.trust"), self.content_offset, parent)
        return parent.children


class FigureList(WarningList):
    lines = staticmethod(figure_list)


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("warning-list", WarningList)
    app.add_directive("figure-list", FigureList)
    app.connect("builder-inited", write_pages)
    return {"parallel_read_safe": True}
