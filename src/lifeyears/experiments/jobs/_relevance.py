"""The relevance of the test rows under censoring: EY by every model, IPCW by two, and doubly robust."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...folds import draw_folds
from ...models import Cox, KaplanMeier
from ...outcome import Outcome
from ...relevance import IPCW, NUISANCE_RIDGE, DoublyRobust, ExpectedYears, Relevance, cross_fit
from .._plan import Plan
from ._fitting import build_model

if TYPE_CHECKING:
    from ..._typing import FloatArray

SMALLEST_CHANCE = 1e-3  # IPCW as the paper writes it, but for chances below this; how many is kept with the job


def estimate_relevances(
    plan: Plan, X: FloatArray, y: Outcome, seed: int
) -> tuple[dict[str, FloatArray], dict[str, int]]:
    """Estimate EY by every model, IPCW by KM and Cox, their means, and DR, cross-fitted within the test fold.

    The second result counts clipped weights and fallbacks.
    """
    splits = draw_folds(y.event, plan.nuisance_folds, random_state=seed)

    def estimate(estimator: ExpectedYears | IPCW | DoublyRobust) -> Relevance:
        return cross_fit(estimator, X, y, cv=splits, random_state=seed)

    relevances: dict[str, FloatArray] = {}
    counts: dict[str, int] = {}
    for model in plan.models:
        estimated = estimate(ExpectedYears(build_model(model, plan, seed), tau=plan.tau))
        relevances[f"EY {model}"] = estimated.values
        if estimated.diagnostics.n_fallback:
            counts[f"EY {model} fell back: censored where its curve says that nobody is left"] = (
                estimated.diagnostics.n_fallback
            )
    censoring_models = {"KM": KaplanMeier(), "Cox": Cox(alpha=NUISANCE_RIDGE)}
    for name, censoring in censoring_models.items():
        estimated = estimate(IPCW(censoring, tau=plan.tau, on_violation="clip", floor=SMALLEST_CHANCE))
        relevances[f"IPCW {name}"] = estimated.values
        counts[f"IPCW {name} clipped"] = estimated.diagnostics.n_clipped
    survival = Cox(alpha=NUISANCE_RIDGE)
    estimated = estimate(DoublyRobust(survival, censoring_models["Cox"], tau=plan.tau, on_violation="clip"))
    relevances["DR"] = estimated.values
    counts["DR clipped"] = estimated.diagnostics.n_clipped
    for kind in ("EY", "IPCW"):
        single = [values for name, values in relevances.items() if name.startswith(f"{kind} ")]
        relevances[kind] = np.mean(single, axis=0)
    return relevances, counts
