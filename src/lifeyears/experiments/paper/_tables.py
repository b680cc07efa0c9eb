"""The paper's tables of estimators and gains, made from the measures of the jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..._typing import Json
from ...metrics import pairwise_accuracy
from .._plan import find_base, split_arm

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike

    from ..._typing import FloatArray
    from ..results import Run

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


def mean_known(values: ArrayLike) -> float:
    """Average the values that are known; NaN if none is."""
    numbers = np.asarray(values, dtype=float)
    known = numbers[~np.isnan(numbers)]
    return float(known.mean()) if len(known) else float("nan")


def list_paper_arms(run: Run) -> list[str]:
    """List the paper's arms: each model, and its ranker."""
    return [arm for arm in run.arms if split_arm(arm)[1] in ("standard", "ranker")]


def list_estimators(run: Run) -> list[str]:
    """List the names of the estimates: the paper's, and DR."""
    return ["IPCW KM", "IPCW Cox", "IPCW", *(f"EY {model}" for model in run.plan.models), "EY", "DR"]


def tabulate_selection(run: Run, by: str, truths: dict[str, str] = WITHIN_HORIZON) -> pd.DataFrame:
    """Table A6: how often, in percent, an estimate names the better of two models, by NDCG and by years."""
    import pandas as pd

    arms = list_paper_arms(run)
    rows = []
    for estimator in list_estimators(run):
        row: Json = {"estimator": estimator}
        for key, measure in truths.items():
            truth = np.array([run.values(arm, measure) for arm in arms]).T
            estimated = np.array([run.values(arm, f"{estimator} {key}") for arm in arms]).T
            if by == "iteration":
                truth, estimated = (
                    x.reshape(run.plan.iterations, run.plan.folds, -1).mean(axis=1) for x in (truth, estimated)
                )
            rates = [
                pairwise_accuracy(t, f)
                for t, f in zip(truth, estimated, strict=True)
                if not (np.isnan(t).any() or np.isnan(f).any())
            ]
            row[HEADINGS.get(key, key)] = 100 * mean_known(rates) if rates else np.nan
        rows.append(row)
    return pd.DataFrame(rows)


def tabulate_errors(run: Run, truths: dict[str, str] = WITHIN_HORIZON) -> pd.DataFrame:
    """Figures A1 and A2: mean absolute error of the estimates, and Spearman's ρ, over all jobs and arms."""
    import pandas as pd
    from scipy import stats

    rows = []
    for estimator in list_estimators(run):
        row: Json = {"estimator": estimator}
        for key, measure in truths.items():
            truth, estimated = _pairs(run, measure, f"{estimator} {key}")
            name = HEADINGS.get(key, key)
            row[f"{name} MAE"] = float(np.abs(estimated - truth).mean()) if len(truth) else np.nan
            enough = len(truth) > 2 and np.ptp(truth) > 0 and np.ptp(estimated) > 0
            row[f"{name} rho"] = float(stats.spearmanr(truth, estimated).statistic) if enough else np.nan
        rows.append(row)
    return pd.DataFrame(rows)


def _pairs(run: Run, true: str, estimate: str) -> tuple[FloatArray, FloatArray]:
    """True and estimated measures of every arm in every job, where both are known."""
    truth = np.concatenate([run.values(arm, true) for arm in list_paper_arms(run)])
    estimated = np.concatenate([run.values(arm, estimate) for arm in list_paper_arms(run)])
    known = ~(np.isnan(truth) | np.isnan(estimated))
    return truth[known], estimated[known]


def tabulate_scatter(run: Run) -> pd.DataFrame:
    """Figure A2: true and estimated NDCG@k, and years by DR, one row for each arm in each job."""
    import pandas as pd

    rows = []
    for key, measure in WITHIN_HORIZON.items():
        for arm in list_paper_arms(run):
            parts = {kind: run.values(arm, f"{kind} {key}") for kind in ("EY", "IPCW", "DR")}
            for place, ((iteration, fold), truth) in enumerate(
                zip(run.plan.jobs, run.values(arm, measure), strict=True)
            ):
                row = {"measure": HEADINGS.get(key, key), "arm": arm, "iteration": iteration, "fold": fold}
                rows.append(row | {"true": truth, **{kind: values[place] for kind, values in parts.items()}})
    return pd.DataFrame(rows)


def tabulate_gains(run: Run, kind: str) -> pd.DataFrame:
    """Figures 2 and 3: mean gain in NDCG@k of a ranker over its base, in percent."""
    import pandas as pd

    rows = []
    for arm in run.arms:
        base = find_base(arm)
        if base is None:
            continue
        row: Json = dict(zip(("model", "framework"), split_arm(arm), strict=True))
        for key in (*NDCG_KEYS, "waitlist NDCG"):
            before = mean_known(run.values(base, f"{kind} {key}"))
            row[key] = 100 * (mean_known(run.values(arm, f"{kind} {key}")) / before - 1) if before > 0 else np.nan
        rows.append(row)
    return pd.DataFrame(rows)
