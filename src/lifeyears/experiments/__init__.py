"""Models against each other: the paper's protocols, on data with known truth and without."""

from ._plan import MODELS, STARTUP_SECONDS, Plan
from ._runner import run, status
from .bench import EstimatorBench, RegistryCheck, estimator_bench, registry_check
from .results import SCHEMA, Run

__all__ = [
    "MODELS",
    "SCHEMA",
    "STARTUP_SECONDS",
    "EstimatorBench",
    "Plan",
    "RegistryCheck",
    "Run",
    "estimator_bench",
    "registry_check",
    "run",
    "status",
]
