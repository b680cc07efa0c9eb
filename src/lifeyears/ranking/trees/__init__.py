"""LightGBM boosters of the rankers: of years and of hazards, their own evaluator, and the check of saved trees."""

from ._boosters import (
    BoostedInterval,
    HazardTrees,
    PartialLikelihoodObjective,
    YearsTrees,
    bin_columns,
    predict_stages,
    train_booster,
)
from ._settings import SHALLOW_TREES, BoosterSettings, TreeSettings
from ._text import check_booster_text

__all__ = [
    "SHALLOW_TREES",
    "BoostedInterval",
    "BoosterSettings",
    "HazardTrees",
    "PartialLikelihoodObjective",
    "TreeSettings",
    "YearsTrees",
    "bin_columns",
    "check_booster_text",
    "predict_stages",
    "train_booster",
]
