"""A file of candidates, categories as they are written: a cell does not depend on who else is in the file."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ._delimiter import fields_of_any_length
from ._encoding import decode
from ._file import ReadingOptions, decompress_file, read_bytes, read_file_table
from ._numbers import is_text
from ._text import divide_rows

if TYPE_CHECKING:
    import os

    from ._source import SourceTable


def read_candidates(path: str | os.PathLike[str], categories: Collection[str]) -> SourceTable:
    """Read a table of candidates for a model that knows which columns are categories.

    In a text file, types are found column by column: without the one "unknown" of the training table, True and False
    would be read as truth values, and 031 beside a blank as 31.0. The named columns are
    therefore taken as they are written.
    """
    source = read_file_table(path, ReadingOptions())
    changed = [name for name in categories if name in source.frame and not is_text(source.frame[name])]
    if source.row_word != "line" or not changed:
        return source
    path = Path(path).expanduser()
    text, _ = decode(decompress_file(read_bytes(path), path.name)[0], source.label, None)
    with fields_of_any_length():
        written = divide_rows(text.rstrip("\r\n\x1a") + "\n", None, source.label).parse(as_text=changed)
    return replace(source, frame=source.frame.assign(**{name: written[name] for name in changed}))
