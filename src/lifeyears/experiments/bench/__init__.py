"""Benches against a known truth: estimators of relevance, and the simulated registry beside the paper's cohort."""

from ._estimators import FAIR, GOOD, EstimatorBench, estimator_bench
from ._registry import RegistryCheck, describe_follow_up, estimate_survival_by_era, registry_check
from ._world import MECHANISMS, STUDY, draw_patients, true_policy_value

__all__ = [
    "FAIR",
    "GOOD",
    "MECHANISMS",
    "STUDY",
    "EstimatorBench",
    "RegistryCheck",
    "describe_follow_up",
    "draw_patients",
    "estimate_survival_by_era",
    "estimator_bench",
    "registry_check",
    "true_policy_value",
]
