"""One self-contained page from a run, made from its summary.json alone."""

from ._reading import Summary, checked, read_summary
from ._static import static_text
from ._writing import as_html, as_html_beside, write_report

__all__ = ["Summary", "as_html", "as_html_beside", "checked", "read_summary", "static_text", "write_report"]
