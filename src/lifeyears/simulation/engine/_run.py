"""The event loop: what happens to the list from the first event of a replicate to the last."""

from __future__ import annotations

import numba
import numpy as np

from ..._typing import FloatArray, IntArray
from ._arrays import (
    CHANGED,
    DEAD,
    ITEM,
    LISTED,
    REMOVED,
    WAITING,
    CandidateArrays,
    ItemArrays,
    ListRules,
    ListState,
    Order,
    Scenario,
    copy_list,
    empty_list,
)
from ._match_run import join_list, leave_list, make_room, run_match


def warm_up(scenario: Scenario, order: Order) -> ListState:
    """Return the list at time 0, as an order leaves it after the burn-in: where every policy starts."""
    n_kinds = scenario.rules.fits.shape[1]
    state = empty_list(len(scenario.candidates.key), len(scenario.items.key), n_kinds)
    return _run(scenario, state, order, slice(0, _start(scenario)))


def run_policy(scenario: Scenario, start: ListState, order: Order) -> ListState:
    """Return the list at the end, under an order from time 0 on; `start` stays as it is."""
    return _run(scenario, copy_list(start), order, slice(_start(scenario), None))


def _start(scenario: Scenario) -> int:
    return int(np.searchsorted(scenario.events.time, 0.0))


def _run(scenario: Scenario, state: ListState, order: Order, part: slice) -> ListState:
    events = scenario.events
    run_events(
        events.time[part],
        events.kind[part],
        events.who[part],
        events.state[part],
        scenario.candidates,
        scenario.items,
        scenario.rules,
        scenario.law,
        order,
        state,
    )
    return state


@numba.njit(cache=True)
def run_events(
    time: FloatArray, kind: IntArray, who: IntArray, new: IntArray,
    candidates: CandidateArrays, items: ItemArrays, rules: ListRules, law: tuple[object, ...], order: Order,
    state: ListState,
) -> None:  # fmt: skip
    """Let the events happen in their order; those of a candidate who was matched before are skipped."""
    room = make_room(len(state.place), len(rules.zones), rules.most_offers + order.k)
    for event in range(len(time)):
        one = who[event]
        if kind[event] == LISTED:
            state.place[one], state.status[one] = WAITING, new[event]
            join_list(one, candidates.kind[one], state)
        elif kind[event] == ITEM:
            run_match(one, time[event], candidates, items, rules, law, order, state, room)
        elif state.place[one] == WAITING:
            if kind[event] == CHANGED:
                state.status[one] = new[event]
            else:  # GONE
                leave_list(one, candidates.kind[one], state)
                state.place[one] = DEAD if new[event] == rules.death else REMOVED
                state.left_at[one] = time[event]
