"""XGBoost: the objectives ``survival:cox`` and ``survival:aft`` of its scikit-learn interface."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np

from ...outcome import Outcome
from ._accelerated import AcceleratedAdapter
from ._base import comes_from
from ._proportional import ProportionalAdapter, refuse_weights, signed_ranks

if TYPE_CHECKING:
    from typing import Any

    from ..._typing import FloatArray, TableLike


class XGBoostCoxAdapter(ProportionalAdapter):
    """``survival:cox``: labels are times, negative where censored; the margin is the log hazard."""

    supported = 'XGBoost models with the objective "survival:cox" or "survival:aft"'

    @classmethod
    def takes(cls, model: object) -> bool:
        return _objective(model) == "survival:cox"

    def train(self, X: TableLike, y: Outcome, sample_weight: FloatArray | None) -> None:
        refuse_weights("XGBoost", sample_weight)
        _use_one_thread(self.model)
        self.model.fit(X, signed_ranks(y))

    def log_hazards(self, X: TableLike) -> FloatArray:
        return np.asarray(self.model.predict(X, output_margin=True), dtype=float)

    def is_trained(self) -> bool:
        return bool(self.model.__sklearn_is_fitted__())


class XGBoostAFTAdapter(AcceleratedAdapter):
    """``survival:aft``: an interval for each time; the margin is the location of log T."""

    @classmethod
    def takes(cls, model: object) -> bool:
        return _objective(model) == "survival:aft"

    def train(self, X: TableLike, y: Outcome, sample_weight: FloatArray | None) -> None:
        import xgboost

        _use_one_thread(self.model)
        # the scikit-learn interface has no parameter for intervals
        table = xgboost.DMatrix(
            X,
            weight=sample_weight,
            label_lower_bound=y.time,
            label_upper_bound=np.where(y.event, y.time, np.inf),
            missing=self.model.missing,
            nthread=1,
            enable_categorical=self.model.enable_categorical,
        )
        booster = xgboost.train(self.model.get_xgb_params(), table, self.model.get_num_boosting_rounds())
        self.model.load_model(booster.save_raw("ubj"))

    def locations(self, X: TableLike) -> FloatArray:
        return np.asarray(self.model.predict(X, output_margin=True), dtype=float)

    def distribution(self) -> tuple[str, float]:
        settings = json.loads(self.model.get_booster().save_config())["learner"]["objective"]["aft_loss_param"]
        return settings["aft_loss_distribution"], float(settings["aft_loss_distribution_scale"])

    def is_fitted(self) -> bool:
        return bool(self.model.__sklearn_is_fitted__())


def _objective(model: object) -> str | None:
    if not comes_from(model, "xgboost") or not hasattr(model, "get_xgb_params"):
        return None
    objective = getattr(model, "objective", None)
    return objective if isinstance(objective, str) else None


def _use_one_thread(model: Any) -> None:
    if model.n_jobs is None:  # unless the user set it: two threads beside another busy process are slower than one
        model.set_params(n_jobs=1)
