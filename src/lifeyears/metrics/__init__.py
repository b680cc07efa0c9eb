"""How good a ranking is. Higher scores mean longer life, everywhere."""

from ._auc import auc_at
from ._brier import brier_score, integrated_brier_score
from ._calibration import Calibration, calibration
from ._compare import Comparison, compare
from ._concordance import concordance_index, count_concordant_pairs
from ._gain import average_ties, dcg_score, discounts, ndcg_score, policy_value, rank_weights
from ._intervals import Interval, bootstrap_interval
from ._scorers import Scorer, make_scorer
from ._selection import Selection, pairwise_accuracy, selection_measures

__all__ = [
    "Calibration",
    "Comparison",
    "Interval",
    "Scorer",
    "Selection",
    "auc_at",
    "average_ties",
    "bootstrap_interval",
    "brier_score",
    "calibration",
    "compare",
    "concordance_index",
    "count_concordant_pairs",
    "dcg_score",
    "discounts",
    "integrated_brier_score",
    "make_scorer",
    "ndcg_score",
    "pairwise_accuracy",
    "policy_value",
    "rank_weights",
    "selection_measures",
]
