"""How to fit each library's models and read curves from them."""

from __future__ import annotations

import inspect
from typing import Any, Protocol

import numpy as np
from sklearn.pipeline import Pipeline

from ..curves import SurvivalCurves
from ..outcome import Outcome
from ._base import MOST_GRID_POINTS, SurvivalModel


class Adapter(Protocol):
    """What `WrappedModel` asks of a library."""

    def fit(self, model: Any, X: Any, y: Outcome, sample_weight: Any) -> None:
        """Fit in place."""

    def curves(self, model: Any, X: Any, times: np.ndarray | None) -> SurvivalCurves:
        """Curves at these times, or on the model's own grid."""

    def grid(self, model: Any) -> np.ndarray | None:
        """All times at which the fitted model's curves step, or None where that cannot be known."""

    def gives_curves(self, model: Any) -> bool:
        """Whether there are curves at all."""

    def times(self, model: Any, X: Any) -> np.ndarray:
        """Predicted times of a model without curves."""

    def horizon(self, model: Any) -> float | None:
        """The fitted model's own horizon, if it has one."""

    def is_fitted(self, model: Any) -> bool:
        """Whether it can be used without `fit`."""


def adapter_for(model: Any) -> Adapter:
    """Recognise a model by the module of its class."""
    library = type(model).__module__.split(".")[0]
    if isinstance(model, SurvivalModel):
        return OursAdapter()
    if isinstance(model, Pipeline):
        adapter_for(model.steps[-1][1])
        return PipelineAdapter()
    if library == "sksurv":
        return SksurvAdapter()
    if library == "lifelines":
        return LifelinesUnivariateAdapter() if hasattr(model, "survival_function_at_times") else LifelinesAdapter()
    if callable(model) and not inspect.isclass(model):
        return FunctionAdapter()
    raise TypeError(
        f"cannot wrap a {type(model).__name__}: give a scikit-survival or lifelines model, a Pipeline that ends in one "
        "of these or of lifeyears.models, or a function that takes X and gives curves"
    )


class _CurvesOnly:
    """The common case: curves are there, times alone are not asked for."""

    def gives_curves(self, model: Any) -> bool:
        return True

    def times(self, model: Any, X: Any) -> np.ndarray:
        raise TypeError("this model is asked for curves, not times")

    def horizon(self, model: Any) -> float | None:
        return None


class OursAdapter(_CurvesOnly):
    """A model of ours, wrapped to give it another horizon."""

    def fit(self, model: Any, X: Any, y: Outcome, sample_weight: Any) -> None:
        model.fit(X, y) if sample_weight is None else model.fit(X, y, sample_weight=sample_weight)

    def curves(self, model: Any, X: Any, times: np.ndarray | None) -> SurvivalCurves:
        return model.predict_curves(X, times)

    def grid(self, model: Any) -> np.ndarray | None:
        return None  # our models thin their own grids

    def horizon(self, model: Any) -> float | None:
        return getattr(model, "tau_", None)

    def is_fitted(self, model: Any) -> bool:
        return hasattr(model, "tau_")


class PipelineAdapter:
    """A scikit-learn Pipeline: the steps before transform, the last one is wrapped itself."""

    def fit(self, model: Any, X: Any, y: Outcome, sample_weight: Any) -> None:
        name, last = model.steps[-1]
        if isinstance(last, SurvivalModel):
            fit_params = {} if sample_weight is None else {f"{name}__sample_weight": sample_weight}
            model.fit(X, y, **fit_params)
            return
        for _, step in model.steps[:-1]:
            X = step.fit_transform(X, y) if step not in (None, "passthrough") else X
        adapter_for(last).fit(last, X, y, sample_weight)

    def curves(self, model: Any, X: Any, times: np.ndarray | None) -> SurvivalCurves:
        last = model.steps[-1][1]
        return adapter_for(last).curves(last, self._transformed(model, X), times)

    def grid(self, model: Any) -> np.ndarray | None:
        last = model.steps[-1][1]
        return adapter_for(last).grid(last)

    def gives_curves(self, model: Any) -> bool:
        last = model.steps[-1][1]
        return adapter_for(last).gives_curves(last)

    def times(self, model: Any, X: Any) -> np.ndarray:
        last = model.steps[-1][1]
        return adapter_for(last).times(last, self._transformed(model, X))

    def horizon(self, model: Any) -> float | None:
        last = model.steps[-1][1]
        return adapter_for(last).horizon(last)

    def is_fitted(self, model: Any) -> bool:
        last = model.steps[-1][1]
        return adapter_for(last).is_fitted(last)

    def _transformed(self, model: Any, X: Any) -> Any:
        for _, step in model.steps[:-1]:
            X = step.transform(X) if step not in (None, "passthrough") else X
        return X


class SksurvAdapter:
    """scikit-survival: structured arrays in, an (n, times) array of curves out."""

    def fit(self, model: Any, X: Any, y: Outcome, sample_weight: Any) -> None:
        if sample_weight is None:
            model.fit(X, y.to_structured())
        elif "sample_weight" in inspect.signature(model.fit).parameters:
            model.fit(X, y.to_structured(), sample_weight=sample_weight)
        else:
            raise ValueError(f"{type(model).__name__} takes no sample weights")

    def curves(self, model: Any, X: Any, times: np.ndarray | None) -> SurvivalCurves:
        grid = self.grid(model)
        try:
            survival = model.predict_survival_function(X, return_array=True)
        except ValueError as error:
            if "fit_baseline_model" in str(error) or "baseline" in str(error):
                raise ValueError("CoxnetSurvivalAnalysis gives curves only with fit_baseline_model=True") from error
            raise
        curves = SurvivalCurves(grid, survival)
        return curves if times is None else SurvivalCurves(times, curves.at(times))

    def grid(self, model: Any) -> np.ndarray:
        for name in ("unique_times_", "event_times_"):  # the name changed between releases
            if hasattr(model, name):
                return np.asarray(getattr(model, name), dtype=float)
        raise ValueError(f"{type(model).__name__} has no times of its own: is it fitted, with a baseline?")

    def gives_curves(self, model: Any) -> bool:
        return type(model).__name__ != "IPCRidge" and hasattr(model, "predict_survival_function")

    def times(self, model: Any, X: Any) -> np.ndarray:
        if type(model).__name__ != "IPCRidge":
            raise ValueError(
                f"{type(model).__name__} gives risk scores, neither times nor curves: it cannot be put on the scale "
                "of years. Its scores can be passed to lifeyears.metrics with the sign turned (higher is longer)"
            )
        return np.asarray(model.predict(X), dtype=float)

    def horizon(self, model: Any) -> float | None:
        return None

    def is_fitted(self, model: Any) -> bool:
        return any(name.endswith("_") and not name.startswith("_") for name in vars(model))


class LifelinesAdapter(_CurvesOnly):
    """lifelines' regressions: one DataFrame with the outcome in it, curves with times as rows."""

    def fit(self, model: Any, X: Any, y: Outcome, sample_weight: Any) -> None:
        table = _frame(X)
        table["lifeyears_time"], table["lifeyears_event"] = y.time, y.event
        weights = {}
        if sample_weight is not None:
            table["lifeyears_weight"] = np.asarray(sample_weight, dtype=float)
            weights = {"weights_col": "lifeyears_weight"}
        model.fit(table, duration_col="lifeyears_time", event_col="lifeyears_event", **weights)

    def curves(self, model: Any, X: Any, times: np.ndarray | None) -> SurvivalCurves:
        if self._steps(model):  # asked for times it would interpolate; on its own grid it steps, as it should
            found = model.predict_survival_function(_frame(X))
            survival = found.to_numpy().T
            if self._is_additive(model):  # hazards that fall below 0 would raise the dead
                survival = np.minimum.accumulate(np.clip(survival, 0.0, 1.0), axis=1)
            curves = SurvivalCurves(found.index.to_numpy(float), survival)
            return curves if times is None else SurvivalCurves(times, curves.at(times))
        times = self.grid(model) if times is None else times
        found = model.predict_survival_function(_frame(X), times=np.maximum(times, 1e-12))
        return SurvivalCurves(times, found.to_numpy().T, "linear")

    def grid(self, model: Any) -> np.ndarray:
        if self._is_additive(model):
            return model.cumulative_hazards_.index.to_numpy(float)
        if self._steps(model):
            return model.baseline_survival_.index.to_numpy(float)
        return float(np.max(model.durations)) * np.linspace(0, 1, MOST_GRID_POINTS) ** 2

    def is_fitted(self, model: Any) -> bool:
        return hasattr(model, "params_") or self._is_additive(model)

    def _steps(self, model: Any) -> bool:
        return hasattr(model, "baseline_survival_") or self._is_additive(model)

    def _is_additive(self, model: Any) -> bool:
        return hasattr(model, "cumulative_hazards_")


class LifelinesUnivariateAdapter(_CurvesOnly):
    """lifelines' curves without features, KaplanMeierFitter above all."""

    def fit(self, model: Any, X: Any, y: Outcome, sample_weight: Any) -> None:
        model.fit(y.time, y.event, weights=sample_weight)

    def curves(self, model: Any, X: Any, times: np.ndarray | None) -> SurvivalCurves:
        grid = self.grid(model)
        curve = SurvivalCurves(grid, model.survival_function_.to_numpy().reshape(1, -1))
        times = grid if times is None else times
        return SurvivalCurves(times, np.broadcast_to(curve.at(times), (len(X), len(times))))

    def grid(self, model: Any) -> np.ndarray:
        return model.survival_function_.index.to_numpy(float)

    def is_fitted(self, model: Any) -> bool:
        return hasattr(model, "survival_function_")


class FunctionAdapter(_CurvesOnly):
    """A function X → curves: known truth, another program's output. There is nothing to fit."""

    def fit(self, model: Any, X: Any, y: Outcome, sample_weight: Any) -> None:
        pass

    def curves(self, model: Any, X: Any, times: np.ndarray | None) -> SurvivalCurves:
        found = model(X)
        curves = found if isinstance(found, SurvivalCurves) else SurvivalCurves(*found)
        return curves if times is None else SurvivalCurves(times, curves.at(times), curves.interpolation)

    def grid(self, model: Any) -> None:
        return None

    def is_fitted(self, model: Any) -> bool:
        return True


def _frame(X: Any) -> Any:
    """Copy a table into a DataFrame with names that are text, as lifelines wants it."""
    import pandas as pd

    table = pd.DataFrame(X).copy()
    table.columns = [str(name) for name in table.columns]
    return table
