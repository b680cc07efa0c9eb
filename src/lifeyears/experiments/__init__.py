"""Models against each other: the paper's protocols, on data with known truth and without."""

from ._plan import MODELS, STARTUP_SECONDS, Plan
from ._runner import run, status
from .bench import EstimatorBench, RegistryCheck, estimator_bench, registry_check
from .building import build_model
from .measures import describe_relevance
from .results import SCHEMA, Run, read_summary, summary_schema
from .types import (
    Answer,
    Arm,
    Audit,
    ColumnNote,
    DataNote,
    Difference,
    Estimate,
    Finding,
    Measure,
    MethodNote,
    Summary,
    Support,
    Table,
    Waitlist,
)

__all__ = [
    "MODELS",
    "SCHEMA",
    "STARTUP_SECONDS",
    "Answer",
    "Arm",
    "Audit",
    "ColumnNote",
    "DataNote",
    "Difference",
    "Estimate",
    "EstimatorBench",
    "Finding",
    "Measure",
    "MethodNote",
    "Plan",
    "RegistryCheck",
    "Run",
    "Summary",
    "Support",
    "Table",
    "Waitlist",
    "build_model",
    "describe_relevance",
    "estimator_bench",
    "read_summary",
    "registry_check",
    "run",
    "status",
    "summary_schema",
]
