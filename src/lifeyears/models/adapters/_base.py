"""What every adapter offers: how to fit a model of some library and read curves from it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, cast

from ...curves import SurvivalCurves
from ...errors import Message, RequestError, Setting
from ...outcome import Outcome

if TYPE_CHECKING:
    from ..._typing import FloatArray, TableLike


class Adapter(ABC):
    """A model of some library, as `WrappedModel` uses it; by default it has curves and no horizon of its own."""

    supported: ClassVar[str] = ""  # which models it takes, for a list in messages
    needs_baseline: ClassVar[bool] = False  # the library keeps no baseline hazard

    def __init__(self, model: Any) -> None:
        self.model = model

    @classmethod
    @abstractmethod
    def takes(cls, model: object) -> bool:
        """Return whether this adapter is for a model; nothing is imported to find out."""

    @abstractmethod
    def fit(self, X: TableLike, y: Outcome, sample_weight: FloatArray | None) -> None:
        """Fit the model in place."""

    @abstractmethod
    def curves(self, X: TableLike, times: FloatArray | None) -> SurvivalCurves:
        """Return curves at these times, or on the model's own grid."""

    @abstractmethod
    def grid(self) -> FloatArray | None:
        """Return all times at which the fitted model's curves step, or None where that cannot be known."""

    @abstractmethod
    def is_fitted(self) -> bool:
        """Return whether the model can be used without `fit`."""

    def is_trained(self) -> bool:
        """Return whether the library has fitted the model, even if it cannot be used yet for want of a baseline."""
        return self.is_fitted()

    def estimate_baseline(self, X: TableLike, y: Outcome, sample_weight: FloatArray | None = None) -> None:
        """Estimate what the library does not keep from the rows that the model was trained on."""
        raise RequestError(
            f"{type(self.model).__name__} has survival curves of its own",
            hint=Message("Leave out ", Setting("baseline"), "."),
        )

    def extend_to(self, tau: float) -> None:  # noqa: B027 - only some need it
        """Let the model's own grid reach the horizon, where it is this adapter that makes the grid."""

    def gives_curves(self) -> bool:
        """Return whether there are curves at all."""
        return True

    def predict_times(self, X: TableLike) -> FloatArray:
        """Return the times that a model without curves predicts."""
        raise TypeError("this model is asked for curves, not times")

    def horizon(self) -> float | None:
        """Return the fitted model's own horizon, if it has one."""
        return None


def comes_from(model: object, library: str) -> bool:
    """Return whether an object's class, or one it inherits from, is of a library."""
    return not isinstance(model, type) and any(cls.__module__.split(".")[0] == library for cls in type(model).__mro__)


def is_fitted(model: object) -> bool:
    """Return whether an object has been fitted, by scikit-learn's convention: attributes that end in an underscore."""
    return any(name.endswith("_") and not name.startswith("_") for name in vars(model))


def count_rows(X: TableLike) -> int:
    """Return the number of rows of a table."""
    rows: int = X.shape[0] if hasattr(X, "shape") else len(cast("FloatArray", X))
    return rows
