"""No example of the gallery is without its picture."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from matplotlib.figure import Figure

pytest.importorskip("sphinx_gallery")
DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def gallery(monkeypatch):
    monkeypatch.syspath_prepend(DOCS)
    import gallery_figures

    return gallery_figures


def test_figures_of_both_kinds_are_saved_once_at_two_resolutions(gallery, tmp_path):
    import matplotlib.pyplot as plt

    plt.figure(figsize=(1, 1))
    known = {"bound": Figure(figsize=(1, 1)), "fig": plt.figure(figsize=(1, 1)), "n": 3}
    paths = iter([tmp_path / f"image_{i}.png" for i in range(9)])
    text = gallery.scrape(None, {"example_globals": known, "image_path_iterator": paths}, {"src_dir": str(tmp_path)})
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        f"image_{i}{size}.png" for i in range(3) for size in ("", "_2_00x")
    ]
    assert known == {"n": 3}
    assert not plt.get_fignums()
    assert "2.00x" in text


def test_an_example_without_picture_is_a_fault(gallery, tmp_path, monkeypatch):
    (tmp_path / "examples").mkdir()
    images = tmp_path / "docs" / "auto_examples" / "images"
    images.mkdir(parents=True)
    for name in ("plot_shown", "plot_silent"):
        (tmp_path / "examples" / f"{name}.py").touch()
    (images / "sphx_glr_plot_shown_001.png").touch()
    told = []
    monkeypatch.setattr(gallery.logger, "warning", lambda text, *facts: told.append(facts))
    config = SimpleNamespace(sphinx_gallery_conf={"plot_gallery": True})
    gallery.check(SimpleNamespace(config=config, builder=SimpleNamespace(format="html"), srcdir=tmp_path / "docs"))
    assert told == [("plot_silent",)]


@pytest.mark.parametrize("path", sorted((DOCS.parent / "examples").glob("plot_*.py")), ids=lambda path: path.stem)
def test_every_example_draws(path):
    text = path.read_text(encoding="utf-8")
    assert "plt." in text or "plot_" in text or "Figure(" in text
