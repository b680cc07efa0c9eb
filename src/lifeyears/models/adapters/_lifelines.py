"""lifelines: one DataFrame with the outcome in it, curves with times as rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...curves import MOST_GRID_POINTS, SurvivalCurves
from ...outcome import Outcome
from ._base import Adapter, comes_from, count_rows

if TYPE_CHECKING:
    import pandas as pd

    from ..._typing import FloatArray, TableLike


class LifelinesAdapter(Adapter):
    """lifelines' regressions."""

    supported = "lifelines models"

    @classmethod
    def takes(cls, model: object) -> bool:
        return comes_from(model, "lifelines")

    def fit(self, X: TableLike, y: Outcome, sample_weight: FloatArray | None) -> None:
        table = _as_frame(X)
        table["lifeyears_time"], table["lifeyears_event"] = y.time, y.event
        weights = {}
        if sample_weight is not None:
            table["lifeyears_weight"] = np.asarray(sample_weight, dtype=float)
            weights = {"weights_col": "lifeyears_weight"}
        self.model.fit(table, duration_col="lifeyears_time", event_col="lifeyears_event", **weights)

    def curves(self, X: TableLike, times: FloatArray | None) -> SurvivalCurves:
        if self._steps():  # asked for times it would interpolate; on its own grid it steps, as it should
            table = self.model.predict_survival_function(_as_frame(X))
            survival = table.to_numpy().T
            if self._is_additive():  # hazards that fall below 0 would raise the dead
                survival = np.minimum.accumulate(np.clip(survival, 0.0, 1.0), axis=1)
            curves = SurvivalCurves(table.index.to_numpy(float), survival)
            return curves if times is None else SurvivalCurves(times, curves.at(times))
        times = self.grid() if times is None else times
        table = self.model.predict_survival_function(_as_frame(X), times=np.maximum(times, 1e-12))
        return SurvivalCurves(times, table.to_numpy().T, "linear")

    def grid(self) -> FloatArray:
        if self._is_additive():
            return np.asarray(self.model.cumulative_hazards_.index.to_numpy(float))
        if self._steps():
            return np.asarray(self.model.baseline_survival_.index.to_numpy(float))
        return np.asarray(float(np.max(self.model.durations)) * np.linspace(0, 1, MOST_GRID_POINTS) ** 2)

    def is_fitted(self) -> bool:
        return hasattr(self.model, "params_") or self._is_additive()

    def _steps(self) -> bool:
        return hasattr(self.model, "baseline_survival_") or self._is_additive()

    def _is_additive(self) -> bool:
        return hasattr(self.model, "cumulative_hazards_")


class LifelinesUnivariateAdapter(Adapter):
    """lifelines' curves without features, KaplanMeierFitter above all."""

    @classmethod
    def takes(cls, model: object) -> bool:
        return comes_from(model, "lifelines") and hasattr(model, "survival_function_at_times")

    def fit(self, X: TableLike, y: Outcome, sample_weight: FloatArray | None) -> None:
        self.model.fit(y.time, y.event, weights=sample_weight)

    def curves(self, X: TableLike, times: FloatArray | None) -> SurvivalCurves:
        grid = self.grid()
        curve = SurvivalCurves(grid, self.model.survival_function_.to_numpy().reshape(1, -1))
        times = grid if times is None else times
        return SurvivalCurves(times, np.broadcast_to(curve.at(times), (count_rows(X), len(times))))

    def grid(self) -> FloatArray:
        return np.asarray(self.model.survival_function_.index.to_numpy(float))

    def is_fitted(self) -> bool:
        return hasattr(self.model, "survival_function_")


def _as_frame(X: TableLike) -> pd.DataFrame:
    """Copy a table into a DataFrame with names that are text, as lifelines wants it."""
    import pandas as pd

    table = pd.DataFrame(X).copy()
    table.columns = [str(name) for name in table.columns]
    return table
