"""Columns that reveal the outcome: a model must not see what is not known when a subject enters."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ..._typing import AnyArray, BoolArray, FloatArray, IntArray
from ...outcome import Outcome
from ._columns import is_category

NEARLY_PERFECT = 0.45  # |C − 0.5| beyond this: no honest feature ranks so well alone
_MOST_ROWS = 1000
_FEWEST_ROWS, _FEWEST_EVENTS = 20, 5
_MOST_LEVELS, _FEWEST_IN_LEVEL = 20, 10
_SLIPS = 0.02


def find_leaks(X: pd.DataFrame, y: Outcome, era: AnyArray | None = None) -> list[str]:
    """Warn of columns that alone rank nearly perfectly, tell events from censored, or are known for one only.

    Ranking is judged on a sample of at most 1,000 rows, events and censored taken in equal parts. What a registry asked
    for in the past only is known above all for those who died since: with the era of each row (whole numbers), a column
    is judged by the eras that have it.
    """
    if not len(y):
        return []
    rows = _sample(y)
    pairs = _comparable_pairs(y[rows])
    number = None if era is None else np.unique(era, return_inverse=True)[1]
    warnings = []
    for name in X.columns:
        asked = slice(None) if number is None else _asked_for(X[name], number)
        why = _known_for_one_kind(X[name][asked], y.event[asked]) or _ranks_alone(X[name].iloc[rows], y[rows], pairs)
        if why is not None:
            warnings.append(
                f"column {name} may leak the outcome: {why}. Drop it unless it is known when a subject enters"
            )
    return warnings


def _sample(y: Outcome) -> IntArray:
    draw = np.random.default_rng(0)
    chosen = []
    for kind in (y.event, ~y.event):
        rows = np.flatnonzero(kind)
        chosen.append(rows if len(rows) <= _MOST_ROWS // 2 else draw.choice(rows, _MOST_ROWS // 2, replace=False))
    return np.sort(np.concatenate(chosen))


def _comparable_pairs(y: Outcome) -> tuple[IntArray, IntArray]:
    """Pairs (i, j) of which i is known to have lived shorter: an event before j's time."""
    shorter = y.event[:, None] & (y.time[:, None] < y.time[None, :])
    first, second = np.nonzero(shorter)
    return first, second


def _asked_for(column: pd.Series, number: IntArray) -> BoolArray:
    """Rows of the eras (by their numbers) in which the column is known for somebody, by more than a slip."""
    share = np.bincount(number, weights=column.notna().to_numpy(dtype=float)) / np.bincount(number)
    asked: BoolArray = share[number] > _SLIPS
    return asked


def _known_for_one_kind(column: pd.Series, event: BoolArray) -> str | None:
    known = column.notna().to_numpy(dtype=bool)
    n_events, n_censored = int(event.sum()), int((~event).sum())
    if known.all() or not n_events or not n_censored:
        return None
    for_events, for_censored = known[event].mean(), known[~event].mean()
    for rare, n_rare, often, kind in (
        (for_censored, n_censored, for_events, "events"),
        (for_events, n_events, for_censored, "censored rows"),
    ):
        # Ten values would be expected if it were known as often among the others: it is not chance.
        by_chance = often * n_rare < 10
        if not by_chance and ((rare <= 0.02 and often >= 0.1) or (often - rare >= 0.3 and rare <= often / 10)):
            only = "only" if rare <= 0.02 else "nearly only"
            shares = f"{for_events:.0%} of the events, {for_censored:.0%} of the censored rows"
            return f"it is known {only} for {kind} ({shares})"
    return None


def _ranks_alone(column: pd.Series, y: Outcome, pairs: tuple[IntArray, IntArray]) -> str | None:
    known = column.notna().to_numpy(dtype=bool)
    event = y.event[known]
    if known.sum() < _FEWEST_ROWS or event.sum() < _FEWEST_EVENTS:
        return None
    values = column.cat.codes.to_numpy().astype(float) if is_category(column) else column.to_numpy(dtype=float)
    distinct, levels = np.unique(values[known], return_inverse=True)
    few = len(distinct) <= min(_MOST_LEVELS, known.sum() / 10)
    if is_category(column):
        # Ordering many levels by what they are to predict would look perfect by itself.
        mean_time = np.bincount(levels, weights=y.time[known]) / np.bincount(levels)
        values[known] = mean_time[levels] if few else 0.0
    c_index = _concordance(np.where(known, values, np.nan), pairs)
    if abs(c_index - 0.5) > NEARLY_PERFECT:
        return f"alone it ranks the times nearly perfectly (C-index {c_index:.3f})"
    return _tells_events(_commonest(levels), event)


def _concordance(values: FloatArray, pairs: tuple[IntArray, IntArray]) -> float:
    """Share of the comparable pairs in which the larger value lived longer, ties counting half."""
    difference = values[pairs[1]] - values[pairs[0]]
    difference = difference[~np.isnan(difference)]
    return float(0.5 + 0.5 * np.sign(difference).mean()) if len(difference) else 0.5


def _commonest(levels: IntArray) -> IntArray:
    """Number the commonest levels from 1 and all others 0, so that none of those kept has but a few rows."""
    counts = np.bincount(levels)
    kept = np.argsort(-counts, kind="stable")[:_MOST_LEVELS]
    kept = kept[counts[kept] >= _FEWEST_IN_LEVEL]
    number: IntArray = np.zeros(len(counts), dtype=int)
    number[kept] = np.arange(1, len(kept) + 1)
    numbered: IntArray = number[levels]
    return numbered


def _tells_events(levels: IntArray, event: BoolArray) -> str | None:
    """Whether the level alone says if the row is an event: the event column under another name."""
    n_levels, n_censored = int(levels.max()) + 1, int((~event).sum())
    if n_censored < _FEWEST_EVENTS:
        return None
    events = np.bincount(levels[event], minlength=n_levels) / event.sum()
    censored = np.bincount(levels[~event], minlength=n_levels) / n_censored
    right = 0.5 * np.maximum(events, censored).sum()
    if right <= 0.5 + NEARLY_PERFECT:
        return None
    return f"its values tell events from censored rows (right for {right:.0%})"
