"""How delimited text is divided: by which character, and how quotation marks within texts are written."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from contextlib import contextmanager

from ...errors import DataError, Message, Setting

DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars", " ": "spaces", ":": "colons"}
_SNIFFED_LINES = 200
_QUOTED_NAMES = re.compile(r'"[^"]*"(?: "[^"]*")+')
_BACKSLASHED_QUOTE = re.compile(r'(?<!\\)((?:\\\\)*)\\"')


def name_delimiter(delimiter: str) -> str:
    """Name a delimiter in words."""
    return DELIMITERS.get(delimiter, repr(delimiter))


@contextmanager
def fields_of_any_length() -> Iterator[None]:
    """Lift the limit of 131,072 characters that csv sets to a field: a long text is no damage."""
    before = csv.field_size_limit(2**31 - 1)  # the largest that every system takes
    try:
        yield
    finally:
        csv.field_size_limit(before)


def is_blank(fields: list[str]) -> bool:
    """Whether a row is a blank line."""
    return len(fields) < 2 and not (fields and fields[0].strip())


def read_delimiter_line(stream: io.StringIO) -> str | None:
    """Read Excel's own first line, 'sep=;', if there is one: not a row, and it settles the delimiter."""
    line = re.fullmatch(r'"?sep=(.)"?\n?', stream.readline())
    if line is None:
        stream.seek(0)
    return line.group(1) if line else None


def sniff_delimiter(text: str, label: str) -> str:
    """Find the delimiter that divides the header into names, and most lines into as many fields."""
    lines = [line for line in text[:1_000_000].splitlines()[: _SNIFFED_LINES + 1] if line.strip()][:_SNIFFED_LINES]
    doubled = [_BACKSLASHED_QUOTE.sub(r'\1""', line) for line in lines]
    best, best_score = None, (0.0, 0)
    for delimiter in DELIMITERS:
        n_names, agreeing = max(
            _agreement(lines, delimiter), _agreement(doubled, delimiter), key=lambda found: found[1]
        )
        certain = agreeing == 1 or (delimiter == " " and _QUOTED_NAMES.fullmatch(lines[0]))
        if n_names < 2 or (delimiter in " :" and not certain):
            continue  # a space or colon divides many a text: believed only if every line agrees
        score = (agreeing, n_names if delimiter not in " :" else 0)
        if score > best_score:
            best, best_score = delimiter, score
    if best is None:
        raise DataError(
            f"{label} seems to have one column: its first line is {lines[0][:80]!r}, with no comma, "
            "semicolon, tab or bar between names",
            hint=Message(
                "A time and an event column are needed; pass ",
                Setting("delimiter"),
                " if another character divides them.",
            ),
        )
    return best


def _agreement(lines: list[str], delimiter: str) -> tuple[int, float]:
    """How many names the first line is divided into, and what share of the lines into as many fields."""
    counts = [len(fields) for fields in csv.reader(lines, delimiter=delimiter, skipinitialspace=True)]
    if set(counts[1:]) == {counts[0] + 1}:  # rows with names, and no heading above these: R's write.table
        return counts[0], 1.0
    return counts[0], sum(count == counts[0] for count in counts) / len(counts)


def double_quotes(text: str, delimiter: str, label: str) -> str:
    r"""Write the quotation marks within texts as two, where the file has \" for them (R and MySQL do).

    A backslash may also just be the last character of a text ("C:\"): the reading that divides every line
    without a stray quotation mark into as many fields is right.
    """
    if '\\"' not in text or _divides_evenly(text, delimiter, strict=True):
        return text
    doubled = _BACKSLASHED_QUOTE.sub(r'\1""', text)
    if _divides_evenly(doubled, delimiter, strict=True):
        return doubled
    if _divides_evenly(text, delimiter, strict=False):
        line = text.count("\n", 0, text.index('\\"')) + 1
        raise DataError(
            f'{label} has a quotation mark after a backslash (\\") in line {line}, and others that stand alone, '
            "so it is not clear where texts end",
            hint='Write quotation marks within texts as two ("").',
            line=line,
        )
    return text  # the check of the rows explains it better


def _divides_evenly(text: str, delimiter: str, strict: bool) -> bool:
    rows = csv.reader(io.StringIO(text, newline=None), delimiter=delimiter, skipinitialspace=True, strict=strict)
    try:
        widths = [len(fields) for fields in rows if not is_blank(fields)]
    except csv.Error:
        return False
    return len(set(widths)) == 1 or set(widths[1:]) == {widths[0] + 1}
