"""The arms of a job: survival models of the catalogue and ranking methods over them, fitted on the training rows."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ...outcome import Outcome
from ...ranking import build_ranker, fit_together
from .._plan import Plan
from ..building import build_model
from ..types import Arm

if TYPE_CHECKING:
    from ..._typing import FloatArray


def score_arms(
    plan: Plan, X: FloatArray, y: Outcome, new: FloatArray, seed: int, unit: str = "years"
) -> tuple[dict[Arm, FloatArray], dict[str, int]]:
    """Fit every arm and predict the expected life of the test rows.

    The base of a ranker of Lifeyears is fitted once, and is the arm of the model itself. The second result counts where
    rankers departed from their settings.
    """
    scores: dict[Arm, FloatArray] = {}
    counts: Counter[str] = Counter()
    foreign = {spec.key for group, spec in plan.specs if group == "rankers"}
    models = {arm: build_model(arm.model, plan.tau, seed, plan.epochs) for arm in plan.arms}
    rankers = {
        arm: build_ranker(arm.method, models[arm], tau=plan.tau, unit=unit, random_state=seed, n_jobs=1)
        for arm in plan.arms
        if arm.base is not None
    }
    for arm, ranker in zip(rankers, fit_together(rankers.values(), X, y), strict=True):
        scores[arm] = ranker.predict(new)
        if arm.method not in foreign:
            scores.setdefault(Arm(arm.model), ranker.base_.predict(new))
            report = ranker.report_
            notes = [*report.notes, *(["the base model is used as it is"] if report.kept_base else [])]
            counts.update(f"{arm.label}: {note}" for note in notes)
    for arm in plan.arms:
        if arm not in scores:
            scores[arm] = models[arm].fit(X, y).predict(new)
    return {arm: scores[arm] for arm in plan.arms}, dict(counts)
