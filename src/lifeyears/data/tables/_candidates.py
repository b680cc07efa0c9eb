"""A file of candidates, categories as they are written: what a cell is does not depend on who else is in the file."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._delimiter import fields_of_any_length
from ._encoding import decoded
from ._file import ReadingOptions, _bytes_of, decompressed, read_file_table
from ._numbers import is_text
from ._text import _divided

if TYPE_CHECKING:
    from ._source import SourceTable


def read_candidates(path: Any, categories: Collection[str]) -> SourceTable:
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
    text, _ = decoded(decompressed(_bytes_of(path), path.name)[0], source.label, None)
    with fields_of_any_length():
        said = _divided(text.rstrip("\r\n\x1a") + "\n", None, source.label).parsed(as_text=changed)
    return replace(source, frame=source.frame.assign(**{name: said[name] for name in changed}))
