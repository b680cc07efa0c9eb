"""The one form of all errors."""

from __future__ import annotations

from ._base import Reply, field, optional


class ErrorNote(Reply):
    """What was wrong, and where."""

    code: str = field("A short identifier for programs, such as not_a_number.")
    message: str = field("What was found and what was expected, for people.")
    row: int | None = optional("Index of the row, from 0, where the error is in one.")
    column: str | None = optional("Name of the column or field, where the error is in one.")
    hint: str | None = optional("What to do next, where something can be said.")


class ErrorReply(Reply):
    """The answer to a request that cannot be answered."""

    error: ErrorNote = field("What was wrong, and where.")
