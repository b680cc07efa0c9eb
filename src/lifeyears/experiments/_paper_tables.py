"""The paper's tables of estimators and gains, made from the measures of the units."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..metrics import pairwise_accuracy
from ._plan import base_of, parts_of

if TYPE_CHECKING:
    import pandas as pd

    from ._results import Run

NDCG_KEYS = ("NDCG@1", "NDCG@5", "NDCG@10", "NDCG@50", "NDCG@100", "NDCG")
# What estimates are held against: the life within the horizon, which they estimate, or all of it, as in Table 1 (the
# paper does not say which). A doubly robust estimate can be negative, and has a value in years but no NDCG.
WITHIN_HORIZON = {
    **{key: f"restricted {key}" for key in NDCG_KEYS},
    "waitlist NDCG": "truth waitlist NDCG",
    "value": "truth value",
}
WHOLE_LIFE = {key: f"truth {key}" for key in NDCG_KEYS}
HEADINGS = {"value": "years"}


def mean_of(values: Any) -> float:
    """The mean of what is known; NaN if nothing is."""
    values = np.asarray(values, dtype=float)
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else float("nan")


def papers_arms(run: Run) -> list[str]:
    """The paper's: each model, and its ranker."""
    return [arm for arm in run.arms if parts_of(arm)[1] in ("standard", "ranker")]


def estimators(run: Run) -> list[str]:
    """Names of the estimates: the paper's, and DR."""
    return ["IPCW KM", "IPCW Cox", "IPCW", *(f"EY {model}" for model in run.plan.models), "EY", "DR"]


def selection_table(run: Run, by: str, truths: dict[str, str] = WITHIN_HORIZON) -> pd.DataFrame:
    """Table A6: how often, in percent, an estimate names the better of two models, by NDCG and by years."""
    import pandas as pd

    arms = papers_arms(run)
    rows = []
    for estimator in estimators(run):
        row: dict[str, Any] = {"estimator": estimator}
        for key, measure in truths.items():
            truth = np.array([run.values(arm, measure) for arm in arms]).T
            found = np.array([run.values(arm, f"{estimator} {key}") for arm in arms]).T
            if by == "iteration":
                truth, found = (x.reshape(run.plan.iterations, run.plan.folds, -1).mean(axis=1) for x in (truth, found))
            rates = [
                pairwise_accuracy(t, f)
                for t, f in zip(truth, found, strict=True)
                if not (np.isnan(t).any() or np.isnan(f).any())
            ]
            row[HEADINGS.get(key, key)] = 100 * mean_of(rates) if rates else np.nan
        rows.append(row)
    return pd.DataFrame(rows)


def error_table(run: Run, truths: dict[str, str] = WITHIN_HORIZON) -> pd.DataFrame:
    """Figures A1 and A2: mean absolute error of the estimates, and Spearman's ρ, over all units and arms."""
    import pandas as pd
    from scipy import stats

    rows = []
    for estimator in estimators(run):
        row: dict[str, Any] = {"estimator": estimator}
        for key, measure in truths.items():
            truth, found = _pairs(run, measure, f"{estimator} {key}")
            name = HEADINGS.get(key, key)
            row[f"{name} MAE"] = float(np.abs(found - truth).mean()) if len(truth) else np.nan
            enough = len(truth) > 2 and np.ptp(truth) > 0 and np.ptp(found) > 0
            row[f"{name} rho"] = float(stats.spearmanr(truth, found).statistic) if enough else np.nan
        rows.append(row)
    return pd.DataFrame(rows)


def _pairs(run: Run, true: str, estimated: str) -> tuple[np.ndarray, np.ndarray]:
    """True and estimated measures of every arm in every unit, where both are known."""
    truth = np.concatenate([run.values(arm, true) for arm in papers_arms(run)])
    found = np.concatenate([run.values(arm, estimated) for arm in papers_arms(run)])
    known = ~(np.isnan(truth) | np.isnan(found))
    return truth[known], found[known]


def scatter_table(run: Run) -> pd.DataFrame:
    """Figure A2: true and estimated NDCG@k, and years by DR, one row for each arm in each unit."""
    import pandas as pd

    rows = []
    for key, measure in WITHIN_HORIZON.items():
        for arm in papers_arms(run):
            parts = {kind: run.values(arm, f"{kind} {key}") for kind in ("EY", "IPCW", "DR")}
            for place, ((iteration, fold), truth) in enumerate(
                zip(run.plan.units, run.values(arm, measure), strict=True)
            ):
                row = {"measure": HEADINGS.get(key, key), "arm": arm, "iteration": iteration, "fold": fold}
                rows.append(row | {"true": truth, **{kind: values[place] for kind, values in parts.items()}})
    return pd.DataFrame(rows)


def gain_table(run: Run, kind: str) -> pd.DataFrame:
    """Figures 2 and 3: mean gain in NDCG@k of a ranker over its base, in percent."""
    import pandas as pd

    rows = []
    for arm in run.arms:
        base = base_of(arm)
        if base is None:
            continue
        row: dict[str, Any] = dict(zip(("model", "framework"), parts_of(arm), strict=True))
        for key in (*NDCG_KEYS, "waitlist NDCG"):
            before = mean_of(run.values(base, f"{kind} {key}"))
            row[key] = 100 * (mean_of(run.values(arm, f"{kind} {key}")) / before - 1) if before > 0 else np.nan
        rows.append(row)
    return pd.DataFrame(rows)
