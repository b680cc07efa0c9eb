"""What all answers have in common."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field


class Reply(BaseModel):
    """An answer, or a part of one. Fields that do not apply are left out."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_by_name=True, validate_by_alias=True)

    def to_json(self) -> bytes:
        """Return the answer as it is sent: what was not set is left out, and what is not finite is null."""
        return self.__pydantic_serializer__.to_json(self, by_alias=True, exclude_unset=True)


def field(description: str, **more: Any) -> Any:
    """Declare a field that every answer has."""
    return Field(description=description, **more)


def optional(description: str) -> Any:
    """Declare a field that is left out where it does not apply."""
    return Field(default=None, description=description)


class Interval(Reply):
    """A number with its 95% interval."""

    value: float | None = field("The estimate; null where there is none.")
    low: float | None = field("Lower end of the 95% interval; null where there is none.")
    high: float | None = field("Upper end of the 95% interval; null where there is none.")


class CalibrationGroup(Reply):
    """Rows with similar predictions."""

    predicted: float | None = field("Mean prediction, in the unit of the data.")
    observed: float | None = field("Mean outcome, in the unit of the data.")
    low: float | None = field("Lower end of the 95% interval of the mean outcome.")
    high: float | None = field("Upper end of the 95% interval of the mean outcome.")
    patients: int = field("Number of rows in the group.")
