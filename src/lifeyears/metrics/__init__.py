"""How good a ranking is. Higher scores mean longer life, everywhere."""

from ._auc import auc_at
from ._brier import brier_score, integrated_brier_score
from ._calibration import Calibration, calibration
from ._concordance import concordance_index
from ._gain import dcg_score, ndcg_score, policy_value

__all__ = [
    "Calibration",
    "auc_at",
    "brier_score",
    "calibration",
    "concordance_index",
    "dcg_score",
    "integrated_brier_score",
    "ndcg_score",
    "policy_value",
]
