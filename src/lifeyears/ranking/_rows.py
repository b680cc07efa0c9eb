"""Rows: which are held out, and whether a y is an outcome or relevance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .._typing import FloatArray, IntArray
from ..errors import DataError
from ..outcome import Outcome

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


def check_relevance(y: ArrayLike, n: int) -> FloatArray:
    """Check that relevance is finite and has n rows."""
    relevance = np.asarray(y, dtype=float)
    if len(relevance) != n:
        raise DataError(f"X has {n} rows and y has {len(relevance)}: there must be one relevance for each row")
    if not np.isfinite(relevance).all():
        row = int(np.flatnonzero(~np.isfinite(relevance))[0])
        raise DataError(f"relevance must be finite; row {row} is {relevance[row]}", row=row)
    return relevance
