"""Any file or frame to a `Dataset`: nothing is misread in silence.

`read_table` reads a table with its outcome, `read_candidates` one without. The other names are the rules that readers
share: how numbers and missing values are written, and how columns that reveal the outcome are found.
"""

from ._candidates import read_candidates
from ._leaks import find_leaks
from ._numbers import MISSING_TEXTS, find_decimal_marks, parse_numbers
from ._read_table import read_table
from ._source import SourceTable

__all__ = [
    "MISSING_TEXTS",
    "SourceTable",
    "find_decimal_marks",
    "find_leaks",
    "parse_numbers",
    "read_candidates",
    "read_table",
]
