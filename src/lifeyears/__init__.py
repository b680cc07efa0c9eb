"""Survival models judged and trained by what an allocation gains from them: life-years.

The parts load when they are first used, so that ``import lifeyears`` stays light.
"""

from __future__ import annotations

import importlib
import logging
from typing import TYPE_CHECKING, Any

from ._version import __version__
from .curves import SurvivalCurves
from .outcome import Outcome, as_outcome, suggest_horizon

if TYPE_CHECKING:
    from . import (
        allocation,
        catalogue,
        data,
        experiments,
        metrics,
        models,
        ranking,
        relevance,
        report,
        scoring,
        service,
        simulation,
    )
    from ._versions import show_versions
    from .errors import ModelFileError
    from .ranking import BootstrappedRanker, StackedRanker
    from .saving import load, save

logging.getLogger(__name__).addHandler(logging.NullHandler())

_PARTS = (
    *("allocation", "catalogue", "data", "experiments", "metrics", "models", "ranking", "relevance", "report"),
    *("scoring", "service", "simulation"),
)
_NAMES = {
    "BootstrappedRanker": "ranking",
    "ModelFileError": "errors",
    "StackedRanker": "ranking",
    "load": "saving",
    "save": "saving",
    "show_versions": "_versions",
}

__all__ = [
    "BootstrappedRanker",
    "ModelFileError",
    "Outcome",
    "StackedRanker",
    "SurvivalCurves",
    "__version__",
    "allocation",
    "as_outcome",
    "catalogue",
    "data",
    "experiments",
    "load",
    "metrics",
    "models",
    "ranking",
    "relevance",
    "report",
    "save",
    "scoring",
    "service",
    "show_versions",
    "simulation",
    "suggest_horizon",
]


def __getattr__(name: str) -> Any:
    if name in _PARTS:
        return importlib.import_module(f".{name}", __name__)
    if name in _NAMES:
        return getattr(importlib.import_module(f".{_NAMES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
