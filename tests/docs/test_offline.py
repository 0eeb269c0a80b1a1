"""The documentation works from disk: no page asks for the network, formulas are drawn, and the search finds."""

import re
import subprocess
import sys
from html import unescape
from pathlib import Path
from urllib.parse import unquote

import pytest
from docutils import nodes

from tests.conftest import SCRIPT, script

pytest.importorskip("sphinx")
ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


@pytest.fixture
def mathml(monkeypatch):
    monkeypatch.syspath_prepend(DOCS)
    import mathml

    return mathml


def test_formulas_become_mathml(mathml):
    (inline,) = mathml.formulas(nodes.math("", r"M_1 \times \dots \times M_m"))
    assert inline.startswith("<math")
    assert "…" in inline
    assert "display" not in inline
    both = mathml.formulas(nodes.math_block("", "a = \\big( b \\big)\n\nc = 1"))
    assert len(both) == 2
    assert all('display="block"' in formula for formula in both)


def test_a_fraction_without_braces_has_two_parts(mathml):
    (plain,), (braced,) = (mathml.formulas(nodes.math("", text)) for text in (r"\frac12 x", r"\frac{1}{2} x"))
    assert plain == braced


def test_a_formula_that_is_not_understood_is_told(mathml):
    with pytest.raises(mathml.MathError, match="nonsense"):
        mathml.formulas(nodes.math("", r"\nonsense{x}"))


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """All pages, without running the examples."""
    out = tmp_path_factory.mktemp("html")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-D", "plot_gallery=0", str(DOCS), str(out)]
    made = subprocess.run(command, capture_output=True, text=True, check=False, timeout=3000)
    assert made.returncode == 0, made.stderr
    return out


@pytest.fixture
def page(browser):
    """A page that reads from disk only; what else it asks for is a fault."""
    faults = []

    def check(route):
        if route.request.url.startswith("file:"):
            route.continue_()
        else:
            faults.append(f"a request to {route.request.url}")
            route.abort()

    context = browser.new_context()
    context.set_default_timeout(300_000)
    found = context.new_page()
    found.route("**/*", check)
    found.on("pageerror", lambda error: faults.append(str(error)))
    found.on("console", lambda told: faults.append(told.text) if told.type == "error" else None)
    yield found
    context.close()
    assert not faults


@pytest.mark.slow
def test_pages_from_disk_search_and_draw_formulas(built, page):
    page.goto((built / "theory" / "impossibility.html").as_uri())
    box = page.locator("article math[display=block]").first.bounding_box()
    assert box["height"] > 20, "a fraction or a bracket is drawn, not a line of LaTeX"
    page.fill("input[name=q]", "holonomy")
    page.press("input[name=q]", "Enter")
    page.wait_for_selector("ul.search li a")
    assert "GEOMANCER" in page.inner_text("ul.search")
    page.click("ul.search li a >> text=GEOMANCER")
    assert "geomancer.html" in page.url


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "first"),
    [
        ("HessianICA", "unbraid.HessianICA"),
        ("GIN", "unbraid.GIN"),
        ("evaluate", "unbraid.evaluate"),
        ("fit_report", "unbraid.report.fit_report"),
        ("MIG", "unbraid.metrics.mig"),
        ("fit_transform pipeline GridSearchCV", "faq"),
        ("time series", "faq"),
        ("resume training", "faq"),
        ("how many samples do I need", "faq"),
        ("PyTorch encoder", "faq"),
        ("hyperparameters", "faq"),
        ("Jupyter notebook", "faq"),
        ("privacy", "faq"),
        ("install", "install"),
    ],
)
def test_the_search_finds_the_name_or_the_question_first(built, page, words, first):
    page.goto((built / "search.html").as_uri() + f"?q={words}")
    page.wait_for_selector("ul.search li a")
    page.wait_for_selector("p.search-summary >> text=/finished/")  # the theme has no other sign
    assert Path(page.locator("ul.search li a").first.get_attribute("href")).name.partition(".html")[0] == first.lower()


AXED = [
    *("index.html", "quickstart.html", "compare.html", "which-method.html", "benchmarks.html", "search.html"),
    *("auto_examples/index.html", "case-studies/rat.html", "reference/unbraid.hessianica.html"),
    *("reproductions/gin.html", "theory/hessian-ica.html", "tutorials/images.html"),
]


def pages_of(built):
    return sorted(
        path for path in built.rglob("*.html") if path.relative_to(built).parts[0] not in ("_modules", "_static")
    )


@pytest.mark.slow
def test_no_page_scrolls_sideways_on_a_phone(built, browser):
    """At 390 pixels: tables and code scroll within themselves, the page does not; the menu is out of sight."""
    context = browser.new_context(viewport={"width": 390, "height": 844})
    page, wide = context.new_page(), []
    for path in pages_of(built):
        page.goto(path.as_uri())
        drawer = "document.querySelector('.sidebar-drawer')?.getBoundingClientRect().right > 0"
        if page.evaluate(f"document.documentElement.scrollWidth > innerWidth || {drawer}"):
            wide.append(str(path.relative_to(built)))
    context.close()
    assert not wide


@pytest.mark.slow
@pytest.mark.parametrize(("scheme", "width"), [("light", 1300), ("dark", 390)])
def test_axe_finds_no_serious_fault(built, browser, scheme, width):
    axe = script().axe()
    assert axe, f"this test needs axe-core: run {SCRIPT}"
    context = browser.new_context(viewport={"width": width, "height": 844}, color_scheme=scheme)
    page, faults = context.new_page(), []
    for name in AXED:
        page.goto((built / name).as_uri())
        page.evaluate(axe.read_text(encoding="utf-8"))
        found = page.evaluate("axe.run()")["violations"]
        faults += [f"{name}: {v['id']}" for v in found if v["impact"] in ("serious", "critical")]
    context.close()
    assert not faults


@pytest.mark.slow
def test_no_link_or_picture_inside_is_dead(built):
    """Every file that a page of the docs names is there, and every place within it."""
    places, dead = {}, []
    for path in pages_of(built):
        text = path.read_text(encoding="utf-8")
        for link in re.findall(r'(?:href|src)="([^"]+)"', text):
            where, _, place = unescape(link).partition("#")
            if where.startswith(("http:", "https:", "data:", "mailto:")) or "search.html?" in where:
                continue
            target = (path.parent / unquote(where.partition("?")[0])).resolve() if where else path
            if not target.exists():
                dead.append(f"{path.name}: {link}")
            elif place and target.suffix == ".html" and path.stem not in ("genindex", "py-modindex"):
                if target not in places:
                    places[target] = {*re.findall(r'\bid="([^"]+)"', target.read_text(encoding="utf-8"))}
                if unescape(unquote(place)) not in {unescape(found) for found in places[target]}:
                    dead.append(f"{path.name}: {link}")
    assert not dead


@pytest.mark.slow
def test_the_inventory_has_every_public_name(built, monkeypatch):
    from sphinx.util.inventory import InventoryFile

    monkeypatch.syspath_prepend(DOCS)
    import reference_pages

    found = InventoryFile.loads((built / "objects.inv").read_bytes(), uri="").data
    known = {name for kind in found for name in found[kind] if kind.startswith("py:")}
    assert not {other for name in reference_pages.names() for other in name.others} - known
    assert {*reference_pages.rooms()} - {"unbraid"} <= known


QUESTIONS = {
    "What are the parameters of HessianICA?": "reference/unbraid.hessianica.html",
    "How do I install it with pip, with conda, on Windows or a Mac?": "install.html",
    "How does it compare with UMAP, CEBRA or iVAE?": "compare.html",
    "How do I cite it?": "cite.html",
    "What changed?": "changes.html",
    "What is MCC?": "faq.html#term-MCC",
    "Does it use my GPU?": "faq.html#does-it-use-my-gpu",
    "What about missing values?": "faq.html#what-about-missing-values",
    "How long does it take, and how much memory?": "faq.html#how-long-does-it-take-and-how-much-memory",
    "Is there an example on real data?": "auto_examples/plot_single_cells.html",
    "Which method is for my data?": "which-method.html",
    "What does UB203 mean?": "warnings/UB203.html",
    "Which files can it read?": "files.html",
    "Does anything leave my machine?": "faq.html#privacy-does-anything-leave-my-machine",
    "How do I save and load a model?": "reference/unbraid.load.html",
    "What about batches?": "faq.html#what-about-batch-effects-sessions-days",
    "How many rows do I need?": "faq.html#how-many-rows-samples-pictures-do-i-need",
    "My factor is an angle: what then?": "product-manifold.html",
    "What does a code stand for?": "meaning.html",
    "Which options has the command line?": "commands.html",
}


@pytest.mark.slow
@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_is_answered_within_two_clicks(built, question):
    """From the landing page; a place within a page counts as a click of its own unless a link leads there."""
    target, _, place = QUESTIONS[question].partition("#")
    first = links_of(built / "index.html")
    answer = (built / target).resolve()
    assert not place or f'id="{place}"' in answer.read_text(encoding="utf-8")
    if answer not in first:
        assert not place
        assert any(answer in links_of(path) for path in first if path.suffix == ".html" and path.is_file())


def links_of(path):
    found = re.findall(r'href="([^"#:]+)(?:#[^"]*)?"', path.read_text(encoding="utf-8"))
    return {(path.parent / unquote(unescape(link))).resolve() for link in found}
