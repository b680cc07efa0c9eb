"""Gradients and Hessians of the ranking loss over query groups: the k² pairs of each, without a branch (section 5)."""

from __future__ import annotations

import multiprocessing
from typing import Any

import numba
import numpy as np


def _pair_sums(
    scores: np.ndarray,
    labels: np.ndarray,
    gains: np.ndarray,
    places: np.ndarray,
    ideals: np.ndarray,
    starts: np.ndarray,
    margin: float,
    gradient: np.ndarray,
    hessian: np.ndarray,
) -> None:
    """dL_rank/df_i and its diagonal second derivative, ranks held fixed.

    L_rank = Σ_{i,j: y_i > y_j} ½·max(0, m − (f_i − f_j))²·|ΔNDCG_ij| within each group, where
    |ΔNDCG_ij| = |gain_i − gain_j|·|d(r_i) − d(r_j)|/IDCG over the whole group. Rows of a group lie side by side,
    between `starts`; `places` are d(r_i) and `ideals` the groups' IDCG. A group whose ideal DCG is not positive has no
    ranking loss.
    """
    for group in numba.prange(len(starts) - 1):
        start, stop = starts[group], starts[group + 1]
        k = stop - start
        f, y, gain, place = scores[start:stop], labels[start:stop], gains[start:stop], places[start:stop]
        scale = scores.dtype.type(1.0 / ideals[group]) if ideals[group] > 0 else scores.dtype.type(0.0)
        m, zero, one = scores.dtype.type(margin), scores.dtype.type(0), scores.dtype.type(1)
        for i in range(k):
            f_i, y_i, gain_i, place_i = f[i], y[i], gain[i], place[i]
            slope, bend = zero, zero
            for j in range(k):
                order = (one if y[j] > y_i else zero) - (one if y_i > y[j] else zero)  # +1: j ought to be above i
                hinge = max(zero, m - order * (f[j] - f_i))
                weight = abs(order) * abs(gain[j] - gain_i) * abs(place[j] - place_i)
                slope += order * hinge * weight
                bend += weight if hinge > zero else zero
            gradient[start + i] = slope * scale
            hessian[start + i] = bend * scale


def _pair_loss(
    scores: np.ndarray,
    labels: np.ndarray,
    gains: np.ndarray,
    places: np.ndarray,
    ideals: np.ndarray,
    starts: np.ndarray,
    margin: float,
) -> float:
    """L_rank itself, summed over the groups."""
    total = 0.0
    for group in range(len(starts) - 1):
        if not ideals[group] > 0:
            continue
        start, stop = starts[group], starts[group + 1]
        k = stop - start
        f, y, gain, place = scores[start:stop], labels[start:stop], gains[start:stop], places[start:stop]
        loss = 0.0
        for i in range(k):
            for j in range(k):
                hinge = max(0.0, margin - (f[i] - f[j]))
                weight = abs(gain[i] - gain[j]) * abs(place[i] - place[j])
                loss += 0.5 * hinge * hinge * weight if y[i] > y[j] else 0.0
        total += loss / ideals[group]
    return total


@numba.njit(cache=True)
def _deal(order: np.ndarray, starts: np.ndarray, discounts: np.ndarray) -> np.ndarray:
    """d(rank within its group) of each row: taken in falling order, each gets the next place of its group."""
    group_of = np.empty(len(order), dtype=np.int64)
    for group in range(len(starts) - 1):
        group_of[starts[group] : starts[group + 1]] = group
    taken = np.zeros(len(starts) - 1, dtype=np.int64)
    places = np.empty(len(order), dtype=discounts.dtype)
    for row in order:
        group = group_of[row]
        places[row] = discounts[taken[group]]
        taken[group] += 1
    return places


def falling(values: np.ndarray) -> np.ndarray:
    """Rows from the largest value to the smallest, of equals the earlier first.

    One sort of all groups at once, and for float32 of whole numbers that hold value and row: numpy sorts those several
    times as fast as it argsorts, and no two are equal, so that every machine gives the same order.
    """
    if values.dtype != np.float32:
        return np.argsort(-values, kind="stable")
    bits = (values + np.float32(0)).view(np.uint32)  # −0 becomes 0
    rising = bits ^ np.where(bits >> np.uint32(31), np.uint32(0xFFFFFFFF), np.uint32(0x80000000))
    keys = (~rising).astype(np.uint64) << np.uint64(32) | np.arange(len(values), dtype=np.uint64)
    keys.sort()
    return (keys & np.uint64(0xFFFFFFFF)).astype(np.int64)


def places_and_ideals(
    scores: np.ndarray,
    gains: np.ndarray,
    starts: np.ndarray,
    discounts: np.ndarray,
    falling_gains: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """d(r_i) of each row within its group, and the groups' ideal DCG."""
    discounts = discounts.astype(scores.dtype)
    places = _deal(falling(scores), starts, discounts)
    best = _deal(falling(gains) if falling_gains is None else falling_gains, starts, discounts)
    return places, np.add.reduceat(gains.astype(float) * best, starts[:-1])


_options: dict[str, Any] = {"nogil": True, "fastmath": {"reassoc", "contract", "nsz", "arcp"}, "cache": True}
_one_thread = numba.njit(**_options)(_pair_sums)
_loss = numba.njit(**_options)(_pair_loss)
_all_threads = numba.njit(parallel=True, **_options)(_pair_sums)


def pair_sums(
    scores: np.ndarray,
    labels: np.ndarray,
    gains: np.ndarray,
    starts: np.ndarray,
    discounts: np.ndarray,
    margin: float,
    threads: int = 1,
    falling_gains: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Gradient and Hessian of the ranking loss, in the precision of the scores; the same for any number of threads.

    A group is summed by one thread, in one order. A worker process uses one thread, whatever is asked for. Who has
    the rows sorted by gain already says so (`falling_gains`).
    """
    gradient, hessian = np.empty_like(scores), np.empty_like(scores)
    places, ideals = places_and_ideals(scores, gains, starts, discounts, falling_gains)
    arguments = (scores, labels, gains, places, ideals, starts, margin, gradient, hessian)
    threads = available_threads(threads)
    if threads == 1:
        _one_thread(*arguments)
    else:
        before = numba.get_num_threads()
        numba.set_num_threads(min(threads, numba.config.NUMBA_NUM_THREADS))
        try:
            _all_threads(*arguments)
        finally:
            numba.set_num_threads(before)
    return gradient, hessian


def pair_loss(
    scores: np.ndarray, labels: np.ndarray, gains: np.ndarray, starts: np.ndarray, discounts: np.ndarray, margin: float
) -> float:
    """L_rank, summed over the groups."""
    places, ideals = places_and_ideals(scores, gains, starts, discounts)
    return float(_loss(scores, labels, gains, places, ideals, starts, margin))


def available_threads(wanted: int | None) -> int:
    """How many threads to use: those asked for (None: all cores), but one inside a worker process."""
    if multiprocessing.parent_process() is not None:
        return 1
    return int(numba.config.NUMBA_NUM_THREADS) if wanted is None else max(1, wanted)
