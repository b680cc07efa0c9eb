"""One self-contained page of a run, made from its summary.json alone, or of a simulation."""

from ._reading import Summary, check_summary, read_summary
from ._simulation import render_simulation, write_simulation_report
from ._static import static_text
from ._writing import as_html, as_html_beside, write_report

__all__ = [
    "Summary",
    "as_html",
    "as_html_beside",
    "check_summary",
    "read_summary",
    "render_simulation",
    "static_text",
    "write_report",
    "write_simulation_report",
]
