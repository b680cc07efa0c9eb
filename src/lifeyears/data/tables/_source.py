"""A table as it was found, before anything is made of it: where it came from and how its rows are counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from ..._frames import as_pandas
from ...errors import DataError, Message, RequestError, Setting
from ...text import did_you_mean, list_values

if TYPE_CHECKING:
    from ..._typing import IntArray, TableLike

NO_HEADER = "These look like data: it seems to have no header row. Put the column names in the first row"


@dataclass(frozen=True, eq=False)
class SourceTable:
    """Columns as read, with what is needed to tell a reader where something is wrong.

    Attributes
    ----------
    frame : DataFrame
        The columns, under unique names that are strings.
    label : str
        What messages call it: a file name, or "the table".
    row_word : str
        What one row is called there: "line" in a text file, "row" elsewhere.
    row_numbers : array of int
        The number under which the reader finds each row.
    counted : str
        Added to a list of row numbers when it is not obvious how they are counted.
    warnings : tuple of str
        What had to be guessed while reading.
    dropped_rows : dict of str to int
        Reason → how many rows are not in `frame`.
    points_seen : bool
        Whether the file has numbers that can only have been written with decimal points.
    typed : bool
        Whether the types of the columns came with them (a frame, Parquet, Feather, SAS, Stata), texts as texts.
    """

    frame: pd.DataFrame
    label: str = "the table"
    row_word: str = "row"
    row_numbers: IntArray = field(default_factory=lambda: np.arange(0))
    counted: str = ""
    warnings: tuple[str, ...] = ()
    dropped_rows: dict[str, int] = field(default_factory=dict)
    points_seen: bool = False
    typed: bool = False

    def where(self, bad: ArrayLike, most: int = 5) -> str:
        """Name the first rows of a mask: 'lines 3, 8 and 12 more'."""
        numbers = self.row_numbers[np.asarray(bad, dtype=bool)]
        shown = ", ".join(str(number) for number in numbers[:most])
        more = f" and {len(numbers) - most:,} more" if len(numbers) > most else ""
        return f"{self.row_word}{'s' if len(numbers) > 1 else ''} {shown}{more}{self.counted}"

    def find_column(self, name: object, setting: str) -> str:
        """Find a column that a setting names; if it is not there, say which are, and which is close."""
        names = list(self.frame.columns)
        if str(name) in names:
            return str(name)
        hint = f"It has the columns {list_values(names)}."
        if all(_is_number(column) for column in names):
            hint += f" {NO_HEADER}."
        elif sum(column.startswith("unnamed_") for column in names) > len(names) / 2:
            hint += " Most columns have no name: the header may not be in the first row. Delete what is above it."
        problem = Message(
            f"{self.label} has no column {name!r}, which ",
            Setting(setting),
            f" names{did_you_mean(str(name), names)}",
        )
        raise DataError(problem, hint=hint, code="missing_column", column=str(name), setting=setting)

    def without_empty_rows(self) -> SourceTable:
        """Leave out the rows with nothing in them, which spreadsheets add at the end, and count them."""
        if not len(self.frame.columns):
            return self
        empty = np.ones(len(self.frame), dtype=bool)
        for name in self.frame.columns:
            empty &= self.frame[name].isna().to_numpy(dtype=bool)
            if not empty.any():
                return self
        return replace(
            self,
            frame=self.frame[~empty],
            row_numbers=self.row_numbers[~empty],
            dropped_rows=self.dropped_rows | {"every column is empty": int(empty.sum())},
        )


def wrap_frame(frame: TableLike) -> SourceTable:
    """Wrap a pandas frame, a polars frame, or anything else that can turn itself into a pandas frame."""
    converted = as_pandas(frame)
    if converted is None and hasattr(frame, "to_pandas"):
        converted = frame.to_pandas()
    if not isinstance(converted, pd.DataFrame):
        raise RequestError(
            f"read_table reads a file, or a pandas or polars frame; got a {type(frame).__name__}",
            hint="Pass the path of a file, or a frame with one row per subject.",
        )
    return wrap_typed_frame(converted, "the table")


def wrap_typed_frame(frame: pd.DataFrame, label: str) -> SourceTable:
    """Wrap columns whose types are already known: a frame, or a Parquet, Feather, SAS or Stata file."""
    if frame.columns.nlevels > 1:
        raise DataError(
            f"{label} has column names in {frame.columns.nlevels} levels; one name per column is expected",
            hint="Join the levels first: frame.columns = ['_'.join(map(str, levels)) for levels in frame.columns]",
        )
    names = [str(name) for name in frame.columns]
    refuse_duplicates(names, label)
    frame = frame.set_axis(names, axis=1)
    # A named index is a column in all but place, often the identifier: as one, its fate is reported.
    for level, name in enumerate(frame.index.names):
        if name is not None and str(name) not in frame.columns:
            frame = frame.assign(**{str(name): frame.index.get_level_values(level)})
    refuse_no_rows(len(frame), names, label)
    rows = np.arange(len(frame))
    return SourceTable(frame, label, "row", rows, " (counted from 0)", typed=True).without_empty_rows()


def refuse_duplicates(names: Sequence[str], label: str) -> None:
    """Refuse two columns under one name: they cannot be told apart."""
    places: dict[str, list[int]] = {}
    for place, name in enumerate(names, start=1):
        places.setdefault(name, []).append(place)
    twice = {name: where for name, where in places.items() if len(where) > 1}
    if twice and all(map(_is_number, names)):
        raise DataError(f"{label}: the first row is {list_values(names)}", hint=f"{NO_HEADER}.")
    if twice:
        named = "; ".join(f"{name!r} in columns {list_values(where)}" for name, where in list(twice.items())[:5])
        raise DataError(
            f"{label} has duplicate column names: {named} (columns counted from 1)",
            hint="Every column needs a name of its own: rename or remove the others.",
            columns=list(twice),
        )


def refuse_no_rows(n_rows: int, names: Sequence[str], label: str) -> None:
    """Refuse a header alone."""
    if not n_rows:
        raise DataError(
            f"{label} has {len(names)} columns ({list_values(names)}) and no rows below the header",
            hint="One row per subject is expected: was the export filtered to nothing?",
        )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
