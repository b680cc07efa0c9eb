"""One self-contained page of a run, made from its summary.json alone, or of a simulation."""

from ._simulation import render_simulation, write_simulation_report
from ._static import static_text
from ._writing import as_html, as_html_beside, write_report

__all__ = [
    "as_html",
    "as_html_beside",
    "render_simulation",
    "static_text",
    "write_report",
    "write_simulation_report",
]
