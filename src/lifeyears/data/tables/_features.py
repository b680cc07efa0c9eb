"""Which columns are features; identifiers, constants, dates and free text are excluded with a reason."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...errors import DataError, Message, Setting
from ...text import list_values
from ._columns import is_category, make_categories
from ._dates import looks_like_dates
from ._numbers import find_decimal_marks, is_padded_code
from ._source import SourceTable

MOST_CATEGORIES = 1000
_MOST_TEXTS = 1000  # looked at, to see what a column of texts holds
_FEW_ROWS = 10  # below this every text may well differ from row to row by chance
_IDENTIFIER_NAME = re.compile(
    r"(?i:(?:^|[_\W])(?:id|ids|[ups]id|patid|u?subjid|uuid|guid|key|pk|mrn|ssn|nr|no|code|rownames?|index|identifier)$)|[a-z]I[Dd]$|^unnamed_1$"
)


@dataclass(frozen=True, eq=False)
class Features:
    """The feature columns, why others are not among them, and what looks odd."""

    X: pd.DataFrame
    dropped: dict[str, str]
    warnings: tuple[str, ...]


def choose_features(
    source: SourceTable,
    outcome_columns: Collection[str],
    categorical: Collection[str] = (),
    keep: Collection[str] = (),
) -> Features:
    """Choose the feature columns; every other column is reported with a reason."""
    kept: dict[str, pd.Series] = {}
    dropped: dict[str, str] = {}
    warnings: list[str] = []
    for name in source.frame.columns:
        if name in outcome_columns:
            continue
        column = source.frame[name]
        wanted = name in categorical or name in keep
        if name in categorical:
            column = make_categories(column)
        reason = _no_use(column) or _no_number(column)
        if reason is None and not wanted:
            reason = _words_among_numbers(column) or _record_numbers(column) or _too_many_codes(column)
            if reason is not None:  # most likely a measurement is lost: worth more than a line in the report
                warnings.append(Message(f"column {name} is left out: ", reason))
            reason = reason or _no_feature(column)
        if reason is not None:
            dropped[name] = reason
            continue
        if wanted:
            _refuse_too_many(source, column)
        else:
            warnings += _doubts(column)
        kept[name], infinite = _finite(column, source)
        warnings += infinite
    X = pd.DataFrame(kept, index=source.frame.index)
    return Features(X, dropped, (*warnings, *_shape_warnings(X)))


def _no_use(column: pd.Series) -> str | None:
    """Say why a column carries no information."""
    known = column.dropna()
    if not len(known):
        return "it has no values"
    if known.nunique() > 1:
        return None
    value = known.iloc[0]
    if len(known) == len(column):
        return f"it has one value, {value!r}, in all rows" if isinstance(value, str) else f"it is {value} in all rows"
    share = 1 - len(known) / len(column)
    return f"it has one value, {value}, and is otherwise missing ({share:.0%}): if blank means no, write no"


def _no_number(column: pd.Series) -> str | None:
    """Say why no model can take a column as it is."""
    if looks_like_dates(column):
        return "it holds dates: turn it into a number (years since some day) if it is known at entry"
    if pd.api.types.is_timedelta64_dtype(column.dtype):
        return "it holds durations: turn it into a number if it is known at entry"
    return None


def _no_feature(column: pd.Series) -> str | None:
    """Say why a column that varies is still not a feature."""
    if is_category(column):
        return _no_category(column)
    if _is_identifier(column):
        return Message(
            "it is an identifier: a different whole number in every row (",
            Setting("keep", [str(column.name)]),
            " keeps it)",
        )
    return None


def _record_numbers(column: pd.Series) -> str | None:
    """Say that numbers look like those of records, where neither their name nor their order settles it."""
    if is_category(column) or _is_identifier(column):
        return None
    if not _codes_of_one_length(column.dropna().to_numpy(dtype=float), digits=7):
        return None
    return Message(
        "it looks like an identifier, a different whole number of one length in every row (",
        Setting("keep", [str(column.name)]),
        " keeps it)",
    )


def _no_category(column: pd.Series) -> str | None:
    name, n_known, n_categories = str(column.name), int(column.count()), len(column.cat.categories)
    if n_categories == n_known and (n_known >= _FEW_ROWS or _IDENTIFIER_NAME.search(name)):
        return "it is an identifier: a different text in every row"
    if n_categories <= MOST_CATEGORIES and (n_categories <= n_known / 2 or n_known < 2 * _FEW_ROWS):
        return None
    return (
        f"it has {n_categories:,} categories in {n_known:,} rows: too many to learn from. Group them into "
        f"fewer (at most {min(MOST_CATEGORIES, n_known // 2):,})"
    )


def _too_many_codes(column: pd.Series) -> str | None:
    """Say that leading zeros made codes, too many of them, of what may have been quantities."""
    padded = _padded_code(column)
    reason = _no_category(column) if padded else None
    if reason is None or len(column.cat.categories) == column.count():
        return None
    return f"with leading zeros ({padded!r}) it holds codes, not quantities, and {reason}"


def _words_among_numbers(column: pd.Series) -> str | None:
    """Say which texts keep a column from being numbers, where nearly all the others are."""
    if not is_category(column) or len(column.cat.categories) <= 2 * _FEW_ROWS:
        return None
    texts = [str(text) for text in column.cat.categories[:_MOST_TEXTS]]
    words = [text for text in texts if not find_decimal_marks([text])]
    if not words or len(words) > len(texts) / 10:
        return None
    return f"it holds numbers, but also {list_values(map(repr, words), most=3)}: make these numbers or blanks"


def _refuse_too_many(source: SourceTable, column: pd.Series) -> None:
    n_categories = len(column.cat.categories) if is_category(column) else 0
    if n_categories > MOST_CATEGORIES:
        raise DataError(
            f"{source.label}: column {column.name!r}, which you ask to keep, has {n_categories:,} "
            f"categories; at most {MOST_CATEGORIES:,} are accepted",
            hint=Message("Group them into fewer, or exclude it with ", Setting("drop", [str(column.name)]), "."),
            column=str(column.name),
        )


def _all_different_whole_numbers(values: np.ndarray) -> bool:
    return bool(np.all(np.isfinite(values)) and np.all(values % 1 == 0)) and len(np.unique(values)) == len(values)


def _different_by_design(values: np.ndarray) -> bool:
    """Whether chance would have made repeats: n whole numbers over a range R repeat about n²/2R times."""
    return bool(len(values) ** 2 / (2 * (values.max() - values.min() + 1)) > 5)


def _is_identifier(column: pd.Series) -> bool:
    """Whether whole numbers differ in every row and, by name, density or order, were given out one by one."""
    values = column.dropna().to_numpy(dtype=float)
    if not _all_different_whole_numbers(values):
        return False
    in_order = bool(np.all(np.diff(values) > 0)) and _codes_of_one_length(values, digits=6)
    return bool(_IDENTIFIER_NAME.search(str(column.name))) or _different_by_design(values) or in_order


def _codes_of_one_length(values: np.ndarray, digits: int) -> bool:
    """Whether all differ, have the same number of digits, at least so many, and are not rounded.

    Record numbers are so. Of measurements, platelets and prices may have six digits; seven are too exact.
    """
    if len(values) < _FEW_ROWS or not _all_different_whole_numbers(values) or values.min() < 10 ** (digits - 1):
        return False
    return len(np.unique(np.floor(np.log10(values)))) == 1 and not np.all(values % 10 == 0)


def _padded_code(column: pd.Series) -> str | None:
    """Give a code with leading zeros, if all categories are made of digits and one begins so."""
    if not is_category(column):
        return None
    texts = [str(text) for text in column.cat.categories]
    padded = next(filter(is_padded_code, texts), None)
    return padded if padded and all(map(str.isdecimal, texts)) else None


def _doubts(column: pd.Series) -> list[str]:
    """List what needs attention in a column that is kept."""
    padded = _padded_code(column)
    if padded:
        return [f"column {column.name} has leading zeros ({padded!r}): taken as codes, so 007, 07 and 7 are three"]
    if is_category(column):
        return []
    values = column.dropna().to_numpy(dtype=float)
    different = len(values) == len(column) >= 100 and _all_different_whole_numbers(values)
    if different or _codes_of_one_length(values, digits=6):
        return [f"column {column.name} holds a different whole number in every row: drop it if it is an identifier"]
    return []


def _finite(column: pd.Series, source: SourceTable) -> tuple[pd.Series, list[str]]:
    if is_category(column) or column.dtype.kind != "f":
        return column, []
    infinite = np.isinf(column.to_numpy(dtype=float))
    if not infinite.any():
        return column, []
    warning = f"column {column.name} is infinite in {source.where(infinite)}: taken as missing"
    return column.where(~infinite), [warning]


def _shape_warnings(X: pd.DataFrame) -> list[str]:
    if not X.shape[1]:
        return ["no feature is left: without one, every subject is predicted alike"]
    if X.shape[1] > X.shape[0]:
        return [
            f"there are more columns than rows ({X.shape[1]} features, {X.shape[0]} subjects): most models "
            "will fit noise. Choose the features by what is known of the matter, or give more rows"
        ]
    return []
