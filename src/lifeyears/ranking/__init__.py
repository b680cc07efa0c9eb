"""Stage 2: a survival model retrained for the top of the list."""

from ._build import build_ranker
from ._calibration import CalibrationMap
from ._estimator import RankingEstimator
from ._network import YearsNetwork
from ._parts import ModelPart
from ._piecewise import HazardInterval
from ._rankers import Ranker
from ._report import RankerReport
from ._together import fit_together
from .bootstrapped import BootstrappedRanker, fit_on_dask
from .explanations import Explanation
from .labels import PseudoLabels
from .loss import HybridLoss, HybridObjective
from .splines import FittedSplines, InteractionTerms, SplineTerms
from .stacked import (
    BoostedHazards,
    BoostedYears,
    NetworkYears,
    SplineHazards,
    SplineInteractionHazards,
    StackedRanker,
    make_members,
)
from .trees import BoostedInterval, HazardTrees, TreeSettings, YearsTrees

SAVED_CLASSES: tuple[type, ...] = (
    BoostedHazards,
    BoostedInterval,
    BoostedYears,
    BootstrappedRanker,
    CalibrationMap,
    FittedSplines,
    HazardInterval,
    HazardTrees,
    InteractionTerms,
    ModelPart,
    NetworkYears,
    PseudoLabels,
    RankerReport,
    SplineHazards,
    SplineInteractionHazards,
    SplineTerms,
    StackedRanker,
    TreeSettings,
    YearsNetwork,
    YearsTrees,
)
"""Classes of this package that a saved model may consist of (`lifeyears.save`)."""

__all__ = [
    "SAVED_CLASSES",
    "BoostedHazards",
    "BoostedYears",
    "BootstrappedRanker",
    "Explanation",
    "HybridLoss",
    "HybridObjective",
    "NetworkYears",
    "PseudoLabels",
    "Ranker",
    "RankerReport",
    "RankingEstimator",
    "SplineHazards",
    "SplineInteractionHazards",
    "StackedRanker",
    "TreeSettings",
    "build_ranker",
    "fit_on_dask",
    "fit_together",
    "make_members",
]
