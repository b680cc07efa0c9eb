"""Kernels of the ranking loss over query groups: gradients and Hessians, each pair once, without a branch."""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np

from ..._threads import available_threads
from ..._typing import AnyArray, FloatArray, IntArray


def _rank_derivatives(
    scores: np.ndarray,
    gains: np.ndarray,
    places: np.ndarray,
    ideals: np.ndarray,
    starts: np.ndarray,
    margin: float,
    gradient: np.ndarray,
    hessian: np.ndarray,
) -> None:
    """Fill in dL_rank/df_i and its diagonal second derivative, ranks held fixed.

    L_rank = Σ_{i,j: y_i > y_j} ½·max(0, m − (f_i − f_j))²·|ΔNDCG_ij| within each group, where
    |ΔNDCG_ij| = |gain_i − gain_j|·|d(r_i) − d(r_j)|/IDCG over the whole group. Rows of a group lie side by side,
    between `starts`, by decreasing gain: an earlier row should be ranked higher; pairs of equal gain have no weight.
    `places` are d(r_i) and `ideals` the IDCG of the groups. Where the IDCG is not positive there is no ranking loss.
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


def _rank_loss(
    scores: np.ndarray,
    gains: np.ndarray,
    places: np.ndarray,
    ideals: np.ndarray,
    starts: np.ndarray,
    margin: float,
) -> float:
    """Return L_rank itself, summed over the groups; rows as for `_rank_derivatives`."""
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
def _arrange(
    scores: np.ndarray,
    gains: np.ndarray,
    order: np.ndarray,
    ranked: np.ndarray,
    by_gain: np.ndarray,
    number: np.ndarray,
    discount: np.ndarray,
    starts: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return rows group by group, by decreasing gain, with the score, gain and d(rank) of each.

    `ranked` are positions in `order`, group by group, by decreasing score; `by_gain` are all rows by decreasing gain.
    """
    group_of, place_of = np.empty(len(order), dtype=np.int64), np.empty_like(scores)
    for place in range(len(order)):
        group_of[order[place]] = number[place]
        place_of[order[ranked[place]]] = discount[place]
    free = starts[:-1].copy()
    rows = np.empty_like(order)
    own_scores, own_gains, own_places = np.empty_like(scores), np.empty_like(gains), np.empty_like(scores)
    for row in by_gain:
        to = free[group_of[row]]
        free[group_of[row]] += 1
        rows[to], own_scores[to], own_gains[to], own_places[to] = row, scores[row], gains[row], place_of[row]
    return rows, own_scores, own_gains, own_places


@numba.njit(cache=True, nogil=True)
def combine_derivatives(
    scores: np.ndarray,
    labels: np.ndarray,
    rows: np.ndarray,
    bend: np.ndarray,
    push: np.ndarray,
    curve: np.ndarray,
    alpha: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Return gradient and Hessian of both parts of the loss, in the order of the scores.

    The `rows` lie group by group, as do `bend` (2α/|B|), `push` and `curve` (of the ranking loss).
    """
    gradient, hessian = np.empty(len(rows)), np.empty(len(rows))
    share = push.dtype.type(1 - alpha)
    for place, row in enumerate(rows):
        gradient[row] = bend[place] * (scores[row] - labels[row]) + share * push[place]
        hessian[row] = bend[place] + share * curve[place]
    return gradient, hessian


@numba.njit(cache=True)
def _fill_keys(bits: np.ndarray, starts: np.ndarray, table: np.ndarray) -> None:
    """Fill one row of `table` per group: integers that sort by decreasing float32 (as bits), each with its place."""
    for group in range(len(starts) - 1):
        for place in range(starts[group], starts[group + 1]):
            flipped = bits[place] if bits[place] >> np.uint32(31) else bits[place] ^ np.uint32(0x7FFFFFFF)
            table[group, place - starts[group]] = np.uint64(flipped) << np.uint64(32) | np.uint64(place)


@numba.njit(cache=True)
def _read_places(table: np.ndarray, starts: np.ndarray) -> np.ndarray:
    places = np.empty(starts[-1], dtype=np.int64)
    for group in range(len(starts) - 1):
        for rank in range(starts[group + 1] - starts[group]):
            places[starts[group] + rank] = table[group, rank] & np.uint64(0xFFFFFFFF)
    return places


def sort_descending(values: AnyArray, starts: IntArray | None = None) -> IntArray:
    """Return rows from the largest value to the smallest, stable; with `starts`, each group by itself.

    For float32, integers that hold value and row are sorted: numpy sorts those several times as fast as it argsorts,
    and no two are equal, so that every machine gives the same order.
    """
    starts = np.array([0, len(values)]) if starts is None else starts
    sizes = np.diff(starts)
    if values.dtype != np.float32:
        return np.lexsort((-values, np.repeat(np.arange(len(sizes)), sizes)))
    table = np.full((len(sizes), sizes.max(initial=0)), np.iinfo(np.uint64).max)  # padding sorts last
    _fill_keys((values + np.float32(0)).view(np.uint32), starts, table)  # −0 becomes 0
    table.sort(axis=1)
    return np.asarray(_read_places(table, starts))


class QueryGroups(NamedTuple):
    """Query groups that lie side by side: where each begins (and the last ends), each place's group and d(its rank)."""

    starts: IntArray
    number: IntArray
    discount: AnyArray

    @classmethod
    def from_starts(cls, starts: IntArray, discounts: AnyArray) -> QueryGroups:
        """Make groups from their starts; `discounts` are d(1), d(2) and so on."""
        sizes = np.diff(starts)
        rank = np.arange(starts[-1]) - np.repeat(starts[:-1], sizes)
        return cls(starts, np.repeat(np.arange(len(sizes)), sizes), discounts[rank])


class SortedGroups(NamedTuple):
    """Rows group by group, by decreasing gain, with their scores, gains and d(rank); and the groups' ideal DCG."""

    rows: IntArray
    scores: AnyArray
    gains: AnyArray
    places: AnyArray
    ideals: FloatArray


def sort_groups(
    scores: AnyArray, gains: AnyArray, order: IntArray, groups: QueryGroups, by_gain: IntArray | None = None
) -> SortedGroups:
    """Cut `order` into groups; rank each by score (equal scores in the order given), and sort it by gain.

    `by_gain` are all rows by decreasing gain, if they are known already.
    """
    ranked = sort_descending(scores[order], groups.starts)
    by_gain = sort_descending(gains) if by_gain is None else by_gain
    rows, scores, gains, places = _arrange(
        scores, gains, order, ranked, by_gain, groups.number, groups.discount, groups.starts
    )
    ideals = np.add.reduceat(gains * groups.discount.astype(float), groups.starts[:-1])
    return SortedGroups(rows, scores, gains, places, ideals)


_options: dict[str, Any] = {"nogil": True, "fastmath": {"reassoc", "contract", "nsz", "arcp"}, "cache": True}
_derivatives_on_one_thread = numba.njit(**_options)(_rank_derivatives)
_derivatives_on_all_threads = numba.njit(parallel=True, **_options)(_rank_derivatives)
_compiled_loss = numba.njit(**_options)(_rank_loss)


def compute_derivatives(
    rows: SortedGroups, starts: IntArray, margin: float, threads: int = 1
) -> tuple[AnyArray, AnyArray]:
    """Return gradient and Hessian of the ranking loss by the scores of the sorted rows; the same for any `threads`.

    A group is summed by one thread, in one order. A worker process uses one thread, whatever is asked for.
    """
    gradient, hessian = np.empty_like(rows.scores), np.empty_like(rows.scores)
    arguments = (*rows[1:], starts, margin, gradient, hessian)
    threads = available_threads(threads)
    if threads == 1:
        _derivatives_on_one_thread(*arguments)
    else:
        before = numba.get_num_threads()
        numba.set_num_threads(min(threads, numba.config.NUMBA_NUM_THREADS))
        try:
            _derivatives_on_all_threads(*arguments)
        finally:
            numba.set_num_threads(before)
    return gradient, hessian


def compute_loss(rows: SortedGroups, starts: IntArray, margin: float) -> float:
    """Return L_rank, summed over the groups."""
    return float(_compiled_loss(*rows[1:], starts, margin))
