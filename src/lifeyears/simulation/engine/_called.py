"""The list under a policy that is called for every item: the same list, around a function in plain Python."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ..._typing import FloatArray, IntArray
from ._arrays import ListState, Scenario, copy_list
from ._match_run import gather_eligible, make_offer, make_room, offer_in_turn
from ._pairs import PICKS, pair_uniform
from ._run import advance, find_start


@dataclass(frozen=True, eq=False)
class MatchRun:
    """An item, and whom it fits at this moment.

    Attributes
    ----------
    item : int
    now : float
        Years from the start.
    who : array of int
        The candidates whom the item fits.
    fit : array of int
        0 for the first degree of fit, 1 for the second.
    distance : array of float
    state : ListState
        Of the whole list; not to be changed.
    """

    item: int
    now: float
    who: IntArray
    fit: IntArray
    distance: FloatArray
    state: ListState


class CalledPolicy(Protocol):
    """What the engine calls for an item."""

    @property
    def probabilities(self) -> Callable[[FloatArray], FloatArray] | None:
        """From the scores of those who have not been asked to the probability that each is next; None: in order."""

    def rank(self, run: MatchRun) -> FloatArray:
        """Return a finite score for each candidate: the higher is asked first."""


def run_called_policy(scenario: Scenario, start: ListState, policy: CalledPolicy) -> ListState:
    """Return the list at the end, under a policy that is called for every item; `start` stays as it is.

    Equal scores: who has the lower number, as in `run_policy`.
    """
    state, part = copy_list(start), slice(find_start(scenario), None)
    events, candidates, items, rules = scenario.events, scenario.candidates, scenario.items, scenario.rules
    time, kind, who, new = (each[part] for each in (events.time, events.kind, events.who, events.state))
    room = make_room(len(state.place), 1, 1)
    event = advance(0, time, kind, who, new, candidates, rules, state)
    while event < len(time):
        item, now = int(who[event]), float(time[event])
        n = gather_eligible(item, candidates, items, rules, state, room)
        state.offers[item] = 0
        if n:
            run = MatchRun(item, now, room.who[:n].copy(), room.fit[:n].copy(), room.distance[:n].copy(), state)
            _offer(scenario, run, policy)
        event = advance(event + 1, time, kind, who, new, candidates, rules, state)
    return state


def _offer(scenario: Scenario, run: MatchRun, policy: CalledPolicy) -> None:
    """Offer an item until it is accepted, or lost."""
    candidates, items, rules = scenario.candidates, scenario.items, scenario.rules
    scores = policy.rank(run)
    order = np.lexsort((run.who, -scores))
    remaining, scores = run.who[order], scores[order]
    if policy.probabilities is None:
        offer_in_turn(remaining[: rules.most_offers], run.item, run.now, candidates, items, rules, run.state)
        return
    for offer in range(min(len(order), rules.most_offers)):
        place = _draw(policy.probabilities(scores), offer, items.key[run.item])
        if place is None:  # nobody of those who remain is to be asked
            return
        one, remaining, scores = remaining[place], np.delete(remaining, place), np.delete(scores, place)
        if make_offer(one, run.item, run.now, candidates, items, rules, run.state):
            return


def _draw(probabilities: FloatArray, offer: int, key: np.uint64) -> int | None:
    """Draw a place, with the item's own random number for this offer; None if all probabilities are 0."""
    reached = np.cumsum(probabilities)
    if reached[-1] <= 0:
        return None
    drawn = pair_uniform(np.uint64(offer), key, PICKS) * reached[-1]
    return int(min(np.searchsorted(reached, drawn, side="right"), np.flatnonzero(probabilities)[-1]))
