"""Sphinx settings; ``make docs`` builds with every warning an error."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # the extensions of this folder

import rooms_picture

from unbraid import __version__

project = "unbraid"
author = copyright = "The unbraid developers"
version = release = __version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.viewcode",
    "sphinx_design",
    "citation_page",
    "mathml",
    "measured",
    "method_chart",
    "markdown_page",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "gallery_figures",
    "reference_pages",
    "reproduction_page",
    "study_answers",
    "theorem_list",
    "warning_list",
]
exclude_patterns = ["_build", "sg_execution_times.rst", "auto_examples/sg_execution_times.rst"]
templates_path = []
html_theme = "furo"
html_title = "unbraid"
html_static_path = ["static"]
html_css_files = ["unbraid.css"]
html_js_files = ["accessible.js"]
html_search_scorer = str(Path(__file__).parent / "search_scores.js")
html_show_sourcelink = False
html_math_renderer = "mathml"
html_show_search_summary = False  # it would be fetched, which browsers refuse for files on disk
default_role = "literal"
smartquotes_action = "qe"  # two hyphens are options of commands, not a dash

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # numpydoc sections say it already
numpydoc_show_class_members = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "image_scrapers": ("gallery_figures",),
    "filename_pattern": r"plot_",
    "within_subsection_order": "FileNameSortKey",  # kinds of evidence beside each other
    "abort_on_example_error": True,
    "show_signature": False,
    "download_all_examples": False,
}


def skip_foreign(app, what, name, obj, skip, options):
    """Leave out what a class inherits from other packages; their pages describe it."""
    module = getattr(obj, "__module__", None)
    return True if module is not None and module.split(".")[0] != "unbraid" else None


def setup(app):
    app.connect("autodoc-skip-member", skip_foreign)
    app.connect("builder-inited", rooms_picture.write)
