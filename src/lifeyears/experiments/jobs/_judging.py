"""How good the ranking of an arm is on a test fold: C-index, AUC, NDCG and years per allocation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...metrics import auc_at, concordance_index, ndcg_score, policy_value
from ...outcome import Outcome
from .._plan import KS, Plan

if TYPE_CHECKING:
    from ..._typing import FloatArray


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
    relevances: dict[str, FloatArray],
    decades: FloatArray | None,
    times: tuple[float, ...],
) -> dict[str, float]:
    """Compute all measures of one arm on one test fold.

    Parameters
    ----------
    plan : Plan
    scores : array, shape (n,)
    y : Outcome
        What was observed of the test rows.
    life : array, shape (n,), optional
        True lifetimes, where the protocol knows them.
    relevances : dict of str to array, shape (n,)
        Estimates of the relevance, by name.
    decades : array, shape (n,), optional
        Waitlists are drawn within these.
    times : tuple of float
        Times of AUC.

    Returns
    -------
    dict of str to float
    """
    n = len(scores)
    waitlist = min(plan.waitlist, n)
    measures: dict[str, float] = {}
    outcome = y if life is None else Outcome(life, np.ones(n, dtype=bool))
    measures["C-index"] = _concordance(outcome, scores)
    for time in times:
        measures[f"AUC@{time:g}"] = _auc(outcome, scores, time)
    falling = np.argsort(-scores, kind="stable")  # once: what is sorted already sorts in no time
    scores, relevances = scores[falling], {name: values[falling] for name, values in relevances.items()}
    life, decades = (values if values is None else values[falling] for values in (life, decades))
    if life is not None:
        measures |= _ndcgs("truth", life, scores, n)  # Table 1: the unrestricted T*
        restricted = np.minimum(life, plan.tau)
        measures |= _ndcgs("restricted", restricted, scores, n)  # what EY and IPCW estimate
        measures["truth value"] = _value(restricted, scores, waitlist, plan.k, decades)
        measures["truth waitlist NDCG"] = _waitlist_ndcg(restricted, scores, waitlist, plan.k, decades)
    for name, values in relevances.items():
        measures[f"{name} value"] = _value(values, scores, waitlist, plan.k, decades)
        if values.min() >= 0:
            measures |= _ndcgs(name, values, scores, n)
            measures[f"{name} waitlist NDCG"] = _waitlist_ndcg(values, scores, waitlist, plan.k, decades)
    for kind in ("EY", "IPCW"):  # the paper's ensemble: the mean of the estimates, not the estimate of the mean
        single = [name for name in relevances if name.startswith(f"{kind} ")]
        for key in (*(f"NDCG@{k}" for k in KS), "NDCG", "waitlist NDCG"):
            measures[f"{kind} {key}"] = float(np.mean([measures[f"{name} {key}"] for name in single]))
    return measures


def _ndcgs(name: str, relevance: FloatArray, scores: FloatArray, n: int) -> dict[str, float]:
    at_k = {f"{name} NDCG@{k}": ndcg_score(relevance, scores, k=min(k, n)) for k in KS}
    return at_k | {f"{name} NDCG": ndcg_score(relevance, scores)}


def _value(relevance: FloatArray, scores: FloatArray, waitlist: int, k: int, decades: FloatArray | None) -> float:
    """Years of an allocation from a waitlist; within decades, their mean weighted by size."""
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


def _concordance(y: Outcome, scores: FloatArray) -> float:
    try:
        return concordance_index(y, scores)
    except ValueError:  # a small fold without comparable pairs
        return float("nan")


def _auc(y: Outcome, scores: FloatArray, time: float) -> float:
    try:
        return float(auc_at(y, scores, time))
    except ValueError:  # nobody known dead, or nobody known alive, at this time
        return float("nan")
