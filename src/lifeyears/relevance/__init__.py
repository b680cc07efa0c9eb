"""What a censored life is worth: EY, IPCW and doubly robust estimates, cross-fitting, positivity."""

from ._average import Ensemble, averaged
from ._cross_fit import cross_fit, temporal_folds
from ._estimators import IPCW, DoublyRobust, ExpectedYears, PositivityError
from ._positivity import PositivityReport, check_positivity
from ._relevance import Diagnostics, Relevance
from ._sensitivity import Sensitivity, sensitivity

__all__ = [
    "IPCW",
    "Diagnostics",
    "DoublyRobust",
    "Ensemble",
    "ExpectedYears",
    "PositivityError",
    "PositivityReport",
    "Relevance",
    "Sensitivity",
    "averaged",
    "check_positivity",
    "cross_fit",
    "sensitivity",
    "temporal_folds",
]
