"""Sphinx configuration."""

import warnings

from lifeyears import __version__

warnings.filterwarnings("ignore", message="FigureCanvasAgg is non-interactive")  # the gallery keeps what is shown

project = "Lifeyears"
author = "The Lifeyears developers"
release = version = __version__
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx.ext.mathjax",
    "sphinx_gallery.gen_gallery",
]
html_theme = "furo"
html_title = "Lifeyears"
myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3
autosummary_generate = True
autodoc_typehints = "none"
napoleon_google_docstring = False
sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "gallery",
    "filename_pattern": "plot_",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "capture_repr": (),
    "download_all_examples": False,
    "show_memory": False,
    "min_reported_time": 3600,  # how long an example took here says nothing about another machine
    "write_computation_times": False,
}
# pages that others include; the gallery's scripts, which become pages of their own; parts of the README
exclude_patterns = ["_build", "*_tables.md", "examples/*", "gallery/*.ipynb", "gallery/*.py", "gallery/*.json"]
suppress_warnings = ["myst.xref_missing", "ref.python"]  # "values" names attributes of several classes
