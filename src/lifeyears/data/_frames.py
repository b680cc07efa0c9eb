"""Frames of other libraries as pandas ones."""

from __future__ import annotations

import importlib.util
from typing import Any

import pandas as pd


def as_pandas(table: Any) -> pd.DataFrame | None:
    """A pandas or polars frame as a pandas one; None for anything else."""
    if isinstance(table, pd.DataFrame):
        return table
    if type(table).__module__.split(".")[0] != "polars":
        return None
    if hasattr(table, "collect"):
        table = table.collect()
    if not hasattr(table, "columns"):
        table = table.to_frame()
    if importlib.util.find_spec("pyarrow") is None:  # polars' own conversion needs it; plain Python lists do not
        return pd.DataFrame({name: pd.Series(table[name].to_list()) for name in table.columns})
    return table.to_pandas()
