"""hazardous: `SurvivalBoost`, a classifier of states with time among its features."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

import numpy as np
from threadpoolctl import threadpool_limits

from ...curves import SurvivalCurves
from ...errors import RequestError
from ...outcome import Outcome
from ._base import Adapter, comes_from

if TYPE_CHECKING:
    from ..._typing import FloatArray, TableLike


class HazardousAdapter(Adapter):
    """`SurvivalBoost`: a table of events and durations in, survival on its own grid of times out."""

    supported = "hazardous' SurvivalBoost"

    @classmethod
    def takes(cls, model: object) -> bool:
        return comes_from(model, "hazardous") and hasattr(model, "predict_survival_function")

    def fit(self, X: TableLike, y: Outcome, sample_weight: FloatArray | None) -> None:
        import pandas as pd

        if sample_weight is not None:
            raise RequestError(f"{type(self.model).__name__} takes no sample weights")
        self.model.set_params(show_progressbar=False)
        with threadpool_limits(1):
            self.model.fit(X, pd.DataFrame({"event": y.event.astype(int), "duration": y.time}))

    def curves(self, X: TableLike, times: FloatArray | None) -> SurvivalCurves:
        grid = self.grid()
        quiet = copy.copy(self.model)
        quiet.show_progressbar = False
        with threadpool_limits(1):
            survival = quiet.predict_survival_function(np.asarray(X), times=grid)
        # each time is classified by itself, so that nothing keeps a curve from rising
        curves = SurvivalCurves(grid, np.minimum.accumulate(np.clip(survival, 0.0, 1.0), axis=1), "linear")
        return curves if times is None else SurvivalCurves(times, curves.at(times), "linear")

    def grid(self) -> FloatArray:
        return np.unique(np.asarray(self.model.time_grid_, dtype=float))

    def is_fitted(self) -> bool:
        return hasattr(self.model, "time_grid_")
