"""The metrics of Lifeyears, for the catalogue."""

from ..catalogue import MethodSpec

SPECS = (
    MethodSpec("value", "policy value", "lifeyears.metrics:policy_value"),
    MethodSpec("ndcg", "NDCG", "lifeyears.metrics:ndcg_score"),
    MethodSpec("c_index", "C-index", "lifeyears.metrics:concordance_index"),
    MethodSpec("auc", "AUC", "lifeyears.metrics:auc_at"),
    MethodSpec("brier", "Brier score", "lifeyears.metrics:brier_score"),
    MethodSpec("integrated_brier", "integrated Brier score", "lifeyears.metrics:integrated_brier_score"),
)
