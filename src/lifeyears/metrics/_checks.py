"""Checks of what the metrics take: pairs of one length, and lists that exist."""

from __future__ import annotations

from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from ..checks import check_values, check_whole
from ..errors import RequestError
from ..outcome import Outcome, as_outcome

if TYPE_CHECKING:
    from .._typing import FloatArray
    from ..outcome import OutcomeLike


def check_pair(relevance: ArrayLike, scores: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Check relevance and scores of one length."""
    relevance, scores = check_values("relevance", relevance), check_values("scores", scores)
    if len(relevance) != len(scores):
        raise RequestError(
            f"there are {len(relevance)} relevances and {len(scores)} scores: there must be one of each per row"
        )
    return relevance, scores


def check_scored(y: OutcomeLike, scores: ArrayLike, name: str = "scores") -> tuple[Outcome, FloatArray]:
    """Check an outcome and scores of one length."""
    outcome, values = as_outcome(y), check_values(name, scores)
    if len(outcome) != len(values):
        raise RequestError(f"y has {len(outcome)} rows and there are {len(values)} {name}")
    return outcome, values


def check_list(n: int, k: int | None, waitlist: int | None) -> tuple[int, int]:
    """Check how many places count, and how many candidates are on a list, out of n."""
    length = n if waitlist is None else check_whole("waitlist", waitlist)
    if not 1 <= length <= n:
        raise RequestError(f"waitlist must lie between 1 and the number of candidates, {n}; got {length}")
    places = length if k is None else check_whole("k", k)
    if not 1 <= places <= length:
        raise RequestError(f"k must lie between 1 and the length of the list, {length}; got {places}")
    return places, length
