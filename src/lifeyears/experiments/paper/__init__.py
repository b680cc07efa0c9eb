"""The paper's tables: its published numbers, and the same tables made from a run."""

from ._numbers import PAPER_TABLES, load_paper_table
from ._tables import (
    NDCG_KEYS,
    WHOLE_LIFE,
    mean_known,
    tabulate_errors,
    tabulate_gains,
    tabulate_scatter,
    tabulate_selection,
)

__all__ = [
    "NDCG_KEYS",
    "PAPER_TABLES",
    "WHOLE_LIFE",
    "load_paper_table",
    "mean_known",
    "tabulate_errors",
    "tabulate_gains",
    "tabulate_scatter",
    "tabulate_selection",
]
