"""The relevance of the test rows under censoring, by every estimator of the plan with the nuisance models it takes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import clone

from ... import catalogue
from ...catalogue import MethodSpec
from ...folds import Splits, draw_folds
from ...models import Cox, KaplanMeier
from ...outcome import Outcome
from ...relevance import NUISANCE_RIDGE, Diagnostics, cross_fit
from .._plan import Plan
from ..building import build_model

if TYPE_CHECKING:
    from ..._typing import FloatArray, Json

SMALLEST_CHANCE = 1e-3  # IPCW as the paper writes it, but for chances below this; how many is kept with the job
SETTINGS: dict[str, Json] = {"IPCW": {"floor": SMALLEST_CHANCE}}


class Source(NamedTuple):
    """Where a relevance comes from: an estimator, and the nuisance model that it was given, if it is one of several.

    Without a nuisance, the mean over the nuisance models, or the estimator's own choice.
    """

    relevance: str
    nuisance: str | None = None

    @property
    def label(self) -> str:
        """The name for people, such as "EY by Cox"."""
        return self.relevance if self.nuisance is None else f"{self.relevance} by {name_model(self.nuisance)}"


class Relevances(NamedTuple):
    """The relevance of the test rows by its source, how many weights were clipped, and how often fits fell back."""

    values: dict[Source, FloatArray]
    clipped: dict[str, int]
    counts: dict[str, int]


def name_model(key: str) -> str:
    """Return the label of a survival model."""
    return catalogue.models[key].label if key in catalogue.models else key


def estimate_relevances(plan: Plan, X: FloatArray, y: Outcome, seed: int) -> Relevances:
    """Estimate relevance by every estimator of the plan, cross-fitted within the test fold.

    An estimator that takes a survival model is given every model of the plan in turn, one that takes a model of
    censoring Kaplan–Meier and Cox, and one that takes both Cox for both; of several, the mean is estimated too.
    """
    splits = draw_folds(y.event, plan.nuisance_folds, random_state=seed)
    values: dict[Source, FloatArray] = {}
    clipped: dict[str, int] = {}
    counts: dict[str, int] = {}
    for spec in plan.methods_of("estimators"):
        sources = []
        for source, estimator in _build_estimators(spec, plan, seed):
            values[source], diagnostics = _cross_fit(estimator, X, y, splits, seed)
            sources.append(source)
            if diagnostics is not None and "censoring" in spec.parameters():
                clipped[f"{source.label}: weights clipped"] = diagnostics.n_clipped
            if diagnostics is not None and diagnostics.n_fallback:
                counts[f"{source.label} fell back: censored where its curve says that nobody is left"] = (
                    diagnostics.n_fallback
                )
        if sources != [Source(spec.key)]:
            values[Source(spec.key)] = np.mean([values[source] for source in sources], axis=0)
    return Relevances(values, clipped, counts)


def _build_estimators(spec: MethodSpec, plan: Plan, seed: int) -> Iterator[tuple[Source, Any]]:
    """Build an estimator with each of the nuisance models that it is to be given."""
    takes = {name for name in ("survival", "censoring") if name in spec.parameters()}
    settings: Json = {"tau": plan.tau, "random_state": seed, "on_violation": "clip", **SETTINGS.get(spec.key, {})}
    censoring_models = {"KM": KaplanMeier(), "Cox": Cox(alpha=NUISANCE_RIDGE)}
    if takes == {"survival"}:
        for model in plan.models:
            survival = build_model(model, plan.tau, seed, plan.epochs)
            yield Source(spec.key, model), spec.build_with(survival=survival, **settings)
    elif takes == {"censoring"}:
        for name, censoring in censoring_models.items():
            yield Source(spec.key, name), spec.build_with(censoring=censoring, **settings)
    else:
        nuisances = {"survival": Cox(alpha=NUISANCE_RIDGE), "censoring": censoring_models["Cox"]}
        yield Source(spec.key), spec.build_with(**nuisances, **settings)


def _cross_fit(
    estimator: Any, X: FloatArray, y: Outcome, splits: Splits, seed: int
) -> tuple[FloatArray, Diagnostics | None]:
    """Cross-fit an estimator; one from elsewhere needs no more than `fit` and `estimate`."""
    if hasattr(estimator, "parts"):
        estimated = cross_fit(estimator, X, y, cv=splits, random_state=seed)
        return estimated.values, estimated.diagnostics
    values = np.empty(len(y))
    for train, test in splits:
        fitted = clone(estimator, safe=False).fit(X[train], y[train])
        values[test] = fitted.estimate(X[test], y[test]).values
    return values, None
