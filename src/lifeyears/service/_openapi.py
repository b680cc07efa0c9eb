"""The service described for programs: OpenAPI 3.1, with the model's own columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._version import __version__
from ..scoring import MOST_BOUNDED, RESEARCH_ONLY, MatchModel
from ..simulation import NAMED_POLICIES
from ._answers import FEWEST_EVENTS, FEWEST_TO_EVALUATE
from ._limits import Limits
from ._simulations import NUMBERS

if TYPE_CHECKING:
    from .._typing import Json

NUMBER: Json = {"type": "number"}
TEXT: Json = {"type": "string"}
WHOLE: Json = {"type": "integer"}
OPEN: Json = {"type": "object"}
KEY = "The key of a model, as it was served (the name of its folder): not its title."
TITLE: Json = TEXT | {"description": "The title on the model's card; requests name a model by its key."}
BOUND = (
    "From the model's card: NDCG@k of held-out rows and the plug-in bound on what Algorithm 1's draw gains, as a share "
    "of the best, with 95% intervals; of lists of the card's metrics.waitlist candidates, however many were sent. "
    f"Null for k above {MOST_BOUNDED} or above that size, and where no rows were held out."
)
WAITLIST = "Candidates on a list: at most as many as rows; unless given, one for every forty rows, from 2 to 256."
FEWEST = f"At least {FEWEST_TO_EVALUATE} rows, and {FEWEST_EVENTS} events among them."


def describe_service(model: MatchModel, names: list[str], limits: Limits) -> Json:
    """Describe the service as an OpenAPI document."""
    which = {"type": ["string", "null"], "enum": [*names, None], "description": f"{KEY} The first unless given."}
    rows = {"type": "array", "items": {"$ref": "#/components/schemas/Row"}, "minItems": 1, "maxItems": limits.rows}
    some = rows | {"maxItems": limits.explained_rows}
    donor = {"oneOf": [{"$ref": "#/components/schemas/Donor"}, {"type": "null"}]}
    requests = {
        "RankRequest": _object(
            {
                "candidates": rows,
                "donor": donor,
                "k": _whole(1, limits.k) | {"default": 5},
                "model": which,
                "reasons": _whole(0, limits.reasons) | {"default": 5},
            },
            ["candidates"],
        ),
        "ExplainRequest": _object({"candidates": some, "donor": donor, "model": which}, ["candidates"]),
        "EvaluateRequest": _object(
            {
                "candidates": rows | {"description": FEWEST},
                "donor": donor,
                "time": {"type": "array", "items": {"type": "number", "minimum": 0, "maximum": 1e6}},
                "event": {"type": "array", "items": {"type": "boolean"}},
                "k": _whole(1, limits.rows) | {"default": 1, "description": "At most the waitlist."},
                "waitlist": _whole(1, limits.rows) | {"description": WAITLIST},
                "model": which,
            },
            ["candidates", "time", "event"],
        ),
        "SimulationRequest": _object(
            {
                "policies": {
                    "type": "array",
                    "items": {"enum": list(NAMED_POLICIES)},
                    "minItems": 1,
                    "uniqueItems": True,
                },
                **{
                    name: {
                        "type": "integer" if whole else "number",
                        "minimum": low,
                        "maximum": high,
                        "default": default,
                    }
                    for name, (default, low, high, whole) in NUMBERS.items()
                },
            },
            [],
        ),
        "SampleRequest": _object({"donor": WHOLE | {"minimum": 0}, "changes": OPEN, "model": which}, []),
    }
    replies = {
        "RankReply": _reply(
            {
                "model": TITLE,
                "ranked": {"type": "array", "items": {"$ref": "#/components/schemas/Ranked"}},
                "k": WHOLE,
                "bound": {"type": ["object", "null"], "description": BOUND},
            }
        ),
        "ExplainReply": _reply(
            {"model": TITLE, "times": {"type": "array", "items": NUMBER}, "explained": {"type": "array", "items": OPEN}}
        ),
        "EvaluateReply": _reply(
            {"model": TITLE, "c_index": NUMBER, "years_per_allocation": {"$ref": "#/components/schemas/Interval"}}
        ),
        "SimulationReply": _reply(
            {
                "id": TEXT,
                "state": {"enum": ["waiting", "running", "done", "failed", "cancelled"]},
                "progress": OPEN,
                "result": {"type": ["object", "null"]},
            }
        ),
        "ModelReply": _reply(
            {
                "model": TEXT | {"description": KEY},
                "schema": OPEN,
                "card": OPEN,
                "models": {
                    "type": "array",
                    "items": _object({"model": TEXT | {"description": KEY}, "name": TITLE}, ["model", "name"]),
                },
            }
        ),
        "HealthReply": _reply({"status": {"const": "ok"}, "version": TEXT}),
        "SampleReply": _reply(
            {"candidates": {"type": "array", "items": OPEN}, "donor": OPEN},
            kind=TEXT,
            donors={"type": "array", "items": OPEN},
            pair={"type": "array", "items": TEXT, "description": "Columns of candidates that change with the donor."},
        ),
        "RunReply": _reply({"tables": OPEN, "reading": TEXT}),
    }
    by_model = [{"name": "model", "in": "query", "required": False, "schema": {"enum": names}, "description": KEY}]
    by_id = [{"name": "id", "in": "path", "required": True, "schema": {"type": "string", "pattern": "^[0-9a-f]{16}$"}}]
    simulation = "/api/simulations/{id}"
    return {
        "openapi": "3.1.0",
        "info": {"title": "Lifeyears", "version": __version__, "description": RESEARCH_ONLY},
        "paths": {
            "/api/health": {"get": _operation("Whether the service is up.", reply="HealthReply")},
            "/api/model": {
                "get": _operation(
                    "The columns of a row, and the model's card.", reply="ModelReply", parameters=by_model
                )
            },
            "/api/rank": {"post": _operation("Rank the candidates of one organ.", "RankRequest", "RankReply")},
            "/api/explain": {
                "post": _operation(
                    "Every contribution in years, and survival curves.", "ExplainRequest", "ExplainReply"
                )
            },
            "/api/evaluate": {
                "post": _operation("How well rows with a known outcome are ranked.", "EvaluateRequest", "EvaluateReply")
            },
            "/api/simulations": {
                "post": _operation("Begin a simulation.", "SimulationRequest", "SimulationReply", success=202)
            },
            simulation: {
                "get": _operation("How far it is, and what it found.", reply="SimulationReply", parameters=by_id),
                "delete": _operation("Stop it, and forget it.", reply="SimulationReply", parameters=by_id),
            },
            "/api/sample": {
                "get": _operation("Candidates and donors to try.", reply="SampleReply", parameters=by_model),
                "post": _operation("The candidates of one sample donor.", "SampleRequest", "SampleReply"),
            },
            "/api/run": {"get": _operation("The run that is compared.", reply="RunReply")},
        },
        "components": {
            "schemas": {
                "Row": _row(model, "candidate"),
                "Donor": _row(model, "donor"),
                **requests,
                **replies,
                "Interval": _object(
                    {name: {"type": ["number", "null"]} for name in ("value", "low", "high")}, ["value"]
                ),
                "Ranked": {
                    "type": "object",
                    "required": ["rank", "row", "years", "probability", "reasons"],
                    "properties": {
                        "rank": WHOLE,
                        "row": {"type": "integer", "description": "Index of the candidate in the request."},
                        "years": NUMBER,
                        "low": NUMBER,
                        "high": NUMBER,
                        "probability": {"type": "number", "minimum": 0, "maximum": 1},
                        "reasons": {
                            "type": "array",
                            "items": _object({"feature": TEXT, "years": NUMBER}, ["feature", "years"]),
                        },
                    },
                },
                "Error": _object(
                    {
                        "error": _object(
                            {"code": TEXT, "message": TEXT, "row": WHOLE, "column": TEXT, "hint": TEXT},
                            ["code", "message"],
                        )
                    },
                    ["error"],
                ),
            },
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{}, {"token": []}],
    }


def _row(model: MatchModel, role: str) -> Json:
    """A row: every column must be in it or in the donor."""
    columns = [column for column in model.schema.columns if role == "candidate" or column.role == "donor"]
    properties: Json = {}
    for column in columns:
        if column.kind == "category":
            properties[column.name] = {"enum": [*(column.categories or ()), None]}
        else:
            bounds = {} if column.low is None else {"minimum": column.low, "maximum": column.high}
            properties[column.name] = {"type": ["number", "null"], **bounds}
    required = [column.name for column in columns if column.role == role]
    return {"type": "object", "properties": properties, "required": required if role == "candidate" else []}


def _whole(low: int, high: int) -> Json:
    return WHOLE | {"minimum": low, "maximum": high}


def _object(properties: Json, required: list[str]) -> Json:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _reply(properties: Json, **optional: Json) -> Json:
    return {"type": "object", "properties": properties | optional, "required": list(properties)}


def _operation(
    summary: str,
    request: str | None = None,
    reply: str = "",
    success: int = 200,
    parameters: list[Json] | None = None,
) -> Json:
    def content(name: str) -> Json:
        return {"application/json": {"schema": {"$ref": f"#/components/schemas/{name}"}}}

    wrong = {"description": "What was wrong, and where.", "content": content("Error")}
    found: Json = {
        "summary": summary,
        "responses": {str(success): {"description": "Done.", "content": content(reply)}, "4XX": wrong, "5XX": wrong},
    }
    if parameters:
        found["parameters"] = parameters
    if request is not None:
        found["requestBody"] = {"required": True, "content": content(request)}
    return found
