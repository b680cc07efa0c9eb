"""Stage 1: survival models with one interface."""

from ._administrative import AdministrativeCensoring
from ._base import SurvivalModel
from ._cox import Cox
from ._kaplan_meier import KaplanMeier
from ._weibull import WeibullAFT, refuse_time_zero
from ._wrap import WrappedModel, wrap
from .deep import DeepHit, DeepSurv

__all__ = [
    "AdministrativeCensoring",
    "Cox",
    "DeepHit",
    "DeepSurv",
    "KaplanMeier",
    "SurvivalModel",
    "WeibullAFT",
    "WrappedModel",
    "refuse_time_zero",
    "wrap",
]
