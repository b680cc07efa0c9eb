"""Columns of any type to the four the rest works with: numbers, dates, durations and categories of text."""

from __future__ import annotations

import datetime
from dataclasses import replace
from typing import TYPE_CHECKING, SupportsFloat

import numpy as np
import pandas as pd

from ...errors import DataError, Message, Setting
from ._source import SourceTable

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

_NESTED = (list, dict, tuple, set, np.ndarray, pd.Series, pd.DataFrame)


def simplify_columns(source: SourceTable) -> SourceTable:
    """Convert every column to one of four types: NumPy numbers, datetime64, timedelta64, categories of strings."""
    columns = {name: _plain(source.frame[name], source) for name in source.frame.columns}
    return replace(source, frame=pd.DataFrame(columns, index=source.frame.index))


def is_category(column: pd.Series) -> bool:
    """Whether a plain column holds categories."""
    return isinstance(column.dtype, pd.CategoricalDtype)


def make_categories(column: pd.Series) -> pd.Series:
    """Make categories of a plain column; whole numbers lose the .0 that missing values give them."""
    return column if is_category(column) else _categories(pd.Categorical(column), column)


def _plain(column: pd.Series, source: SourceTable) -> pd.Series:
    if is_category(column):
        return _categories(pd.Categorical(column), column)
    types = pd.api.types
    if types.is_bool_dtype(column.dtype):
        return _categories(pd.Categorical(column.astype(object)), column)
    if types.is_datetime64_any_dtype(column.dtype) or types.is_timedelta64_dtype(column.dtype):
        return column
    if types.is_complex_dtype(column.dtype):
        raise DataError(
            f"{source.label}: column {column.name!r} holds complex numbers",
            hint=Message("Exclude it with ", Setting("drop", [str(column.name)]), "."),
        )
    if types.is_numeric_dtype(column.dtype):
        if isinstance(column.dtype, np.dtype):
            return column if column.dtype.kind != "f" else column.astype(float)
        if types.is_integer_dtype(column.dtype) and not column.isna().any():
            whole = np.uint64 if types.is_unsigned_integer_dtype(column.dtype) else np.int64
            return _series(column.to_numpy(dtype=whole), column)
        return _series(column.to_numpy(dtype=float, na_value=np.nan), column)
    return _from_objects(column, source)


def _from_objects(column: pd.Series, source: SourceTable) -> pd.Series:
    objects = column.astype(object).where(column.notna(), None)
    kind = pd.api.types.infer_dtype(objects, skipna=True)
    if kind in ("integer", "floating", "mixed-integer-float", "decimal"):
        return _series([np.nan if pd.isna(value) else _as_float(value) for value in objects], column)
    if kind in ("datetime", "datetime64", "date"):
        return _moments(objects)
    if kind in ("timedelta", "timedelta64"):
        return pd.to_timedelta(objects)
    if kind not in ("string", "boolean", "empty"):
        _refuse_nested(objects, source)
        objects = objects.map(_text, na_action="ignore")
    codes, values = pd.factorize(objects)
    return _categories(pd.Categorical.from_codes(codes, categories=pd.Index(values, dtype=object)), column)


def _moments(objects: pd.Series) -> pd.Series:
    """Dates as pandas has them, in nanoseconds; in microseconds if one (9999-12-31) lies beyond these."""
    try:
        return pd.to_datetime(objects, utc=True).dt.tz_localize(None)
    except (pd.errors.OutOfBoundsDatetime, OverflowError):
        return _series(np.array([_naive(value) for value in objects], dtype="datetime64[us]"), objects)


def _naive(value: datetime.date) -> datetime.date | None:
    if pd.isna(value):
        return None
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        value = value.replace(tzinfo=None) - (value.utcoffset() or datetime.timedelta())
    return value


def _refuse_nested(objects: pd.Series, source: SourceTable) -> None:
    nested = objects.map(lambda value: isinstance(value, _NESTED)).to_numpy(dtype=bool)
    if nested.any():
        type_name = type(objects.iloc[int(np.argmax(nested))]).__name__
        kind = {"ndarray": "a list", "dict": "a structure"}.get(type_name, f"a {type_name}")
        raise DataError(
            f"{source.label}: column {objects.name!r} is nested: it holds {kind} in {source.where(nested)}; "
            "one number or text per row was expected",
            hint=Message(
                "Flatten it into columns of its own, or exclude it with ", Setting("drop", [str(objects.name)]), "."
            ),
        )


def _as_float(value: SupportsFloat) -> float:
    try:
        return float(value)
    except OverflowError:  # a whole number of more than 308 digits
        return float("inf")


def _text(value: object) -> str:
    return value.decode("utf-8", errors="replace") if isinstance(value, bytes) else str(value)


def _categories(values: pd.Categorical, column: pd.Series) -> pd.Series:
    """Strip the categories, blank ones becoming missing; sort them unless they came in an order."""
    values = values.remove_unused_categories()
    known = values.categories
    if pd.api.types.is_float_dtype(known.dtype) and all(value.is_integer() for value in known):
        known = known.astype(np.int64)
    texts = pd.Index([str(value).strip() for value in known], dtype=object)
    distinct = list(dict.fromkeys(text for text in texts if text))
    if not values.ordered and not pd.api.types.is_numeric_dtype(known.dtype):  # 2 comes before 10
        distinct.sort()
    categories = pd.Index(distinct, dtype=object)
    codes = np.append(categories.get_indexer(texts), -1)[values.codes]  # code -1, missing, takes the -1 at the end
    return _series(pd.Categorical.from_codes(codes, categories=categories, ordered=bool(values.ordered)), column)


def _series(values: ArrayLike | pd.Categorical, column: pd.Series) -> pd.Series:
    return pd.Series(values, index=column.index, name=column.name)
