"""Anyone's table to a data set: `read_table`."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from numbers import Real
from typing import Any

from .._dataset import DataReport, Dataset
from ._columns import plain_columns
from ._copies import copy_warnings
from ._features import choose_features
from ._file import ReadingOptions, read_file_table, table_name
from ._leaks import leak_warnings
from ._numbers import settle_text_numbers
from ._outcome import DAYS_IN, OutcomeColumns, read_outcome
from ._source import SourceTable, listed, table_from_frame


def read_table(
    path_or_frame: Any,
    time: str | None = None,
    event: str | None = None,
    *,
    entry: str | None = None,
    exit: str | None = None,
    event_values: Any = None,
    drop: str | Sequence[str] = (),
    categorical: str | Sequence[str] | None = None,
    keep: str | Sequence[str] = (),
    subgroups: str | Sequence[str] | Callable[[list[str]], Sequence[str]] = (),
    unit: str | None = None,
    sheet: str | int | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    date_format: str | None = None,
    name: str | None = None,
    horizon: float | None = None,
) -> Dataset:
    """Read a table with one row a subject into features and outcome, and report what was left out and why.

    Parameters
    ----------
    path_or_frame : path, or pandas or polars DataFrame
        A file: CSV or other delimited text, Parquet or Feather (need pyarrow), Excel (needs openpyxl), SAS
        (.sas7bdat, .xpt) or Stata (.dta), also inside .gz, .bz2, .xz or .zip. Or a frame.
    time : str, optional
        Column with the observed time, in numbers (in the user's unit: it is not converted) or durations.
    event : str
        Column that says whether the time ended in an event. Understood without more: 0/1, True/False, yes/no,
        dead/alive, died/censored, event/censored, Y/N. Any other coding needs `event_values`, and so does a
        column of 0/1 or yes/no whose name says who had no event (alive, survived, censored).
    entry, exit : str, optional
        In place of `time`: columns with the dates of the first and the last observation. `entry` beside
        `time` says when each subject entered, for splits by time.
    event_values : value or list of values, optional
        The values of the event column that mean an event; all others mean censored.
    drop : list of str
        Columns to leave out, above all those not yet known when a subject enters.
    categorical : list of str, optional
        Columns to take as categories though they hold numbers, as such or as text. Other texts, True/False
        and codes with leading zeros (007) are categories anyway.
    keep : list of str
        Columns to keep as features though they look like an identifier or have many categories.
    subgroups : list of str, or callable
        Columns that are no features and are kept beside them, for tables by subgroup and for splits by centre. A
        function gets the names of the table's columns, without those of the outcome, and returns the ones to keep.
    unit : str, optional
        Unit of time. With dates: hours, days, weeks, months or years (the default, 365.25 days). With `time`
        it is a label only; by default the column's name is asked.
    sheet : str or int, optional
        Excel sheet, by name or by place counted from 0; by default the first.
    delimiter, encoding, decimal : str, optional
        How a text file is written, where it cannot be told: the character between fields, the encoding, and
        the decimal mark ('.' or ','), which is also that of numbers kept as text in a frame or spreadsheet.
    date_format : str, optional
        How dates are written, in the signs of `strptime` ('%d/%m/%Y'), where it cannot be told.
    name : str, optional
        What to call the data set; by default the file's name.
    horizon : float, optional
        The horizon τ; by default the 95th percentile of the censored times.

    Returns
    -------
    Dataset
        With `report` saying what was read, dropped (empty rows, identifiers, constants, dates, columns with
        too many categories) and noticed. What looks odd, above all columns that may leak the outcome, is also
        issued as one `UserWarning`.

    Raises
    ------
    ValueError
        For a file or a column that cannot be understood. The message says where and what to do.
    FileNotFoundError, IsADirectoryError, PermissionError
        For a path that cannot be opened.
    ImportError
        For a kind of file that needs a package which is not installed.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"years": [2.5, 4, 1], "died": ["yes", "no", "yes"], "age": [61, 55, 70]})
    >>> read_table(table, time="years", event="died")
    Dataset('table': 3 subjects, 1 features (0 categorical), 2 events, horizon 4 years)
    """
    texts = {"unit": unit, "delimiter": delimiter, "encoding": encoding, "date_format": date_format, "name": name}
    _check_request(time, event, entry, exit, decimal, horizon, texts)
    from_file = isinstance(path_or_frame, (str, os.PathLike))
    if from_file:
        needed = tuple(str(column) for column in (time, event, entry, exit) if column is not None)
        source = read_file_table(path_or_frame, ReadingOptions(sheet, delimiter, encoding, decimal, needed))
    else:
        source = table_from_frame(path_or_frame)
    if len(source.frame) < 2:
        raise ValueError(
            f"{source.label} has one row; nothing can be learnt or ranked with one subject. Give a table "
            "with one row a subject, and at least two of them"
        )
    found = {
        option: source.column(column, f"{option}=") if column is not None else None
        for option, column in (("time", time), ("event", event), ("entry", entry), ("exit", exit))
    }
    columns = OutcomeColumns(
        **found,  # type: ignore[arg-type]
        event_values=event_values,
        unit=unit,
        date_format=date_format,
        decimal=decimal,
    )
    left_out, as_categories, kept, aside = (
        _columns_named(source, given, option, columns)
        for option, given in (
            *(("drop=", drop), ("categorical=", categorical)),
            *(("keep=", keep), ("subgroups=", subgroups)),
        )
    )
    if both := [name for name in aside if name in left_out]:
        raise ValueError(f"drop= and subgroups= both name {listed(both)}: a column goes one way")

    # What the user leaves out goes first, so that a column which cannot be read is no obstacle.
    order = list(source.frame.columns)
    as_written = [*left_out, *as_categories, *aside]
    as_written += [name for name in (columns.entry, columns.exit) if name is not None and date_format]
    source = settle_text_numbers(source, decimal, skip=as_written, outcome=columns.names)
    source = plain_columns(replace(source, frame=source.frame.drop(columns=left_out)))
    outcome = read_outcome(source, columns)
    beside = source.frame[aside] if aside else None
    features = choose_features(
        replace(source, frame=source.frame.drop(columns=aside)), columns.names, as_categories, kept
    )
    reasons = dict.fromkeys(left_out, "named in drop=") | dict.fromkeys(aside, "kept for subgroups") | features.dropped
    leaks = [*copy_warnings(features.X, outcome.y), *leak_warnings(features.X, outcome.y)]
    noticed = (*source.warnings, *outcome.warnings, *features.warnings, *leaks)
    report = DataReport(
        rows_read=len(source.frame) + sum(source.dropped_rows.values()),
        rows_kept=len(source.frame),
        dropped_rows=source.dropped_rows,
        dropped_columns={column: reasons[column] for column in order if column in reasons},
        warnings=noticed,
        leaks=tuple(leaks),
    )
    if noticed:
        lines = "\n".join(f"- {warning}" for warning in noticed)
        warnings.warn(f"{source.label} was read, but look at this:\n{lines}", UserWarning, stacklevel=2)
    return Dataset(
        X=features.X,
        y=outcome.y,
        name=name or (table_name(path_or_frame) if from_file else "table"),
        unit=outcome.unit,
        source=os.path.basename(path_or_frame) if from_file else "",
        horizon=float(horizon or 0.0),
        subgroups=beside,
        entry=outcome.entry,
        report=report,
    )


def _check_request(
    time: str | None,
    event: str | None,
    entry: str | None,
    exit: str | None,
    decimal: str | None,
    horizon: float | None,
    texts: dict[str, str | None],
) -> None:
    """Refuse options that do not go together, before any work is done."""
    for option, value in texts.items():
        if value is not None and not isinstance(value, str):
            raise ValueError(f"{option}= must be a text; got {value!r}")
    for option, column in (("time", time), ("event", event), ("entry", entry), ("exit", exit)):
        if isinstance(column, (list, tuple, set, dict)):
            raise ValueError(f"{option}= names one column; got {column!r}")
    if event is None:
        raise ValueError("event= is missing: name the column that says whether the time ended in an event")
    if time is None and (entry is None or exit is None):
        raise ValueError(
            "the time is missing: name its column with time=, or the columns of the first and the last date "
            f"with entry= and exit= (both are needed; entry is {entry!r}, exit is {exit!r})"
        )
    if time is not None and exit is not None:
        raise ValueError("give time=, or entry= and exit=, not both: the time would be told twice")
    roles: dict[str, str] = {}
    for role, column in (("time", time), ("event", event), ("entry", entry), ("exit", exit)):
        if column is not None and column in roles:
            raise ValueError(f"{roles[column]}= and {role}= both name the column {column!r}; each needs its own")
        if column is not None:
            roles[column] = role
    unit = texts["unit"]
    if exit is not None and unit is not None and unit not in DAYS_IN:
        raise ValueError(f"unit= must be one of {listed(DAYS_IN)} when the time comes from dates; got {unit!r}")
    if decimal not in (None, ".", ","):
        raise ValueError(f"decimal= must be '.' or ','; got {decimal!r}")
    is_time = isinstance(horizon, Real) and not isinstance(horizon, bool)
    if horizon is not None and not (is_time and math.isfinite(horizon) and horizon > 0):
        raise ValueError(f"horizon= must be a positive, finite time; got {horizon!r}")


def _columns_named(
    source: SourceTable,
    given: str | Sequence[str] | Callable[[list[str]], Sequence[str]] | None,
    option: str,
    columns: OutcomeColumns,
) -> list[str]:
    """Find the columns an option names: all must be there, and none be the outcome."""
    if given is not None and not isinstance(given, Iterable) and not callable(given):
        raise ValueError(f"{option} names columns: a text or a list of texts; got {given!r}")
    if callable(given):
        given = given([name for name in source.frame.columns if name not in columns.names])
    names = [given] if isinstance(given, str) else list(given or ())
    found = [source.column(name, option) for name in names]
    for name in found:
        if name in columns.names:
            raise ValueError(
                f"{option} names the column {name!r}, which is part of the outcome. Take it out of {option}"
            )
    return found
