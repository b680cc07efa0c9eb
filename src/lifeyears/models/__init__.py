"""Stage 1: survival models with one interface."""

from ._administrative import AdministrativeCensoring
from ._base import SurvivalModel
from ._cox import Cox
from ._kaplan_meier import KaplanMeier
from ._weibull import WeibullAFT, refuse_time_zero
from ._wrap import WrappedModel, wrap
from .deep import DeepHit, DeepSurv
from .peers import CatBoostCox, LightGBMCox, RandomSurvivalForest, XGBoostAFT, XGBoostCox

__all__ = [
    "AdministrativeCensoring",
    "CatBoostCox",
    "Cox",
    "DeepHit",
    "DeepSurv",
    "KaplanMeier",
    "LightGBMCox",
    "RandomSurvivalForest",
    "SurvivalModel",
    "WeibullAFT",
    "WrappedModel",
    "XGBoostAFT",
    "XGBoostCox",
    "refuse_time_zero",
    "wrap",
]
