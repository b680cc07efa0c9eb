"""Stage 1: survival models with one interface."""

from ._base import SurvivalModel
from ._cox import Cox
from ._deephit import DeepHit
from ._deepsurv import DeepSurv
from ._kaplan_meier import KaplanMeier
from ._weibull import WeibullAFT

__all__ = ["Cox", "DeepHit", "DeepSurv", "KaplanMeier", "SurvivalModel", "WeibullAFT"]
