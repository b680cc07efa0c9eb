"""Sphinx configuration."""

from lifeyears import __version__

project = "Lifeyears"
author = "The Lifeyears developers"
release = version = __version__
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx.ext.mathjax",
]
html_theme = "furo"
html_title = "Lifeyears"
myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3
autosummary_generate = True
autodoc_typehints = "none"
napoleon_google_docstring = False
exclude_patterns = ["_build", "estimators_tables.md", "method_tables.md"]
suppress_warnings = ["myst.xref_missing", "ref.python"]  # "values" names attributes of several classes
