"""The decision: which arm, by how much, what C-index would have cost, and what is guaranteed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..._typing import Json
from ...allocation import guarantee
from .._plan import CEILING, find_base, split_arm
from ._statistics import correct_p_values, corrected_half_width

if TYPE_CHECKING:
    import pandas as pd

    from ._run import Run

LEVEL = 0.05


def choose_best(run: Run) -> Json:
    """Choose the arm with the most years, with its gain over the next best and over its base.

    `alike` are the arms that the best one cannot be told from, the best of them first: those whose p, corrected for the
    number of comparisons, is not below 5%. The best one was found on the same data, so one p alone would say too much.
    """
    years = tabulate_models(run).sort_values("years", ascending=False, kind="stable")
    best = str(years["years"].idxmax())
    choice: Json = {"best": best, **dict(zip(("years", "low", "high"), run.years_of(best), strict=True))}
    others = [arm for arm in years.index if arm != best]
    choice["next"] = _compare_arms(run, best, str(years.loc[others, "years"].idxmax())) if others else None
    base = find_base(best)
    choice["base"] = None if base is None else _compare_arms(run, best, base)
    corrected = correct_p_values({arm: run.gain(best, arm)[3] for arm in others})
    choice["alike"] = [arm for arm in others if not corrected[arm] < LEVEL]
    return choice


def audit_c_index(run: Run) -> Json:
    """Find the arm that C-index would have chosen, and what that choice costs."""
    from scipy import stats

    years = tabulate_models(run)
    best = str(years["years"].idxmax())
    by_index = str(years["C-index"].idxmax()) if years["C-index"].notna().any() else best
    enough = len(years) > 2 and years["C-index"].nunique() > 1 and years["years"].nunique() > 1
    rho = float(stats.spearmanr(years["C-index"], years["years"], nan_policy="omit").statistic) if enough else None
    return {
        "by_c_index": by_index,
        "same": by_index == best,
        "cost": None if by_index == best else _compare_arms(run, best, by_index),
        "spearman": rho,
        "bound_by": run.ndcg_judge,
    }


def _compare_arms(run: Run, new: str, old: str) -> Json:
    gain, low, high, p = run.gain(new, old)
    return {"arm": old, "gain": gain, "low": low, "high": high, "p": p, "enough": bool(low > 0)}


def tabulate_models(run: Run) -> pd.DataFrame:
    """Tabulate the years by arm, the ceiling left out."""
    years = run.years.assign(arm=lambda table: table["model"] + " " + table["framework"]).set_index("arm")
    return years[years["model"] != "truth"]


def tabulate_audit(run: Run) -> pd.DataFrame:
    """Tabulate C-index against years by arm: places by both, years short of the best, and the plug-in bound."""
    import pandas as pd

    years = tabulate_models(run)
    best, bounds = str(years["years"].idxmax()), bound_utility(run)
    places = years[["C-index", "years"]].rank(ascending=False, method="min", na_option="bottom").astype(int)
    rows = []
    for arm, row in years.iterrows():
        short, low, high, p = run.gain(best, str(arm)) if arm != best else (0.0, np.nan, np.nan, np.nan)
        values = run.beside(str(arm), "C-index")
        known = values[~np.isnan(values)]
        rows.append(
            {
                "model": row["model"],
                "framework": row["framework"],
                "C-index": row["C-index"],
                "C-index sd": known.std(ddof=1) if len(known) > 1 else np.nan,
                "place by C-index": places.loc[arm, "C-index"],
                **{name: row[name] for name in ("years", "low", "high")},
                "place by years": places.loc[arm, "years"],
                "short of best": short,
                "short low": low,
                "short high": high,
                "p": p,
                **dict(zip(("bound", "bound low", "bound high"), bounds[str(arm)], strict=True)),
            }
        )
    return pd.DataFrame(rows)


def bound_utility(run: Run) -> dict[str, tuple[float, float, float]]:
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

    ceiling = run.years_of(CEILING)[0]
    rows = []
    for arm in run.arms:
        if arm == CEILING:
            continue
        model, framework = split_arm(arm)
        left, low, high, _ = run.gain(CEILING, arm)
        row = {"model": model, "framework": framework, "years": run.years_of(arm)[0], "ceiling": ceiling}
        row |= {"room left": left, "room low": low, "room high": high}
        if (base := find_base(arm)) is not None:
            row |= dict(zip(("closed", "closed low", "closed high"), _share_closed(run, arm, base), strict=True))
        rows.append(row)
    return pd.DataFrame(rows)


def _share_closed(run: Run, arm: str, base: str) -> tuple[float, float, float]:
    """(ranker − base) / (ceiling − base); the error of a ratio of means is that of gain − share·room (delta method)."""
    if run.by_folds:
        new, old, top = (run.values(name, f"{run.judge} value") for name in (arm, base, CEILING))
        gain, room = new - old, top - old
        share = gain.mean() / room.mean() if room.mean() > 0 else np.nan
        half = corrected_half_width(gain - share * room, run.plan.test_to_train) / room.mean()
    else:
        table = run.pooled.values["value"]
        new, old, top = (run.pooled.resamples[:, list(table.index).index(name)] for name in (arm, base, CEILING))
        width = table[CEILING] - table[base]
        share = (table[arm] - table[base]) / width if width > 0 else np.nan
        half = np.quantile(np.abs((new - old) - share * (top - old)), 0.95) / width
    return float(share), float(share - half), float(share + half)
