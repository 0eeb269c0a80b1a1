"""The reference has every public name: each has a page, and the inventory knows it by all of its names."""

from pathlib import Path

import pytest

import unbraid as ub
from unbraid.methods import METHODS

pytest.importorskip("sphinx")
DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def reference(monkeypatch):
    monkeypatch.syspath_prepend(DOCS)
    import reference_pages

    return reference_pages


def all_names(reference):
    return {other for name in reference.names() for other in name.others}


def test_every_method_and_public_name_has_a_page(reference):
    public = {f"unbraid.{name}" for name in ub.__all__ if name != "__version__"}
    modules = {f"unbraid.{name}" for name in (*ub._ROOMS, *ub._MODULES)}
    assert public - modules <= all_names(reference)
    assert modules <= {*reference.rooms()}
    for method in METHODS.values():
        page = reference.object_page(f"reference/unbraid.{method.estimator.lower()}")
        assert f".. autoclass:: unbraid.{method.estimator}\n" in page
        assert f":For: {method.about}" in page


@pytest.mark.parametrize("room", ["metrics", "datasets", "report", "study", "evaluation", "geometry", "theory"])
def test_every_name_of_a_room_has_a_page(reference, room):
    names = {f"unbraid.{room}.{name}" for name in getattr(ub, room).__all__}
    assert names - {"unbraid.study.analysis"} <= all_names(reference)


def test_names_that_differ_in_case_share_a_page(reference):
    files = [page.lower() for page in reference.pages()]
    assert len(files) == len({*files})
    assert [name.short for name in reference.pages()["reference/unbraid.metrics.dci"]] == ["dci", "DCI"]


def test_a_built_page_is_in_the_inventory_by_all_its_names(reference, tmp_path):
    """Three pages stand for all; ``make lint`` builds every one and fails where a name is missing."""
    from sphinx.application import Sphinx
    from sphinx.util.inventory import InventoryFile

    (tmp_path / "reference").mkdir()
    shown = ["unbraid.hessianica", "unbraid.metrics.dci", "unbraid.evaluate"]
    for page in shown:
        path = tmp_path / "reference" / f"{page}.rst"
        path.write_text(reference.object_page(f"reference/{page}"), encoding="utf-8")
    (tmp_path / "index.rst").write_text(
        "Names\n=====\n\n``HessianICA`` and ``ub.metrics.dci(...)``\n", encoding="utf-8"
    )
    (tmp_path / "conf.py").write_text("extensions = ['sphinx.ext.autodoc', 'numpydoc']\nexclude_patterns = ['out']\n")
    out = tmp_path / "out"
    app = Sphinx(tmp_path, tmp_path, out, out / "trees", "html", status=None, warning=None, freshenv=True)
    app.connect("doctree-read", reference.note_other_names)
    app.add_transform(reference.LinkNames)
    app.build()
    found = InventoryFile.loads((out / "objects.inv").read_bytes(), uri="").data
    objects = {name for kind in found for name in found[kind] if kind.startswith("py:")}
    assert {"unbraid.HessianICA", "unbraid.spectral.HessianICA", "unbraid.spectral.factors.HessianICA"} <= objects
    assert {"unbraid.metrics.dci", "unbraid.metrics.DCI", "unbraid.evaluation.evaluate"} <= objects
    index = (out / "index.html").read_text(encoding="utf-8")
    assert 'href="reference/unbraid.hessianica.html#unbraid.HessianICA"' in index
    assert 'href="reference/unbraid.metrics.dci.html#unbraid.metrics.dci"' in index
