"""Adapters: how to fit the survival models of other libraries and read curves from them.

A library is recognised by the module of the model's class; nothing of it is imported here.
"""

from __future__ import annotations

from ...errors import UnsupportedModelError
from ._accelerated import DISTRIBUTIONS, AcceleratedAdapter
from ._base import Adapter, count_rows
from ._catboost import CatBoostAFTAdapter, CatBoostCoxAdapter
from ._hazardous import HazardousAdapter
from ._lifelines import LifelinesAdapter, LifelinesUnivariateAdapter
from ._lightgbm import LightGBMAdapter
from ._own import FunctionAdapter, OwnAdapter
from ._pipeline import PipelineAdapter
from ._proportional import ProportionalAdapter
from ._scikit_survival import SksurvAdapter
from ._xgboost import XGBoostAFTAdapter, XGBoostCoxAdapter

__all__ = [
    "DISTRIBUTIONS",
    "AcceleratedAdapter",
    "Adapter",
    "CatBoostCoxAdapter",
    "LightGBMAdapter",
    "ProportionalAdapter",
    "SksurvAdapter",
    "XGBoostAFTAdapter",
    "XGBoostCoxAdapter",
    "adapt",
    "count_rows",
]

ADAPTERS: tuple[type[Adapter], ...] = (
    OwnAdapter,
    SksurvAdapter,
    LifelinesUnivariateAdapter,
    LifelinesAdapter,
    XGBoostCoxAdapter,
    XGBoostAFTAdapter,
    CatBoostCoxAdapter,
    CatBoostAFTAdapter,
    LightGBMAdapter,
    HazardousAdapter,
    FunctionAdapter,
)


def adapt(model: object) -> Adapter:
    """Return the adapter of a model.

    Raises
    ------
    UnsupportedModelError
        If no adapter takes the model; the message lists what is supported.
    """
    if PipelineAdapter.takes(model):
        return PipelineAdapter(model, adapt)
    for adapter in ADAPTERS:
        if adapter.takes(model):
            return adapter(model)
    supported = "; ".join(adapter.supported for adapter in ADAPTERS if adapter.supported)
    raise UnsupportedModelError(
        f"cannot wrap a {type(model).__name__}{_describe_objective(model)}",
        hint=f"Supported are: {supported}; and a scikit-learn Pipeline that ends in one of these.",
        model=type(model).__name__,
    )


def _describe_objective(model: object) -> str:
    """Name the objective of a boosting model, which decides whether it is a survival model."""
    get_params = getattr(model, "get_params", None)
    if get_params is None or isinstance(model, type):
        return ""
    try:
        params = get_params()
    except Exception:  # an object of any kind: what cannot be described is named without its objective
        return ""
    objective = params.get("objective", params.get("loss_function"))
    return f" with the objective {objective!r}" if isinstance(objective, str) else ""
