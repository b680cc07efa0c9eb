"""Models against each other, on data with known truth and without."""

from ._registry_check import RegistryCheck, registry_check
from ._truth import TruthComparison, compare_on_truth

__all__ = ["RegistryCheck", "TruthComparison", "compare_on_truth", "registry_check"]
