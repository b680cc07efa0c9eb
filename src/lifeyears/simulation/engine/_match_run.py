"""A match run: the candidates whom an item fits, in the policy's order, and the offers until one is accepted.

The plain twin of these kernels is in tests/simulation/engine/plain_list.py.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np

from ..._typing import FloatArray, IntArray
from ._arrays import (
    AT_RANDOM,
    BY_CLASS,
    BY_LAW,
    BY_WAITING,
    MATCHED,
    NO_FIT,
    CandidateArrays,
    ItemArrays,
    ListRules,
    ListState,
    Order,
)
from ._heap import keep_first, sort_kept
from ._pairs import ACCEPTS, OFFERED, ORDERS, PICKS, pair_uniform, score_pairs

FAR = 1e6  # more than any score: a zone, or a class, comes before all scores
LARGEST_SCORE = FAR / 4


class Room(NamedTuple):
    """Room for a match run: whom the item fits, and the first of them in order."""

    who: IntArray
    zone: IntArray
    distance: FloatArray
    score: FloatArray
    tally: IntArray
    item: IntArray
    best: FloatArray
    chosen: IntArray


@numba.njit(cache=True)
def make_room(n_candidates: int, n_zones: int, most: int) -> Room:
    """Return room for match runs of at most so many candidates and offers."""
    n, whole = n_candidates, np.int64
    return Room(
        np.empty(n, whole), np.empty(n, whole), np.empty(n), np.empty(n), np.zeros(n_zones + 1, whole),
        np.zeros(1, whole), np.empty(most), np.empty(most, whole),
    )  # fmt: skip


@numba.njit(cache=True)
def join_list(one: int, kind: int, state: ListState) -> None:
    """Add a candidate to those who wait."""
    state.members[kind, state.waiting[kind]] = one
    state.slot[one] = state.waiting[kind]
    state.waiting[kind] += 1


@numba.njit(cache=True)
def leave_list(one: int, kind: int, state: ListState) -> None:
    """Remove a candidate from those who wait."""
    last = state.members[kind, state.waiting[kind] - 1]
    state.members[kind, state.slot[one]] = last
    state.slot[last] = state.slot[one]
    state.waiting[kind] -= 1


@numba.njit(cache=True)
def run_match(
    item: int, now: float, candidates: CandidateArrays, items: ItemArrays, rules: ListRules, law: tuple[object, ...],
    order: Order, state: ListState, room: Room,
) -> None:  # fmt: skip
    """Offer an item in the policy's order until it is accepted, or lost."""
    n = _first_in_order(item, candidates, items, rules, law, order, state, room)
    chosen = room.chosen
    state.offers[item] = 0
    for offer in range(min(n, rules.most_offers)):
        at = offer
        if order.k > 1:  # Algorithm 1 of the paper among the k best who have not been asked
            at = offer + _draw_position(items.key[item], offer, min(order.k, n - offer))
            one = chosen[at]
            for i in range(at, offer, -1):
                chosen[i] = chosen[i - 1]
            chosen[offer] = one
        one = chosen[offer]
        state.offers[item] += 1
        odds = rules.acceptance[state.status[one]] + items.quality[item]
        if pair_uniform(candidates.key[one], items.key[item], ACCEPTS) < 1 / (1 + np.exp(-odds)):
            leave_list(one, candidates.kind[one], state)
            state.place[one], state.left_at[one], state.recipient[item] = MATCHED, now, one
            return


@numba.njit(cache=True)
def _draw_position(key: np.uint64, offer: int, k: int) -> int:
    """Draw a position below k: the i-th, from 1 on, has probability d(i)/W_k."""
    total = 0.0
    for i in range(1, k + 1):
        total += 1 / np.log2(i + 1)
    drawn = pair_uniform(np.uint64(offer), key, PICKS) * total
    for i in range(1, k):
        drawn -= 1 / np.log2(i + 1)
        if drawn < 0:
            return i - 1
    return k - 1


@numba.njit(cache=True)
def _first_in_order(
    item: int, candidates: CandidateArrays, items: ItemArrays, rules: ListRules, law: tuple[object, ...],
    order: Order, state: ListState, room: Room,
) -> int:  # fmt: skip
    """Put those to be asked, the first first, into `room.chosen`, as many as it holds; return how many there are."""
    eligible = _gather_eligible(item, candidates, items, rules, order, state, room)
    best, chosen = room.best, room.chosen
    _score(item, eligible, candidates, items, law, order, state, room)
    n = 0
    for i in range(eligible):
        one, score = room.who[i], room.score[i] - FAR * room.zone[i]
        n = keep_first(best, chosen, n, score, one)
    sort_kept(best, chosen, n)
    return n


@numba.njit(cache=True)
def _gather_eligible(
    item: int, candidates: CandidateArrays, items: ItemArrays, rules: ListRules, order: Order, state: ListState,
    room: Room,
) -> int:  # fmt: skip
    """Gather whom the item fits, with zone (or class) and distance; return how many.

    If those in the nearest zones are more than can be asked, the further ones are left out.
    """
    n, nearer, zones = 0, 0, rules.zones
    key, size, distances = items.key[item], items.size[item], items.distances[item]
    for zone in range(len(zones) + 1):
        room.tally[zone] = 0
    for kind in range(len(state.waiting)):
        fit = rules.fits[items.kind[item], kind]
        if fit == NO_FIT:
            continue
        for i in range(state.waiting[kind]):
            one = state.members[kind, i]
            if state.status[one] >= rules.n_active:
                continue
            distance = distances[candidates.site[one]]
            ratio = size / candidates.size[one]
            if distance > rules.reach or ratio < rules.size_low or ratio > rules.size_high:
                continue
            if pair_uniform(candidates.key[one], key, OFFERED) >= candidates.openness[one]:
                continue
            zone = 0
            if order.kind == BY_CLASS:
                for limit in order.class_zones:
                    zone += distance > limit
                zone = order.classes[state.status[one], zone] + fit
            else:
                for limit in zones:
                    zone += distance > limit
                room.tally[zone] += 1
            room.who[n], room.zone[n], room.distance[n] = one, zone, distance
            n += 1
    if order.kind == BY_CLASS or len(zones) == 0:
        return n
    last = 0
    while last < len(zones) and nearer + room.tally[last] < len(room.chosen):
        nearer += room.tally[last]
        last += 1
    kept = 0
    for i in range(n):
        if room.zone[i] <= last:
            room.who[kept], room.zone[kept], room.distance[kept] = room.who[i], room.zone[i], room.distance[i]
            kept += 1
    return kept


@numba.njit(cache=True)
def _score(
    item: int, n: int, candidates: CandidateArrays, items: ItemArrays, law: tuple[object, ...], order: Order,
    state: ListState, room: Room,
) -> None:  # fmt: skip
    """Score the eligible: within a zone or class, the higher score is asked first."""
    if order.kind == BY_CLASS or order.kind == BY_WAITING:
        for i in range(n):
            room.score[i] = -candidates.listed[room.who[i]]
        return
    if order.kind == AT_RANDOM:
        key = items.key[item]
        for i in range(n):
            room.score[i] = pair_uniform(candidates.key[room.who[i]], key, ORDERS)
        return
    if order.kind == BY_LAW:
        room.item[0] = item
        score_pairs(law, room.who, room.item, room.distance, n, room.score)
    else:
        kind = order.item_type[item]
        for i in range(n):
            room.score[i] = order.scores[room.who[i], kind]
    own = len(order.baseline) > 1
    for i in range(n):
        room.score[i] -= order.baseline[room.who[i] if own else 0, state.status[room.who[i]]]
