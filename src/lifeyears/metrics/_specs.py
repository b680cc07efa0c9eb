"""The metrics of Lifeyears, for the catalogue."""

from ..catalogue import MethodSpec

SPECS = (
    MethodSpec("value", "policy value", "lifeyears.metrics:policy_value"),
    MethodSpec("ndcg", "NDCG", "lifeyears.metrics:ndcg_score"),
    MethodSpec("c_index", "C-index", "lifeyears.metrics:concordance_index"),
    MethodSpec("auc", "AUC", "lifeyears.metrics:auc_at"),
)
