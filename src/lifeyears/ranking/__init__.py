"""Stage 2: a survival model retrained for the top of the list."""

from ._dask import fit_on_dask
from ._explain import Explanation
from ._labels import PseudoLabels
from ._ranker import BootstrappedRanker, fit_together
from ._report import RankerReport
from ._settings import PRESETS, Settings, settings_of
from .loss._objective import HybridLoss, HybridObjective

__all__ = [
    "PRESETS",
    "BootstrappedRanker",
    "Explanation",
    "HybridLoss",
    "HybridObjective",
    "PseudoLabels",
    "RankerReport",
    "Settings",
    "fit_on_dask",
    "fit_together",
    "settings_of",
]
