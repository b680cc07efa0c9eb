"""Which rows train and which judge; what a y is; seeds for models without one."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.model_selection import KFold

from ..outcome import Outcome
from ..relevance._cross_fit import Splits, draw_splits


def survival_folds(y: Outcome, many: int, seed: int) -> Splits:
    """Folds, stratified by event where there are enough of both kinds."""
    rarest = min(y.n_events, len(y) - y.n_events)
    return draw_splits(y, many, None, seed) if rarest >= many or not rarest else plain_folds(len(y), many, seed)


def plain_folds(n: int, many: int, seed: int) -> Splits:
    """Random folds."""
    return tuple(KFold(many, shuffle=True, random_state=seed).split(np.zeros(n)))


def seeded(model: Any, seed: int) -> Any:
    """The model with a seed wherever it has none: same seed, same result."""
    open_ = [name for name, value in model.get_params().items() if name.endswith("random_state") and value is None]
    return model.set_params(**dict.fromkeys(sorted(open_), seed)) if open_ else model


def scattered(values: np.ndarray, rows: np.ndarray, n: int) -> np.ndarray:
    """Values in their rows, NaN elsewhere."""
    whole = np.full(n, np.nan)
    whole[rows] = values
    return whole


def is_relevance(y: Any) -> bool:
    """Whether y is a 1-D array of numbers: relevance, not an outcome."""
    if isinstance(y, (Outcome, tuple)):
        return False
    array = np.asarray(y)
    return array.ndim == 1 and array.dtype.kind in "fiub" and array.dtype.names is None


def checked_relevance(y: Any, n: int) -> np.ndarray:
    relevance = np.asarray(y, dtype=float)
    if len(relevance) != n:
        raise ValueError(f"X has {n} rows and y has {len(relevance)}: there must be one relevance for each row")
    if not np.isfinite(relevance).all():
        row = int(np.flatnonzero(~np.isfinite(relevance))[0])
        raise ValueError(f"relevance must be finite; row {row} is {relevance[row]}")
    return relevance


def validation_split(kinds: np.ndarray, share: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows to train on and rows held out, both kinds (events and censorings) shared out alike."""
    rng = np.random.default_rng(seed)
    held_out = np.zeros(len(kinds), dtype=bool)
    for kind in (kinds, ~kinds):
        rows = rng.permutation(np.flatnonzero(kind))
        held_out[rows[: int(share * len(rows))]] = True
    return np.flatnonzero(~held_out), np.flatnonzero(held_out)
