"""Frames of other libraries as pandas ones, and which of their columns hold categories."""

from __future__ import annotations

import importlib.util
from typing import Any

import pandas as pd


def as_pandas(table: Any) -> pd.DataFrame | None:
    """Return a pandas or polars frame as a pandas one; None for anything else."""
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


def is_category(column: pd.Series) -> bool:
    """Return whether a column holds categories: words or booleans, not numbers; dates and durations are neither.

    Examples
    --------
    >>> is_category(pd.Series([1, None, 2.5, 3], dtype=object)), is_category(pd.Series([True, None]))
    (False, True)
    """
    if is_time(column):
        return False
    if column.dtype == object:  # numbers with None among them are numbers all the same
        return pd.api.types.infer_dtype(column, skipna=True) not in ("integer", "floating", "mixed-integer-float")
    return not pd.api.types.is_numeric_dtype(column) or pd.api.types.is_bool_dtype(column)


def is_time(column: pd.Series) -> bool:
    """Return whether a column holds dates or durations."""
    return bool(pd.api.types.is_datetime64_any_dtype(column) or pd.api.types.is_timedelta64_dtype(column))
