"""CatBoost: the loss functions ``Cox`` and ``SurvivalAft``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...outcome import Outcome
from ._accelerated import AcceleratedAdapter
from ._base import comes_from
from ._proportional import ProportionalAdapter, refuse_weights, signed_ranks

if TYPE_CHECKING:
    from typing import Any

    from ..._typing import FloatArray, TableLike

OPEN_END = -1.0  # what CatBoost takes for an interval without an upper end


class CatBoostCoxAdapter(ProportionalAdapter):
    """``Cox``: labels are times, negative where censored; the raw prediction is the log hazard."""

    supported = 'CatBoost models with the loss function "Cox" or "SurvivalAft"'

    @classmethod
    def takes(cls, model: object) -> bool:
        return _loss(model) == "Cox"

    def train(self, X: TableLike, y: Outcome, sample_weight: FloatArray | None) -> None:
        refuse_weights("CatBoost", sample_weight)
        _prepare(self.model)
        self.model.fit(X, signed_ranks(y))

    def log_hazards(self, X: TableLike) -> FloatArray:
        return np.asarray(self.model.predict(X, prediction_type="RawFormulaVal", thread_count=1), dtype=float)

    def is_trained(self) -> bool:
        return bool(self.model.is_fitted())


class CatBoostAFTAdapter(AcceleratedAdapter):
    """``SurvivalAft:dist=Normal;scale=1``: two columns of labels; the raw prediction is the location of log T."""

    @classmethod
    def takes(cls, model: object) -> bool:
        return _loss(model) == "SurvivalAft"

    def train(self, X: TableLike, y: Outcome, sample_weight: FloatArray | None) -> None:
        _prepare(self.model)
        intervals = np.column_stack([y.time, np.where(y.event, y.time, OPEN_END)])
        self.model.fit(X, intervals, sample_weight=sample_weight)

    def locations(self, X: TableLike) -> FloatArray:
        return np.asarray(self.model.predict(X, prediction_type="RawFormulaVal", thread_count=1), dtype=float)

    def distribution(self) -> tuple[str, float]:
        settings = _loss_settings(self.model)
        return settings.get("dist", "Normal").lower(), float(settings.get("scale", 1.0))

    def is_fitted(self) -> bool:
        return bool(self.model.is_fitted())


def _prepare(model: Any) -> None:
    """Keep CatBoost from writing files and text and from taking all cores, unless the user asked for these."""
    params = model.get_params()
    quiet = {} if {"verbose", "silent", "logging_level", "verbose_eval"} & set(params) else {"verbose": False}
    model.set_params(**{"allow_writing_files": False, "thread_count": 1, **quiet} | params)


def _loss(model: object) -> str | None:
    """Return the name of the loss function, without its settings."""
    if not comes_from(model, "catboost") or not hasattr(model, "get_params"):
        return None
    params = model.get_params()
    loss = params.get("loss_function", params.get("objective"))
    return loss.partition(":")[0] if isinstance(loss, str) else None


def _loss_settings(model: Any) -> dict[str, str]:
    """Read what CatBoost itself writes behind the name of a loss: ``name:key=value;key=value``."""
    params = model.get_params()
    settings = params.get("loss_function", params.get("objective")).partition(":")[2]
    return dict(part.split("=", 1) for part in settings.split(";") if part)
