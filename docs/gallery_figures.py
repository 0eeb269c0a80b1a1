"""Shows the figures that the examples make, which belong to no window, in the gallery."""

from matplotlib.figure import Figure
from sphinx_gallery.scrapers import figure_rst


def scrape(block, block_vars, gallery_conf):
    """Save every figure that the block has bound to a name, once."""
    saved = []
    for name, value in list(block_vars["example_globals"].items()):
        if isinstance(value, Figure):
            path = next(block_vars["image_path_iterator"])
            value.savefig(path, dpi=110)
            saved.append(path)
            del block_vars["example_globals"][name]
    return figure_rst(saved, gallery_conf["src_dir"])


def _get_sg_image_scraper():
    return scrape
