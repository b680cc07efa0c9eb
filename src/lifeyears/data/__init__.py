"""Where tables come from, and how they become matrices."""

from ._dataset import DataReport, Dataset, Truth
from ._preprocessor import TablePreprocessor

__all__ = ["DataReport", "Dataset", "TablePreprocessor", "Truth"]
