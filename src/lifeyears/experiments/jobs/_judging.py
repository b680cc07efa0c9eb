"""How good the ranking of an arm is on a test fold: C-index, AUC, NDCG, value per allocation, registered metrics."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ...catalogue import MethodSpec
from ...errors import RequestError
from ...metrics import auc_at, concordance_index, ndcg_score, policy_value
from ...outcome import Outcome
from .._plan import KS, Plan
from ..types import Measure
from ._relevance import Source

if TYPE_CHECKING:
    from ..._typing import FloatArray, Json


def choose_auc_times(plan: Plan, unit: str) -> tuple[float, ...]:
    """Choose the times of AUC: the paper's 5, 10, 15 and 20 years; with other units or horizons, quarters of it."""
    papers = unit == "years" and plan.tau >= 20
    times = (5.0, 10.0, 15.0, 20.0) if papers else tuple(plan.tau * quarter / 4 for quarter in (1, 2, 3, 4))
    return times if plan.protocol == "artificial" else times[:1]


def judge_scores(
    plan: Plan,
    scores: FloatArray,
    y: Outcome,
    life: FloatArray | None,
    relevances: Mapping[Source, FloatArray],
    decades: FloatArray | None,
    times: tuple[float, ...],
) -> dict[Measure, float]:
    """Compute all measures of one arm on one test fold.

    Parameters
    ----------
    plan : Plan
    scores : array, shape (n,)
    y : Outcome
        What was observed of the test rows.
    life : array, shape (n,), optional
        True lifetimes, where the protocol knows them.
    relevances : dict of Source to array, shape (n,)
        Estimates of the relevance.
    decades : array, shape (n,), optional
        Waitlists are drawn within these.
    times : tuple of float
        Times of AUC.

    Returns
    -------
    dict of Measure to float
    """
    n = len(scores)
    waitlist = min(plan.waitlist, n)
    measures: dict[Measure, float] = {}
    outcome = y if life is None else Outcome(life, np.ones(n, dtype=bool))
    measures[Measure(None, "c_index")] = _or_nan(lambda: concordance_index(outcome, scores))
    for time in times:
        measures[Measure(None, "auc", time=time)] = _auc(outcome, scores, time)
    registered = [spec for spec in plan.methods_of("metrics") if spec.key in plan.metrics]
    measures |= _registered_of_outcome(registered, plan, outcome, scores, waitlist)
    falling = np.argsort(-scores, kind="stable")  # once: what is sorted already sorts in no time
    scores, relevances = scores[falling], {source: values[falling] for source, values in relevances.items()}
    life, decades = (values if values is None else values[falling] for values in (life, decades))
    judged = {source: values for source, values in relevances.items() if source.nuisance is None}
    if life is not None:
        measures |= _ndcgs(Source("truth"), life, scores, n)  # Table 1: the unrestricted T*
        restricted = np.minimum(life, plan.tau)
        judged[Source("restricted")] = restricted
        relevances = {Source("restricted"): restricted, **relevances}  # what EY and IPCW estimate
    for source, values in relevances.items():
        measures[_of(plan.value, source)] = _value(values, scores, waitlist, plan.k, decades)
        if values.min() >= 0:
            measures |= _ndcgs(source, values, scores, n)
            measures[_of(plan.ndcg, source)] = _waitlist_ndcg(values, scores, waitlist, plan.k, decades)
    measures |= _average_ndcgs(plan, relevances, measures)
    for source, values in judged.items():
        measures |= _registered_of_relevance(registered, plan, source, values, scores, waitlist)
    return measures


def _of(measure: Measure, source: Source) -> Measure:
    return replace(measure, relevance=source.relevance, nuisance=source.nuisance)


def _ndcgs(source: Source, relevance: FloatArray, scores: FloatArray, n: int) -> dict[Measure, float]:
    whole = _of(Measure(None, "ndcg"), source)
    at_k = {replace(whole, k=k): ndcg_score(relevance, scores, k=min(k, n)) for k in KS}
    return at_k | {whole: ndcg_score(relevance, scores)}


def _average_ndcgs(
    plan: Plan, relevances: Mapping[Source, FloatArray], measures: Mapping[Measure, float]
) -> dict[Measure, float]:
    """The paper's ensemble: the mean of the estimated NDCGs, not the NDCG of the mean estimate."""
    averages: dict[Measure, float] = {}
    for estimator in dict.fromkeys(source.relevance for source in relevances if source.nuisance is not None):
        single = [source for source in relevances if source.relevance == estimator and source.nuisance is not None]
        for measure in (*(Measure(None, "ndcg", k=k) for k in KS), Measure(None, "ndcg"), plan.ndcg):
            values = [measures.get(_of(measure, source), np.nan) for source in single]
            averages[_of(measure, Source(estimator))] = float(np.mean(values))
    return averages


def _registered_of_outcome(
    specs: list[MethodSpec], plan: Plan, y: Outcome, scores: FloatArray, waitlist: int
) -> dict[Measure, float]:
    """Registered metrics whose first parameter is `y`."""
    measures = {}
    for spec in specs:
        if _first_parameter(spec) == "y":
            settings, requested = _list_settings(spec, plan, waitlist)
            measures[Measure(None, spec.key, **requested)] = _call(spec, y, scores, settings)
    return measures


def _registered_of_relevance(
    specs: list[MethodSpec], plan: Plan, source: Source, relevance: FloatArray, scores: FloatArray, waitlist: int
) -> dict[Measure, float]:
    """Registered metrics whose first parameter is `relevance`."""
    measures = {}
    for spec in specs:
        if _first_parameter(spec) == "relevance":
            settings, requested = _list_settings(spec, plan, waitlist)
            measures[Measure(source.relevance, spec.key, **requested)] = _call(spec, relevance, scores, settings)
    return measures


def _first_parameter(spec: MethodSpec) -> str:
    first = next(iter(spec.parameters()), None)
    if first not in ("y", "relevance"):
        raise RequestError(
            f"the metric {spec.key!r} must take relevance or y as its first parameter; it takes {first!r}",
            hint="Define it as metric(relevance, scores, ...) or metric(y, scores, ...).",
        )
    return first


def _list_settings(spec: MethodSpec, plan: Plan, waitlist: int) -> tuple[Json, Json]:
    """Return what a metric is given of k and waitlist, and what it is recorded under."""
    used = {"k": min(plan.k, waitlist), "waitlist": waitlist}
    requested = {"k": plan.k, "waitlist": plan.waitlist}
    known = spec.parameters()
    return tuple({name: value for name, value in part.items() if name in known} for part in (used, requested))  # type: ignore[return-value]


def _call(spec: MethodSpec, subject: object, scores: FloatArray, settings: Json) -> float:
    return _or_nan(lambda: float(spec.build(subject, scores, **settings)))


def _value(relevance: FloatArray, scores: FloatArray, waitlist: int, k: int, decades: FloatArray | None) -> float:
    """Value of an allocation from a waitlist; within decades, their mean weighted by size."""
    if decades is None:
        return policy_value(relevance, scores, k=min(k, waitlist), waitlist=waitlist)
    parts = [np.flatnonzero(decades == decade) for decade in np.unique(decades)]
    values = [_value(relevance[rows], scores[rows], min(waitlist, len(rows)), k, None) for rows in parts]
    return float(np.average(values, weights=[len(rows) for rows in parts]))


def _waitlist_ndcg(
    relevance: FloatArray, scores: FloatArray, waitlist: int, k: int, decades: FloatArray | None
) -> float:
    """Expected DCG over expected ideal DCG of a waitlist; within decades, both as in `_value`."""
    if decades is None:
        return ndcg_score(relevance, scores, k=min(k, waitlist), waitlist=waitlist)
    ideal = _value(relevance, relevance, waitlist, k, decades)
    return _value(relevance, scores, waitlist, k, decades) / ideal if ideal > 0 else float("nan")


def _auc(y: Outcome, scores: FloatArray, time: float) -> float:
    return _or_nan(lambda: float(auc_at(y, scores, time)))


def _or_nan(compute: Callable[[], float]) -> float:
    """Compute a measure; NaN where a small fold has no comparable pairs, nobody known dead or nobody known alive."""
    try:
        return compute()
    except ValueError:
        return float("nan")
