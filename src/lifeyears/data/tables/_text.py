"""Delimited text (CSV and its kin) to a table: encoding, delimiter, header, and rows of one length."""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from ..._typing import IntArray
from ...errors import DataError, Message, RequestError, Setting
from ...text import list_values
from ._delimiter import (
    DELIMITERS,
    double_quotes,
    fields_of_any_length,
    is_blank,
    name_delimiter,
    read_delimiter_line,
    sniff_delimiter,
)
from ._encoding import decode
from ._numbers import MISSING_TEXTS, find_decimal_marks, has_decimal_points, is_padded_code, is_text
from ._source import SourceTable, refuse_duplicates, refuse_no_rows

# The default of pandas 2 may be off in the last digit; pandas 3 is not, and warns of the option.
_EXACT_NUMBERS: dict[str, str] = {"float_precision": "round_trip"} if pd.__version__.startswith("2.") else {}


def read_text_table(
    data: bytes, label: str, *, delimiter: str | None, encoding: str | None, decimal: str | None
) -> SourceTable:
    """Read delimited text, with the first line that is not blank as the header.

    Columns that may hold numbers written otherwise (decimal commas, thousands points) remain text.
    """
    text, warnings = decode(data, label, encoding)
    if text.rstrip("\r\n").endswith("\x1a"):  # DOS ended its files so
        text = text.rstrip("\r\n\x1a") + "\n"
    if not text.strip():
        raise DataError(f"{label} is empty: it holds {len(data)} bytes and no text", hint="Was the export finished?")
    if re.match(r"\s*(<!doctype html|<html|<\?xml)", text[:200], re.IGNORECASE):
        raise DataError(f"{label} is a web page or XML, not a table: was a log-in page saved instead of the file?")
    with fields_of_any_length():
        rows = divide_rows(text, delimiter, label)
    refuse_no_rows(len(rows.line_numbers), rows.names, label)
    frame = rows.parse()
    if len(frame) != len(rows.line_numbers):
        raise DataError(
            f"{label} cannot be divided into rows without doubt: by one rule of quotation marks "
            f"there are {len(rows.line_numbers):,}, by another {len(frame):,}",
            hint="Look for stray quotation marks in the texts.",
        )
    frame = _with_padded_codes_as_text(frame, rows)
    source = SourceTable(frame, label, "line", rows.line_numbers, warnings=(*warnings, *rows.warnings))
    return _with_grouped_points_as_text(source, rows, decimal).without_empty_rows()


def divide_rows(text: str, delimiter: str | None, label: str) -> RowsOfText:
    """Find the delimiter and the header, and check that every row has as many fields."""
    stream = io.StringIO(text, newline=None)
    delimiter = read_delimiter_line(stream) or delimiter
    if delimiter is None:
        delimiter = sniff_delimiter(text, label)
    elif not isinstance(delimiter, str) or len(delimiter) != 1:
        raise RequestError(
            Message(Setting("delimiter"), f" must be one character, such as ',' ';' '|' or a tab; got {delimiter!r}")
        )
    start = stream.tell()
    whole = stream.getvalue()
    stream = io.StringIO(whole[:start] + double_quotes(whole[start:], delimiter, label))
    stream.seek(start)
    return _checked_rows(stream, delimiter, label)


def _rows(stream: io.StringIO, delimiter: str, label: str) -> Iterator[tuple[int, list[str]]]:
    """Rows that are not blank, each with the number of its last line."""
    before = stream.getvalue()[: stream.tell()].count("\n")
    reader = csv.reader(stream, delimiter=delimiter, skipinitialspace=True)
    try:
        for fields in reader:
            if not is_blank(fields):
                yield before + reader.line_num, fields
    except csv.Error:
        raise DataError(
            f"{label} cannot be divided into fields from line {before + reader.line_num:,} on: most likely a "
            'quotation mark (") opens before it and never closes',
            hint="Close or remove it.",
        ) from None


def _checked_rows(stream: io.StringIO, delimiter: str, label: str) -> RowsOfText:
    """Find column names, the line number of each row, and where the rows begin; refuse rows of another length."""
    rows = _rows(stream, delimiter, label)
    header_line, header = next(rows)
    start = stream.tell()
    names = [name.strip() or f"unnamed_{place}" for place, name in enumerate(header, start=1)]
    if len(names) == 1:
        raise DataError(
            f"{label}, divided at {delimiter!r}, has one column: {names[0][:80]!r}. A time and an event "
            "column are needed",
            hint=Message("Leave ", Setting("delimiter"), " out to have it guessed."),
        )
    refuse_duplicates(names, label)
    line_numbers, wrong = [], []
    for line, fields in rows:
        line_numbers.append(line)
        if len(fields) != len(names):
            opened = line - sum(field.count("\n") for field in fields) + fields[-1].endswith("\n")
            wrong.append(_WrongRow(opened, line, len(fields), fields[0], fields[-1]))
    warnings: tuple[str, ...] = ()
    if wrong and len(wrong) == len(line_numbers) and _have_row_names(wrong, len(names), delimiter):
        names = ["rownames", *names]
        refuse_duplicates(names, label)
        warnings = (
            f"every row has {len(names)} fields and the header {len(names) - 1}: the first was taken for row names, "
            "which R's write.table writes without a heading",
        )
    elif wrong:
        _refuse_ragged(stream, wrong, line_numbers, len(names), (header_line, delimiter), label)
    return RowsOfText(stream, start, names, np.array(line_numbers, dtype=int), delimiter, label, warnings)


@dataclass(frozen=True)
class _WrongRow:
    """A row with another number of fields than the header, from its first line to its last."""

    opened: int
    line: int
    width: int
    first: str
    last: str


def _have_row_names(rows: list[_WrongRow], width: int, delimiter: str) -> bool:
    """Whether every row begins with a name, as R writes them: without a heading, all different, by default a count."""
    if {row.width for row in rows} != {width + 1} or not any(row.last.strip() for row in rows):
        return False
    names = [row.first for row in rows]
    if delimiter == " ":  # R's default, which others hardly write
        return len(set(names)) == len(names)
    counts = [int(name) for name in names if re.fullmatch(r"[1-9]\d*", name)]
    return len(counts) == len(names) and all(before < after for before, after in itertools.pairwise(counts))


def _refuse_ragged(
    stream: io.StringIO,
    wrong: list[_WrongRow],
    line_numbers: list[int],
    width: int,
    header: tuple[int, str],
    label: str,
) -> None:
    header_line, delimiter = header
    row = wrong[0]
    lines = stream.getvalue().split("\n")
    for other in DELIMITERS:
        fields = next(csv.reader([lines[row.line - 1]], delimiter=other, skipinitialspace=True))
        if other not in (delimiter, " ", ":") and len(fields) == width:
            raise DataError(
                f"{label} has mixed delimiters: line {header_line} is divided by {name_delimiter(delimiter)} and "
                f"line {row.line} by {name_delimiter(other)}",
                hint="Rewrite the file with one of them.",
                line=row.line,
            )
    if len(wrong) == len(line_numbers) and {row.width for row in wrong} == {width + 1}:
        raise DataError(
            f"{label} is ragged: every row has {width + 1} fields and the header {width}. A column of row "
            "names without a heading (R's write.table), or a delimiter at the end of each row?",
            hint="Add a heading, or remove it.",
        )
    shown = list_values([f"line {row.line} has {row.width}" for row in wrong], most=5)
    advice = "Look for a text with the delimiter in it and no quotation marks around it" + (
        ", or for decimal commas" if delimiter == "," and row.width > width else ""
    )
    if '\\"' in lines[row.line - 1]:
        advice = 'Look for quotation marks after a backslash (\\"): within texts, write them as two ("")'
    elif len(wrong) == 1 and row.opened < row.line == line_numbers[-1]:
        advice = f'Most likely a quotation mark (") opens in line {row.opened} and never closes. Close or remove it'
    elif len(wrong) == 1 and row.width < width and row.line == len(lines):  # a finished file ends with a newline
        advice = "It is the last line: the file may be cut short. Copy or export it again"
    raise DataError(
        f"{label} is ragged: the header (line {header_line}) has {width} fields, but {shown}",
        hint=f"{advice}.",
        line=row.line,
    )


@dataclass(frozen=True, eq=False)
class RowsOfText:
    """The rows below the header, to be parsed by pandas."""

    stream: io.StringIO
    start: int
    names: list[str]
    line_numbers: IntArray
    delimiter: str
    label: str
    warnings: tuple[str, ...] = ()

    def parse(self, as_text: list[str] | None = None) -> pd.DataFrame:
        """Parse all columns with types inferred, or some of them as text."""
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
                na_values=MISSING_TEXTS,
                keep_default_na=False,
                skipinitialspace=True,
                low_memory=False,
                **_EXACT_NUMBERS,
            )
        except (pd.errors.ParserError, pd.errors.EmptyDataError) as error:
            raise DataError(
                f"{self.label} cannot be divided into rows: most likely a quotation mark opens in "
                "some text and never closes",
                hint="Close or remove it.",
            ) from error


def _with_padded_codes_as_text(frame: pd.DataFrame, rows: RowsOfText) -> pd.DataFrame:
    """Restore columns with leading zeros as text: as numbers, the codes 007, 07 and 7 would be one."""
    around = rf'["\s{re.escape(rows.delimiter)}]'
    padded = re.compile(rf"(?:^|{around})0\d+(?:$|{around})")
    numeric = [name for name in frame.columns if pd.api.types.is_numeric_dtype(frame[name].dtype)]
    if not numeric or padded.search(rows.stream.getvalue(), rows.start) is None:
        return frame
    written = rows.parse(as_text=numeric)
    codes = [name for name in numeric if any(is_padded_code(text.strip()) for text in written[name].dropna().unique())]
    return frame.assign(**{name: written[name] for name in codes})


def _with_grouped_points_as_text(source: SourceTable, rows: RowsOfText, decimal: str | None) -> SourceTable:
    """Restore as text the columns where 1.234 may be a thousand and more, as commas are the decimal mark.

    Only columns in which every point can be a thousands point are restored; one 0.5 or 1.5 in the file settles
    it, unless there are decimal commas.
    """
    frame = source.frame
    floats = [name for name in frame.columns if frame[name].dtype == float]
    fractions = [name for name in floats if not (np.floor(frame[name].dropna()) == frame[name].dropna()).all()]
    points_seen = any(has_decimal_points(frame[name]) for name in fractions)
    texts = (frame[name].dropna().unique().tolist() for name in frame.columns if is_text(frame[name]))
    commas_seen = decimal == "," or (decimal is None and any(find_decimal_marks(values) == "," for values in texts))
    if not fractions or decimal == "." or (points_seen and not commas_seen):
        return replace(source, points_seen=points_seen)
    written = rows.parse(as_text=fractions)
    marks = {name: find_decimal_marks([text.strip() for text in written[name].dropna().unique()]) for name in fractions}
    with_points = [name for name, mark in marks.items() if mark == "."]
    if with_points and not commas_seen:
        return replace(source, points_seen=True)
    warning = Message(f"{list_values(with_points)} was read with decimal points, though ", Setting("decimal", ","))
    return replace(
        source,
        frame=frame.assign(**{name: written[name] for name in fractions if "," in marks[name]}),
        points_seen=points_seen or bool(with_points),
        warnings=(*source.warnings, warning) if with_points and decimal == "," else source.warnings,
    )
