"""A file of candidates, categories as they are written: what a cell is does not depend on who else is in the file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..data._table_delimiter import fields_of_any_length
from ..data._table_encoding import decoded
from ..data._table_file import ReadingOptions, _bytes_of, decompressed, read_file_table
from ..data._table_numbers import is_text
from ..data._table_text import _divided

if TYPE_CHECKING:
    from ..data._table_source import SourceTable
    from ._schema import Schema


def read_candidates(path: Any, schema: Schema) -> SourceTable:
    """Read a table of candidates for a model.

    In a text file, types are found column by column: without the one "unknown" of the training table, True and False
    would come out as truth values, and 031 beside a blank as 31.0. The model knows which columns are categories, so
    these are taken as they are written.
    """
    source = read_file_table(path, ReadingOptions())
    changed = [
        column.name
        for column in schema.columns
        if column.kind == "category" and column.name in source.frame and not is_text(source.frame[column.name])
    ]
    if source.row_word != "line" or not changed:
        return source
    path = Path(path).expanduser()
    text, _ = decoded(decompressed(_bytes_of(path), path.name)[0], source.label, None)
    with fields_of_any_length():
        said = _divided(text.rstrip("\r\n\x1a") + "\n", None, source.label).parsed(as_text=changed)
    return replace(source, frame=source.frame.assign(**{name: said[name] for name in changed}))
