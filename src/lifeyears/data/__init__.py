"""Where tables come from, and how they become matrices."""

from ._cohort import CohortSummary, cohort_summary
from ._dataset import DataReport, Dataset, Truth
from ._preprocessor import TablePreprocessor
from ._read_table import read_table
from ._registry import Population, simulate_registry

__all__ = [
    "CohortSummary",
    "DataReport",
    "Dataset",
    "Population",
    "TablePreprocessor",
    "Truth",
    "cohort_summary",
    "read_table",
    "simulate_registry",
]
