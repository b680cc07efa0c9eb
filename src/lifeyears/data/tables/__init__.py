"""Any file or frame to a `Dataset`: nothing is misread in silence."""

from ._candidates import read_candidates
from ._read_table import read_table

__all__ = ["read_candidates", "read_table"]
