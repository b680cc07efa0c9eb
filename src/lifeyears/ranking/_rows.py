"""Which rows train and which judge; what a y is; copies of models, with seeds where they have none."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
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


def fresh(model: Any, tau: float, seed: int) -> Any:
    """An unfitted copy with this horizon, if it takes one, and a seed wherever it has none."""
    model = seeded(clone(model, safe=False), seed)
    return model.set_params(tau=tau) if "tau" in params_of(model) else model


def seeded(model: Any, seed: int) -> Any:
    """The model with a seed wherever it has none: same seed, same result.

    One that takes a `random_state` seeds what it is made of by that; of others (a Pipeline) every part is given one.
    """
    given = params_of(model)
    seeds = ["random_state"] if "random_state" in given else [name for name in given if name.endswith("random_state")]
    open_ = [name for name in seeds if given[name] is None]
    return model.set_params(**dict.fromkeys(sorted(open_), seed)) if open_ else model


def params_of(model: Any) -> dict[str, Any]:
    """Its settings and those of its parts; none of what only fits and predicts."""
    return model.get_params() if hasattr(model, "get_params") else {}


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
