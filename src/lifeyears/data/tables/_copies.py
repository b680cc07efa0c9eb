"""Rows that are there twice: a subject in training and in test at once makes any model look better than it is."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ...outcome import Outcome

BEYOND_CHANCE = 10  # times as many copies as chance would make: they are copies
FEWEST = 3


def find_copies(X: pd.DataFrame, y: Outcome) -> list[str]:
    """Warn of rows that are copies of others, features and outcome alike, if there are more than chance would make.

    In a table of few coarse columns many subjects are alike, and those who enter together are censored together. So it
    is judged by the events: two with the same features share their time by chance about as often as any two do.
    """
    if X.shape[1] == 0 or y.n_events < 2:
        return []
    features = pd.util.hash_pandas_object(X, index=False).to_numpy()
    rows = pd.DataFrame({"features": features, "time": y.time, "event": y.event})
    died = rows[y.event]
    copies = _pairs(died)
    by_chance = _pairs(died[["features"]]) * _pairs(died[["time"]]) / (len(died) * (len(died) - 1) / 2)
    if died.duplicated().sum() < FEWEST or copies <= BEYOND_CHANCE * by_chance:
        return []
    copied = np.flatnonzero(rows.duplicated() & y.event)
    first = ", ".join(str(row + 1) for row in copied[:5])
    return [
        f"{len(copied):,} events are copies of an earlier row, in every feature and in the time (rows kept are counted "
        f"from 1: {first}{', …' if len(copied) > 5 else ''}). If a subject is there twice, leave one: in training and "
        "in test at once it makes any model look better than it is"
    ]


def _pairs(rows: pd.DataFrame) -> float:
    """Pairs of equal rows."""
    counts = rows.value_counts(sort=False).to_numpy(dtype=float)
    return float((counts * (counts - 1) / 2).sum())
