"""Stage 1: survival models with one interface."""

from ._administrative import AdministrativeCensoring
from ._base import SurvivalModel
from ._cox import Cox
from ._deephit import DeepHit
from ._deepsurv import DeepSurv
from ._kaplan_meier import KaplanMeier
from ._weibull import WeibullAFT
from ._wrap import WrappedModel, wrap

__all__ = [
    "AdministrativeCensoring",
    "Cox",
    "DeepHit",
    "DeepSurv",
    "KaplanMeier",
    "SurvivalModel",
    "WeibullAFT",
    "WrappedModel",
    "wrap",
]
