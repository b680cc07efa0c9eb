"""The decision: which arm, by how much, what the C-index would have cost, and what is guaranteed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...allocation import guarantee
from ..measures import C_INDEX, judged_by
from ..types import ORACLE, Answer, Arm, Audit, Difference, Estimate
from ._statistics import correct_p_values, corrected_half_width

if TYPE_CHECKING:
    import pandas as pd

    from ..._typing import Json
    from ._run import Run

LEVEL = 0.05


def make_estimate(numbers: Sequence[float]) -> Estimate:
    """Make an estimate of value, ends of the interval and, where it is a difference, p; NaN becomes None.

    Examples
    --------
    >>> make_estimate((0.5, float("nan"), 1.0))
    Estimate(value=0.5, low=None, high=1.0, p=None)
    """
    return Estimate(*(float(number) if math.isfinite(number) else None for number in numbers))


def choose_best(run: Run) -> Answer:
    """Choose the arm with the highest value, with its gain over the next best and over its base.

    `alike` are the arms that the best one cannot be told from, the best of them first: those whose p, corrected for the
    number of comparisons, is not below 5%. The best one was found on the same data, so one p alone would say too much.
    """
    values = rank_models(run)
    best, *others = values
    corrected = correct_p_values({arm: run.gain(best, arm)[3] for arm in others})
    return Answer(
        best=best,
        value=make_estimate(run.value_of(best)),
        next=_compare_arms(run, best, others[0]) if others else None,
        base=None if best.base is None else _compare_arms(run, best, best.base),
        alike=tuple(arm for arm in others if not corrected[arm] < LEVEL),
    )


def rank_models(run: Run) -> list[Arm]:
    """List the arms from the highest value to the lowest, the oracle left out."""
    values = list_models(run)["value"]
    return list(values.sort_values(ascending=False, kind="stable").index)


def list_models(run: Run) -> pd.DataFrame:
    """Return the table of allocation with the arms as index, the oracle left out."""
    table = run.allocation.set_axis(run.arms, axis="index")
    return table.loc[[arm for arm in run.arms if not arm.is_oracle]]


def choose_by_c_index(run: Run) -> Arm:
    """Return the arm with the highest C-index; the best by value where no C-index is known."""
    models = list_models(run)
    arm: Arm = (models["c_index"] if models["c_index"].notna().any() else models["value"]).idxmax()
    return arm


def audit_c_index(run: Run) -> Audit:
    """Find the arm that the C-index would have chosen, and what that choice costs."""
    from scipy import stats

    models = list_models(run)
    best, by_index = rank_models(run)[0], choose_by_c_index(run)
    enough = len(models) > 2 and models["c_index"].nunique() > 1 and models["value"].nunique() > 1
    rho = float(stats.spearmanr(models["c_index"], models["value"], nan_policy="omit").statistic) if enough else None
    return Audit(
        by_c_index=by_index,
        same=by_index == best,
        cost=None if by_index == best else _compare_arms(run, best, by_index),
        spearman=None if rho is None or math.isnan(rho) else rho,
        bound_relevance=run.ndcg_relevance,
    )


def _compare_arms(run: Run, new: Arm, old: Arm) -> Difference:
    gain = run.gain(new, old)
    return Difference(old, make_estimate(gain), bool(gain[1] > 0))


def tabulate_audit(run: Run) -> pd.DataFrame:
    """Tabulate C-index against value by arm: places by both, shortfall from the best, and the plug-in bound."""
    import pandas as pd

    models = list_models(run)
    best, bounds = rank_models(run)[0], bound_utility(run)
    places = models[["c_index", "value"]].rank(ascending=False, method="min", na_option="bottom").astype(int)
    rows = []
    for arm in models.index:
        short, low, high, p = run.gain(best, arm) if arm != best else (0.0, np.nan, np.nan, np.nan)
        values = run.values_used(arm, C_INDEX)
        known = values[~np.isnan(values)]
        row: Json = {"model": arm.model, "method": arm.method}
        row |= {name: models.loc[arm, name] for name in ("value", "low", "high")}
        row |= {"shortfall": short, "shortfall_low": low, "shortfall_high": high, "p": p}
        row |= {
            "c_index": models.loc[arm, "c_index"],
            "c_index_sd": known.std(ddof=1) if len(known) > 1 else np.nan,
            "place_by_c_index": places.loc[arm, "c_index"],
            "place_by_value": places.loc[arm, "value"],
        }
        rows.append(row | dict(zip(("bound", "bound_low", "bound_high"), bounds[arm], strict=True)))
    return pd.DataFrame(rows)


def bound_utility(run: Run) -> dict[Arm, tuple[float, float, float]]:
    """Bound the share of the best utility by Theorem 1, NDCG@k / W_k, with its interval; NaN where it is unknown."""
    k = min(run.plan.k, run.waitlist)

    def bound(ndcg: float) -> float:
        return float(guarantee(min(max(ndcg, 0.0), 1.0), k)) if ndcg == ndcg else float("nan")

    bounds = {}
    for arm in run.arms:
        value, low, high = run.ndcg_of(arm)
        bounds[arm] = (bound(value), bound(low), bound(high))
    return bounds


def tabulate_headroom(run: Run) -> pd.DataFrame:
    """Tabulate the share of the headroom of each base model that its ranker closes (simulated data only)."""
    import pandas as pd

    oracle = Arm(ORACLE)
    ceiling = run.value_of(oracle)[0]
    rows = []
    for arm in run.arms:
        if arm == oracle:
            continue
        left, low, high, _ = run.gain(oracle, arm)
        row: Json = {"model": arm.model, "method": arm.method, "value": run.value_of(arm)[0], "ceiling": ceiling}
        row |= {"left": left, "left_low": low, "left_high": high}
        closed = (np.nan,) * 3 if arm.base is None else _share_closed(run, arm, arm.base)
        rows.append(row | dict(zip(("closed", "closed_low", "closed_high"), closed, strict=True)))
    return pd.DataFrame(rows)


def _share_closed(run: Run, arm: Arm, base: Arm) -> tuple[float, float, float]:
    """(ranker − base) / (ceiling − base); the error of a ratio of means is that of gain − share·room (delta method)."""
    arms = (arm, base, Arm(ORACLE))
    if run.by_folds:
        new, old, top = (run.values(each, judged_by(run.plan.value, run.relevance)) for each in arms)
        gain, room = new - old, top - old
        share = gain.mean() / room.mean() if room.mean() > 0 else np.nan
        half = corrected_half_width(gain - share * room, run.plan.test_to_train) / room.mean()
    else:
        values = run.pooled.values["value"]
        names = list(values.index)
        new, old, top = (run.pooled.resamples[:, names.index(each.label)] for each in arms)
        own, below, above = (values[each.label] for each in arms)
        width = above - below
        share = (own - below) / width if width > 0 else np.nan
        half = np.quantile(np.abs((new - old) - share * (top - old)), 0.95) / width
    return float(share), float(share - half), float(share + half)
