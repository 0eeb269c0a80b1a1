"""The documentation works from disk: no page asks for the network, formulas are drawn, and the search finds."""

import subprocess
import sys
from pathlib import Path

import pytest
from docutils import nodes

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
    box = page.locator("div.body math[display=block]").first.bounding_box()
    assert box["height"] > 20, "a fraction or a bracket is drawn, not a line of LaTeX"
    page.fill("input[name=q]", "holonomy")
    page.press("input[name=q]", "Enter")
    page.wait_for_selector("ul.search li a")
    assert "GEOMANCER" in page.inner_text("ul.search")
    page.click("ul.search li a >> text=GEOMANCER")
    assert "geomancer.html" in page.url


@pytest.mark.slow
def test_every_picture_and_link_of_the_pages_is_there(built, page):
    for name in ("index", "which-method", "warnings", "warnings/UB203", "theory/index", "tutorials/index"):
        page.goto((built / f"{name}.html").as_uri())
        broken = page.evaluate("[...document.images].filter(i => !i.naturalWidth).map(i => i.src)")
        assert not broken
        links = page.evaluate("[...document.querySelectorAll('div.body a[href]')].map(a => a.href.baseVal || a.href)")
        for link in links:
            where = link.partition("#")[0]
            if where.startswith("file:"):
                assert Path(where.removeprefix("file://")).is_file(), link
