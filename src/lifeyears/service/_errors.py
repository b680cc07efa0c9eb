"""What a caller is sent when a request fails: one form for all errors, in JSON's terms; no path, no trace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import (
    FileReadError,
    LifeyearsError,
    MissingExtraError,
    ModelFileError,
    RequestError,
    json_terms,
    render,
)
from ..scoring import RowError

if TYPE_CHECKING:
    from .._typing import Json

LONGEST = 500  # characters of a message: some quote what was sent
INTERNAL = "something went wrong; the log says where"
# Errors about files and packages of the machine: no caller can avoid them, and their messages hold paths.
OURS = (FileReadError, ModelFileError, MissingExtraError)


class ApiError(LifeyearsError):
    """A request that cannot be answered, with its HTTP status."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        row: int | None = None,
        column: str | None = None,
        hint: str = "",
    ) -> None:
        super().__init__(message, hint=hint, code=code, row=row, column=column)
        self.status = status

    @classmethod
    def of(cls, error: LifeyearsError) -> ApiError:
        """Render an error of the library for a caller of the service.

        Examples
        --------
        >>> from lifeyears.errors import Message, RequestError, Setting
        >>> error = ApiError.of(RequestError("k must be at least 1; got 0", hint=Message("Send ", Setting("k", 1))))
        >>> error.status, error.content()["error"]["hint"]
        (422, 'Send "k": 1')
        """
        if isinstance(error, ApiError):
            return error
        if isinstance(error, OURS):
            return cls(500, "internal", INTERNAL)
        problem, hint = render(error.problem, json_terms), render(error.hint, json_terms)
        if isinstance(error, RowError):
            problem = error.placed("" if error.row is None else f"candidates[{error.row}]")
        row, column = error.parameters.get("row"), error.parameters.get("column")
        return cls(
            422 if isinstance(error, RequestError) else 500,
            error.code,
            problem,
            row if isinstance(row, int) else None,
            None if column is None else str(column),
            hint,
        )

    def content(self) -> Json:
        """As it is sent."""
        message, hint = (_shortened(render(text, json_terms)) for text in (self.problem, self.hint))
        fields: Json = {"code": self.code, "message": message}
        fields |= {name: value for name, value in self.parameters.items() if value is not None}  # row, column
        return {"error": fields | ({"hint": hint} if hint else {})}


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
