"""Models against each other: the paper's protocols, on data with known truth and without."""

from ._estimator_bench import EstimatorBench, estimator_bench
from ._plan import Plan
from ._registry_check import RegistryCheck, registry_check
from ._results import Run
from ._runner import run, status
from ._summary import SCHEMA

__all__ = [
    "SCHEMA",
    "EstimatorBench",
    "Plan",
    "RegistryCheck",
    "Run",
    "estimator_bench",
    "registry_check",
    "run",
    "status",
]
