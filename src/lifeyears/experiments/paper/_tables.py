"""The paper's tables of estimators and gains, made from the measures of the jobs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from ..._typing import Json
from ...metrics import pairwise_accuracy
from .._plan import PAPER_METHOD
from ..jobs import Source
from ..measures import NDCGS, column_key, judged_by
from ..types import NO_METHOD, Arm, Measure

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike

    from ..._typing import FloatArray
    from ..results import Run


def mean_known(values: ArrayLike) -> float:
    """Average the values that are known; NaN if none is."""
    numbers = np.asarray(values, dtype=float)
    known = numbers[~np.isnan(numbers)]
    return float(known.mean()) if len(known) else float("nan")


def measure_within_horizon(run: Run) -> dict[Measure, Measure]:
    """Return measures and what their estimates are held against: the life within the horizon, which they estimate.

    A doubly robust estimate can be negative, and has a value but no NDCG.
    """
    return {measure: judged_by(measure, "restricted") for measure in (*NDCGS, run.plan.ndcg, run.plan.value)}


def measure_whole_life(run: Run) -> dict[Measure, Measure]:
    """Return the same with all of life, as in Table 1; the paper does not say which."""
    return {measure: judged_by(measure, "truth") for measure in NDCGS}


def list_paper_arms(run: Run) -> list[Arm]:
    """List the paper's arms: each model, and its ranker."""
    return [arm for arm in run.arms if arm.method in (NO_METHOD, PAPER_METHOD) and not arm.is_oracle]


def list_sources(run: Run) -> list[Source]:
    """List the estimates: the paper's by each nuisance model and their means, DR, and registered ones."""
    known = dict.fromkeys(
        Source(measure.relevance, measure.nuisance)
        for measure in run.jobs[0].measures[run.arms[0]]
        if measure.relevance is not None
    )
    estimators = ["IPCW", "EY", "DR", *run.plan.estimators]
    single = [source for source in known if source.nuisance is not None]
    return [
        source
        for estimator in estimators
        for source in (*(each for each in single if each.relevance == estimator), Source(estimator))
    ]


def tabulate_selection(run: Run, by: str, truths: Mapping[Measure, Measure]) -> pd.DataFrame:
    """Table A6: how often, in percent, an estimate names the better of two models, by NDCG and by value."""
    import pandas as pd

    arms = list_paper_arms(run)
    rows = []
    for source in list_sources(run):
        row: Json = source._asdict()
        for measure, true in truths.items():
            truth = np.array([run.values(arm, true) for arm in arms]).T
            estimated = np.array([run.values(arm, judged_by(measure, *source)) for arm in arms]).T
            if by == "iteration":
                truth, estimated = (
                    x.reshape(run.plan.iterations, run.plan.folds, -1).mean(axis=1) for x in (truth, estimated)
                )
            rates = [
                pairwise_accuracy(t, f)
                for t, f in zip(truth, estimated, strict=True)
                if not (np.isnan(t).any() or np.isnan(f).any())
            ]
            row[column_key(measure)] = 100 * mean_known(rates) if rates else np.nan
        rows.append(row)
    return pd.DataFrame(rows)


def tabulate_errors(run: Run, truths: Mapping[Measure, Measure]) -> pd.DataFrame:
    """Figures A1 and A2: mean absolute error of the estimates, and Spearman's ρ, over all jobs and arms."""
    import pandas as pd
    from scipy import stats

    rows = []
    for source in list_sources(run):
        row: Json = source._asdict()
        for measure, true in truths.items():
            truth, estimated = _pairs(run, true, judged_by(measure, *source))
            key = column_key(measure)
            row[f"{key}_mae"] = float(np.abs(estimated - truth).mean()) if len(truth) else np.nan
            enough = len(truth) > 2 and np.ptp(truth) > 0 and np.ptp(estimated) > 0
            row[f"{key}_rho"] = float(stats.spearmanr(truth, estimated).statistic) if enough else np.nan
        rows.append(row)
    return pd.DataFrame(rows)


def _pairs(run: Run, true: Measure, estimate: Measure) -> tuple[FloatArray, FloatArray]:
    """True and estimated measures of every arm in every job, where both are known."""
    truth = np.concatenate([run.values(arm, true) for arm in list_paper_arms(run)])
    estimated = np.concatenate([run.values(arm, estimate) for arm in list_paper_arms(run)])
    known = ~(np.isnan(truth) | np.isnan(estimated))
    return truth[known], estimated[known]


def tabulate_scatter(run: Run) -> pd.DataFrame:
    """Figure A2: true and estimated NDCG@k, and values, one row for each arm in each job."""
    import pandas as pd

    rows = []
    estimators = ("EY", "IPCW", "DR", *run.plan.estimators)
    for measure, true in measure_within_horizon(run).items():
        for arm in list_paper_arms(run):
            parts = {key: run.values(arm, judged_by(measure, key)) for key in estimators}
            for place, ((iteration, fold), truth) in enumerate(zip(run.plan.jobs, run.values(arm, true), strict=True)):
                row: Json = {"measure": column_key(measure), "model": arm.model, "method": arm.method}
                row |= {"iteration": iteration, "fold": fold, "true": truth}
                rows.append(row | {f"estimate_{key}": values[place] for key, values in parts.items()})
    return pd.DataFrame(rows)


def tabulate_gains(run: Run, measures: Mapping[Measure, Measure]) -> pd.DataFrame:
    """Figures 2 and 3: mean gain in NDCG@k of a ranker over its base, in percent."""
    import pandas as pd

    rows = []
    for arm in run.arms:
        base = arm.base
        if base is None:
            continue
        row: Json = {"model": arm.model, "method": arm.method}
        for measure, actual in measures.items():
            before = mean_known(run.values(base, actual))
            row[column_key(measure)] = (
                100 * (mean_known(run.values(arm, actual)) / before - 1) if before > 0 else np.nan
            )
        rows.append(row)
    return pd.DataFrame(rows)
