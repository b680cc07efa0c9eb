"""A table as it was found, before anything is made of it: where it came from and how its rows are counted."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from ..._frames import as_pandas

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
        Added to a list of row numbers when it is not plain how they are counted.
    warnings : tuple of str
        What the reading itself had to guess.
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
    row_numbers: np.ndarray = field(default_factory=lambda: np.arange(0))
    counted: str = ""
    warnings: tuple[str, ...] = ()
    dropped_rows: dict[str, int] = field(default_factory=dict)
    points_seen: bool = False
    typed: bool = False

    def where(self, bad: Any, most: int = 5) -> str:
        """Name the first rows of a mask: 'lines 3, 8 and 12 more'."""
        numbers = self.row_numbers[np.asarray(bad, dtype=bool)]
        shown = ", ".join(str(number) for number in numbers[:most])
        more = f" and {len(numbers) - most:,} more" if len(numbers) > most else ""
        return f"{self.row_word}{'s' if len(numbers) > 1 else ''} {shown}{more}{self.counted}"

    def column(self, name: Any, role: str) -> str:
        """Find a column that must be there; otherwise say which are, and which one may be meant."""
        names = list(self.frame.columns)
        if name in names:
            return name
        if str(name) in names:
            return str(name)
        message = f"{self.label} has no column {name!r}, which {role} names{meant(str(name), names)}. "
        message += f"It has the columns {listed(names)}"
        if all(_is_number(column) for column in names):
            message += f". {NO_HEADER}"
        elif sum(column.startswith("unnamed_") for column in names) > len(names) / 2:
            message += ". Most columns have no name: the header may not be in the first row. Delete what is above it"
        raise ValueError(message)

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


def table_from_frame(frame: Any) -> SourceTable:
    """Take a pandas frame, a polars frame, or anything else that can turn itself into a pandas frame."""
    found = as_pandas(frame)
    if found is None and hasattr(frame, "to_pandas"):
        found = frame.to_pandas()
    if not isinstance(found, pd.DataFrame):
        raise ValueError(
            f"read_table reads a file or a pandas or polars frame; it was given a {type(frame).__name__}. "
            "Give the path of a file, or a frame with one row a subject"
        )
    return typed_table(found, "the table")


def typed_table(frame: pd.DataFrame, label: str) -> SourceTable:
    """Take columns whose types are already known: a frame, or a Parquet, Feather, SAS or Stata file."""
    if frame.columns.nlevels > 1:
        raise ValueError(
            f"{label} has column names in {frame.columns.nlevels} levels; one name a column is expected. "
            "Join the levels first: frame.columns = ['_'.join(map(str, levels)) for levels in frame.columns]"
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
        raise ValueError(f"{label}: the first row is {listed(names)}. {NO_HEADER}")
    if twice:
        named = "; ".join(f"{name!r} in columns {listed(where)}" for name, where in list(twice.items())[:5])
        raise ValueError(
            f"{label} has duplicate column names: {named} (columns counted from 1). "
            "Every column needs a name of its own: rename or remove the others"
        )


def refuse_no_rows(n_rows: int, names: Sequence[str], label: str) -> None:
    """Refuse a header alone."""
    if not n_rows:
        raise ValueError(
            f"{label} has {len(names)} columns ({listed(names)}) and no rows below the header. "
            "One row a subject is expected: was the export filtered to nothing?"
        )


def listed(values: Iterable[Any], most: int = 12) -> str:
    """List the first values with commas between, and say how many there are beyond."""
    values = list(values)
    shown = ", ".join(value if isinstance(value, str) else repr(value) for value in values[:most])
    return shown + (f" and {len(values) - most:,} more" if len(values) > most else "")


def meant(name: str, names: Iterable[str]) -> str:
    """Ask, at the end of a message, whether a name close to the given one is meant."""
    plain = {known.casefold().strip(): known for known in names}
    close = difflib.get_close_matches(name.casefold().strip(), list(plain), n=1, cutoff=0.7)
    return f" (did you mean {plain[close[0]]!r}?)" if close else ""


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
