"""Every request and every answer of the service as pydantic models, from which its OpenAPI document is generated."""

from ._base import Reply
from ._errors import ErrorReply
from ._replies import (
    KEY,
    EvaluateReply,
    ExplainReply,
    HealthReply,
    ModelReply,
    PoliciesReply,
    RankReply,
    SampleReply,
    SimulationReply,
)
from ._requests import (
    EvaluateRequest,
    ExplainRequest,
    RankRequest,
    RequestModels,
    RowsRequest,
    SampleRequest,
    SimulationRequest,
    make_request_models,
)
from ._run import RunReply

__all__ = [
    "KEY",
    "ErrorReply",
    "EvaluateReply",
    "EvaluateRequest",
    "ExplainReply",
    "ExplainRequest",
    "HealthReply",
    "ModelReply",
    "PoliciesReply",
    "RankReply",
    "RankRequest",
    "Reply",
    "RequestModels",
    "RowsRequest",
    "RunReply",
    "SampleReply",
    "SampleRequest",
    "SimulationReply",
    "SimulationRequest",
    "make_request_models",
]
