"""Turn a column of a STAR file into numbers, codes or dates, alike whether it came as text, SAS or Stata.

A column has few distinct values, so each function converts those and spreads the result over the rows.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from ..._typing import AnyArray, FloatArray, IntArray

if TYPE_CHECKING:
    import pandas as pd

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
MISSING = re.compile(r"|\.[A-Za-z_]?")  # empty, ".", and SAS's special missing values ".A" to ".Z"
DATE = re.compile(r"\d{1,2}/\d{1,2}/\d{4}.*|\d{1,2}[A-Za-z]{3}\d{2,4}(:.*)?")
SAS_DAY_ZERO = "1960-01-01"  # where SAS and Stata count their days from
LAST_DAY = "2200-01-01"  # what lies beyond, such as 9999-12-31, stands for an unknown date


def parse_numbers(column: pd.Series) -> tuple[FloatArray, int]:
    """Parse floats, with NaN for missing; and count the values that were no numbers."""
    rows, values = _distinct(column)
    texts = [_text(value) for value in values]
    known = np.array([text is not None for text in texts], dtype=bool)
    floats = np.array([float(text) if text and _is_number(text) else np.nan for text in texts])
    return _spread(floats, rows, np.nan), int(np.count_nonzero(_spread(known & np.isnan(floats), rows, False)))


def parse_codes(column: pd.Series, missing: frozenset[str]) -> pd.Series:
    """Parse categories of text, in order (numeric for numeric codes), without the codes that mean missing."""
    import pandas as pd

    rows, values = _distinct(column)
    texts = [_text(value) for value in values]
    seen = {text for text in texts if text is not None and text not in missing}
    order = sorted(seen, key=(lambda text: (float(text), text)) if all(map(_is_number, seen)) else None)
    place = {text: position for position, text in enumerate(order)}
    positions = np.array([place.get(text, -1) if text is not None else -1 for text in texts], dtype=int)
    return pd.Series(pd.Categorical.from_codes(_spread(positions, rows, -1), categories=pd.Index(order)))


def parse_dates(column: pd.Series) -> pd.Series:
    """Parse days of the calendar, from MM/DD/YYYY or what SAS and Stata hold; NaT if missing or unreadable."""
    import pandas as pd

    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        known = column.mask(column > pd.Timestamp(LAST_DAY))
        return known.astype("datetime64[ns]").dt.normalize()
    if pd.api.types.is_numeric_dtype(column.dtype):  # the format that says "date" was lost on the way
        numbered = pd.to_numeric(column)
        last = (pd.Timestamp(LAST_DAY) - pd.Timestamp(SAS_DAY_ZERO)).days
        days = pd.to_timedelta(numbered.mask(numbered.abs() > last), unit="D")
        return (pd.Timestamp(SAS_DAY_ZERO) + days).astype("datetime64[ns]").dt.normalize()
    rows, values = _distinct(column)
    texts = pd.Series([_text(value) for value in values], dtype=object).str.slice(0, 10)
    read = pd.to_datetime(texts, format="%m/%d/%Y", errors="coerce")
    read = read.fillna(pd.to_datetime(texts, format="%Y-%m-%d", errors="coerce"))
    read = read.mask(read > pd.Timestamp(LAST_DAY)).astype(
        "datetime64[ns]"
    )  # what stands for unknown fits no nanosecond
    return pd.Series(_spread(read.to_numpy(), rows, np.datetime64("NaT")), index=column.index)


def are_dates(column: pd.Series) -> bool:
    """Return whether a column of unknown meaning holds dates."""
    import pandas as pd

    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        return True
    texts = [text for text in map(_text, _distinct(column)[1]) if text is not None]
    return bool(texts) and all(DATE.fullmatch(text) for text in texts)


def are_quantities(column: pd.Series, most_codes: int) -> bool:
    """Return whether a column of unknown meaning holds quantities: fractions, or too many numbers for codes."""
    texts = {text for text in map(_text, _distinct(column)[1]) if text is not None}
    if not all(map(_is_number, texts)):
        return False
    return len(texts) > most_codes or any(not float(text).is_integer() for text in texts)


def _distinct(column: pd.Series) -> tuple[IntArray, AnyArray]:
    """Return each row's place among the distinct values (-1: missing), and these values."""
    import pandas as pd

    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.cat.remove_unused_categories()  # left over from rows that were not chosen
        return column.cat.codes.to_numpy(), column.cat.categories.to_numpy(dtype=object)
    rows, values = pd.factorize(column, use_na_sentinel=True)
    return rows, values.to_numpy(dtype=object)


def _text(value: object) -> str | None:
    """Write a value alike from any file: "2010" for "2010", " 2010 " and 2010.0; None if missing."""
    if isinstance(value, str):
        text = value.strip()
        if MISSING.fullmatch(text):
            return None
        return f"{float(text):.12g}" if NUMBER.fullmatch(text) else text
    if isinstance(value, (int, float, np.integer, np.floating)):
        return None if np.isnan(value) else f"{float(value):.12g}"
    return str(value)


def _is_number(text: str | None) -> bool:
    return text is not None and NUMBER.fullmatch(text) is not None


def _spread(values: AnyArray, rows: IntArray, missing: object) -> AnyArray:
    """Give each row the value it points to; rows of -1 get `missing`."""
    by_row: AnyArray = np.append(values, np.asarray(missing, dtype=values.dtype))[rows]
    return by_row
