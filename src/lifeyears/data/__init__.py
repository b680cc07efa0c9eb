"""Data sets from tables, STAR releases, public sources and simulation, and the matrices that models take."""

from ._cohort import CohortSummary, cohort_summary
from .dataset import DataReport, Dataset, Truth
from .preprocessing import TablePreprocessor
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
