"""The first few of many, in order: a heap whose root is the last of those kept."""

from __future__ import annotations

import numba

from ..._typing import FloatArray, IntArray


@numba.njit(cache=True)
def keep_first(scores: FloatArray, chosen: IntArray, n: int, score: float, one: int) -> int:
    """Keep one if it is among the first so far; return how many are kept, at most as many as there is room for."""
    if n < len(chosen):
        scores[n], chosen[n] = score, one
        _rise(scores, chosen, n)
        return n + 1
    if _before(score, one, scores[0], chosen[0]):
        scores[0], chosen[0] = score, one
        _sink(scores, chosen, 0, n)
    return n


@numba.njit(cache=True)
def sort_kept(scores: FloatArray, chosen: IntArray, n: int) -> None:
    """Put the n that were kept in order, the first first."""
    for end in range(n - 1, 0, -1):
        _swap(scores, chosen, 0, end)
        _sink(scores, chosen, 0, end)


@numba.njit(cache=True)
def _before(score: float, one: int, other_score: float, other: int) -> bool:
    """Whether one is asked before another; of equals the one who was drawn first, so that the order is one."""
    return score > other_score or (score == other_score and one < other)


@numba.njit(cache=True)
def _swap(scores: FloatArray, chosen: IntArray, i: int, j: int) -> None:
    scores[i], scores[j] = scores[j], scores[i]
    chosen[i], chosen[j] = chosen[j], chosen[i]


@numba.njit(cache=True)
def _rise(scores: FloatArray, chosen: IntArray, i: int) -> None:
    while i > 0:
        above = (i - 1) // 2
        if not _before(scores[above], chosen[above], scores[i], chosen[i]):
            return
        _swap(scores, chosen, i, above)
        i = above


@numba.njit(cache=True)
def _sink(scores: FloatArray, chosen: IntArray, i: int, n: int) -> None:
    while True:
        last = i
        for child in (2 * i + 1, 2 * i + 2):
            if child < n and _before(scores[last], chosen[last], scores[child], chosen[child]):
                last = child
        if last == i:
            return
        _swap(scores, chosen, i, last)
        i = last
