"""A page for every public name, written to ``docs/reference`` before a build.

The names are those of ``unbraid.__all__`` and of ``__all__`` of its rooms, so a new method or function has its page
without a line here. A name that is reached in several ways has one page; the inventory knows all of them. Names that
differ in case alone (the function ``dci`` and its result ``DCI``) share a page: some file systems see one name in them.
"""

import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.transforms import SphinxTransform
from sphinx.util import logging

import unbraid
from unbraid.methods import METHODS

logger = logging.getLogger(__name__)
PAGES = Path(__file__).parent / "reference"
GUIDES = {"product": "product-manifold"}  # the page of a family, where it is called otherwise
# What public functions and methods return or share, by the room on whose page it is listed.
RETURNED = {
    "spectral": (
        "spectral.diagnostics.Diagnostics",
        "spectral.selection.Selection",
        "spectral.selection.Candidate",
        "spectral.refits.Reliability",
        "spectral.refits.Refit",
        "trust.expected.ExpectedMCC",
    ),
    "diagnosis": ("trust.table.Figure", "nulls.null.NullTest", "nulls.consistency.Consistency"),
    "autoencoders": (
        "autoencoders.base.AutoencoderEstimator",
        "training.encoder.EncoderEstimator",
        "training.estimator.TrainedEstimator",
        "autoencoders.decomposition.decompose",
        "autoencoders.decomposition.Parts",
    ),
    "contrastive": (
        "contrastive.infonce.InfoNCE",
        "contrastive.permutation.Permutation",
        "contrastive.segments.Segments",
    ),
    "product": (
        "product.checks.FactorCheck",
        "metrics.kinds.circular_correlation",
        "metrics.kinds.spherical_correlation",
    ),
    "report": (
        "estimator.summary.Summary",
        "estimator.summary.Section",
        "estimator.summary.Fact",
        "saving.persistence.Persistent",
    ),
    "metrics": ("metrics.modules.MetricModule",),
    "study": ("study.spec.DataSpec", "study.spec.MethodSpec"),
}


@dataclass
class Name:
    """A public object: the name of its page, and the other names under which it can be reached."""

    full: str
    thing: Any
    others: set[str] = field(default_factory=set)

    @property
    def short(self) -> str:
        return self.full.rpartition(".")[2]

    @property
    def page(self) -> str:
        return f"reference/{self.full.lower()}"

    @property
    def directive(self) -> str:
        if inspect.isclass(self.thing):
            return "autoclass"
        return "autofunction" if callable(self.thing) else "autodata"

    @property
    def summary(self) -> str:
        if not callable(self.thing):
            return ""
        text = re.split(r"\n\s*\n", inspect.getdoc(self.thing) or "")[0]
        return " ".join(text.split())


def members(module: ModuleType) -> list[str]:
    """The public names of a module: ``__all__``, or what it defines itself."""
    own = (n for n, x in vars(module).items() if getattr(x, "__module__", None) == module.__name__ and n[0] != "_")
    return list(getattr(module, "__all__", own))


@cache
def rooms() -> dict[str, list[Name]]:
    """Public names by the full name of the module that offers them, the package first; each object has one ``Name``."""
    known: dict[Any, Name] = {}
    found: dict[str, list[Name]] = {}

    def note(full: str, thing: Any) -> Name:
        key = id(thing) if callable(thing) else full
        name = known.setdefault(key, Name(full, thing))
        name.others.add(full)
        if callable(thing):
            name.others.add(f"{thing.__module__}.{thing.__qualname__}")
        return name

    def walk(path: str, module: ModuleType, extra: tuple[str, ...] = ()) -> None:
        things = {name: getattr(module, name) for name in members(module) if not name.startswith("__")}
        found[path] = [note(f"{path}.{n}", x) for n, x in things.items() if not inspect.ismodule(x)]
        for place in extra:
            owner, _, name = place.rpartition(".")
            found[path].append(note(f"unbraid.{place}", getattr(import_module(f"unbraid.{owner}"), name)))
        for name, thing in things.items():
            if inspect.ismodule(thing):
                walk(f"{path}.{name}", thing, RETURNED.get(name, ()) if path == "unbraid" else ())

    walk("unbraid", unbraid)
    return found


def names() -> list[Name]:
    """Every public object once."""
    return list({name.full: name for row in rooms().values() for name in row}.values())


@cache
def pages() -> dict[str, list[Name]]:
    """Objects by their page."""
    found: dict[str, list[Name]] = {}
    for name in names():
        found.setdefault(name.page, []).append(name)
    return found


def title(text: str, line: str = "=") -> list[str]:
    return [text, line * len(text), ""]


def object_page(page: str) -> str:
    """The page of an object, or of two whose names differ in case alone."""
    first = pages()[page][0]
    room = next(path for path, row in rooms().items() if first in row)
    up = "" if room == "unbraid" else f" › :doc:`{room.removeprefix('unbraid.')} </{room_page(room)}>`"
    lines = [":orphan:", "", *title(" and ".join(name.short for name in pages()[page]))]
    lines += [".. rst-class:: where", "", f":doc:`Reference </reference/index>`{up}", ""]
    for name in pages()[page]:
        lines += method_facts(name.short) if name.full.count(".") == 1 else []
        lines += [f".. {name.directive}:: {name.full}"]
        if name.directive == "autoclass":
            lines += ["   :members:", "   :inherited-members: BaseEstimator, Module, Exception, tuple, str, BaseModel"]
            lines += ["   :special-members: __call__"] if "__call__" in vars(name.thing) else []
        elif name.directive == "autodata":
            lines += ["   :no-value:"]
        lines += [""]
    return "\n".join(lines)


def method_facts(estimator: str) -> list[str]:
    """What the table of methods says about a class."""
    key = next((key for key, method in METHODS.items() if method.estimator == estimator), None)
    if key is None:
        return []
    method = METHODS[key]
    guide, theory = GUIDES.get(method.family, method.family), PAGES.parent / "theory" / f"{key}.rst"
    facts = {
        "For": f"{method.about}.",
        "Command line": f"``unbraid fit DATA --method {key}``" if method.fits else "",
        "Uses": ", ".join(f"``{name}``" for name in method.uses),
        "Needs": ", ".join(f"``{name}``" for name in method.needs if name != "torch"),
        "Install": "``pip install 'unbraid[torch]'``" if "torch" in method.needs else "",
        "Guide": f":doc:`/{guide}`" + (f", :doc:`/theory/{key}`" if theory.exists() else ""),
    }
    return [*(f":{name}: {text}" for name, text in facts.items() if text), ""]


def room_page(room: str) -> str:
    return f"reference/{room.removeprefix('unbraid.')}-names"


def table(row: list[Name]) -> list[str]:
    """Objects and their first sentences."""
    lines = [".. list-table::", "   :class: names", "   :widths: 30 70", ""]
    for name in sorted(row, key=lambda name: name.short.lower()):
        lines += [f"   * - :doc:`{name.short} </{name.page}>`", f"     - {name.summary}"]
    return [*lines, ""] if row else []


def module_page(room: str, row: list[Name]) -> str:
    below = [path for path in rooms() if path.rpartition(".")[0] == room]
    lines = [*title(room), f".. automodule:: {room}", "", *table(row)]
    return "\n".join([*lines, *hidden(map(room_page, below))])


def hidden(documents: Iterator[str]) -> list[str]:
    shown = [f"   /{name}" for name in documents]
    return [".. toctree::", "   :hidden:", "", *shown, ""] if shown else []


def index_page() -> str:
    """Methods by family, then functions, then the rooms."""
    of = {name.short: name for name in rooms()["unbraid"]}
    about = "Everything public, a page each. It is reached as ``unbraid.NAME`` and loads when it is first used."
    lines = [*title("Reference"), about, ""]
    families: dict[str, list[str]] = {}
    for method in METHODS.values():
        families.setdefault(method.family, []).append(method.estimator)
    for family, estimators in families.items():
        lines += [*title(f"Methods: {family}", "-"), *table([of.pop(name) for name in estimators])]
    lines += [*title("Functions, and what they take", "-"), *table(list(of.values()))]
    lines += [*title("Rooms", "-"), ".. list-table::", "   :class: names", "   :widths: 30 70", ""]
    below = [path for path in rooms() if path.count(".") == 1]
    for path in below:
        about = " ".join((inspect.getdoc(getattr(unbraid, path.partition(".")[2])) or "").split("\n\n")[0].split())
        lines += [f"   * - :doc:`{path} </{room_page(path)}>`", f"     - {about}"]
    return "\n".join([*lines, "", *hidden(map(room_page, below))])


def write_pages(app: Sphinx | None = None) -> None:
    """Write the pages that changed, and take away those whose names are gone."""
    texts = {page: object_page(page) for page in pages()}
    texts |= {room_page(room): module_page(room, row) for room, row in rooms().items() if room != "unbraid"}
    texts["reference/index"] = index_page()
    PAGES.mkdir(exist_ok=True)
    for path in PAGES.glob("*.rst"):
        if f"reference/{path.stem}" not in texts:
            path.unlink()
    for page, text in texts.items():
        path = PAGES.parent / f"{page}.rst"
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def note_other_names(app: Sphinx, doctree: nodes.document) -> None:
    """Make an object known to the inventory, and to roles, by all of its names."""
    domain = app.env.domains.python_domain
    for name in pages().get(app.env.docname, ()):
        kind = domain.objects[name.full].objtype
        for other in name.others - {*domain.objects}:
            domain.note_object(other, kind, name.full, aliased=True)


def check_inventory(app: Sphinx, env: BuildEnvironment) -> None:
    """Every public name is in the inventory; one that is not breaks a build in which warnings are errors."""
    known = env.domains.python_domain.objects
    for name in names():
        for missing in name.others - {*known}:
            logger.warning("the reference lacks %s", missing, location=name.page)


class LinkNames(SphinxTransform):
    """``HessianICA`` and ``ub.metrics.mcc(...)`` in running text lead to their pages."""

    default_priority = 400

    def apply(self, **kwargs: Any) -> None:
        known = {name.full: name.full for name in names()} | {name.short: name.full for name in rooms()["unbraid"]}
        for node in list(self.document.findall(nodes.literal)):
            text = node.astext()
            asked = re.match(r"(?:ub\.|unbraid\.)?([A-Za-z_][\w.]*)(?:\(.*\))?$", text, flags=re.DOTALL)
            if not asked or isinstance(node.parent, nodes.reference | pending_xref | nodes.title):
                continue
            full = known.get(f"unbraid.{asked[1]}") or (known.get(asked[1]) if asked[1][0].isupper() else None)
            if full is None or (asked[1].islower() and not text.startswith(("ub.", "unbraid."))):
                continue
            where = self.env.docname
            xref = pending_xref("", refdomain="py", reftype="obj", reftarget=full, refdoc=where, refwarn=False)
            node.replace_self(xref)
            xref += node


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", write_pages)
    app.connect("doctree-read", note_other_names)
    app.connect("env-check-consistency", check_inventory)
    app.add_transform(LinkNames)
    return {"parallel_read_safe": True}
