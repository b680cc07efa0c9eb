"""Harrell's C-index in O(n log n)."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ..errors import PredictionWarning
from ._checks import checked_scored


def concordance_index(y: Any, scores: Any = None, *, risk: Any = None) -> float:
    """Harrell's C-index: of all comparable pairs, the share in which who lived longer has the higher score.

    A pair is comparable if the shorter time ended in an event; at equal times, if one is an event and the other is
    censored (the censored lived longer). Equal scores count half. Higher scores mean longer life; pass `risk`
    instead if higher means shorter.

    Parameters
    ----------
    y : Outcome or what `lifeyears.as_outcome` reads
    scores : array, shape (n,)
        Higher is longer.
    risk : array, shape (n,), optional
        In place of `scores`: higher is shorter.

    Returns
    -------
    float
        0.5 for a constant or random score, 1 for a perfect order. Below 0.45 a warning asks whether the sign is
        right. Note that it says nothing about the top of the list: that is what `ndcg_score` is for.

    Examples
    --------
    >>> concordance_index(([1, 1, 0], [1.0, 2.0, 3.0]), [0.1, 0.5, 0.4])
    0.6666666666666666
    """
    if (scores is None) == (risk is None):
        raise ValueError("give either scores (higher is longer) or risk (higher is shorter)")
    if risk is not None:
        y, values = checked_scored(y, risk, "risk")
        values = -values
    else:
        y, values = checked_scored(y, scores)
    concordant, tied, comparable = concordance_counts(y.time, y.event, values)
    if not comparable:
        raise ValueError("no two rows can be compared: a pair needs an event before the other's time")
    index = (concordant + 0.5 * tied) / comparable
    if index < 0.45:
        name = "scores" if risk is None else "risk"
        other = "risk=" if risk is None else "scores="
        warnings.warn(
            f"the C-index is {index:.3f}, below chance: is the sign of {name} right? (If so far from it, pass {other})",
            PredictionWarning,
            stacklevel=2,
        )
    return index


def concordance_counts(time: np.ndarray, event: np.ndarray, scores: np.ndarray) -> tuple[int, int, int]:
    """Concordant, score-tied and comparable pairs.

    Rows are taken from the latest time to the earliest while a Fenwick tree counts, by rank of score, those already
    passed: they outlived the row at hand. At one time, the censored are added before the events are asked, for they
    outlived them, and the events only afterwards, for events at the same time are not comparable.
    """
    from ._kernels import count_pairs

    order = np.lexsort((event, -time))  # latest first; at one time the censored first
    ranks = np.unique(scores, return_inverse=True)[1].astype(np.int32)
    concordant, tied, comparable = count_pairs(time[order], event[order], ranks[order], int(ranks.max()) + 1)
    return int(concordant), int(tied), int(comparable)
