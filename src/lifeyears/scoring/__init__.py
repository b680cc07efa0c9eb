"""One match run: a model with its card, rows checked against what it was trained on, candidates ranked with reasons."""

from ._build import build_ranker, needs_positive_times, resolve_method, resolve_model
from ._card import LIMITS, MOST_BOUNDED, RESEARCH_ONLY, make_card
from ._evaluate import (
    FEWEST_EVENTS,
    FEWEST_ROWS,
    CalibrationGroup,
    Evaluation,
    SupportSummary,
    evaluate_model,
    group_by_prediction,
    summarise_support,
)
from ._fit import check_fit_request, fit_model, forget_rows
from ._model import MatchModel, Ranking
from ._schema import QUANTILES, CheckedRows, Column, RowError, Schema

__all__ = [
    "FEWEST_EVENTS",
    "FEWEST_ROWS",
    "LIMITS",
    "MOST_BOUNDED",
    "QUANTILES",
    "RESEARCH_ONLY",
    "CalibrationGroup",
    "CheckedRows",
    "Column",
    "Evaluation",
    "MatchModel",
    "Ranking",
    "RowError",
    "Schema",
    "SupportSummary",
    "build_ranker",
    "check_fit_request",
    "evaluate_model",
    "fit_model",
    "forget_rows",
    "group_by_prediction",
    "make_card",
    "needs_positive_times",
    "resolve_method",
    "resolve_model",
    "summarise_support",
]
