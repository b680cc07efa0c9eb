"""How to fit each library's models and read curves from them."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from sklearn.pipeline import Pipeline

from ..curves import MOST_GRID_POINTS, SurvivalCurves
from ..errors import Message, RequestError, Setting
from ..outcome import Outcome
from ._base import SurvivalModel

if TYPE_CHECKING:
    import pandas as pd

    from .._typing import FloatArray, TableLike


def adapt(model: object) -> Adapter:
    """Return the adapter of a model, recognised by the module of its class."""
    library = type(model).__module__.split(".")[0]
    if isinstance(model, SurvivalModel):
        return OwnAdapter(model)
    if isinstance(model, Pipeline):
        return PipelineAdapter(model)
    if library == "sksurv":
        return SksurvAdapter(model)
    if library == "lifelines":
        univariate = hasattr(model, "survival_function_at_times")
        return LifelinesUnivariateAdapter(model) if univariate else LifelinesAdapter(model)
    if callable(model) and not inspect.isclass(model):
        return FunctionAdapter(model)
    raise TypeError(
        f"cannot wrap a {type(model).__name__}: pass a scikit-survival or lifelines model, a Pipeline that ends in one "
        "of these or of lifeyears.models, or a function that takes X and returns curves"
    )


class Adapter(ABC):
    """A model of some library, as `WrappedModel` uses it; by default it has curves and no horizon of its own."""

    def __init__(self, model: Any) -> None:
        self.model = model

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

    def gives_curves(self) -> bool:
        """Return whether there are curves at all."""
        return True

    def predict_times(self, X: TableLike) -> FloatArray:
        """Return the times that a model without curves predicts."""
        raise TypeError("this model is asked for curves, not times")

    def horizon(self) -> float | None:
        """Return the fitted model's own horizon, if it has one."""
        return None


class OwnAdapter(Adapter):
    """A model of ours, wrapped to give it another horizon."""

    def fit(self, X: TableLike, y: Outcome, sample_weight: FloatArray | None) -> None:
        self.model.fit(X, y) if sample_weight is None else self.model.fit(X, y, sample_weight=sample_weight)

    def curves(self, X: TableLike, times: FloatArray | None) -> SurvivalCurves:
        return cast("SurvivalModel", self.model).predict_curves(X, times)

    def grid(self) -> None:
        return None  # our models thin their own grids

    def horizon(self) -> float | None:
        return getattr(self.model, "tau_", None)

    def is_fitted(self) -> bool:
        return hasattr(self.model, "tau_")


class PipelineAdapter(Adapter):
    """A scikit-learn Pipeline: the steps before transform, the last one has an adapter of its own."""

    def __init__(self, model: Pipeline) -> None:
        super().__init__(model)
        adapt(model.steps[-1][1])  # refuse early what is not known

    @property
    def last(self) -> Adapter:
        return adapt(self.model.steps[-1][1])

    def fit(self, X: TableLike, y: Outcome, sample_weight: FloatArray | None) -> None:
        name, last = self.model.steps[-1]
        if isinstance(last, SurvivalModel):
            fit_params = {} if sample_weight is None else {f"{name}__sample_weight": sample_weight}
            self.model.fit(X, y, **fit_params)
            return
        for _, step in self.model.steps[:-1]:
            X = step.fit_transform(X, y) if step not in (None, "passthrough") else X
        self.last.fit(X, y, sample_weight)

    def curves(self, X: TableLike, times: FloatArray | None) -> SurvivalCurves:
        return self.last.curves(self._transform(X), times)

    def grid(self) -> FloatArray | None:
        return self.last.grid()

    def gives_curves(self) -> bool:
        return self.last.gives_curves()

    def predict_times(self, X: TableLike) -> FloatArray:
        return self.last.predict_times(self._transform(X))

    def horizon(self) -> float | None:
        return self.last.horizon()

    def is_fitted(self) -> bool:
        return self.last.is_fitted()

    def _transform(self, X: TableLike) -> TableLike:
        for _, step in self.model.steps[:-1]:
            X = step.transform(X) if step not in (None, "passthrough") else X
        return X


class SksurvAdapter(Adapter):
    """scikit-survival: structured arrays in, an (n, times) array of curves out."""

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
        return any(name.endswith("_") and not name.startswith("_") for name in vars(self.model))

    def _predicts_times(self) -> bool:
        return type(self.model).__name__ == "IPCRidge"


class LifelinesAdapter(Adapter):
    """lifelines' regressions: one DataFrame with the outcome in it, curves with times as rows."""

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


class FunctionAdapter(Adapter):
    """A function X → curves: known truth, another program's output. There is nothing to fit."""

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


def count_rows(X: TableLike) -> int:
    """Return the number of rows of a table."""
    rows: int = X.shape[0] if hasattr(X, "shape") else len(cast("FloatArray", X))
    return rows


def _as_frame(X: TableLike) -> pd.DataFrame:
    """Copy a table into a DataFrame with names that are text, as lifelines wants it."""
    import pandas as pd

    table = pd.DataFrame(X).copy()
    table.columns = [str(name) for name in table.columns]
    return table
