"""Where tables come from, and how they become matrices."""

from ._cohort import CohortSummary, cohort_summary
from ._dataset import DataReport, Dataset, Truth
from ._preprocessor import TablePreprocessor
from .public import datasets, load
from .registry import Population, simulate_registry
from .star import read_star
from .tables import read_table

__all__ = [
    "CohortSummary",
    "DataReport",
    "Dataset",
    "Population",
    "TablePreprocessor",
    "Truth",
    "cohort_summary",
    "datasets",
    "load",
    "read_star",
    "read_table",
    "simulate_registry",
]
