"""One match run: a model with its card, rows checked against what it was trained on, candidates ranked with reasons."""

from ._card import LIMITS, RESEARCH_ONLY, make_card
from ._fit import fit_model
from ._model import MatchModel, Ranking
from ._schema import CheckedRows, Column, RowError, Schema

__all__ = [
    "LIMITS",
    "RESEARCH_ONLY",
    "CheckedRows",
    "Column",
    "MatchModel",
    "Ranking",
    "RowError",
    "Schema",
    "fit_model",
    "make_card",
]
