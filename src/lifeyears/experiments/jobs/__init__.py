"""One job of a run: the cohort, its folds, the fitted arms, the estimated relevance and the measures."""

from ._cohort import assign_decades, censor_outcome, derive_seed, select_rows
from ._feasibility import check_feasible
from ._fitting import score_arms
from ._folds import censor_at_test_entry, split_rows
from ._job import JobResult, count_warnings, run_job
from ._judging import choose_auc_times, judge_scores
from ._relevance import Source, estimate_relevances, name_model

__all__ = [
    "JobResult",
    "Source",
    "assign_decades",
    "censor_at_test_entry",
    "censor_outcome",
    "check_feasible",
    "choose_auc_times",
    "count_warnings",
    "derive_seed",
    "estimate_relevances",
    "judge_scores",
    "name_model",
    "run_job",
    "score_arms",
    "select_rows",
    "split_rows",
]
