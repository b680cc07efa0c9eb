"""Gradients and Hessians of the ranking loss over query groups: each pair once, without a branch (section 5)."""

from __future__ import annotations

import multiprocessing
from typing import Any, NamedTuple

import numba
import numpy as np


def _pair_sums(
    scores: np.ndarray,
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
    between `starts`, by falling gain: who is before ought to be above, and pairs of equal gain weigh nothing. `places`
    are d(r_i) and `ideals` the groups' IDCG. A group whose ideal DCG is not positive has no ranking loss.
    """
    for group in numba.prange(len(starts) - 1):
        start, stop = starts[group], starts[group + 1]
        f, gain, place = scores[start:stop], gains[start:stop], places[start:stop]
        push, bend = gradient[start:stop], hessian[start:stop]
        scale = scores.dtype.type(1.0 / ideals[group]) if ideals[group] > 0 else scores.dtype.type(0.0)
        m, zero = scores.dtype.type(margin), scores.dtype.type(0)
        for i in range(stop - start):
            f_i, gain_i, place_i = f[i] + m, gain[i], place[i]
            up, curve = zero, zero
            for j in range(i):
                hinge = max(zero, f_i - f[j])
                weight = (gain[j] - gain_i) * abs(place[j] - place_i)
                pull = hinge * weight
                felt = weight if hinge > zero else zero
                up += pull
                curve += felt
                push[j] -= pull
                bend[j] += felt
            push[i], bend[i] = up, curve
        for i in range(stop - start):
            push[i] *= scale
            bend[i] *= scale


def _pair_loss(
    scores: np.ndarray,
    gains: np.ndarray,
    places: np.ndarray,
    ideals: np.ndarray,
    starts: np.ndarray,
    margin: float,
) -> float:
    """L_rank itself, summed over the groups; rows as for `_pair_sums`."""
    total = 0.0
    for group in range(len(starts) - 1):
        if not ideals[group] > 0:
            continue
        start, stop = starts[group], starts[group + 1]
        f, gain, place = scores[start:stop], gains[start:stop], places[start:stop]
        loss = 0.0
        for i in range(stop - start):
            f_i, gain_i, place_i = f[i] + margin, gain[i], place[i]
            for j in range(i):
                hinge = max(0.0, f_i - f[j])
                loss += 0.5 * hinge * hinge * (gain[j] - gain_i) * abs(place[j] - place_i)
        total += loss / ideals[group]
    return total


@numba.njit(cache=True)
def _deal(rows: np.ndarray, group_of: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """The rows group by group and, within each, as they come."""
    free = starts[:-1].copy()
    dealt = np.empty_like(rows)
    for row in rows:
        group = group_of[row]
        dealt[free[group]] = row
        free[group] += 1
    return dealt


def falling(values: np.ndarray, starts: np.ndarray | None = None) -> np.ndarray:
    """Rows from the largest value to the smallest, of equals the earlier first; between `starts`, each group by itself.

    For float32 whole numbers are sorted that hold value and row: numpy sorts those several times as fast as it
    argsorts, and no two are equal, so that every machine gives the same order.
    """
    sizes = np.array([len(values)]) if starts is None else np.diff(starts)
    if values.dtype != np.float32:
        return np.lexsort((-values, np.repeat(np.arange(len(sizes)), sizes)))
    bits = (values + np.float32(0)).view(np.uint32)  # −0 becomes 0
    rising = bits ^ np.where(bits >> np.uint32(31), np.uint32(0xFFFFFFFF), np.uint32(0x80000000))
    keys = (~rising).astype(np.uint64) << np.uint64(32) | np.arange(len(values), dtype=np.uint64)
    filled = np.arange(sizes.max(initial=0)) < sizes[:, None]
    table = np.full(filled.shape, np.iinfo(np.uint64).max)  # a row a group; what fills up comes last
    table[filled] = keys
    table.sort(axis=1)
    return (table[filled] & np.uint64(0xFFFFFFFF)).astype(np.int64)


class Groups(NamedTuple):
    """Places in groups that lie side by side: where each begins and the last ends, each place's group, d(its rank)."""

    starts: np.ndarray
    number: np.ndarray
    discount: np.ndarray

    @classmethod
    def of(cls, starts: np.ndarray, discounts: np.ndarray) -> Groups:
        sizes = np.diff(starts)
        rank = np.arange(starts[-1]) - np.repeat(starts[:-1], sizes)
        return cls(starts, np.repeat(np.arange(len(sizes)), sizes), discounts[rank])


class Arranged(NamedTuple):
    """Rows group by group, by falling gain: which they are, their scores, gains and d(rank); the groups' ideal DCG."""

    rows: np.ndarray
    scores: np.ndarray
    gains: np.ndarray
    places: np.ndarray
    ideals: np.ndarray


def arranged(
    scores: np.ndarray,
    gains: np.ndarray,
    order: np.ndarray,
    groups: Groups,
    falling_gains: np.ndarray | None = None,
) -> Arranged:
    """Cut `order` into groups; rank each by score (of equal ones, who comes first), and sort it by gain.

    Who has all rows sorted by gain already says so (`falling_gains`).
    """
    group_of = np.empty(len(order), dtype=np.int64)
    group_of[order] = groups.number
    places = np.empty_like(scores)
    places[order[falling(scores[order], groups.starts)]] = groups.discount
    rows = _deal(falling(gains) if falling_gains is None else falling_gains, group_of, groups.starts)
    gains = gains[rows]
    ideals = np.add.reduceat(gains * groups.discount.astype(float), groups.starts[:-1])
    return Arranged(rows, scores[rows], gains, places[rows], ideals)


_options: dict[str, Any] = {"nogil": True, "fastmath": {"reassoc", "contract", "nsz", "arcp"}, "cache": True}
_one_thread = numba.njit(**_options)(_pair_sums)
_loss = numba.njit(**_options)(_pair_loss)
_all_threads = numba.njit(parallel=True, **_options)(_pair_sums)


def pair_sums(by_gain: Arranged, starts: np.ndarray, margin: float, threads: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Gradient and Hessian of the ranking loss by the arranged rows' scores; the same for any number of threads.

    A group is summed by one thread, in one order. A worker process uses one thread, whatever is asked for.
    """
    gradient, hessian = np.empty_like(by_gain.scores), np.empty_like(by_gain.scores)
    arguments = (*by_gain[1:], starts, margin, gradient, hessian)
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


def pair_loss(by_gain: Arranged, starts: np.ndarray, margin: float) -> float:
    """L_rank, summed over the groups."""
    return float(_loss(*by_gain[1:], starts, margin))


def available_threads(wanted: int | None) -> int:
    """How many threads to use: those asked for (None: all cores), but one inside a worker process."""
    if multiprocessing.parent_process() is not None:
        return 1
    return int(numba.config.NUMBA_NUM_THREADS) if wanted is None else max(1, wanted)
