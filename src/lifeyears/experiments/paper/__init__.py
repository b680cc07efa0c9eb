"""The paper's tables: its published numbers, and the same tables made from a run."""

from ._numbers import PAPER_TABLES, load_paper_table
from ._tables import (
    list_sources,
    mean_known,
    measure_whole_life,
    measure_within_horizon,
    tabulate_errors,
    tabulate_gains,
    tabulate_scatter,
    tabulate_selection,
)

__all__ = [
    "PAPER_TABLES",
    "list_sources",
    "load_paper_table",
    "mean_known",
    "measure_whole_life",
    "measure_within_horizon",
    "tabulate_errors",
    "tabulate_gains",
    "tabulate_scatter",
    "tabulate_selection",
]
