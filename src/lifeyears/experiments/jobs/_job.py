"""One job of a run: fit on the training folds, rank the test fold, judge (section 6, appendix F)."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np

from ..._typing import FloatArray, IntArray
from ...data import Dataset, TablePreprocessor
from ...errors import ConvergenceWarning, DataWarning, FollowUpWarning
from .._plan import Plan
from ..columns import find_era_columns
from ..types import ORACLE, Arm, Measure
from ._cohort import assign_decades, censor_outcome, derive_seed, select_rows
from ._fitting import score_arms
from ._folds import censor_at_test_entry, split_rows
from ._judging import choose_auc_times, judge_scores
from ._relevance import Source, estimate_relevances

WARNING_KINDS: dict[type[Warning], str] = {  # category, and what a run calls it
    FollowUpWarning: "horizon beyond the follow-up of the rows used to fit a nuisance model",
    DataWarning: "column without a known category in a test fold",
}


@dataclass(frozen=True, eq=False)
class JobResult:
    """The result of one job: measures by arm, and for pooled measures the scores and outcomes of its rows.

    Attributes
    ----------
    rows : array of int, shape (n,)
        Rows of the data set in the test fold.
    scores : array, shape (arms, n)
    outcomes : dict of str to array, shape (n,)
        Relevance, as in `Measure.relevance`: "restricted", "expected", "EY", "IPCW", "DR", ….
    measures : dict of Arm to dict of Measure to float
    counts : dict of str to int
        Fits that did not converge, rankers that kept their base model and other warnings.
    clipped : dict of str to int
        Clipped weights, by estimator.
    """

    rows: IntArray
    scores: FloatArray
    outcomes: dict[str, FloatArray]
    measures: dict[Arm, dict[Measure, float]]
    counts: dict[str, int]
    clipped: dict[str, int] = field(default_factory=dict)


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
    scores, counts = score_arms(plan, X, known, new, derive_seed(plan, iteration, fold, 3), data.unit)
    estimated = estimate_relevances(plan, new, y[test], derive_seed(plan, iteration, fold, 4))
    relevances = estimated.values
    if expected is not None:
        relevances[Source("expected")] = scores[Arm(ORACLE)] = expected[rows][test]
    life = truth.time[test] if plan.protocol == "artificial" else None
    decades = assign_decades(data, plan, rows[test])
    times = choose_auc_times(plan, data.unit)
    measures = {
        arm: judge_scores(plan, score, y[test], life, relevances, decades, times) for arm, score in scores.items()
    }
    outcomes = {source.relevance: values for source, values in relevances.items() if source.nuisance is None}
    if life is not None:
        outcomes["restricted"] = np.minimum(life, plan.tau)
    counts = estimated.counts | counts
    return JobResult(rows[test], np.array(list(scores.values())), outcomes, measures, counts, estimated.clipped)
