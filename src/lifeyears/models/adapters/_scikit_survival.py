"""scikit-survival: structured arrays in, an (n, times) array of curves out."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

import numpy as np

from ...curves import SurvivalCurves
from ...errors import Message, RequestError, Setting
from ...outcome import Outcome
from ._base import Adapter, comes_from, is_fitted

if TYPE_CHECKING:
    from ..._typing import FloatArray, TableLike


class SksurvAdapter(Adapter):
    """A model of scikit-survival."""

    supported = "scikit-survival models"

    @classmethod
    def takes(cls, model: object) -> bool:
        return comes_from(model, "sksurv")

    def fit(self, X: TableLike, y: Outcome, sample_weight: FloatArray | None) -> None:
        if sample_weight is None:
            self.model.fit(X, y.to_structured())
        elif "sample_weight" in inspect.signature(self.model.fit).parameters:
            self.model.fit(X, y.to_structured(), sample_weight=sample_weight)
        else:
            raise RequestError(f"{type(self.model).__name__} takes no sample weights")

    def curves(self, X: TableLike, times: FloatArray | None) -> SurvivalCurves:
        grid = self.grid()
        try:
            survival = self.model.predict_survival_function(X, return_array=True)
        except ValueError as error:
            if "fit_baseline_model" in str(error) or "baseline" in str(error):
                needed = Setting("fit_baseline_model", True)
                raise RequestError(Message("CoxnetSurvivalAnalysis gives curves only with ", needed)) from error
            raise
        curves = SurvivalCurves(grid, survival)
        return curves if times is None else SurvivalCurves(times, curves.at(times))

    def grid(self) -> FloatArray:
        for name in ("unique_times_", "event_times_"):  # the name changed between releases
            if hasattr(self.model, name):
                return np.asarray(getattr(self.model, name), dtype=float)
        raise RequestError(f"{type(self.model).__name__} has no times of its own: is it fitted, with a baseline?")

    def gives_curves(self) -> bool:
        return not self._predicts_times() and hasattr(self.model, "predict_survival_function")

    def predict_times(self, X: TableLike) -> FloatArray:
        if not self._predicts_times():
            raise RequestError(
                f"{type(self.model).__name__} predicts risk scores, neither times nor curves: it cannot be put on the "
                "scale of years",
                hint="Its scores can be passed to lifeyears.metrics with the opposite sign (higher is longer).",
            )
        return np.asarray(self.model.predict(X), dtype=float)

    def is_fitted(self) -> bool:
        return is_fitted(self.model)

    def _predicts_times(self) -> bool:
        return type(self.model).__name__ == "IPCRidge"
