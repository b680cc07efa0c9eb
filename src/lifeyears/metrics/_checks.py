"""Small named validators of what the metrics take."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..outcome import Outcome, as_outcome


def checked_values(values: Any, name: str) -> np.ndarray:
    """A finite, one-dimensional array of numbers; a Relevance gives its values."""
    values = np.asarray(getattr(values, "values", values), dtype=float)
    if values.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional; its shape is {values.shape}")
    if not len(values):
        raise ValueError(f"{name} is empty")
    bad = ~np.isfinite(values)
    if bad.any():
        raise ValueError(f"{name} is missing or infinite in row {np.flatnonzero(bad)[0]} ({bad.sum()} rows in all)")
    return values


def checked_pair(relevance: Any, scores: Any) -> tuple[np.ndarray, np.ndarray]:
    """Relevance and scores, of one length."""
    relevance, scores = checked_values(relevance, "relevance"), checked_values(scores, "scores")
    if len(relevance) != len(scores):
        raise ValueError(f"there are {len(relevance)} relevances and {len(scores)} scores: give one of each a row")
    return relevance, scores


def checked_scored(y: Any, scores: Any, name: str = "scores") -> tuple[Outcome, np.ndarray]:
    """An outcome and scores, of one length."""
    y, scores = as_outcome(y), checked_values(scores, name)
    if len(y) != len(scores):
        raise ValueError(f"y has {len(y)} rows and there are {len(scores)} {name}")
    return y, scores


def checked_list(n: int, k: int | None, waitlist: int | None) -> tuple[int, int]:
    """How many places count, and how many candidates are on a list, out of n."""
    W = n if waitlist is None else _whole(waitlist, "waitlist")
    if not 1 <= W <= n:
        raise ValueError(f"waitlist must lie between 1 and the number of candidates, {n}; got {W}")
    k = W if k is None else _whole(k, "k")
    if not 1 <= k <= W:
        raise ValueError(f"k must lie between 1 and the length of the list, {W}; got {k}")
    return k, W


def _whole(value: Any, name: str) -> int:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise ValueError(f"{name} must be a whole number; got {value!r}")
    return int(value)
