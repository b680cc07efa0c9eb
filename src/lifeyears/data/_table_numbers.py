"""Numbers written as text: decimal commas, thousand separators, and the cases where nobody can tell."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pandas as pd

from ._table_source import listed

# Thousands are groups of exactly three digits, all with the same separator, the first not beginning with 0:
# without these limits a date (12.03.2020) or an address (10.0.0.1) would turn into a number.
_SPACES = "'’ \u00a0\u202f"


def _pattern(decimal: str) -> re.Pattern[str]:
    group = "," if decimal == "." else r"\."
    whole = rf"(?:\d+|[1-9]\d{{0,2}}(?:(?P<mark>{group}|[{_SPACES}])\d{{3}})(?:(?P=mark)\d{{3}})*)"
    point = re.escape(decimal)
    return re.compile(rf"[+\-−]?(?:{whole}(?:{point}\d*)?|{point}\d+)(?:[eE][+-]?\d+)?")


_PATTERNS = {decimal: _pattern(decimal) for decimal in ".,"}


def is_text(column: pd.Series) -> bool:
    """Whether a column holds strings, under any of pandas' types for them."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return False
    if pd.api.types.is_object_dtype(column.dtype):
        return pd.api.types.infer_dtype(column, skipna=True) == "string"
    return pd.api.types.is_string_dtype(column.dtype)


def readings(texts: Sequence[str]) -> str:
    """Decimal marks under which every text is a number: '', '.', ',' or '.,' when both readings work.

    Examples
    --------
    >>> readings(["1,5", "12"]), readings(["1,234.5"]), readings(["1,234"]), readings(["III"])
    (',', '.', '.,', '')
    """
    if not len(texts):
        return ""
    return "".join(mark for mark, pattern in _PATTERNS.items() if all(map(pattern.fullmatch, texts)))


def numbers(texts: Sequence[str], decimal: str) -> np.ndarray:
    """Turn texts that `readings` accepts under this decimal mark into numbers."""
    other = "," if decimal == "." else "."
    without = str.maketrans(dict.fromkeys(other + _SPACES) | {decimal: ".", "−": "-"})
    return np.array([float(text.translate(without)) for text in texts])


def decimal_mark(texts: Sequence[str], column: str, label: str, hint: str | None = None) -> str | None:
    """Find the decimal mark of a column of texts; None if they are not numbers.

    Where both readings work and give different numbers (1,234), `hint` decides; without it nobody can tell,
    and an error says so, for a guess could be wrong by a factor of a thousand.
    """
    possible = readings(texts)
    if len(possible) < 2:
        return possible or None
    if hint in (",", "."):
        return hint
    unclear = [text for text in texts if numbers([text], ".")[0] != numbers([text], ",")[0]]
    if unclear:
        raise ValueError(
            f"{label}: the numbers in column {column!r} can be read in two ways: is {unclear[0]!r} "
            f"{numbers([unclear[0]], '.')[0]:g} or {numbers([unclear[0]], ',')[0]:g}? "
            "Pass decimal='.' or decimal=',' to say which mark is the decimal one"
        )
    return "."


def settle_text_numbers(
    frame: pd.DataFrame, label: str, decimal: str | None, points_seen: bool = False
) -> tuple[pd.DataFrame, dict[str, str]]:
    """Turn the text columns that hold numbers into numbers.

    Returns the frame, and the decimal mark of each column that was turned. Where a column can be read in two
    ways, the other columns of the same file decide, if they agree; `points_seen` adds that decimal points
    were found among the columns that are numbers already.
    """
    texts = {name: frame[name].dropna().unique().tolist() for name in frame.columns if is_text(frame[name])}
    possible = {name: readings([text.strip() for text in values]) for name, values in texts.items()}
    hint = decimal
    if hint is None:
        clear = {marks for marks in possible.values() if len(marks) == 1} | ({"."} if points_seen else set())
        hint = clear.pop() if len(clear) == 1 else None
    turned = {}
    for name, marks in possible.items():
        if marks and (decimal is None or decimal in marks):
            stripped = [text.strip() for text in texts[name]]
            turned[name] = decimal_mark(stripped, name, label, hint) or "."
            values = dict(zip(texts[name], numbers(stripped, turned[name]), strict=True))
            frame = frame.assign(**{name: frame[name].map(values).astype(float)})
    return frame, turned


def has_decimal_points(column: pd.Series) -> bool:
    """Whether a column of numbers can only have been written with decimal points.

    What was read as 1.234 or 1.2 may have been a thousand and more (1.234, 1.200); 0.5 and 1.2345 cannot.
    """
    values = column.to_numpy(dtype=float, na_value=np.nan)
    values = np.abs(values[np.isfinite(values)])
    thousandths = values * 1000
    return bool(np.any((values > 0) & (values < 1)) or np.any(np.abs(thousandths - np.rint(thousandths)) > 1e-6))


def decimal_commas_warning(turned: dict[str, str]) -> list[str]:
    """Say which columns were read with decimal commas."""
    commas = [name for name, mark in turned.items() if mark == ","]
    if not commas:
        return []
    return [f"decimal commas were read in {listed(commas)}: pass decimal=',' if that is right, '.' if it is not"]
