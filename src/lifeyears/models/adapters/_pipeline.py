"""Pipelines of scikit-learn that end in a survival model."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from sklearn.pipeline import Pipeline

from ...curves import SurvivalCurves
from ...outcome import Outcome
from .._base import SurvivalModel
from ._base import Adapter

if TYPE_CHECKING:
    from ..._typing import FloatArray, TableLike


class PipelineAdapter(Adapter):
    """A scikit-learn Pipeline: the steps before transform, the last one has an adapter of its own."""

    def __init__(self, model: Pipeline, adapt: Callable[[object], Adapter]) -> None:
        super().__init__(model)
        self.last = adapt(model.steps[-1][1])
        self.needs_baseline = self.last.needs_baseline  # type: ignore[misc]  # of this pipeline, not of the class

    @classmethod
    def takes(cls, model: object) -> bool:
        return isinstance(model, Pipeline)

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

    def is_trained(self) -> bool:
        return self.last.is_trained()

    def estimate_baseline(self, X: TableLike, y: Outcome, sample_weight: FloatArray | None = None) -> None:
        self.last.estimate_baseline(self._transform(X), y, sample_weight)

    def extend_to(self, tau: float) -> None:
        self.last.extend_to(tau)

    def _transform(self, X: TableLike) -> TableLike:
        for _, step in self.model.steps[:-1]:
            X = step.transform(X) if step not in (None, "passthrough") else X
        return X
