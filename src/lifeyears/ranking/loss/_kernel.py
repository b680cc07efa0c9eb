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
def _deal(
    scores: np.ndarray,
    gains: np.ndarray,
    order: np.ndarray,
    ranked: np.ndarray,
    falling_gains: np.ndarray,
    number: np.ndarray,
    discount: np.ndarray,
    starts: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Rows group by group, by falling gain, and of each its score, gain and d(rank).

    `ranked` are places of `order` group by group, by falling score.
    """
    group_of, place_of = np.empty(len(order), dtype=np.int64), np.empty_like(scores)
    for place in range(len(order)):
        group_of[order[place]] = number[place]
        place_of[order[ranked[place]]] = discount[place]
    free = starts[:-1].copy()
    rows = np.empty_like(order)
    dealt = np.empty_like(scores), np.empty_like(gains), np.empty_like(scores)
    for row in falling_gains:
        to = free[group_of[row]]
        free[group_of[row]] += 1
        rows[to], dealt[0][to], dealt[1][to], dealt[2][to] = row, scores[row], gains[row], place_of[row]
    return rows, dealt[0], dealt[1], dealt[2]


@numba.njit(cache=True, nogil=True)
def hybrid_sums(
    scores: np.ndarray,
    labels: np.ndarray,
    rows: np.ndarray,
    bend: np.ndarray,
    push: np.ndarray,
    curve: np.ndarray,
    alpha: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Gradient and Hessian of both parts of the loss, in the order of the scores.

    The `rows` lie group by group, as do `bend` (2α/|B|), `push` and `curve` (of the ranking loss).
    """
    gradient, hessian = np.empty(len(rows)), np.empty(len(rows))
    share = push.dtype.type(1 - alpha)
    for place, row in enumerate(rows):
        gradient[row] = bend[place] * (scores[row] - labels[row]) + share * push[place]
        hessian[row] = bend[place] + share * curve[place]
    return gradient, hessian


@numba.njit(cache=True)
def _keys(bits: np.ndarray, starts: np.ndarray, table: np.ndarray) -> None:
    """A row of `table` a group: whole numbers that sort as the float32 behind the bits fall, each with its place."""
    for group in range(len(starts) - 1):
        for place in range(starts[group], starts[group + 1]):
            flipped = bits[place] if bits[place] >> np.uint32(31) else bits[place] ^ np.uint32(0x7FFFFFFF)
            table[group, place - starts[group]] = np.uint64(flipped) << np.uint64(32) | np.uint64(place)


@numba.njit(cache=True)
def _places(table: np.ndarray, starts: np.ndarray) -> np.ndarray:
    found = np.empty(starts[-1], dtype=np.int64)
    for group in range(len(starts) - 1):
        for rank in range(starts[group + 1] - starts[group]):
            found[starts[group] + rank] = table[group, rank] & np.uint64(0xFFFFFFFF)
    return found


def falling(values: np.ndarray, starts: np.ndarray | None = None) -> np.ndarray:
    """Rows from the largest value to the smallest, of equals the earlier first; between `starts`, each group by itself.

    For float32 whole numbers are sorted that hold value and row: numpy sorts those several times as fast as it
    argsorts, and no two are equal, so that every machine gives the same order.
    """
    starts = np.array([0, len(values)]) if starts is None else starts
    sizes = np.diff(starts)
    if values.dtype != np.float32:
        return np.lexsort((-values, np.repeat(np.arange(len(sizes)), sizes)))
    table = np.full((len(sizes), sizes.max(initial=0)), np.iinfo(np.uint64).max)  # what fills up comes last
    _keys((values + np.float32(0)).view(np.uint32), starts, table)  # −0 becomes 0
    table.sort(axis=1)
    return _places(table, starts)


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
    ranked = falling(scores[order], groups.starts)
    falling_gains = falling(gains) if falling_gains is None else falling_gains
    rows, scores, gains, places = _deal(
        scores, gains, order, ranked, falling_gains, groups.number, groups.discount, groups.starts
    )
    ideals = np.add.reduceat(gains * groups.discount.astype(float), groups.starts[:-1])
    return Arranged(rows, scores, gains, places, ideals)


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
