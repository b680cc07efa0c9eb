"""What a censored life is worth: EY, IPCW and doubly robust estimates, cross-fitting, positivity."""

from ..folds import temporal_folds
from ._average import Ensemble, average_relevance
from ._cross_fit import cross_fit
from ._estimators import IPCW, NUISANCE_RIDGE, DoublyRobust, ExpectedYears, PositivityError, RelevanceEstimator
from ._positivity import PositivityReport, check_positivity
from ._relevance import Diagnostics, Relevance
from ._sensitivity import Sensitivity, sensitivity

__all__ = [
    "IPCW",
    "NUISANCE_RIDGE",
    "Diagnostics",
    "DoublyRobust",
    "Ensemble",
    "ExpectedYears",
    "PositivityError",
    "PositivityReport",
    "Relevance",
    "RelevanceEstimator",
    "Sensitivity",
    "average_relevance",
    "check_positivity",
    "cross_fit",
    "sensitivity",
    "temporal_folds",
]
