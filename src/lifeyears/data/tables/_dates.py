"""Dates to days and calendar years: one format per column, or a message that names the rows which differ."""

from __future__ import annotations

import contextlib
import datetime
import re
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from ..._typing import FloatArray
from ...errors import DataError, Message, Setting
from ...text import list_values
from ._source import SourceTable

_CLOCK = r"(?:[T ]+(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2}(?:\.\d+)?))?(?:Z|\+00:00)?)?"
_MONTH_NAMES = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_MONTHS = {name: number for number, name in enumerate(_MONTH_NAMES, start=1)}
# What a reader would call the format → its pattern. Day and month are told apart later, from all rows.
_FORMATS = {
    "year-month-day": r"(?P<year>\d{4})-(?P<month>\d{1,2})-(?P<day>\d{1,2})",
    "year/month/day": r"(?P<year>\d{4})/(?P<month>\d{1,2})/(?P<day>\d{1,2})",
    "year.month.day": r"(?P<year>\d{4})\.(?P<month>\d{1,2})\.(?P<day>\d{1,2})",
    "yearmonthday": r"(?P<year>\d{4})(?P<month>\d{2})(?P<day>\d{2})",
    "day.month.year": r"(?P<day>\d{1,2})\.(?P<month>\d{1,2})\.(?P<year>\d{4})",
    "day-name-year": r"(?P<day>\d{1,2})[- ]?(?P<name>[A-Za-z]{3})[a-z]*[-, ]*(?P<year>\d{4})",
    "name-day-year": r"(?P<name>[A-Za-z]{3})[a-z]*[- ]*(?P<day>\d{1,2})[-, ]+(?P<year>\d{4})",
    "slashes": r"(?P<first>\d{1,2})/(?P<other>\d{1,2})/(?P<year>\d{4})",
    "dashes": r"(?P<first>\d{1,2})-(?P<other>\d{1,2})-(?P<year>\d{4})",
}
_PATTERNS = {name: re.compile(pattern + _CLOCK) for name, pattern in _FORMATS.items()}
_EITHER_WAY = ("slashes", "dashes")
_YEARS = (1800, 2200)


@dataclass(frozen=True, eq=False)
class Dates:
    """Days since 1970 and decimal calendar years (2001.5 is the middle of 2001), NaN where missing."""

    days: FloatArray
    years: FloatArray


def looks_like_dates(column: pd.Series) -> bool:
    """Whether a column holds dates, as such or as text in one of the known formats."""
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        return True
    if not isinstance(column.dtype, pd.CategoricalDtype) or not len(column.cat.categories):
        return False
    texts = [str(text) for text in column.cat.categories[:1000]]
    return all(_format_of(text) not in (None, "yearmonthday") for text in texts)


def read_dates(source: SourceTable, names: list[str], date_format: str | None = None) -> dict[str, Dates]:
    """Read the date columns of one table; what one of them shows of day and month order holds for all."""
    columns = {name: _text_of_whole_dates(source.frame[name]) for name in names}
    texts = {
        name: [str(text) for text in column.cat.categories]
        for name, column in columns.items()
        if isinstance(column.dtype, pd.CategoricalDtype)
    }
    day_first = None if date_format else _day_first(source, columns, texts)
    dates = {}
    for name, column in columns.items():
        if name in texts:
            days = _days_of_texts(source, column, texts[name], day_first, date_format)
        elif pd.api.types.is_datetime64_any_dtype(column.dtype):
            if getattr(column.dtype, "tz", None) is not None:
                column = column.dt.tz_convert("UTC").dt.tz_localize(None)
            days = _as_days(column.to_numpy(dtype="datetime64[us]"))
        else:
            dates[name] = _calendar_years(source, column)
            continue
        dates[name] = Dates(days, _decimal_years(days))
    return dates


def refuse_impossible_dates(source: SourceTable, dates: dict[str, Dates]) -> None:
    """Refuse dates in the future, which cannot have been observed, and before 1800."""
    today = np.datetime64("today", "D").astype(int)
    first = np.datetime64(f"{_YEARS[0]}-01-01", "D").astype(int)
    for name, date in dates.items():
        future = date.days > today + 2  # the world's clocks are up to a day apart
        if future.any():
            latest = np.datetime64(int(date.days[future].max()), "D")
            raise DataError(
                f"{source.label}: the dates in column {name!r} lie in the future in {source.where(future)}, "
                f"the latest being {latest}. A date that was observed is expected",
                hint="Is this a stand-in for 'not yet', or a planned end? Write the date of the last contact instead.",
                column=name,
            )
        early = date.days < first
        if early.any():
            earliest = np.datetime64(int(np.floor(date.days[early].min())), "D")
            raise DataError(
                f"{source.label}: the dates in column {name!r} lie before {_YEARS[0]} in {source.where(early)}, "
                f"the earliest being {earliest}",
                hint="Is this a typing error, or a stand-in for 'unknown'? Correct or drop these rows.",
                column=name,
            )


def _format_of(text: str) -> str | None:
    return next((name for name, pattern in _PATTERNS.items() if pattern.fullmatch(text)), None)


def _text_of_whole_dates(column: pd.Series) -> pd.Series:
    """20100301 comes out of a text file as a number; as text it can be read as a date."""
    if not pd.api.types.is_numeric_dtype(column.dtype):
        return column
    values = column.to_numpy(dtype=float, na_value=np.nan)
    known = values[~np.isnan(values)]
    if not len(known) or not np.all((known >= 18000101) & (known <= 22001231) & (np.floor(known) == known)):
        return column
    texts = [f"{value:.0f}" if value == value else None for value in values]
    return pd.Series(pd.Categorical(texts), index=column.index, name=column.name)


def _day_first(source: SourceTable, columns: dict[str, pd.Series], texts: dict[str, list[str]]) -> bool | None:
    """Whether 03/05/2010 is the third of May: by what some row shows; True if no row needs it."""
    shown: dict[bool, tuple[str, str]] = {}
    undecided = None
    for name, values in texts.items():
        for text in values:
            form = _format_of(text)
            match = _PATTERNS[form].fullmatch(text) if form in _EITHER_WAY else None
            if match is None:
                continue
            first, other = int(match["first"]), int(match["other"])
            if first > 12 or other > 12:
                shown.setdefault(first > 12, (name, text))
            elif first != other:
                undecided = undecided or (name, text)
    if len(shown) == 2:
        day, month = shown[True], shown[False]
        raise DataError(
            f"{source.label} has dates in two formats: {day[1]!r} in {_place(source, columns, *day)} has the "
            f"day first, {month[1]!r} in {_place(source, columns, *month)} the month",
            hint="Write them all as year-month-day.",
        )
    if not shown and undecided:
        raise DataError(
            f"{source.label}: the dates can be read in two ways: is {undecided[1]!r} in "
            f"{_place(source, columns, *undecided)} day/month or month/day? No row settles it",
            hint=Message(
                "Pass ",
                Setting("date_format", "%d/%m/%Y"),
                " or ",
                Setting("date_format", "%m/%d/%Y"),
                ", or write them as year-month-day.",
            ),
            column=undecided[0],
        )
    return next(iter(shown), True)


def _place(source: SourceTable, columns: dict[str, pd.Series], name: str, text: str) -> str:
    return f"column {name!r}, {source.where((columns[name] == text).to_numpy(dtype=bool), most=1)}"


def _days_of_texts(
    source: SourceTable, column: pd.Series, texts: list[str], day_first: bool | None, date_format: str | None
) -> FloatArray:
    name = str(column.name)
    if date_format is not None:
        days = _days_by_format(texts, date_format)
        expected = Message("the format in ", Setting("date_format", date_format))
    else:
        _refuse_two_formats(source, column, texts)
        days = np.array([_days_of_text(text, day_first) for text in texts], dtype=float)
        expected = Message("a date of the calendar, such as 2010-03-31 (the year with four digits)")
    if np.isnan(days).any():
        wrong = [text for text, day in zip(texts, days, strict=True) if np.isnan(day)]
        raise DataError(
            Message(
                f"{source.label}: column {name!r} holds {list_values(map(repr, wrong), most=3)} in "
                f"{source.where(column.isin(wrong))}; ",
                expected,
                " was expected",
            ),
            hint="Correct or drop these rows.",
            column=name,
        )
    by_row: FloatArray = np.append(days, np.nan)[column.cat.codes.to_numpy()]  # code -1, missing, takes the NaN
    return by_row


def _days_by_format(texts: list[str], date_format: str) -> FloatArray:
    read = pd.to_datetime(pd.Series(texts, dtype=object), format=date_format, errors="coerce")
    moments = read.to_numpy(dtype="datetime64[us]").copy()
    for place in np.flatnonzero(np.isnat(moments)):  # 31/12/9999 is a date, though beyond pandas' nanoseconds
        with contextlib.suppress(ValueError):
            moments[place] = np.datetime64(datetime.datetime.strptime(texts[place], date_format), "us")
    return _as_days(moments)


def _refuse_two_formats(source: SourceTable, column: pd.Series, texts: list[str]) -> None:
    by_format: dict[str, list[str]] = {}
    for text in texts:
        form = _format_of(text)
        if form is not None:
            by_format.setdefault(form, []).append(text)
    if len(by_format) > 1:
        common, rare = sorted(by_format.values(), key=len, reverse=True)[:2]
        raise DataError(
            f"{source.label}: column {str(column.name)!r} has dates in two formats: {common[0]!r}, but "
            f"{rare[0]!r} in {source.where(column.isin(rare))}",
            hint="Write them all in one, best as year-month-day.",
            column=str(column.name),
        )


def _days_of_text(text: str, day_first: bool | None) -> float:
    form = _format_of(text)
    match = _PATTERNS[form].fullmatch(text) if form else None
    if match is None:
        return np.nan
    part = match.groupdict()
    if form in _EITHER_WAY:
        day, month = (part["first"], part["other"]) if day_first else (part["other"], part["first"])
    else:
        day, month = part["day"], part.get("month") or _MONTHS.get(part["name"].lower())
    clock = [float(part[key] or 0) for key in ("hour", "minute", "second")]
    try:
        date = np.datetime64(f"{part['year']}-{int(month):02d}-{int(day):02d}", "D")
    except (TypeError, ValueError):  # no such month, or a 30th of February
        return np.nan
    return float(date.astype(int) + clock[0] / 24 + clock[1] / 1440 + clock[2] / 86400)


def _as_days(moments: ArrayLike) -> FloatArray:
    exact = np.asarray(moments).astype("datetime64[us]")
    days = exact.astype(np.int64) / 86_400e6
    return np.where(np.isnat(exact), np.nan, days)


def _decimal_years(days: FloatArray) -> FloatArray:
    whole = np.where(np.isnan(days), 0, np.floor(days)).astype(np.int64).astype("datetime64[D]")
    year = whole.astype("datetime64[Y]")
    start = year.astype("datetime64[D]").astype(np.int64)
    length = (year + 1).astype("datetime64[D]").astype(np.int64) - start
    return np.asarray(year.astype(np.int64) + 1970 + (days - start) / length, dtype=float)


def _calendar_years(source: SourceTable, column: pd.Series) -> Dates:
    """Take numbers such as 1998.5; others could count days from 1900, 1960 or 1970, or be a waiting time."""
    name = str(column.name)
    values = np.full(len(column), np.nan)
    if pd.api.types.is_numeric_dtype(column.dtype):
        values = column.to_numpy(dtype=float, na_value=np.nan)
    bad = ~np.isnan(values) & ~((values >= _YEARS[0]) & (values <= _YEARS[1]))
    if bad.any() or np.isnan(values).all():
        content = f"{values[bad][0]:g} in {source.where(bad)}" if bad.any() else "no date at all"
        raise DataError(
            f"{source.label}: column {name!r} holds {content}; dates such as 2010-03-31 or calendar years such "
            "as 2010.25 were expected",
            hint=Message(
                "Days counted from 1900 (Excel) or 1960 (SAS) must be turned into dates first. An entry time on the "
                "scale of the follow-up (left truncation) is not supported: leave ",
                Setting("entry"),
                " out only if every subject is followed from time 0.",
            ),
            column=name,
        )
    return Dates((values - 1970) * 365.25, values)
