"""What a caller is sent when a request fails: one form for all errors, in JSON's terms; no path, no trace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

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
SHOWN = 60  # characters of a value in a message
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


def refuse_request(errors: Sequence[Mapping[str, Any]]) -> ApiError:
    """Return the refusal of a request that its pydantic model does not accept.

    Parameters
    ----------
    errors : sequence of dict
        As pydantic reports them; the first is shown.
    """
    first = errors[0]
    kind, place = first["type"], [part for part in first["loc"] if part not in ("body", "query", "path")]
    if kind == "unknown_field":
        return ApiError(422, kind, first["msg"])
    if not place:
        return ApiError(422, "not_an_object", "the request must be a JSON object of fields and values")
    field, row = str(place[0])[:40], next((part for part in place[1:] if isinstance(part, int)), None)
    if field == "candidates":
        if kind == "too_long":
            most = first["ctx"]["max_length"]
            return ApiError(413, "too_many_rows", f"there are too many rows: at most {most:,} here")
        return ApiError(422, "no_rows", "candidates must be a list of at least one row")
    name = field if row is None else f"{field}[{row}]"
    wanted = _WANTED.get(kind, "")
    for bound, words in (("ge", "at least"), ("le", "at most"), ("max_length", "of length at most")):
        if bound in first.get("ctx", {}):
            wanted = f"{words} {first['ctx'][bound]:,g}"
    message = f"{name} must be {wanted}" if wanted else f"{name}: {first['msg']}"
    if kind != "missing":
        message += f"; got {_shown(first['input'])}"
    return ApiError(422, f"bad_{field}", message, row, None if row is None else field)


_WANTED = {
    "missing": "sent",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "string_type": "a text",
    "list_type": "a list",
    "dict_type": "an object",
}


def _shown(value: object) -> str:
    """Return a value for a message: never more than a few words of it."""
    if not isinstance(value, (str, int, float, bool, type(None))):
        return "a list" if isinstance(value, list) else "an object"
    try:
        text = repr(value)
    except ValueError:  # an integer of thousands of digits
        return "a very large number"
    return text if len(text) <= SHOWN else text[:SHOWN] + "…"


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
