"""The requests that the service takes: within its limits, with the columns of the first model that it serves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    WithJsonSchema,
    create_model,
    model_validator,
)
from pydantic_core import PydanticCustomError

from ... import catalogue
from ...scoring import FEWEST_EVENTS, FEWEST_ROWS, MatchModel
from .._limits import NUMBERS, Limits
from ._replies import KEY

if TYPE_CHECKING:
    from ..._typing import Json
    from ...scoring import Column


class Request(BaseModel):
    """A request; fields that it does not have are refused."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown_fields(cls, content: object) -> object:
        """Refuse a field that there is not, and name those there are."""
        unknown = [name for name in content if name not in cls.model_fields] if isinstance(content, dict) else []
        if unknown:
            names = {"name": repr(str(unknown[0])[:40]), "known": ", ".join(cls.model_fields)}
            raise PydanticCustomError("unknown_field", "there is no field {name} here; there are {known}", names)
        return content


class RowsRequest(Request):
    """A request about rows. Their cells are checked against the model's own columns, by `Schema.table`."""

    candidates: list[Any]
    donor: Any = None
    model: str | None = None


class RankRequest(RowsRequest):
    """Rank the candidates of one organ."""

    k: int = 5
    reasons: int = 5


class ExplainRequest(RowsRequest):
    """Explain predictions."""


class EvaluateRequest(RowsRequest):
    """Evaluate the model on rows whose outcome is known."""

    time: list[float]
    event: list[bool]
    k: int = 1
    waitlist: int | None = None


class SimulationRequest(Request):
    """Simulate policies."""

    policies: list[str] | None = None
    years: float = NUMBERS["years"].default
    replicates: int = int(NUMBERS["replicates"].default)
    seed: int = int(NUMBERS["seed"].default)
    scale: float = NUMBERS["scale"].default
    training_rows: int = int(NUMBERS["training_rows"].default)
    donors_rate: float = NUMBERS["donors_rate"].default
    listed_rate: float = NUMBERS["listed_rate"].default


class SampleRequest(Request):
    """Ask for the candidates of one sample donor."""

    donor: int = 0
    changes: dict[str, Any] = {}
    model: str | None = None


@dataclass(frozen=True)
class RequestModels:
    """The models of all requests, with the limits of one service."""

    rank: type[RankRequest]
    explain: type[ExplainRequest]
    evaluate: type[EvaluateRequest]
    simulation: type[SimulationRequest]
    sample: type[SampleRequest]


def make_request_models(model: MatchModel, names: Sequence[str], limits: Limits) -> RequestModels:
    """Make the models of requests for a service.

    Parameters
    ----------
    model : MatchModel
        The first model that is served: its columns are those of a row in the OpenAPI document.
    names : sequence of str
        Keys of the models that are served.
    limits : Limits
    """
    row, donor = _make_row(model.schema.columns), _make_donor(model.schema.columns)
    rows = _rows(row, limits.rows, "The candidates: one row each.")
    key = f"{KEY} The first model unless given."
    shared: dict[str, Any] = {
        "donor": (_described_by(donor) | None, Field(None, description="Columns of the donor, joined to every row.")),
        "model": (str | None, Field(None, description=key, json_schema_extra={"enum": [*names, None]})),
    }
    fewest = f"The rows: at least {FEWEST_ROWS}, with {FEWEST_EVENTS} events among them."
    places = "Places of a list that count: at most the waitlist."
    list_length = "Length of the lists: at most the number of rows. By default one for every forty rows, from 2 to 256."
    return RequestModels(
        rank=create_model(
            "RankRequest",
            __base__=RankRequest,
            candidates=rows,
            **shared,
            k=_whole(5, 1, limits.k, "Number of places among which Algorithm 1 draws."),
            reasons=_whole(5, 0, limits.reasons, "Number of reasons for each candidate."),
        ),
        explain=create_model(
            "ExplainRequest",
            __base__=ExplainRequest,
            candidates=_rows(row, limits.explained_rows, "The candidates: one row each."),
            **shared,
        ),
        evaluate=create_model(
            "EvaluateRequest",
            __base__=EvaluateRequest,
            candidates=_rows(row, limits.rows, fewest),
            **shared,
            time=(
                list[Annotated[float, Field(ge=0, le=1e6)]],
                Field(description="Observed time of each row, in the unit of the data.", max_length=limits.rows),
            ),
            event=(
                list[Annotated[bool, BeforeValidator(_flag)]],
                Field(description="Whether the event was observed, for each row.", max_length=limits.rows),
            ),
            k=_whole(1, 1, limits.rows, places),
            waitlist=_whole(None, 1, limits.rows, list_length),
        ),
        simulation=create_model("SimulationRequest", __base__=SimulationRequest, **_simulation_fields()),
        sample=create_model(
            "SampleRequest",
            __base__=SampleRequest,
            donor=_whole(0, 0, None, "Number of the sample donor, from 0."),
            changes=(
                dict[str, Any],
                Field(default={}, description="Values to put in place of the donor's, by column."),
            ),
            model=shared["model"],
        ),
    )


def _simulation_fields() -> dict[str, Any]:
    keys: list[Any] = list(catalogue.policies)
    fields: dict[str, Any] = {
        "policies": (
            list[str] | None,
            Field(
                None,
                description="Keys of the policies to simulate, each once.",
                json_schema_extra={"items": {"type": "string", "enum": keys}, "minItems": 1, "uniqueItems": True},
            ),
        )
    }
    for name, number in NUMBERS.items():
        if number.whole:
            fields[name] = _whole(int(number.default), int(number.low), int(number.high), number.description)
        else:
            fields[name] = (
                float,
                Field(number.default, ge=number.low, le=number.high, description=number.description),
            )
    return fields


def _make_row(columns: Sequence[Column]) -> type[BaseModel]:
    """Make the model of a candidate from a model's schema."""
    about = "A candidate: every column is needed here or in the donor; columns that the model does not use are ignored."
    required = {column.name for column in columns if column.role == "candidate"}
    return create_model("Row", __config__=ConfigDict(extra="ignore"), __doc__=about, **_cells(columns, required))


def _make_donor(columns: Sequence[Column]) -> type[BaseModel]:
    """Make the model of a donor from a model's schema."""
    about = "The donor of the organ: columns that are joined to every candidate."
    return create_model("Donor", __config__=ConfigDict(extra="forbid"), __doc__=about, **_cells(columns, set()))


def _cells(columns: Sequence[Column], required: set[str]) -> dict[str, Any]:
    """Declare the columns under names that no attribute of a pydantic model has."""
    return {
        f"column_{place}": (
            Annotated[Any, WithJsonSchema(_cell(column))],
            Field(... if column.name in required else None, alias=column.name, title=column.name),
        )
        for place, column in enumerate(columns)
    }


def _cell(column: Column) -> Json:
    """Describe the values of a column as JSON Schema."""
    about = f"A column of the {column.role}. Null where it is not known."
    if column.kind == "category":
        return {"enum": [*(column.categories or ()), None], "description": about}
    bounds = {} if column.low is None else {"minimum": column.low, "maximum": column.high}
    return {"type": ["number", "null"], **bounds, "description": about}


def _rows(row: type[BaseModel], most: int, description: str) -> tuple[Any, Any]:
    return list[_described_by(row)], Field(description=description, min_length=1, max_length=most)  # type: ignore[misc]


def _described_by(model: type[BaseModel]) -> Any:
    """Return a type that the document describes by a model, and whose values are checked later, by `Schema.table`."""
    return Annotated[Any, PlainValidator(_as_sent, json_schema_input_type=model)]


def _as_sent(value: object) -> object:
    return value


def _whole(default: int | None, low: int, high: int | None, description: str) -> tuple[Any, Any]:
    kind: Any = Annotated[int, Field(ge=low, le=high), BeforeValidator(_as_whole)]
    return (kind if default is not None else kind | None), Field(default, description=description)


def _as_whole(value: object) -> object:
    """Return 5 for 5.0: JSON has one kind of number."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _flag(value: object) -> object:
    """Return true and false for 1 and 0."""
    return bool(value) if isinstance(value, (int, float)) and value in (0, 1) else value
