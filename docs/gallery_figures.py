"""Shows the figures that the examples make in the gallery, at two resolutions; an example without one is a fault."""

from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib.figure import Figure
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx_gallery.scrapers import figure_rst

logger = logging.getLogger(__name__)


def scrape(block, block_vars, gallery_conf):
    """Save every figure of the block once: those bound to a name, which belong to no window, and those of pyplot."""
    known = block_vars["example_globals"]
    bound = {name: value for name, value in known.items() if isinstance(value, Figure)}
    figures = {id(figure): figure for figure in (*bound.values(), *map(plt.figure, plt.get_fignums()))}
    paths = []
    for figure in figures.values():
        path = Path(next(block_vars["image_path_iterator"]))
        double = path.with_name(f"{path.stem}_2_00x.png")
        figure.savefig(path, dpi=100)
        figure.savefig(double, dpi=200)
        paths.append({0: str(path), 2.0: str(double)})
    for name in bound:
        del known[name]
    plt.close("all")
    return figure_rst([row[0] for row in paths], gallery_conf["src_dir"], srcsetpaths=paths)


def _get_sg_image_scraper():
    return scrape


def without_picture(examples: Path, images: Path) -> list[str]:
    """The examples of which the gallery shows nothing."""
    stems = sorted(path.stem for path in examples.glob("plot_*.py"))
    return [stem for stem in stems if not any(images.glob(f"sphx_glr_{stem}_0*.png"))]


def check(app: Sphinx) -> None:
    """Where the examples were run, each must have drawn something."""
    if app.config.sphinx_gallery_conf["plot_gallery"] and app.builder.format == "html":
        docs = Path(app.srcdir)
        for stem in without_picture(docs.parent / "examples", docs / "auto_examples" / "images"):
            logger.warning("the example %s has no picture in the gallery", stem)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", check, priority=900)
    return {"parallel_read_safe": True}
