"""A match run: the candidates whom an item fits, in the policy's order, and the offers until one is accepted.

The plain twin of these kernels is in tests/simulation/engine/plain_list.py.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np

from ..._typing import FloatArray, IntArray
from ._arrays import MATCHED, NO_FIT, CandidateArrays, ItemArrays, ListRules, ListState, Order
from ._heap import keep_first, sort_kept
from ._pairs import ACCEPTS, OFFERED, ORDERS, PICKS, pair_uniform, score_pairs

CLASS_STEP = 1e6  # more than any score: an earlier class comes before all scores
LARGEST_SCORE = CLASS_STEP / 4


class Room(NamedTuple):
    """Room for a match run: whom the item fits, and the first of them in order."""

    who: IntArray
    fit: IntArray
    distance: FloatArray
    tier: IntArray  # the class
    score: FloatArray
    tally: IntArray
    item: IntArray
    best: FloatArray
    chosen: IntArray


@numba.njit(cache=True)
def make_room(n_candidates: int, n_classes: int, most: int) -> Room:
    """Return room for match runs of at most so many candidates, classes and offers."""
    n, whole = n_candidates, np.int64
    return Room(
        np.empty(n, whole), np.empty(n, whole), np.empty(n), np.empty(n, whole), np.empty(n),
        np.zeros(n_classes, whole), np.zeros(1, whole), np.empty(most), np.empty(most, whole),
    )  # fmt: skip


@numba.njit(cache=True)
def join_list(one: int, kind: int, state: ListState) -> None:
    """Add a candidate to those who are offered items."""
    state.members[kind, state.waiting[kind]] = one
    state.slot[one] = state.waiting[kind]
    state.waiting[kind] += 1


@numba.njit(cache=True)
def leave_list(one: int, kind: int, state: ListState) -> None:
    """Remove a candidate from those who are offered items."""
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
    n = _first_in_order(item, now, candidates, items, rules, law, order, state, room)
    chosen, most = room.chosen, min(n, rules.most_offers)
    state.offers[item] = 0
    if order.k == 1:
        offer_in_turn(chosen[:most], item, now, candidates, items, rules, state)
        return
    for offer in range(most):  # Algorithm 1 of the paper among the k best who have not been asked
        at = offer + _draw_position(items.key[item], offer, min(order.k, n - offer))
        one = chosen[at]
        for i in range(at, offer, -1):
            chosen[i] = chosen[i - 1]
        chosen[offer] = one
        if make_offer(one, item, now, candidates, items, rules, state):
            return


@numba.njit(cache=True)
def make_offer(
    one: int, item: int, now: float, candidates: CandidateArrays, items: ItemArrays, rules: ListRules,
    state: ListState,
) -> bool:  # fmt: skip
    """Offer an item to a candidate; return whether it is accepted, in which case the candidate leaves the list."""
    state.offers[item] += 1
    odds = rules.acceptance[state.status[one]] + items.quality[item]
    if pair_uniform(candidates.key[one], items.key[item], ACCEPTS) >= 1 / (1 + np.exp(-odds)):
        return False
    leave_list(one, candidates.kind[one], state)
    state.place[one], state.left_at[one], state.recipient[item] = MATCHED, now, one
    return True


@numba.njit(cache=True)
def offer_in_turn(
    chosen: IntArray, item: int, now: float, candidates: CandidateArrays, items: ItemArrays, rules: ListRules,
    state: ListState,
) -> None:  # fmt: skip
    """Offer an item to candidates, one after the other, until one accepts it."""
    for one in chosen:
        if make_offer(one, item, now, candidates, items, rules, state):
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
    item: int, now: float, candidates: CandidateArrays, items: ItemArrays, rules: ListRules, law: tuple[object, ...],
    order: Order, state: ListState, room: Room,
) -> int:  # fmt: skip
    """Put those to be asked, the first first, into `room.chosen`, as many as it holds; return how many there are."""
    eligible = gather_eligible(item, candidates, items, rules, state, room)
    eligible = _classify(eligible, order, state, room)
    _score(item, now, eligible, candidates, items, law, order, state, room)
    n = 0
    for i in range(eligible):
        n = keep_first(room.best, room.chosen, n, room.score[i] - CLASS_STEP * room.tier[i], room.who[i])
    sort_kept(room.best, room.chosen, n)
    return n


@numba.njit(cache=True)
def gather_eligible(
    item: int, candidates: CandidateArrays, items: ItemArrays, rules: ListRules, state: ListState, room: Room
) -> int:
    """Gather whom the item fits, with degree of fit and distance; return how many."""
    n, key, size, distances = 0, items.key[item], items.size[item], items.distances[item]
    for kind in range(len(state.waiting)):
        fit = rules.fits[items.kind[item], kind]
        if fit == NO_FIT:
            continue
        for i in range(state.waiting[kind]):
            one = state.members[kind, i]
            distance = distances[candidates.site[one]]
            ratio = size / candidates.size[one]
            if distance > rules.reach or ratio < rules.size_low or ratio > rules.size_high:
                continue
            if pair_uniform(candidates.key[one], key, OFFERED) >= candidates.openness[one]:
                continue
            room.who[n], room.fit[n], room.distance[n] = one, fit, distance
            n += 1
    return n


@numba.njit(cache=True)
def _classify(n: int, order: Order, state: ListState, room: Room) -> int:
    """Find the class of each; if those of the first classes are more than can be asked, the others are left out."""
    tally, last, before = room.tally, 0, 0
    tally[:] = 0
    for i in range(n):
        zone = 0
        for limit in order.zones:
            zone += room.distance[i] > limit
        tier = order.classes[state.status[room.who[i]], zone] + order.second_fit * room.fit[i]
        room.tier[i] = tier
        tally[tier] += 1
    while last < len(tally) - 1 and before + tally[last] < len(room.chosen):
        before += tally[last]
        last += 1
    kept = 0
    for i in range(n):
        if room.tier[i] <= last:
            room.who[kept], room.fit[kept], room.distance[kept] = room.who[i], room.fit[i], room.distance[i]
            room.tier[kept] = room.tier[i]
            kept += 1
    return kept


@numba.njit(cache=True)
def _score(
    item: int, now: float, n: int, candidates: CandidateArrays, items: ItemArrays, law: tuple[object, ...],
    order: Order, state: ListState, room: Room,
) -> None:  # fmt: skip
    """Score the eligible: within a class, the higher score is asked first."""
    weights, own, alone = order.weights, len(order.by_state) > 1, len(order.by_candidate) > 1
    if weights.pair != 0 and order.by_law:
        room.item[0] = item
        score_pairs(law, room.who, room.item, room.distance, n, room.score)
    for i in range(n):
        one, score = room.who[i], 0.0
        if weights.pair != 0:
            score = weights.pair * (room.score[i] if order.by_law else order.scores[one, order.item_type[item]])
        score += order.by_state[one if own else 0, state.status[one]]
        score += order.by_candidate[one if alone else 0]
        if weights.waiting != 0:
            score += weights.waiting * (now - candidates.listed[one])
        if weights.in_state != 0:
            score += weights.in_state * (state.time_in[one, state.status[one]] + (now - state.since[one]))
        if weights.first_fit != 0 and room.fit[i] == 0:
            score += weights.first_fit
        if weights.distance != 0:
            score += weights.distance * room.distance[i]
        if weights.size != 0:
            gap = abs(items.size[item] / candidates.size[one] - 1)
            score += 0.0 if np.isnan(gap) else weights.size * gap
        if weights.random != 0:
            score += weights.random * pair_uniform(candidates.key[one], items.key[item], ORDERS)
        room.score[i] = score
