"""Time and event columns, in any of the ways they are coded, to an outcome."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ...outcome import Outcome
from ._columns import is_category
from ._dates import Dates, looks_like_dates, read_dates, refuse_impossible
from ._numbers import decimal_mark, numbers, readings
from ._source import SourceTable, listed

DAYS_IN = {"hours": 1 / 24, "days": 1.0, "weeks": 7.0, "months": 365.25 / 12, "years": 365.25}
_SHORT = {
    word: unit
    for unit, words in {
        "hours": ("h", "hr", "hrs"),
        "days": ("d",),
        "weeks": ("wk", "wks"),
        "months": ("mo", "mos", "mth", "mths"),
        "years": ("y", "yr", "yrs"),
    }.items()
    for word in words
}
EVENT_WORDS = frozenset({"1", "yes", "y", "dead", "died", "death", "deceased", "event", "failed", "failure"})
CENSORED_WORDS = frozenset({"0", "no", "n", "alive", "living", "survived", "censored", "censor", "no event"})
_YES_OR_NO = frozenset({"1", "0", "yes", "no", "y", "n"})
_NAMES_OF_NO_EVENT = re.compile(r"alive|living(?![\W_]*don)|censor|(?:^|[\W_])cens(?:$|[\W_\d])")
_LONGEST = 100  # years of follow-up; beyond this an entry such as 1900-01-01 was a stand-in


@dataclass(frozen=True)
class OutcomeColumns:
    """Which columns hold the outcome, under which coding."""

    time: str | None
    event: str
    entry: str | None = None
    exit: str | None = None
    event_values: Any = None
    unit: str | None = None
    date_format: str | None = None
    decimal: str | None = None

    @property
    def names(self) -> list[str]:
        """The columns that make the outcome, and so are no features."""
        return [name for name in (self.time, self.event, self.entry, self.exit) if name is not None]


@dataclass(frozen=True, eq=False)
class ReadOutcome:
    """The outcome, when each subject entered (calendar years, or None), the unit of time, what looks odd."""

    y: Outcome
    entry: np.ndarray | None
    unit: str
    warnings: tuple[str, ...]


def read_outcome(source: SourceTable, columns: OutcomeColumns) -> ReadOutcome:
    """Read time and event, refusing rows that cannot be right."""
    dates: dict[str, Dates] = {}
    if columns.entry is not None:
        names = [columns.entry] + ([columns.exit] if columns.exit is not None else [])
        dates = read_dates(source, names, columns.date_format)
        refuse_impossible(source, dates)
        _refuse_missing(source, np.isnan(dates[columns.entry].days), columns.entry, "Write the date of entry")
    if columns.entry is not None and columns.exit is not None:
        unfinished = np.isnan(dates[columns.exit].days)
        advice = "For a subject still followed, write the date of the last contact"
        _refuse_missing(source, unfinished, columns.exit, advice)
        time = _duration(source, columns, dates[columns.entry], dates[columns.exit])
        unit = columns.unit or "years"
    else:
        time, unit = _numeric_time(source, str(columns.time), columns.unit, columns.decimal)
    event = _event(source, columns.event, columns.event_values)
    warnings = [] if columns.event_values is None else _other_codes(source.frame[columns.event], event)
    what = repr(columns.time) if columns.time else f"from {columns.entry!r} to {columns.exit!r}"
    if (time == 0).any():
        warnings.append(f"the time {what} is zero in {source.where(time == 0)}: kept. {_at_once(event[time == 0])}")
    too_long = time * DAYS_IN.get(unit, 0.0) > _LONGEST * DAYS_IN["years"]
    if columns.exit is not None and too_long.any():
        warnings.append(
            f"the time {what} is over {_LONGEST} years in {source.where(too_long)}: is one of these dates a stand-in "
            "for 'unknown'?"
        )
    if event.all():
        warnings.append(
            f"every row has an event and none is censored, by column {columns.event!r}: right for a cohort "
            "of deaths only; otherwise the subjects still alive are missing"
        )
    entry = dates[columns.entry].years if columns.entry is not None else None
    return ReadOutcome(Outcome(time, event), entry, unit, tuple(warnings))


def _at_once(event: np.ndarray) -> str:
    """What rows with time zero mean, given which of them are events."""
    many = int(event.sum())
    if not many:
        return "A row censored at zero says nothing of how long anybody lives"
    which = "events" if many > 1 else "event"
    which = f"{'these' if many > 1 else 'this'} {which}" if event.all() else f"the {many:,} {which} among them"
    return f"If {which} came on the first day, half a day would be truer; models of log time (AFT) cannot use a zero"


def _refuse_missing(source: SourceTable, missing: np.ndarray, name: str, advice: str) -> None:
    if missing.any():
        found = "every row" if missing.all() else source.where(missing)
        raise ValueError(f"{source.label}: column {name!r} is missing in {found}. {advice}, or drop these rows")


def _duration(source: SourceTable, columns: OutcomeColumns, entry: Dates, exit: Dates) -> np.ndarray:
    days = exit.days - entry.days
    if (days < 0).any():
        raise ValueError(
            f"{source.label}: the exit ({columns.exit!r}) lies before the entry ({columns.entry!r}) in "
            f"{source.where(days < 0)}, by up to {-days.min():g} days. Are the columns swapped, or day and "
            "month? Mend or drop these rows"
        )
    return days / DAYS_IN[columns.unit or "years"]


def _numeric_time(source: SourceTable, name: str, unit: str | None, decimal: str | None) -> tuple[np.ndarray, str]:
    column = source.frame[name]
    if pd.api.types.is_timedelta64_dtype(column.dtype):
        unit = unit or "years"
        if unit not in DAYS_IN:
            raise ValueError(
                f"column {name!r} holds durations, so unit= must be one of {listed(DAYS_IN)}; got {unit!r}"
            )
        micros = column.to_numpy(dtype="timedelta64[us]")
        time = np.where(np.isnat(micros), np.nan, micros.astype(np.int64) / 86_400e6) / DAYS_IN[unit]
    elif pd.api.types.is_datetime64_any_dtype(column.dtype):
        raise ValueError(
            f"{source.label}: the time column {name!r} holds dates. Pass the first and last dates as entry= "
            "and exit=, and leave time= out"
        )
    else:
        time = _numbers_of(source, column, decimal)
    advice = "Times must be finite and not negative: mend"
    for bad, what in ((np.isnan(time), "missing"), (np.isinf(time), "infinite"), (time < 0, "negative")):
        if bad.any():
            found = "every row" if bad.all() else source.where(bad)
            raise ValueError(
                f"{source.label}: the time column {name!r} is {what} in {found}. {advice} or drop these rows"
            )
    return time, unit or _unit_in(name)


def _numbers_of(source: SourceTable, column: pd.Series, decimal: str | None) -> np.ndarray:
    """Numbers, or text that can be read as numbers; otherwise say which text stands in the way."""
    if not is_category(column):
        return column.to_numpy(dtype=float)
    name, texts = str(column.name), [str(text) for text in column.cat.categories]
    mark = decimal_mark(texts, name, source.label, decimal)
    if mark is None or decimal not in (None, mark):
        wrong = [text for text in texts if not readings([text]) or (decimal or "") not in readings([text])] or texts
        under = f" under decimal={decimal!r}" if decimal else ""
        raise ValueError(
            f"{source.label}: the time column {name!r} holds text, not numbers{under}: "
            f"{listed(map(repr, wrong), most=4)} in {source.where(column.isin(wrong))}. Numbers in one unit "
            "were expected, or dates in entry= and exit="
        )
    return np.append(numbers(texts, mark), np.nan)[column.cat.codes.to_numpy()]


def _unit_in(name: str) -> str:
    """Ask the column's own name for the unit: written out, or short as a word of its own (fu_mo).

    One letter counts at the end only: in t_y and OS (d), not in y, y_time or time_to_d, the time to death.
    """
    plain = name.lower()
    written = next((unit for unit in DAYS_IN if unit[:-1] in plain), None)
    words = re.findall(r"[^\W\d_]+", plain)
    last = words[-1:] if len(words) > 1 and words[-2] != "to" else []
    told = {_SHORT[word] for word in [*(word for word in words if len(word) > 1), *last] if word in _SHORT}
    return written or (told.pop() if len(told) == 1 else "time units")


def _event(source: SourceTable, name: str, event_values: Any) -> np.ndarray:
    column = source.frame[name]
    missing = column.isna().to_numpy(dtype=bool)
    if looks_like_dates(column):
        raise ValueError(
            f"{source.label}: the event column {name!r} holds dates; 0/1 or two words were expected. If a "
            "date means that the event happened, make such a column first: frame['event'] = "
            f"frame[{name!r}].notna()"
        )
    if missing.all():
        raise ValueError(
            f"{source.label}: the event column {name!r} is missing in all rows, so nobody can tell events "
            "from censored times. Is it the right column?"
        )
    _refuse_missing(source, missing, name, "Whether the time ended in an event must be known: mend")
    keys = [_key(value) for value in column.unique()]
    meaning = _meaning(source, column, sorted(set(keys)), event_values)
    by_value = {value: meaning[key] for value, key in zip(column.unique(), keys, strict=True)}
    event = np.array([by_value[value] for value in column], dtype=bool)
    if not event.any():
        raise ValueError(
            f"{source.label}: no row has an event: all {len(event):,} are censored, by column {name!r} "
            f"({_found(column)}). Nothing can be learnt from censored times alone. If some value does mean "
            "an event, say which with event_values="
        )
    return event


def _other_codes(column: pd.Series, event: np.ndarray) -> list[str]:
    """Say which codes, left out of those that mean an event, count as censored though they do not say so."""
    if len({_key(value) for value in column.unique()}) <= 2:
        return []
    others = column[~event & ~column.map(_key).isin(CENSORED_WORDS).to_numpy(dtype=bool)]
    if not len(others):
        return []
    return [
        f"{_rows(len(others))} of other codes in {str(column.name)!r} count as censored: {_found(others)}. If they are "
        "events of another kind, they compete with those asked for, and competing events are not modelled "
        "(docs/faq.md)"
    ]


def _meaning(source: SourceTable, column: pd.Series, keys: list[str], event_values: Any) -> dict[str, bool]:
    """Value → whether it means an event; by the user's word, else if it is plain."""
    name = str(column.name)
    if event_values is not None:
        given = list(event_values) if _is_list(event_values) else [event_values]
        wanted = {_key(value) for value in given}
        unknown = [value for value in given if _key(value) not in keys]
        if unknown or not given:
            found = f"has {listed(map(repr, unknown))}, which is not in" if given else "is empty and names no value of"
            raise ValueError(
                f"event_values= {found} the event column {name!r} of {source.label}: it holds {_found(column)}. "
                "Give the value, or the list of values, that mean an event"
            )
        return {key: key in wanted for key in keys}
    if _YES_OR_NO.issuperset(keys) and _says_no_event(name):
        yes, no = (
            listed(_shown(value) for value in column.unique() if (_key(value) in EVENT_WORDS) is happened)
            for happened in (True, False)
        )
        raise ValueError(
            f"{source.label}: the event column {name!r}, by its name, says who had no event, and holds "
            f"{_found(column)}: it is not clear which of them mean an event. Pass event_values="
            + (f"{no} if the name is right, or event_values={yes} if that means an event" if yes and no else yes or no)
        )
    if len(keys) <= 2 and all(key in EVENT_WORDS or key in CENSORED_WORDS for key in keys):
        return {key: key in EVENT_WORDS for key in keys}
    advice = "Say which mean an event with event_values=: one value or a list"
    if set(keys) <= {"1", "2"}:
        advice += ". Where 1 is censored and 2 an event, as in R, that is event_values=2"
    elif len(keys) > 20:
        advice = "So many values are no event column: name another with event=, or " + advice[0].lower() + advice[1:]
    raise ValueError(
        f"{source.label}: the event column {name!r} has {len(keys):,} value{'s' if len(keys) > 1 else ''}, "
        f"{_found(column)}, and it is not clear which of them mean an event. {advice}"
    )


def _says_no_event(name: str) -> bool:
    """Whether, by the name of a column, yes means that nothing happened; "survival_event" does not say so."""
    plain = name.lower()
    if re.search(r"(?:un|non|not)[\W_]*censor", plain):
        return False
    return bool(
        _NAMES_OF_NO_EVENT.search(plain) or ("surviv" in plain and not re.search("event|death|dead|died|fail", plain))
    )


def _found(column: pd.Series) -> str:
    counts = Counter(column.dropna().tolist()).most_common()  # equals as they came, in any version of pandas
    return listed((f"{_shown(value)} ({_rows(count)})" for value, count in counts), most=6)


def _rows(many: int) -> str:
    return f"{many:,} row{'' if many == 1 else 's'}"


def _shown(value: Any) -> str:
    return repr(value) if isinstance(value, str) else f"{value:g}" if isinstance(value, float) else str(value)


def _is_list(values: Any) -> bool:
    return isinstance(values, Iterable) and not isinstance(values, (str, bytes))


def _key(value: Any) -> str:
    """One spelling for 1, 1.0, '1', ' 1 ' and True, and for Dead and dead."""
    text = str(value).strip().casefold()
    text = {"true": "1", "false": "0"}.get(text, text)
    try:
        number = float(text)
    except ValueError:
        return text
    return str(int(number)) if number.is_integer() else repr(number)
