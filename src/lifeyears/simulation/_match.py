"""The waiting list in time: events one after another, and a match run for every heart.

The plain twin of these kernels is in tests/simulation/plain_list.py.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np

from ..data.registry import COMPATIBILITY_CODES
from ._heap import keep_first, sort_kept
from ._pair_law import CandidateLaw, DonorLaw, LifeTable, expected_lives, pair_luck
from ._people import CHANGED, HEART, LISTED
from ._waitlist import DIED
from ._world import INACTIVE

WAITING, TRANSPLANTED, DEAD, GONE_AWAY, NOT_YET = 0, 1, 2, 3, 4  # where a candidate is
BY_STATUS, BY_WAITING, BY_CHANCE, BY_TABLE, BY_TRUTH = 0, 1, 2, 3, 4  # what orders a match run
# places of the pair's (the last: the donor's) uniform numbers; 1 and 2 are the law's
SUITS, TAKES, ORDERS, PICKS = 3, 4, 5, 6
INCOMPATIBLE = 2
FAR = 1e6  # more than any score: a zone, or a class, comes before all scores

# Classes of US policy 6, adult donors: first class of a status (row) in a zone (250, 500, 1000, 1500, 2500 nautical
# miles, nation); primary blood groups are in the class itself, secondary ones in the next.
US_ZONES = np.array([250.0, 500.0, 1000.0, 1500.0, 2500.0])
US_CLASSES = np.array(
    [
        [1, 1, 7, 21, 33, 45],
        [3, 3, 9, 23, 35, 47],
        [5, 13, 17, 25, 37, 49],
        [11, 27, 39, 51, 57, 63],
        [15, 29, 41, 53, 59, 65],
        [19, 31, 43, 55, 61, 67],
    ]
)


class ListRules(NamedTuple):
    """How hearts are offered, whatever the policy."""

    acceptance: np.ndarray
    most_offers: int
    reach: float
    zones: np.ndarray
    size_low: float
    size_high: float


class Order(NamedTuple):
    """What a policy orders by: `years` less `without`, for `BY_TABLE`; k above 1 is position-weighted."""

    kind: int
    k: int
    years: np.ndarray  # (candidates, types)
    donor_type: np.ndarray  # of each heart: the column of `years`
    without: np.ndarray  # (candidates or 1, 7)


class People(NamedTuple):
    """Candidates and donors, as the kernels read them."""

    listed: np.ndarray
    group: np.ndarray
    centre: np.ndarray
    open_to: np.ndarray  # share of hearts that suit each candidate
    donor_group: np.ndarray
    quality: np.ndarray
    distances: np.ndarray
    candidates: CandidateLaw
    donors: DonorLaw
    table: LifeTable


class State(NamedTuple):
    """Where everybody is: changed in place as time goes."""

    place: np.ndarray  # of each candidate: WAITING, …
    status: np.ndarray
    left_at: np.ndarray
    recipient: np.ndarray  # of each heart; -1: nobody
    offers: np.ndarray  # of each heart; -1: not yet offered
    members: np.ndarray  # (4, candidates): who waits, by blood group
    waiting: np.ndarray  # (4,): how many
    slot: np.ndarray  # of each candidate in `members`


class MatchRun(NamedTuple):
    """Room for a match run: whom the heart fits, and the first of them in order."""

    who: np.ndarray
    zone: np.ndarray
    distance: np.ndarray
    score: np.ndarray
    tally: np.ndarray
    heart: np.ndarray
    best: np.ndarray
    chosen: np.ndarray


def empty_list(n_candidates: int, n_donors: int) -> State:
    """Nobody is listed yet."""
    return State(
        np.full(n_candidates, NOT_YET),
        np.zeros(n_candidates, dtype=np.int64),
        np.full(n_candidates, np.inf),
        np.full(n_donors, -1),
        np.full(n_donors, -1),
        np.zeros((4, n_candidates), dtype=np.int64),
        np.zeros(4, dtype=np.int64),
        np.zeros(n_candidates, dtype=np.int64),
    )


def copied(state: State) -> State:
    """A list to go on from without changing this one."""
    return State(*(part.copy() for part in state))


@numba.njit(cache=True)
def run_events(
    time: np.ndarray, kind: np.ndarray, who: np.ndarray, new: np.ndarray,
    people: People, rules: ListRules, order: Order, state: State,
) -> None:  # fmt: skip
    """Let the events happen in their order; what would come after a transplant does not."""
    most = rules.most_offers + order.k
    n, whole = len(state.place), np.int64
    run = MatchRun(
        np.empty(n, whole), np.empty(n, whole), np.empty(n), np.empty(n), np.zeros(len(rules.zones) + 1, whole),
        np.zeros(1, whole), np.empty(most), np.empty(most, whole),
    )  # fmt: skip
    for event in range(len(time)):
        one = who[event]
        if kind[event] == LISTED:
            state.place[one], state.status[one] = WAITING, new[event]
            _join(one, people.group[one], state)
        elif kind[event] == HEART:
            _match_run(one, time[event], people, rules, order, state, run)
        elif state.place[one] == WAITING:
            if kind[event] == CHANGED:
                state.status[one] = new[event]
            else:  # GONE
                _part(one, people.group[one], state)
                state.place[one] = DEAD if new[event] == DIED else GONE_AWAY
                state.left_at[one] = time[event]


@numba.njit(cache=True)
def _join(one: int, group: int, state: State) -> None:
    state.members[group, state.waiting[group]] = one
    state.slot[one] = state.waiting[group]
    state.waiting[group] += 1


@numba.njit(cache=True)
def _part(one: int, group: int, state: State) -> None:
    last = state.members[group, state.waiting[group] - 1]
    state.members[group, state.slot[one]] = last
    state.slot[last] = state.slot[one]
    state.waiting[group] -= 1


@numba.njit(cache=True)
def _match_run(
    heart: int, now: float, people: People, rules: ListRules, order: Order, state: State, run: MatchRun
) -> None:
    """Offer a heart in the policy's order until it is taken, or lost."""
    n = _first_in_order(heart, people, rules, order, state, run)
    chosen = run.chosen
    state.offers[heart] = 0
    for offer in range(min(n, rules.most_offers)):
        at = offer
        if order.k > 1:  # Algorithm 1 of the paper among the k best who have not been asked
            at = offer + _position(people.donors.key[heart], offer, min(order.k, n - offer))
            one = chosen[at]
            for i in range(at, offer, -1):
                chosen[i] = chosen[i - 1]
            chosen[offer] = one
        one = chosen[offer]
        state.offers[heart] += 1
        odds = rules.acceptance[state.status[one]] + people.quality[heart]
        if pair_luck(people.candidates.key[one], people.donors.key[heart], TAKES) < 1 / (1 + np.exp(-odds)):
            _part(one, people.group[one], state)
            state.place[one], state.left_at[one], state.recipient[heart] = TRANSPLANTED, now, one
            return


@numba.njit(cache=True)
def _position(key: np.uint64, offer: int, k: int) -> int:
    """A position below k, with chance d(i)/W_k, i its place from 1 on."""
    total = 0.0
    for i in range(1, k + 1):
        total += 1 / np.log2(i + 1)
    drawn = pair_luck(np.uint64(offer), key, PICKS) * total
    for i in range(1, k):
        drawn -= 1 / np.log2(i + 1)
        if drawn < 0:
            return i - 1
    return k - 1


@numba.njit(cache=True)
def _first_in_order(heart: int, people: People, rules: ListRules, order: Order, state: State, run: MatchRun) -> int:
    """Put those to be asked, the first first, into `run.chosen`, as many as it holds; return how many there are."""
    eligible = _within_reach(heart, people, rules, order, state, run)
    scores, chosen = run.best, run.chosen
    _score(heart, eligible, people, order, state, run)
    n = 0
    for i in range(eligible):
        one, score = run.who[i], run.score[i] - FAR * run.zone[i]
        n = keep_first(scores, chosen, n, score, one)
    sort_kept(scores, chosen, n)
    return n


@numba.njit(cache=True)
def _within_reach(heart: int, people: People, rules: ListRules, order: Order, state: State, run: MatchRun) -> int:
    """Gather whom the heart fits, with zone (for the US policy: class) and distance; return how many.

    If those in the nearest zones are more than can be asked, the further ones are left out.
    """
    n, mass, asked, zones = 0, people.donors.mass[heart], 0, rules.zones
    for zone in range(len(zones) + 1):
        run.tally[zone] = 0
    for group in range(4):
        blood = COMPATIBILITY_CODES[people.donor_group[heart], group]
        if blood == INCOMPATIBLE:
            continue
        for i in range(state.waiting[group]):
            one = state.members[group, i]
            if state.status[one] == INACTIVE:
                continue
            distance = people.distances[heart, people.centre[one]]
            ratio = mass / people.candidates.mass[one]
            if distance > rules.reach or ratio < rules.size_low or ratio > rules.size_high:
                continue
            if pair_luck(people.candidates.key[one], people.donors.key[heart], SUITS) >= people.open_to[one]:
                continue
            zone = 0
            if order.kind == BY_STATUS:
                for limit in US_ZONES:
                    zone += distance > limit
                zone = US_CLASSES[state.status[one], zone] + blood
            else:
                for limit in zones:
                    zone += distance > limit
                run.tally[zone] += 1
            run.who[n], run.zone[n], run.distance[n] = one, zone, distance
            n += 1
    if order.kind == BY_STATUS or len(zones) == 0:
        return n
    last = 0
    while last < len(zones) and asked + run.tally[last] < len(run.chosen):
        asked += run.tally[last]
        last += 1
    kept = 0
    for i in range(n):
        if run.zone[i] <= last:
            run.who[kept], run.zone[kept], run.distance[kept] = run.who[i], run.zone[i], run.distance[i]
            kept += 1
    return kept


@numba.njit(cache=True)
def _score(heart: int, n: int, people: People, order: Order, state: State, run: MatchRun) -> None:
    """Within a zone or class, the higher score is asked before."""
    if order.kind == BY_STATUS or order.kind == BY_WAITING:
        for i in range(n):
            run.score[i] = -people.listed[run.who[i]]
        return
    if order.kind == BY_CHANCE:
        key = people.donors.key[heart]
        for i in range(n):
            run.score[i] = pair_luck(people.candidates.key[run.who[i]], key, ORDERS)
        return
    if order.kind == BY_TRUTH:
        run.heart[0] = heart
        expected_lives(run.who, run.heart, run.distance, n, people.candidates, people.donors, people.table, run.score)
    else:
        kind = order.donor_type[heart]
        for i in range(n):
            run.score[i] = order.years[run.who[i], kind]
    own = len(order.without) > 1
    for i in range(n):
        run.score[i] -= order.without[run.who[i] if own else 0, state.status[run.who[i]]]
