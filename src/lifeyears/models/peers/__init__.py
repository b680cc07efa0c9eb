"""Survival models of other libraries with the settings of each in one constructor: peers to compare with."""

from ._boosting import BoostedCox, CatBoostCox, LightGBMCox, XGBoostAFT, XGBoostCox
from ._forest import RandomSurvivalForest

__all__ = ["BoostedCox", "CatBoostCox", "LightGBMCox", "RandomSurvivalForest", "XGBoostAFT", "XGBoostCox"]
