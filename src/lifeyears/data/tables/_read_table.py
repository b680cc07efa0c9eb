"""Anyone's table to a data set: `read_table`."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ...checks import is_number
from ...errors import DataError, Message, RequestError, Setting
from ...text import list_values
from ...units import DAYS_IN
from ..dataset import DataReport, Dataset
from ._columns import simplify_columns
from ._copies import find_copies
from ._features import choose_features
from ._file import ReadingOptions, name_table, read_file_table
from ._leaks import find_leaks
from ._numbers import convert_text_numbers
from ._outcome import OutcomeColumns, read_outcome
from ._source import SourceTable, wrap_frame

if TYPE_CHECKING:
    from ..._typing import TableLike


def read_table(
    path_or_frame: str | os.PathLike[str] | TableLike,
    time: str | None = None,
    event: str | None = None,
    *,
    entry: str | None = None,
    exit: str | None = None,
    event_values: object = None,
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
    """Read a table with one row per subject into features and outcome, and report what was excluded and why.

    Parameters
    ----------
    path_or_frame : path, or pandas or polars DataFrame
        A file: CSV or other delimited text, Parquet or Feather (need pyarrow), Excel (needs openpyxl), SAS
        (.sas7bdat, .xpt) or Stata (.dta), also inside .gz, .bz2, .xz or .zip. Or a frame.
    time : str, optional
        Column with the observed time, in numbers (in the user's unit: it is not converted) or durations.
    event : str
        Column that says whether the time ended in an event. Understood as they are: 0/1, True/False, yes/no,
        dead/alive, died/censored, event/censored, Y/N. Any other coding needs `event_values`, and so does a
        column of 0/1 or yes/no whose name says who had no event (alive, survived, censored).
    entry, exit : str, optional
        In place of `time`: columns with the dates of the first and the last observation. `entry` beside
        `time` says when each subject entered, for splits by time.
    event_values : value or list of values, optional
        The values of the event column that mean an event; all others mean censored.
    drop : list of str
        Columns to exclude, above all those not yet known when a subject enters.
    categorical : list of str, optional
        Columns to take as categories though they hold numbers, as such or as text. Other texts, True/False
        and codes with leading zeros (007) are categories anyway.
    keep : list of str
        Columns to keep as features though they look like an identifier or have many categories.
    subgroups : list of str, or callable
        Columns kept beside the features, for tables by subgroup and for splits by centre. They are not features. A
        function gets the names of the table's columns, without those of the outcome, and returns the ones to keep.
    unit : str, optional
        Unit of time. With dates: hours, days, weeks, months or years (the default, 365.25 days). With `time`
        it is a label only; by default it is inferred from the name of the column.
    sheet : str or int, optional
        Excel sheet, by name or by position counted from 0; by default the first.
    delimiter, encoding, decimal : str, optional
        How a text file is written, where it is not clear: the character between fields, the encoding, and
        the decimal mark ('.' or ','), which is also that of numbers kept as text in a frame or spreadsheet.
    date_format : str, optional
        How dates are written, in the codes of `strptime` ('%d/%m/%Y'), where it is not clear.
    name : str, optional
        What to call the data set; by default the file's name.
    horizon : float, optional
        The horizon τ; by default the 95th percentile of the censored times.

    Returns
    -------
    Dataset
        Its `report` says what was read, what was dropped (empty rows, identifiers, constants, dates, columns with
        too many categories), and what needs attention, above all columns that may leak the outcome. The latter is
        also issued as one `UserWarning`.

    Raises
    ------
    RequestError
        For a setting that is wrong, or that does not go with the others; a ValueError.
    DataError
        For a file or a column that cannot be understood; a RequestError. The message says where and what to do.
    FileReadError
        For a path that cannot be opened, or a damaged file; a RequestError and an OSError. If there is no such
        file, a `MissingFileError`, which is a FileNotFoundError too.
    MissingExtraError
        For a kind of file that needs a package which is not installed; a RequestError and an ImportError.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"years": [2.5, 4, 1], "died": ["yes", "no", "yes"], "age": [61, 55, 70]})
    >>> read_table(table, time="years", event="died")
    Dataset('table': 3 subjects, 1 features (0 categorical), 2 events, horizon 4 years)
    """
    texts = {"unit": unit, "delimiter": delimiter, "encoding": encoding, "date_format": date_format, "name": name}
    _check_request(time, event, entry, exit, decimal, horizon, texts)
    path = path_or_frame if isinstance(path_or_frame, (str, os.PathLike)) else None
    if path is not None:
        needed = tuple(str(column) for column in (time, event, entry, exit) if column is not None)
        source = read_file_table(path, ReadingOptions(sheet, delimiter, encoding, decimal, needed))
    else:
        source = wrap_frame(path_or_frame)
    if len(source.frame) < 2:
        raise DataError(
            f"{source.label} has one row; nothing can be learnt or ranked with one subject",
            hint="Give a table with one row per subject, and at least two of them.",
        )
    columns = OutcomeColumns(
        time=None if time is None else source.find_column(time, "time"),
        event=source.find_column(event, "event"),
        entry=None if entry is None else source.find_column(entry, "entry"),
        exit=None if exit is None else source.find_column(exit, "exit"),
        event_values=event_values,
        unit=unit,
        date_format=date_format,
        decimal=decimal,
    )
    left_out, as_categories, kept, aside = (
        _find_columns(source, names, setting, columns)
        for setting, names in (
            *(("drop", drop), ("categorical", categorical)),
            *(("keep", keep), ("subgroups", subgroups)),
        )
    )
    if both := [name for name in aside if name in left_out]:
        raise RequestError(
            Message(
                Setting("drop"),
                " and ",
                Setting("subgroups"),
                f" both name {list_values(both)}: a column can be excluded or kept beside the features, not both",
            )
        )

    # What the user excludes goes first, so that a column which cannot be read is no obstacle.
    order = list(source.frame.columns)
    as_written = [*left_out, *as_categories, *aside]
    as_written += [name for name in (columns.entry, columns.exit) if name is not None and date_format]
    source = convert_text_numbers(source, decimal, skip=as_written, outcome=columns.names)
    source = simplify_columns(replace(source, frame=source.frame.drop(columns=left_out)))
    outcome = read_outcome(source, columns)
    beside = source.frame[aside] if aside else None
    features = choose_features(
        replace(source, frame=source.frame.drop(columns=aside)), columns.names, as_categories, kept
    )
    reasons = {
        **dict.fromkeys(left_out, Message("named in ", Setting("drop"))),
        **dict.fromkeys(aside, "kept for subgroups"),
        **features.dropped,
    }
    leaks = [*find_copies(features.X, outcome.y), *find_leaks(features.X, outcome.y)]
    notes = (*source.warnings, *outcome.warnings, *features.warnings, *leaks)
    report = DataReport(
        rows_read=len(source.frame) + sum(source.dropped_rows.values()),
        rows_kept=len(source.frame),
        dropped_rows=source.dropped_rows,
        dropped_columns={column: reasons[column] for column in order if column in reasons},
        warnings=notes,
        leaks=tuple(leaks),
    )
    if notes:
        lines = [part for note in notes for part in ("\n- ", note)]
        warnings.warn(Message(f"{source.label} was read, but look at this:", *lines), UserWarning, stacklevel=2)
    return Dataset(
        X=features.X,
        y=outcome.y,
        name=name or ("table" if path is None else name_table(path)),
        unit=outcome.unit,
        source="" if path is None else os.path.basename(path),
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
    """Refuse settings that do not go together, before any work is done."""
    for setting, value in texts.items():
        if value is not None and not isinstance(value, str):
            raise RequestError(Message(Setting(setting), f" must be a text; got {value!r}"))
    for setting, column in (("time", time), ("event", event), ("entry", entry), ("exit", exit)):
        if isinstance(column, (list, tuple, set, dict)):
            raise RequestError(Message(Setting(setting), f" names one column; got {column!r}"))
    if event is None:
        raise RequestError(
            Message(Setting("event"), " is missing: name the column that says whether the time ended in an event")
        )
    both_dates = (Setting("entry"), " and ", Setting("exit"))
    if time is None and (entry is None or exit is None):
        raise RequestError(
            Message(
                "the time is missing: name its column with ",
                Setting("time"),
                ", or the columns of the first and the last date with ",
                *both_dates,
                f" (both are needed; entry is {entry!r}, exit is {exit!r})",
            )
        )
    if time is not None and exit is not None:
        raise RequestError(
            Message("pass ", Setting("time"), ", or ", *both_dates, ", not both: each of them defines the time")
        )
    roles: dict[str, str] = {}
    for role, column in (("time", time), ("event", event), ("entry", entry), ("exit", exit)):
        if column is not None and column in roles:
            raise RequestError(
                Message(
                    Setting(roles[column]),
                    " and ",
                    Setting(role),
                    f" both name the column {column!r}; each needs its own",
                )
            )
        if column is not None:
            roles[column] = role
    unit = texts["unit"]
    if exit is not None and unit is not None and unit not in DAYS_IN:
        choices = list_values(DAYS_IN)
        raise RequestError(
            Message(Setting("unit"), f" must be one of {choices} when the time comes from dates; got {unit!r}")
        )
    if decimal not in (None, ".", ","):
        raise RequestError(Message(Setting("decimal"), f" must be '.' or ','; got {decimal!r}"))
    if horizon is not None and not (is_number(horizon) and 0 < horizon < float("inf")):
        raise RequestError(Message(Setting("horizon"), f" must be a positive, finite time; got {horizon!r}"))


def _find_columns(
    source: SourceTable,
    names: str | Sequence[str] | Callable[[list[str]], Sequence[str]] | None,
    setting: str,
    columns: OutcomeColumns,
) -> list[str]:
    """Find the columns that a setting names: all must be there, and none may be part of the outcome."""
    if callable(names):
        names = names([name for name in source.frame.columns if name not in columns.names])
    if names is not None and not isinstance(names, Iterable):
        raise RequestError(Message(Setting(setting), f" names columns: a text or a list of texts; got {names!r}"))
    found = [source.find_column(name, setting) for name in ([names] if isinstance(names, str) else names or ())]
    for name in found:
        if name in columns.names:
            raise RequestError(
                Message(Setting(setting), f" names the column {name!r}, which is part of the outcome"),
                hint=Message("Take it out of ", Setting(setting), "."),
            )
    return found
