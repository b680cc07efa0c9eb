"""Harrell's C-index in O(n log n)."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ..errors import Message, PredictionWarning, RequestError, Setting
from ._checks import check_scored

if TYPE_CHECKING:
    from .._typing import BoolArray, FloatArray
    from ..outcome import OutcomeLike


def concordance_index(y: OutcomeLike, scores: ArrayLike | None = None, *, risk: ArrayLike | None = None) -> float:
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
    if scores is not None and risk is None:
        outcome, values = check_scored(y, scores)
    elif scores is None and risk is not None:
        outcome, values = check_scored(y, risk, "risk")
        values = -values
    else:
        raise RequestError("pass either scores (higher is longer) or risk (higher is shorter)")
    concordant, tied, comparable = count_concordant_pairs(outcome.time, outcome.event, values)
    if not comparable:
        raise RequestError("no two rows can be compared: a pair needs an event before the other's time")
    index = (concordant + 0.5 * tied) / comparable
    if index < 0.45:
        name, other = ("scores", "risk") if risk is None else ("risk", "scores")
        question = f"the C-index is {index:.3f}, below chance: is the sign of {name} right? If not, pass "
        warnings.warn(Message(question, Setting(other), " instead."), PredictionWarning, stacklevel=2)
    return index


def count_concordant_pairs(time: FloatArray, event: BoolArray, scores: FloatArray) -> tuple[int, int, int]:
    """Count the concordant, the score-tied and the comparable pairs behind Harrell's C-index.

    Rows are taken from the latest time to the earliest while a Fenwick tree counts, by rank of score, those already
    passed: they outlived the row at hand. At one time, the censored are added before the events are asked, for they
    outlived them, and the events only afterwards, for events at the same time are not comparable.

    Parameters
    ----------
    time, event, scores : arrays, shape (n,)
        Without missing values; a higher score means longer life.

    Returns
    -------
    concordant, tied, comparable : int

    Examples
    --------
    >>> count_concordant_pairs(np.array([1.0, 2.0, 3.0]), np.array([True, True, False]), np.array([0.1, 0.5, 0.5]))
    (2, 1, 3)
    """
    from ._kernels import count_pairs

    order = np.lexsort((event, -time))  # latest first; at one time the censored first
    ranks = np.unique(scores, return_inverse=True)[1].astype(np.int32)
    concordant, tied, comparable = count_pairs(time[order], event[order], ranks[order], int(ranks.max()) + 1)
    return int(concordant), int(tied), int(comparable)
