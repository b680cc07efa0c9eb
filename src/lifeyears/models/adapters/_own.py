"""Models with our interface, and functions that return curves."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

from ...curves import SurvivalCurves
from ...outcome import Outcome
from .._base import SurvivalModel
from ._base import Adapter, comes_from, is_fitted

if TYPE_CHECKING:
    from ..._typing import FloatArray, TableLike


class OwnAdapter(Adapter):
    """A model of ours, wrapped to give it another horizon, or a model of another distribution with our interface."""

    supported = "models with fit(X, y) and predict_curves(X, times), such as those of lifeyears.models"

    @classmethod
    def takes(cls, model: object) -> bool:
        if isinstance(model, SurvivalModel):
            return True
        if inspect.isclass(model) or comes_from(model, "lifeyears"):  # our rankers have curves, but are no models
            return False
        return all(callable(getattr(model, name, None)) for name in ("fit", "predict_curves"))

    def fit(self, X: TableLike, y: Outcome, sample_weight: FloatArray | None) -> None:
        self.model.fit(X, y) if sample_weight is None else self.model.fit(X, y, sample_weight=sample_weight)

    def curves(self, X: TableLike, times: FloatArray | None) -> SurvivalCurves:
        curves = self.model.predict_curves(X, times)
        return curves if isinstance(curves, SurvivalCurves) else SurvivalCurves(*curves)

    def grid(self) -> None:
        return None  # our models thin their own grids

    def horizon(self) -> float | None:
        return getattr(self.model, "tau_", None)

    def is_fitted(self) -> bool:
        return hasattr(self.model, "tau_") or is_fitted(self.model)


class FunctionAdapter(Adapter):
    """A function X → curves: known truth, another program's output. There is nothing to fit."""

    supported = "a function that takes X and returns curves"

    @classmethod
    def takes(cls, model: object) -> bool:
        return callable(model) and not inspect.isclass(model)

    def fit(self, X: TableLike, y: Outcome, sample_weight: FloatArray | None) -> None:
        pass

    def curves(self, X: TableLike, times: FloatArray | None) -> SurvivalCurves:
        output = self.model(X)
        curves = output if isinstance(output, SurvivalCurves) else SurvivalCurves(*output)
        return curves if times is None else SurvivalCurves(times, curves.at(times), curves.interpolation)

    def grid(self) -> None:
        return None

    def is_fitted(self) -> bool:
        return True
