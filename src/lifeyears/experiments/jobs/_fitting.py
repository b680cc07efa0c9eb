"""The models of a job: the paper's five predictors and their rankers, fitted on the training rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING

from ...models import Cox, DeepHit, DeepSurv, KaplanMeier, SurvivalModel, WeibullAFT
from ...outcome import Outcome
from ...ranking import BootstrappedRanker, StackedRanker, fit_together
from .._plan import Plan

if TYPE_CHECKING:
    from ..._typing import FloatArray


def build_model(name: str, plan: Plan, seed: int) -> SurvivalModel:
    """Build one of the paper's five predictors with its settings (appendix E)."""
    factories: dict[str, Callable[[], SurvivalModel]] = {
        "KM": lambda: KaplanMeier(tau=plan.tau),
        "Cox": lambda: Cox(alpha=0.1, tau=plan.tau),
        "AFT": lambda: WeibullAFT(penalizer=0.1, tau=plan.tau),
        "DeepSurv": lambda: DeepSurv(tau=plan.tau, epochs=plan.epochs, random_state=seed),
        "DeepHit": lambda: DeepHit(tau=plan.tau, epochs=plan.epochs, random_state=seed),
    }
    return factories[name]()


def score_arms(
    plan: Plan, X: FloatArray, y: Outcome, new: FloatArray, seed: int, margin: float = 1.0
) -> tuple[dict[tuple[str, str], FloatArray], dict[str, int]]:
    """Fit every arm and predict the expected years of the test rows.

    The first stage of a ranker is the standard model, fitted once. The second result counts where rankers departed
    from their settings.
    """
    scores: dict[tuple[str, str], FloatArray] = {}
    counts: Counter[str] = Counter()
    arms = [(model, kind) for model in plan.models for kind in ("ranker", "default") if (model, kind) in plan.arms]
    rankers = [
        BootstrappedRanker(build_model(model, plan, seed), plan.tau, margin=margin, random_state=seed, n_jobs=1)
        if kind == "ranker"
        else StackedRanker(build_model(model, plan, seed), plan.tau, random_state=seed, n_jobs=1)
        for model, kind in arms
    ]
    for (model, framework), ranker in zip(arms, fit_together(rankers, X, y), strict=True):
        if ranker.base_ is not None:  # it is None only where relevance was given in place of outcomes
            scores.setdefault((model, "standard"), ranker.base_.predict(new))
        scores[model, framework] = ranker.predict(new)
        report = ranker.report_
        notes = [*report.notes, *(["the base model is used as it is"] if report.kept_base else [])]
        counts.update(f"{model} {framework}: {note}" for note in notes)
    return scores, dict(counts)
