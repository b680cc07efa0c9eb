"""Numbers written as text: decimal commas, thousand separators, and the cases where nobody can tell."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from ..._typing import FloatArray
from ...errors import DataError, Message, Setting
from ...text import list_values
from ._source import SourceTable

# Not pandas' list: that one turns the answer "None" (no treatment, no diabetes) into a missing value.
MISSING_TEXTS = ["", " ", ".", "?", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NAN", "-nan", "-NaN", "NULL", "null"]
MISSING_TEXTS += ["<NA>", "#DIV/0!", "#REF!", "#VALUE!", "#NUM!", "#NAME?", "#NULL!"]

# Thousands are groups of exactly three digits, all with the same separator, the first not beginning with 0:
# without these limits a date (12.03.2020) or an address (10.0.0.1) would turn into a number.
_SPACES = "'’ \u00a0\u202f"


def _pattern(decimal: str) -> re.Pattern[str]:
    group = "," if decimal == "." else r"\."
    whole = rf"(?:\d+|[1-9]\d{{0,2}}(?:(?P<mark>{group}|[{_SPACES}])\d{{3}})(?:(?P=mark)\d{{3}})*)"
    point = re.escape(decimal)
    return re.compile(rf"[+\-−]?(?:{whole}(?:{point}\d*)?|{point}\d+)(?:[eE][+-]?\d+)?")


_PATTERNS = {decimal: _pattern(decimal) for decimal in ".,"}
_PADDED = re.compile(r"0\d+")


def is_text(column: pd.Series) -> bool:
    """Whether a column holds strings, under any of pandas' types for them."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return False
    if pd.api.types.is_object_dtype(column.dtype):
        return bool(pd.api.types.infer_dtype(column, skipna=True) == "string")
    return bool(pd.api.types.is_string_dtype(column.dtype))


def find_decimal_marks(texts: Sequence[str]) -> str:
    """Find the decimal marks under which every text is a number: '', '.', ',', or '.,' when both work.

    Examples
    --------
    >>> [find_decimal_marks(texts) for texts in (["1,5", "12"], ["1,234.5"], ["1,234"], ["III"])]
    [',', '.', '.,', '']
    """
    if not len(texts):
        return ""
    return "".join(mark for mark, pattern in _PATTERNS.items() if all(map(pattern.fullmatch, texts)))


def parse_numbers(texts: Sequence[str], decimal: str) -> FloatArray:
    """Turn texts that `find_decimal_marks` accepts under this decimal mark into numbers.

    Examples
    --------
    >>> parse_numbers(["1,5", "12"], ",")
    array([ 1.5, 12. ])
    """
    other = "," if decimal == "." else "."
    without = str.maketrans(dict.fromkeys(other + _SPACES) | {decimal: ".", "−": "-"})
    return np.array([float(text.translate(without)) for text in texts])


def is_padded_code(text: str) -> bool:
    """Whether a text is a code with leading zeros: as numbers, 007 and 7 would be one."""
    return _PADDED.fullmatch(text) is not None


def choose_decimal_mark(texts: Sequence[str], column: str, label: str, hint: str | None = None) -> str | None:
    """Find the decimal mark of a column of texts; None if they are not numbers.

    Where both marks work and give different numbers (1,234), `hint` decides. Without it an error is raised, as a
    guess could be wrong by a factor of a thousand.
    """
    possible = find_decimal_marks(texts)
    if len(possible) < 2:
        return possible or None
    if hint in (",", "."):
        return hint
    unclear = [text for text in texts if parse_numbers([text], ".")[0] != parse_numbers([text], ",")[0]]
    if not unclear or _three_decimals(texts, unclear):
        return "."
    raise DataError(
        f"{label}: the numbers in column {column!r} can be read in two ways: is {unclear[0]!r} "
        f"{parse_numbers([unclear[0]], '.')[0]:g} or {parse_numbers([unclear[0]], ',')[0]:g}?",
        hint=Message(
            "Pass ", Setting("decimal", "."), " or ", Setting("decimal", ","), " to say which is the decimal mark."
        ),
        column=column,
    )


def _three_decimals(texts: Sequence[str], unclear: Sequence[str]) -> bool:
    """Whether texts such as 1.234 are plainly decimals: all have three, or 1500 beside has no thousands point."""
    doubtful = set(unclear)
    whole = np.abs(parse_numbers([text for text in texts if text not in doubtful], "."))
    return not any("," in text for text in unclear) and (not len(whole) or bool(whole.max() >= 1000))


def convert_text_numbers(
    source: SourceTable, decimal: str | None, skip: Collection[str] = (), outcome: Collection[str] = ()
) -> SourceTable:
    """Turn the text columns that hold numbers into numbers, and warn where that was a guess.

    Where a column can be read in two ways, the other columns of the same table decide, if they agree. Codes
    with leading zeros stay texts, and so do the columns to `skip`. `outcome` names those that are not features.
    """
    texts, missing = {}, frozenset(MISSING_TEXTS)
    for name in source.frame.columns:
        if is_text(source.frame[name]):
            known = {text: text.strip() for text in source.frame[name].dropna().unique().tolist()}
            texts[name] = {text: bare for text, bare in known.items() if bare not in missing}
    possible = {name: find_decimal_marks(list(known.values())) for name, known in texts.items()}
    hint = decimal
    if hint is None:
        clear = {marks for marks in possible.values() if len(marks) == 1} | ({"."} if source.points_seen else set())
        hint = clear.pop() if len(clear) == 1 else None
    turned, columns = {}, {}
    for name, marks in possible.items():
        bare = list(texts[name].values())
        if not marks or name in skip or any(map(is_padded_code, bare)):
            continue
        if decimal is None or decimal in marks:
            turned[name] = choose_decimal_mark(bare, name, source.label, hint) or "."
            values = dict(zip(texts[name], parse_numbers(bare, turned[name]), strict=True))
            columns[name] = source.frame[name].map(values).astype(float)
    features = {name for name in possible if name not in (*skip, *outcome)}
    as_points = [name for name, mark in turned.items() if mark == "." and source.typed and name in features]
    misfits = [name for name, marks in possible.items() if marks and decimal not in (None, *marks) and name in features]
    as_commas = [name for name, mark in turned.items() if mark == "," and decimal is None]
    warnings = (*source.warnings, *_warnings(as_commas, as_points, misfits, decimal))
    return replace(source, frame=source.frame.assign(**columns), warnings=warnings)


def _warnings(as_commas: list[str], as_points: list[str], misfits: list[str], decimal: str | None) -> list[Message]:
    warnings: list[Message] = []
    if as_commas:
        warnings.append(
            Message(
                f"decimal commas were read in {list_values(as_commas)}: pass ",
                Setting("decimal", ","),
                " if that is right, '.' if it is not",
            )
        )
    if as_points:
        warnings.append(
            Message(
                f"texts were read as numbers in {list_values(as_points)}: name those that are codes in ",
                Setting("categorical"),
            )
        )
    if misfits:
        mark = "commas" if decimal == "." else "points"
        warnings.append(
            Message(
                Setting("decimal", decimal),
                f" leaves {list_values(misfits)} as text, with {mark} where decimals would be",
            )
        )
    return warnings


def has_decimal_points(column: pd.Series) -> bool:
    """Whether a column of numbers can only have been written with decimal points.

    What was read as 1.234 or 1.2 may have been a thousand and more (1.234, 1.200); 0.5 and 1.2345 cannot.
    """
    values = column.to_numpy(dtype=float, na_value=np.nan)
    values = np.abs(values[np.isfinite(values)])
    thousandths = values * 1000
    return bool(np.any((values > 0) & (values < 1)) or np.any(np.abs(thousandths - np.rint(thousandths)) > 1e-6))
