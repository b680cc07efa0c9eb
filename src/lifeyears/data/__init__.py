"""Where tables come from, and how they become matrices."""

from ._catalogue import catalogue, load
from ._cohort import CohortSummary, cohort_summary
from ._dataset import DataReport, Dataset, Truth
from ._preprocessor import TablePreprocessor
from ._read_table import read_table
from ._registry import Population, simulate_registry
from ._star import read_star

__all__ = [
    "CohortSummary",
    "DataReport",
    "Dataset",
    "Population",
    "TablePreprocessor",
    "Truth",
    "catalogue",
    "cohort_summary",
    "load",
    "read_star",
    "read_table",
    "simulate_registry",
]
