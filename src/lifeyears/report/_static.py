"""The files that every page carries within itself."""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def static_text(name: str) -> str:
    """The text of a file beside this module: report.css, report.js or plotly-basic.min.js.

    Examples
    --------
    >>> static_text("plotly-basic.min.js").splitlines()[1]
    '* plotly.js (basic - minified) v4.1.1'
    """
    return files(__package__).joinpath("static", name).read_text(encoding="utf-8")
