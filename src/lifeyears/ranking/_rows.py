"""Checks of what a ranker learns from: outcomes or relevance, one for each row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .._typing import FloatArray, IntArray
from ..errors import DataError
from ..outcome import Outcome, as_outcome

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ..outcome import OutcomeLike


def scatter_values(values: FloatArray, rows: IntArray, n: int) -> FloatArray:
    """Return n values: those given in their rows, NaN elsewhere."""
    whole = np.full(n, np.nan)
    whole[rows] = values
    return whole


def is_relevance(y: OutcomeLike | ArrayLike) -> bool:
    """Return whether y is a one-dimensional array of numbers: relevance, not an outcome."""
    if isinstance(y, (Outcome, tuple)):
        return False
    array = np.asarray(y)
    return array.ndim == 1 and array.dtype.kind in "fiub" and array.dtype.names is None


def read_outcomes(y: OutcomeLike | ArrayLike, n: int, name: str) -> Outcome:
    """Read the outcomes of n rows; `name` is the class that is fitted to them.

    Raises
    ------
    DataError
        If y is missing, is one-dimensional, or has another number of rows.
    """
    if y is None:
        raise DataError(f"{name} requires y to be passed, but the target y is None")
    if is_relevance(y):
        raise DataError(
            f"y is a one-dimensional array of {len(np.asarray(y))} numbers: whether these are observed times or "
            "relevance cannot be told",
            hint="For observed times, pass them with their events: fit(X, (event, time)). For relevance that is known "
            "for every row, with nothing censored, use fit_relevance(X, relevance).",
        )
    outcome = as_outcome(y)
    if len(outcome) != n:
        raise DataError(f"X has {n} rows and y has {len(outcome)}: there must be one outcome for each")
    return outcome


def check_relevance(relevance: ArrayLike, n: int) -> FloatArray:
    """Check that relevance is one-dimensional, finite and has n rows."""
    values = np.asarray(relevance)
    if values.ndim != 1 or values.dtype.kind not in "fiub":
        raise DataError(
            "relevance must be a one-dimensional array of numbers, one for each row",
            hint="For observed times and events use fit(X, y).",
        )
    values = values.astype(float)
    if len(values) != n:
        raise DataError(f"X has {n} rows and relevance has {len(values)}: there must be one relevance for each row")
    if not np.isfinite(values).all():
        row = int(np.flatnonzero(~np.isfinite(values))[0])
        raise DataError(f"relevance must be finite; row {row} is {values[row]}", row=row)
    return values
