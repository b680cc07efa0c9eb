"""Models against each other, on data with known truth and without."""

from ._estimator_bench import EstimatorBench, estimator_bench
from ._registry_check import RegistryCheck, registry_check
from ._truth import TruthComparison, compare_on_truth

__all__ = [
    "EstimatorBench",
    "RegistryCheck",
    "TruthComparison",
    "compare_on_truth",
    "estimator_bench",
    "registry_check",
]
