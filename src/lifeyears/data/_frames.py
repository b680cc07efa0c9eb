"""Frames of other libraries as pandas ones."""

from __future__ import annotations

from typing import Any

import pandas as pd


def as_pandas(table: Any) -> pd.DataFrame | None:
    """A pandas or polars frame as a pandas one; None for anything else."""
    if isinstance(table, pd.DataFrame):
        return table
    if type(table).__module__.split(".")[0] == "polars":
        if hasattr(table, "collect"):
            table = table.collect()
        return pd.DataFrame({name: _column(table[name]) for name in table.columns})
    return None


def _column(series: Any) -> Any:
    """A polars column; categories stay categories (through Python objects, as pyarrow may not be there)."""
    kind = str(series.dtype)
    if kind.startswith(("Categorical", "Enum")):
        return pd.Categorical(series.to_list())
    if kind in ("String", "Utf8", "Boolean"):
        return pd.Series(series.to_list(), dtype=object if series.null_count() or kind != "Boolean" else bool)
    return series.to_numpy()
