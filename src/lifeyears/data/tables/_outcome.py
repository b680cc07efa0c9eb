"""Time and event columns, in any of the ways they are coded, to an outcome."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..._typing import BoolArray, FloatArray
from ...errors import DataError, Message, RequestError, Setting
from ...outcome import Outcome
from ...text import count_noun, list_values
from ...units import DAYS_IN
from ._columns import is_category
from ._dates import Dates, looks_like_dates, read_dates, refuse_impossible_dates
from ._numbers import choose_decimal_mark, find_decimal_marks, parse_numbers
from ._source import SourceTable

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
    event_values: object = None
    unit: str | None = None
    date_format: str | None = None
    decimal: str | None = None

    @property
    def names(self) -> list[str]:
        """The columns that make up the outcome and so are not features."""
        return [name for name in (self.time, self.event, self.entry, self.exit) if name is not None]


@dataclass(frozen=True, eq=False)
class ReadOutcome:
    """The outcome, when each subject entered (calendar years, or None), the unit of time, and warnings."""

    y: Outcome
    entry: FloatArray | None
    unit: str
    warnings: tuple[str, ...]


def read_outcome(source: SourceTable, columns: OutcomeColumns) -> ReadOutcome:
    """Read time and event, refusing rows that cannot be right."""
    dates: dict[str, Dates] = {}
    if columns.entry is not None:
        names = [columns.entry] + ([columns.exit] if columns.exit is not None else [])
        dates = read_dates(source, names, columns.date_format)
        refuse_impossible_dates(source, dates)
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
    warnings: list[str] = [] if columns.event_values is None else _other_codes(source.frame[columns.event], event)
    what = repr(columns.time) if columns.time else f"from {columns.entry!r} to {columns.exit!r}"
    if (time == 0).any():
        warnings.append(
            f"the time {what} is zero in {source.where(time == 0)}: kept. {_explain_time_zero(event[time == 0])}"
        )
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


def _explain_time_zero(event: BoolArray) -> str:
    """Say what rows with time zero mean, by which of them are events; AFT refuses such events in the same words."""
    n_events = int(event.sum())
    if not n_events:
        return "A row censored at time 0 carries no information about survival"
    noun = "events" if n_events > 1 else "event"
    which = f"{'these' if n_events > 1 else 'this'} {noun}" if event.all() else f"the {n_events:,} {noun} among them"
    return (
        f"If {which} came on the first day, add half a day (half a unit) to the time: AFT works with the logarithm of "
        "time and cannot take events at time 0"
    )


def _refuse_missing(source: SourceTable, missing: BoolArray, name: str, advice: str) -> None:
    if missing.any():
        rows = "every row" if missing.all() else source.where(missing)
        problem = f"{source.label}: column {name!r} is missing in {rows}"
        raise DataError(problem, hint=f"{advice}, or drop these rows.", column=name)


def _duration(source: SourceTable, columns: OutcomeColumns, entry: Dates, exit: Dates) -> FloatArray:
    days = exit.days - entry.days
    if (days < 0).any():
        raise DataError(
            f"{source.label}: the exit ({columns.exit!r}) lies before the entry ({columns.entry!r}) in "
            f"{source.where(days < 0)}, by up to {-days.min():g} days",
            hint="Are the columns swapped, or day and month? Correct or drop these rows.",
        )
    time: FloatArray = days / DAYS_IN[columns.unit or "years"]
    return time


def _numeric_time(source: SourceTable, name: str, unit: str | None, decimal: str | None) -> tuple[FloatArray, str]:
    column = source.frame[name]
    if pd.api.types.is_timedelta64_dtype(column.dtype):
        unit = unit or "years"
        if unit not in DAYS_IN:
            raise RequestError(
                Message(
                    f"column {name!r} holds durations, so ",
                    Setting("unit"),
                    f" must be one of {list_values(DAYS_IN)}; got {unit!r}",
                )
            )
        micros = column.to_numpy(dtype="timedelta64[us]")
        time = np.where(np.isnat(micros), np.nan, micros.astype(np.int64) / 86_400e6) / DAYS_IN[unit]
    elif pd.api.types.is_datetime64_any_dtype(column.dtype):
        raise DataError(
            f"{source.label}: the time column {name!r} holds dates",
            hint=Message(
                "Pass the first and last dates as ",
                Setting("entry"),
                " and ",
                Setting("exit"),
                ", and leave ",
                Setting("time"),
                " out.",
            ),
            column=name,
        )
    else:
        time = _numbers_of(source, column, decimal)
    for bad, what in ((np.isnan(time), "missing"), (np.isinf(time), "infinite"), (time < 0, "negative")):
        if bad.any():
            rows = "every row" if bad.all() else source.where(bad)
            raise DataError(
                f"{source.label}: the time column {name!r} is {what} in {rows}",
                hint="Times must be finite and not negative: correct or drop these rows.",
                column=name,
            )
    return time, unit or _infer_unit(name)


def _numbers_of(source: SourceTable, column: pd.Series, decimal: str | None) -> FloatArray:
    """Return the numbers of a column, or of its texts; otherwise say which texts are not numbers."""
    if not is_category(column):
        return np.asarray(column.to_numpy(dtype=float))
    name, texts = str(column.name), [str(text) for text in column.cat.categories]
    mark = choose_decimal_mark(texts, name, source.label, decimal)
    if mark is None or decimal not in (None, mark):
        marks = {text: find_decimal_marks([text]) for text in texts}
        wrong = [text for text in texts if not marks[text] or (decimal or "") not in marks[text]] or texts
        under = Message(" under ", Setting("decimal", decimal)) if decimal else ""
        raise DataError(
            Message(
                f"{source.label}: the time column {name!r} holds text, not numbers",
                under,
                f": {list_values(map(repr, wrong), most=4)} in {source.where(column.isin(wrong))}",
            ),
            hint=Message(
                "Numbers in one unit were expected, or dates in ", Setting("entry"), " and ", Setting("exit"), "."
            ),
            column=name,
        )
    by_row: FloatArray = np.append(parse_numbers(texts, mark), np.nan)[column.cat.codes.to_numpy()]
    return by_row


def _infer_unit(name: str) -> str:
    """Infer the unit from the column's own name: written out, or short as a word of its own (fu_mo).

    One letter counts at the end only: in t_y and OS (d), not in y, y_time or time_to_d, the time to death.
    """
    plain = name.lower()
    written = next((unit for unit in DAYS_IN if unit[:-1] in plain), None)
    words = re.findall(r"[^\W\d_]+", plain)
    last = words[-1:] if len(words) > 1 and words[-2] != "to" else []
    short = {_SHORT[word] for word in [*(word for word in words if len(word) > 1), *last] if word in _SHORT}
    return written or (short.pop() if len(short) == 1 else "time units")


def _event(source: SourceTable, name: str, event_values: object) -> BoolArray:
    column = source.frame[name]
    missing = column.isna().to_numpy(dtype=bool)
    if looks_like_dates(column):
        raise DataError(
            f"{source.label}: the event column {name!r} holds dates; 0/1 or two words were expected",
            hint="If a date means that the event happened, make such a column first: frame['event'] = "
            f"frame[{name!r}].notna()",
            column=name,
        )
    if missing.all():
        raise DataError(
            f"{source.label}: the event column {name!r} is missing in all rows, so events cannot be distinguished "
            "from censored times",
            hint="Is it the right column?",
            column=name,
        )
    _refuse_missing(source, missing, name, "Whether the time ended in an event must be known: fill it in")
    keys = [_key(value) for value in column.unique()]
    meaning = _meaning(source, column, sorted(set(keys)), event_values)
    by_value = {value: meaning[key] for value, key in zip(column.unique(), keys, strict=True)}
    event = np.array([by_value[value] for value in column], dtype=bool)
    if not event.any():
        raise DataError(
            f"{source.label}: no row has an event: all {len(event):,} are censored, by column {name!r} "
            f"({_count_values(column)}). Nothing can be learnt from censored times alone",
            hint=Message("If some value does mean an event, name it in ", Setting("event_values"), "."),
            column=name,
        )
    return event


def _other_codes(column: pd.Series, event: BoolArray) -> list[str]:
    """Name the codes that count as censored, as they are not in `event_values`, though they do not say so."""
    if len({_key(value) for value in column.unique()}) <= 2:
        return []
    others = column[~event & ~column.map(_key).isin(CENSORED_WORDS).to_numpy(dtype=bool)]
    if not len(others):
        return []
    return [
        f"{count_noun(len(others), 'row')} of other codes in {str(column.name)!r} count as censored: "
        f"{_count_values(others)}. If they are events of another kind, they compete with those asked for, and "
        "competing events are not modelled (docs/faq.md)"
    ]


def _meaning(source: SourceTable, column: pd.Series, keys: list[str], event_values: object) -> dict[str, bool]:
    """Value → whether it means an event: by the user's word, else where the coding is unambiguous."""
    name = str(column.name)
    if event_values is not None:
        requested = [event_values]
        if isinstance(event_values, Iterable) and not isinstance(event_values, (str, bytes)):
            requested = list(event_values)
        event_keys = {_key(value) for value in requested}
        unknown = [value for value in requested if _key(value) not in keys]
        if unknown or not requested:
            fault = (
                f" has {list_values(map(repr, unknown))}, which is not in"
                if requested
                else " is empty: it names no value of"
            )
            raise RequestError(
                Message(
                    Setting("event_values"),
                    f"{fault} the event column {name!r} of {source.label}, which holds {_count_values(column)}",
                ),
                hint="Give the value, or the list of values, that mean an event.",
            )
        return {key: key in event_keys for key in keys}
    unclear = f"{_count_values(column)}, and it is not clear which of them mean an event"
    if _YES_OR_NO.issuperset(keys) and _says_no_event(name):
        raise DataError(
            f"{source.label}: the event column {name!r}, by its name, says who had no event, and holds {unclear}",
            hint=_suggest_event_values(column),
            code="ambiguous_event",
            column=name,
        )
    if len(keys) <= 2 and all(key in EVENT_WORDS or key in CENSORED_WORDS for key in keys):
        return {key: key in EVENT_WORDS for key in keys}
    hint = Message("Say which mean an event with ", Setting("event_values"), ": one value or a list.")
    if set(keys) <= {"1", "2"}:
        hint = Message(hint, " Where 1 is censored and 2 an event, as in R, that is ", Setting("event_values", 2), ".")
    elif len(keys) > 20:
        hint = Message(
            "An event column has few values: name another with ",
            Setting("event"),
            ", or say which mean an event with ",
            Setting("event_values"),
            ".",
        )
    raise DataError(
        f"{source.label}: the event column {name!r} has {count_noun(len(keys), 'value')}, {unclear}",
        hint=hint,
        code="ambiguous_event",
        column=name,
    )


def _suggest_event_values(column: pd.Series) -> Message:
    """Suggest the values that may mean an event, where the name of the column speaks against its values."""
    yes, no = (
        [_plain(value) for value in column.unique() if (_key(value) in EVENT_WORDS) is happened]
        for happened in (True, False)
    )
    suggested = [Setting("event_values", values[0] if len(values) == 1 else values) for values in (no, yes) if values]
    if len(suggested) == 1:
        return Message("Pass ", suggested[0], ".")
    return Message("Pass ", suggested[0], " if the name is right, or ", suggested[1], " if that means an event.")


def _says_no_event(name: str) -> bool:
    """Whether, by the name of a column, yes means that nothing happened; "survival_event" does not say so."""
    plain = name.lower()
    if re.search(r"(?:un|non|not)[\W_]*censor", plain):
        return False
    return bool(
        _NAMES_OF_NO_EVENT.search(plain) or ("surviv" in plain and not re.search("event|death|dead|died|fail", plain))
    )


def _count_values(column: pd.Series) -> str:
    counts = Counter(column.dropna().tolist()).most_common()  # equals in order of appearance, in any version of pandas
    return list_values((f"{_shown(value)} ({count_noun(count, 'row')})" for value, count in counts), most=6)


def _shown(value: object) -> str:
    return repr(value) if isinstance(value, str) else f"{value:g}" if isinstance(value, float) else str(value)


def _plain(value: object) -> object:
    """Return a value as one would write it: 1 for 1.0 and for NumPy's 1."""
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return int(value)
    return value.item() if isinstance(value, np.generic) else value


def _key(value: object) -> str:
    """One spelling for 1, 1.0, '1', ' 1 ' and True, and for Dead and dead."""
    text = str(value).strip().casefold()
    text = {"true": "1", "false": "0"}.get(text, text)
    try:
        number = float(text)
    except ValueError:
        return text
    return str(int(number)) if number.is_integer() else repr(number)
