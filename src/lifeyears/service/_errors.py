"""What a caller is told when a request is wrong: one form for all, no path, no trace."""

from __future__ import annotations

from typing import Any

from ..scoring import RowError


class ApiError(Exception):
    """A request that cannot be answered."""

    def __init__(self, status: int, code: str, message: str, row: int | None = None, column: str | None = None) -> None:
        super().__init__(message)
        self.status, self.code, self.message, self.row, self.column = status, code, message, row, column

    @classmethod
    def of_row(cls, error: RowError) -> ApiError:
        """A row that does not fit the model."""
        place = [] if error.row is None else [f"candidates[{error.row}]"]
        place += [] if error.column is None else [f"column {error.column}"]
        message = f"{', '.join(place)}: {error.problem}" if place else error.problem
        return cls(422, error.code, message, error.row, error.column)

    def content(self) -> dict[str, Any]:
        """As it is sent."""
        found: dict[str, Any] = {"code": self.code, "message": self.message}
        if self.row is not None:
            found["row"] = self.row
        if self.column is not None:
            found["column"] = self.column
        return {"error": found}
