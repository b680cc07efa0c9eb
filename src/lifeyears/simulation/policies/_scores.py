"""Scores of models: asked once for every candidate and type of donor, before the list is run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeGuard, cast

import numpy as np
import pandas as pd

from ..._threads import one_thread
from ...errors import RequestError
from ..engine import LARGEST_SCORE, NOT_LISTED, WAITING
from ..worlds.heart import N_DONOR_TYPES, classify_donors, make_typical_pairs

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ..._typing import FloatArray, IntArray
    from ..engine import ListState
    from ..worlds.heart import Arrivals, World
    from ._named import Simulated

NOT_FEATURES = ("race_ethnicity", "insurance", "region", "centre")  # for a model that does not name its columns


class Predictor(Protocol):
    """A fitted model that predicts years for pairs of candidates and donors."""

    def predict(self, X: pd.DataFrame, /) -> ArrayLike: ...


class TypedScorer(Protocol):
    """A fitted model with its own donor types, as `lifeyears.allocation.DonorTypeRanker`."""

    def scores(self, candidates: pd.DataFrame, /) -> ArrayLike: ...

    def lookup(self, donors: pd.DataFrame, /) -> ArrayLike: ...


@dataclass(frozen=True, eq=False)
class Scores:
    """Years of each candidate with a donor of each type, (candidates, types), and the type of each heart."""

    years: FloatArray
    donor_type: IntArray


def score_for_policies(
    policies: Sequence[Simulated], arrivals: Arrivals, start: ListState, world: World
) -> dict[int, Scores]:
    """Score the candidates that a policy can meet from `start` on, by every model; by the identity of the model."""
    models = {
        id(policy.model): policy.model for policy in policies if policy.model is not None and not policy.is_oracle
    }
    rows = np.flatnonzero((start.place == WAITING) | (start.place == NOT_LISTED))
    return dict(zip(models, score_candidates(list(models.values()), arrivals, rows, world), strict=True))


def score_candidates(models: Sequence[object], arrivals: Arrivals, rows: IntArray, world: World) -> list[Scores]:
    """Ask each model about the candidates in `rows`, once for every type of donor.

    A model with its own types (``scores(candidates)`` and ``lookup(donors)``, as
    `lifeyears.allocation.DonorTypeRanker`) is asked for these; any other, for a typical donor of four types.
    """
    n = len(arrivals.candidates)
    types = classify_donors(arrivals.donors)
    tables = [
        Scores(np.zeros((n, 1)), _look_up_types(model, arrivals))
        if _is_typed(model)
        else Scores(np.zeros((n, N_DONOR_TYPES)), types)
        for model in models
    ]
    if not models or not len(rows):
        return tables
    for donor_type in range(1 if all(_is_typed(model) for model in models) else N_DONOR_TYPES):
        pairs = make_typical_pairs(arrivals.candidates, rows, donor_type, world)
        for number, model in enumerate(models):
            with one_thread():
                if not _is_typed(model):
                    tables[number].years[rows, donor_type] = _predict_years(model, pairs)
                elif donor_type == 0:
                    scores = _check_years(np.asarray(model.scores(pairs), dtype=float), model)
                    years = np.zeros((n, scores.shape[1]))
                    years[rows] = scores
                    tables[number] = Scores(years, tables[number].donor_type)
    return tables


def _is_typed(model: object) -> TypeGuard[TypedScorer]:
    """Return whether a model scores by types of donors.

    `LifeYearsGained` does if its model of life with a transplant does.
    """
    return hasattr(model, "scores") and hasattr(model, "lookup") and bool(getattr(model, "knows_types", True))


def _look_up_types(model: TypedScorer, arrivals: Arrivals) -> IntArray:
    if not len(arrivals.donors):
        return np.zeros(0, dtype=np.int64)
    return np.asarray(model.lookup(arrivals.donors), dtype=np.int64)


def _predict_years(model: object, pairs: pd.DataFrame) -> FloatArray:
    columns = getattr(model, "feature_names_in_", None)
    if columns is None:
        columns = [name for name in pairs.columns if name not in NOT_FEATURES]
    missing = [name for name in columns if name not in pairs.columns]
    if missing:
        raise RequestError(
            f"the model {type(model).__name__} was fitted on columns that the simulated registry lacks: "
            f"{', '.join(map(str, missing[:5]))}"
        )
    years = np.asarray(cast("Predictor", model).predict(pairs[list(columns)]), dtype=float)
    if years.shape != (len(pairs),):
        raise RequestError(f"the model {type(model).__name__} must predict one number of years for each candidate")
    return _check_years(years, model)


def _check_years(years: FloatArray, model: object) -> FloatArray:
    """Check that scores are finite, and small enough to keep a nearer zone before all scores."""
    if not (np.abs(years) < LARGEST_SCORE).all():  # NaN is refused too
        raise RequestError(
            f"the model {type(model).__name__} must predict years: finite numbers below {LARGEST_SCORE:,.0f}; they run "
            f"from {np.min(years):g} to {np.max(years):g}"
        )
    return years
