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
    rules = scenario.rules
    state = empty_list(len(scenario.candidates.key), len(scenario.items.key), rules.fits.shape[1], rules.n_active)
    return _run(scenario, state, order, slice(0, find_start(scenario)))


def run_policy(scenario: Scenario, start: ListState, order: Order) -> ListState:
    """Return the list at the end, under an order from time 0 on; `start` stays as it is."""
    return _run(scenario, copy_list(start), order, slice(find_start(scenario), None))


def find_start(scenario: Scenario) -> int:
    """Return the number of the first event that is not before time 0."""
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
    room = make_room(len(state.place), order.classes.max() + order.second_fit + 1, rules.most_offers + order.k)
    event = 0
    while True:
        event = advance(event, time, kind, who, new, candidates, rules, state)
        if event == len(time):
            return
        run_match(who[event], time[event], candidates, items, rules, law, order, state, room)
        event += 1


@numba.njit(cache=True)
def advance(
    event: int, time: FloatArray, kind: IntArray, who: IntArray, new: IntArray, candidates: CandidateArrays,
    rules: ListRules, state: ListState,
) -> int:  # fmt: skip
    """Let events happen until the next item arrives; return the number of that event, or how many there are."""
    while event < len(time) and kind[event] != ITEM:
        one, now = who[event], time[event]
        if kind[event] == LISTED:
            state.place[one], state.status[one], state.since[one] = WAITING, new[event], now
            if new[event] < rules.n_active:
                join_list(one, candidates.kind[one], state)
        elif state.place[one] == WAITING:
            was, will = state.status[one] < rules.n_active, new[event] < rules.n_active and kind[event] == CHANGED
            if was and not will:
                leave_list(one, candidates.kind[one], state)
            elif will and not was:
                join_list(one, candidates.kind[one], state)
            if kind[event] == CHANGED:
                if was:
                    state.time_in[one, state.status[one]] += now - state.since[one]
                state.status[one], state.since[one] = new[event], now
            else:  # GONE
                state.place[one] = DEAD if new[event] == rules.death else REMOVED
                state.left_at[one] = now
        event += 1
    return event
