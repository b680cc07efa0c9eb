"""One match run: a model with its card, rows checked against what it was trained on, candidates ranked with reasons."""

from ._card import (
    LIMITS,
    MOST_BOUNDED,
    RESEARCH_ONLY,
    group_by_prediction,
    make_card,
    summarise_support,
)
from ._fit import BASES, PRESETS, check_fit_request, fit_model, forget_rows
from ._model import MatchModel, Ranking
from ._schema import QUANTILES, CheckedRows, Column, RowError, Schema

__all__ = [
    "BASES",
    "LIMITS",
    "MOST_BOUNDED",
    "PRESETS",
    "QUANTILES",
    "RESEARCH_ONLY",
    "CheckedRows",
    "Column",
    "MatchModel",
    "Ranking",
    "RowError",
    "Schema",
    "check_fit_request",
    "fit_model",
    "forget_rows",
    "group_by_prediction",
    "make_card",
    "summarise_support",
]
