"""LightGBM, which has no survival objective: it is trained with Cox's partial likelihood."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...outcome import Outcome
from ..fitting import PartialLikelihoodObjective
from ._base import comes_from, count_rows
from ._proportional import ProportionalAdapter

if TYPE_CHECKING:
    from ..._typing import FloatArray, TableLike


class LightGBMAdapter(ProportionalAdapter):
    """A model of LightGBM's scikit-learn interface without an objective of its own; the raw score is the log hazard."""

    supported = "LightGBM regressors without an objective (they are trained with Cox's partial likelihood)"

    @classmethod
    def takes(cls, model: object) -> bool:
        if not comes_from(model, "lightgbm"):
            return False
        import lightgbm  # it is loaded already

        return isinstance(model, lightgbm.LGBMRegressor) and model.objective is None

    def train(self, X: TableLike, y: Outcome, sample_weight: FloatArray | None) -> None:
        values = np.asarray(X)
        if (values == values[:1]).all():  # LightGBM fails where no column can be split: everybody has the same hazard
            return
        objective = PartialLikelihoodObjective(y, sample_weight)  # the weights are part of the risk sets
        params = self.model.get_params()
        quiet = {} if {"verbose", "verbosity"} & set(params) else {"verbosity": -1}
        settings = {"feature_pre_filter": False, **quiet} | params
        if self.model.n_jobs is None:
            settings["n_jobs"] = 1
        self.model.set_params(**settings | {"objective": lambda _, scores: objective(scores)})
        try:
            self.model.fit(X, y.time)
        finally:
            self.model.set_params(objective=None)  # it holds the training rows, and cannot be copied or pickled

    def log_hazards(self, X: TableLike) -> FloatArray:
        if not self.model.__sklearn_is_fitted__():
            return np.zeros(count_rows(X))
        return np.asarray(self.model.predict(X, raw_score=True), dtype=float)
