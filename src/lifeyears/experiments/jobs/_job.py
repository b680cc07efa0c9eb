"""One job of a run: fit on the training folds, rank the test fold, judge (section 6, appendix F)."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from ..._typing import FloatArray, IntArray
from ...data import Dataset, TablePreprocessor
from ...errors import ConvergenceWarning, DataWarning, FollowUpWarning
from ...units import year_in
from .._plan import Plan
from ..columns import find_era_columns
from ._cohort import assign_decades, censor_outcome, derive_seed, select_rows
from ._fitting import score_arms
from ._folds import censor_at_test_entry, split_rows
from ._judging import choose_auc_times, judge_scores
from ._relevance import estimate_relevances

WARNING_KINDS: dict[type[Warning], str] = {  # category, and what a run calls it
    FollowUpWarning: "horizon beyond the follow-up of the rows used to fit a nuisance model",
    DataWarning: "column without a known category in a test fold",
}
PAPER_HORIZON_YEARS = 20  # the paper's margin is one year of a horizon of twenty


@dataclass(frozen=True, eq=False)
class JobResult:
    """The result of one job: measures by arm, and for pooled measures the scores and outcomes of its rows.

    Attributes
    ----------
    rows : array of int, shape (n,)
        Rows of the data set in the test fold.
    scores : array, shape (arms, n)
    outcomes : dict of str to array, shape (n,)
        Relevance by name: "truth", "EY", "IPCW", "DR", "expected".
    measures : dict of str to dict of str to float
        Arm, such as "Cox ranker", to measure to value.
    counts : dict of str to int
        Clipped weights, fits that did not converge, rankers that kept their base model and other warnings.
    """

    rows: IntArray
    scores: FloatArray
    outcomes: dict[str, FloatArray]
    measures: dict[str, dict[str, float]]
    counts: dict[str, int]


def run_job(data: Dataset, plan: Plan, iteration: int, fold: int, expected: FloatArray | None = None) -> JobResult:
    """Compute one job, on one thread.

    Parameters
    ----------
    data : Dataset
    plan : Plan
    iteration, fold : int
        The place of the job in the plan.
    expected : array, optional
        The true expected life of each subject, where a simulation knows it: the oracle is then an arm of its own, and
        all arms are judged by it too.

    Returns
    -------
    JobResult
    """
    with warnings.catch_warnings(record=True) as records:
        warnings.simplefilter("always")
        result = _compute(data, plan, iteration, fold, expected)
    return replace(result, counts=result.counts | count_warnings(record.message for record in records))


def count_warnings(messages: Iterable[Warning | str]) -> dict[str, int]:
    """Count the warnings of many fits by their category; clipped weights are counted by `estimate_relevances`."""
    kinds: Counter[str] = Counter()
    for message in messages:
        if isinstance(message, ConvergenceWarning):
            kinds[f"{message.model} did not converge"] += 1
        else:
            kinds.update(kind for category, kind in WARNING_KINDS.items() if isinstance(message, category))
    return dict(sorted(kinds.items()))


def _compute(data: Dataset, plan: Plan, iteration: int, fold: int, expected: FloatArray | None) -> JobResult:
    rows = select_rows(data, plan)
    truth = data.y[rows]
    y = censor_outcome(truth, plan, iteration)
    train, test = split_rows(data, rows, y, plan, iteration)[fold]
    table = data.X.iloc[rows]
    if plan.era == "drop":
        table = table.drop(columns=find_era_columns(data))
    prepare = TablePreprocessor().fit(table.iloc[train])
    X, new = prepare.transform(table.iloc[train]), prepare.transform(table.iloc[test])
    known = censor_at_test_entry(data, rows, y, plan, train, test)
    margin = year_in(data.unit, plan.tau / PAPER_HORIZON_YEARS)
    scores, counts = score_arms(plan, X, known, new, derive_seed(plan, iteration, fold, 3), margin)
    relevances, clipped = estimate_relevances(plan, new, y[test], derive_seed(plan, iteration, fold, 4))
    if expected is not None:
        relevances["expected"] = expected[rows][test]
        scores["truth", "known"] = relevances["expected"]
    life = truth.time[test] if plan.protocol == "artificial" else None
    decades = assign_decades(data, plan, rows[test])
    times = choose_auc_times(plan, data.unit)
    measures = {
        " ".join(arm): judge_scores(plan, score, y[test], life, relevances, decades, times)
        for arm, score in scores.items()
    }
    outcomes: dict[str, FloatArray] = {
        name: relevances[name] for name in ("EY", "IPCW", "DR", "expected") if name in relevances
    }
    if life is not None:
        outcomes["truth"] = np.minimum(life, plan.tau)
    return JobResult(rows[test], np.array(list(scores.values())), outcomes, measures, clipped | counts)
