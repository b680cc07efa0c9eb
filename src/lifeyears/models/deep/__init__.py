"""Neural survival models; torch is imported when one of them is fitted or loaded."""

from ._deephit import DeepHit
from ._deepsurv import DeepSurv
from ._model import DeepModel, import_networks

__all__ = ["DeepHit", "DeepModel", "DeepSurv", "import_networks"]
