"""Stage 2: a survival model retrained for the top of the list."""

from ._build import build_ranker
from ._calibration import CalibrationMap
from ._dask import fit_on_dask
from ._network import YearsNetwork
from ._piecewise import HazardInterval
from ._ranker import BootstrappedRanker, fit_together
from ._report import RankerReport
from ._settings import PRESETS, Settings, resolve_settings
from .explanations import Explanation
from .labels import PseudoLabels
from .loss import HybridLoss, HybridObjective
from .splines import InteractionTerms, SplineHazards, SplineTerms
from .trees import BoostedInterval, HazardTrees, YearsTrees

SAVED_CLASSES: tuple[type, ...] = (
    BootstrappedRanker,
    BoostedInterval,
    CalibrationMap,
    HazardInterval,
    HazardTrees,
    InteractionTerms,
    PseudoLabels,
    RankerReport,
    SplineHazards,
    SplineTerms,
    YearsNetwork,
    YearsTrees,
)
"""Classes of this package that a saved model may consist of (`lifeyears.save`)."""

__all__ = [
    "PRESETS",
    "SAVED_CLASSES",
    "BootstrappedRanker",
    "Explanation",
    "HybridLoss",
    "HybridObjective",
    "PseudoLabels",
    "RankerReport",
    "Settings",
    "build_ranker",
    "fit_on_dask",
    "fit_together",
    "resolve_settings",
]
