"""Delimited text (CSV and its kin) to a table: encoding, delimiter, header, and rows of one length."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ._table_encoding import decoded
from ._table_numbers import decimal_commas_warning, has_decimal_points, is_text, readings, settle_text_numbers
from ._table_source import SourceTable, listed, refuse_duplicates, refuse_no_rows

# Not pandas' list: that one turns the answer "None" (no treatment, no diabetes) into a missing value.
MISSING = ["", " ", ".", "?", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NAN", "-nan", "-NaN", "NULL", "null"]
MISSING += ["<NA>", "#DIV/0!", "#REF!", "#VALUE!", "#NUM!", "#NAME?", "#NULL!"]

DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars", " ": "spaces", ":": "colons"}
_SNIFFED_LINES = 200
# The default of pandas 2 may be off in the last digit; pandas 3 is not, and warns of the option.
_EXACT_NUMBERS: dict[str, Any] = {"float_precision": "round_trip"} if pd.__version__.startswith("2.") else {}


def read_text_table(
    data: bytes, label: str, *, delimiter: str | None, encoding: str | None, decimal: str | None
) -> SourceTable:
    """Read delimited text, with the first line that is not blank as the header."""
    text, warnings = decoded(data, label, encoding)
    if not text.strip():
        raise ValueError(f"{label} is empty: it holds {len(data)} bytes and no text. Was the export finished?")
    if re.match(r"\s*(<!doctype html|<html|<\?xml)", text[:200], re.IGNORECASE):
        raise ValueError(f"{label} is a web page or XML, not a table: was a log-in page saved instead of the file?")
    stream = io.StringIO(text, newline=None)
    delimiter = _delimiter_line(stream) or delimiter
    if delimiter is None:
        delimiter = sniff_delimiter(text, label)
    elif not isinstance(delimiter, str) or len(delimiter) != 1:
        raise ValueError(f"delimiter must be one character, such as ',' ';' '|' or a tab; got {delimiter!r}")

    names, line_numbers, start = _checked_rows(stream, delimiter, label)
    refuse_no_rows(len(line_numbers), names, label)
    rows = _RowsOfText(stream, start, names, delimiter, label)
    frame = rows.parsed()
    if len(frame) != len(line_numbers):
        raise ValueError(
            f"{label} cannot be divided into rows without doubt: by one rule of quotation marks "
            f"there are {len(line_numbers):,}, by another {len(frame):,}. Look for stray ones in the texts"
        )
    frame = _with_grouped_points_as_text(frame, rows, decimal)
    points = any(has_decimal_points(frame[name]) for name in frame.columns if frame[name].dtype == float)
    frame, turned = settle_text_numbers(frame, label, decimal, points)
    if decimal is None:
        warnings += decimal_commas_warning(turned)
    return SourceTable(frame, label, "line", line_numbers, warnings=tuple(warnings)).without_empty_rows()


def _delimiter_line(stream: io.StringIO) -> str | None:
    """Excel's own first line, 'sep=;': not a row, and the last word on the delimiter."""
    line = re.fullmatch(r'"?sep=(.)"?\n?', stream.readline())
    if line is None:
        stream.seek(0)
    return line.group(1) if line else None


def sniff_delimiter(text: str, label: str) -> str:
    """Find the delimiter that divides the header into names, and most lines into as many fields."""
    lines = [line for line in text[:1_000_000].splitlines()[: _SNIFFED_LINES + 1] if line.strip()][:_SNIFFED_LINES]
    best, best_score = None, (0.0, 0)
    for delimiter in DELIMITERS:
        counts = [len(fields) for fields in csv.reader(lines, delimiter=delimiter, skipinitialspace=True)]
        if not counts or counts[0] < 2 or (delimiter in " :" and len(set(counts)) > 1):
            continue  # a space or colon divides many a text: believed only if every line agrees
        score = (
            sum(count == counts[0] for count in counts) / len(counts),
            counts[0] if delimiter not in " :" else 0,
        )
        if score > best_score:
            best, best_score = delimiter, score
    if best is None:
        raise ValueError(
            f"{label} seems to have one column: its first line is {lines[0][:80]!r}, with no comma, "
            "semicolon, tab or bar between names. A time and an event column are needed; pass delimiter= if "
            "another character divides them"
        )
    return best


def _rows(stream: io.StringIO, delimiter: str, label: str) -> Iterator[tuple[int, list[str]]]:
    """Rows that are not blank, each with the number of its last line."""
    before = stream.getvalue()[: stream.tell()].count("\n")
    reader = csv.reader(stream, delimiter=delimiter, skipinitialspace=delimiter == " ")
    try:
        for fields in reader:
            if len(fields) > 1 or (fields and fields[0].strip()):
                yield before + reader.line_num, fields
    except csv.Error:
        raise ValueError(
            f"{label} cannot be divided into fields from line {before + reader.line_num:,} on: most likely a "
            "quotation "
            'mark (") opens before it and never closes. Close or remove it'
        ) from None


def _checked_rows(stream: io.StringIO, delimiter: str, label: str) -> tuple[list[str], np.ndarray, int]:
    """Column names, the line number of each row, and where the rows begin; refuses rows of another length."""
    rows = _rows(stream, delimiter, label)
    header_line, header = next(rows)
    start = stream.tell()
    names = [name.strip() or f"unnamed_{place}" for place, name in enumerate(header, start=1)]
    if len(names) == 1:
        raise ValueError(
            f"{label}, divided at {delimiter!r}, has one column: {names[0][:80]!r}. A time and an event "
            "column are needed; leave delimiter out to have it guessed"
        )
    refuse_duplicates(names, label)
    line_numbers, wrong = [], []
    for line, fields in rows:
        line_numbers.append(line)
        if len(fields) != len(names):
            wrong.append((line, len(fields)))
    if wrong:
        _refuse_ragged(stream, wrong, len(line_numbers), len(names), (header_line, delimiter), label)
    return names, np.array(line_numbers, dtype=int), start


def _refuse_ragged(
    stream: io.StringIO,
    wrong: list[tuple[int, int]],
    n_rows: int,
    width: int,
    header: tuple[int, str],
    label: str,
) -> None:
    header_line, delimiter = header
    line, found = wrong[0]
    lines = stream.getvalue().split("\n")
    for other in DELIMITERS:
        if other not in (delimiter, " ", ":") and len(next(csv.reader([lines[line - 1]], delimiter=other))) == width:
            raise ValueError(
                f"{label} has mixed delimiters: line {header_line} is divided by {_called(delimiter)} and "
                f"line {line} by {_called(other)}. Rewrite the file with one of them"
            )
    if len(wrong) == n_rows and {count for _, count in wrong} == {width + 1}:
        raise ValueError(
            f"{label} is ragged: every row has {width + 1} fields and the header {width}. A column of row "
            "names without a heading (R's write.table), or a delimiter at the end of each row? Add a "
            "heading, or remove it"
        )
    shown = listed([f"line {place} has {count}" for place, count in wrong], most=5)
    advice = "Look for a text with the delimiter in it and no quotation marks around it" + (
        ", or for decimal commas" if delimiter == "," and found > width else ""
    )
    if found < width and line == len(lines) and len(wrong) == 1:  # a finished file ends with a newline
        advice = "It is the last line: the file may be cut short. Copy or export it again"
    raise ValueError(f"{label} is ragged: the header (line {header_line}) has {width} fields, but {shown}. {advice}")


def _called(delimiter: str) -> str:
    return DELIMITERS.get(delimiter, repr(delimiter))


@dataclass(frozen=True, eq=False)
class _RowsOfText:
    """The rows below the header, to be parsed by pandas."""

    stream: io.StringIO
    start: int
    names: list[str]
    delimiter: str
    label: str

    def parsed(self, as_text: list[str] | None = None) -> pd.DataFrame:
        """All columns with their types found, or some of them as text."""
        self.stream.seek(self.start)
        try:
            return pd.read_csv(
                self.stream,
                sep=self.delimiter,
                header=None,
                names=self.names,
                index_col=False,
                usecols=as_text,
                dtype=str if as_text else None,
                na_values=MISSING,
                keep_default_na=False,
                skipinitialspace=True,
                low_memory=False,
                **_EXACT_NUMBERS,
            )
        except (pd.errors.ParserError, pd.errors.EmptyDataError) as error:
            raise ValueError(
                f"{self.label} cannot be divided into rows: most likely a quotation mark opens in "
                "some text and never closes. Close or remove it"
            ) from error


def _with_grouped_points_as_text(frame: pd.DataFrame, rows: _RowsOfText, decimal: str | None) -> pd.DataFrame:
    """Where commas are the decimal mark, 1.234 is a thousand and more: bring back what such columns said.

    Only columns in which every point can be a thousands point come back; one 0.5 among them settles it.
    """
    floats = [name for name in frame.columns if frame[name].dtype == float]
    fractions = [name for name in floats if not (np.floor(frame[name].dropna()) == frame[name].dropna()).all()]
    if decimal is None and fractions and not any(has_decimal_points(frame[name]) for name in fractions):
        texts = (frame[name].dropna().unique().tolist() for name in frame.columns if is_text(frame[name]))
        decimal = "," if any(readings(values) == "," for values in texts) else None
    if decimal != "," or not fractions:
        return frame
    said = rows.parsed(as_text=fractions)
    grouped = [name for name in fractions if "," in readings(said[name].dropna().unique().tolist())]
    return frame.assign(**{name: said[name] for name in grouped})
