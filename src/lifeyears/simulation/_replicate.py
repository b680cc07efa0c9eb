"""One replicate: the same candidates and hearts under every policy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ._match import (
    BY_CHANCE,
    BY_STATUS,
    BY_TABLE,
    BY_TRUTH,
    BY_WAITING,
    NOT_YET,
    WAITING,
    ListRules,
    Order,
    State,
    copied,
    empty_list,
    run_events,
)
from ._match import People as Arrays
from ._measures import Measured, measure
from ._pair_law import life_table
from ._people import People, draw_people
from ._policies import Policy
from ._scores import Scores, score_candidates
from ._waitlist import N_STATES, life_without
from ._world import World

NO_YEARS, NO_TYPE, NO_LIFE = np.zeros((1, 1)), np.zeros(1, dtype=np.int64), np.zeros((1, N_STATES))
US = Order(BY_STATUS, 1, NO_YEARS, NO_TYPE, NO_LIFE)
KINDS = {"status": BY_STATUS, "waiting": BY_WAITING, "random": BY_CHANCE}


def run_replicate(
    world: World,
    policies: Sequence[Policy],
    years: float,
    seed: np.random.SeedSequence,
    common: bool = True,
) -> dict[str, Measured]:
    """Every policy on people drawn once, or, without common random numbers, on people of its own."""
    if common:
        return _all_policies(world, policies, years, seed)
    found: dict[str, Measured] = {}
    for policy, own in zip(policies, seed.spawn(len(policies)), strict=True):
        found |= _all_policies(world, [policy], years, own)
    return found


def _all_policies(
    world: World, policies: Sequence[Policy], years: float, seed: np.random.SeedSequence
) -> dict[str, Measured]:
    people = draw_people(world, years, seed)
    start = warmed_up(people, world)
    tables = _tables(people, start, policies, world)
    return {
        policy.name: measure(
            people, run_policy(people, start, world, _order(policy, people, tables, world)), world, years
        )
        for policy in policies
    }


def warmed_up(people: People, world: World) -> State:
    """The list as the US rules leave it after the burn-in: where every policy starts."""
    state = empty_list(len(people.candidates), len(people.donors))
    return _run(people, state, world, US, before=True)


def run_policy(people: People, start: State, world: World, order: Order) -> State:
    """The list at the end, under a policy from the start on."""
    return _run(people, copied(start), world, order, before=False)


def _run(people: People, state: State, world: World, order: Order, before: bool) -> State:
    events = people.events
    zero = int(np.searchsorted(events.time, 0.0))
    part = slice(0, zero) if before else slice(zero, None)
    low, high = world.size_match or (0.0, np.inf)
    run_events(
        events.time[part],
        events.kind[part],
        events.who[part],
        events.state[part],
        Arrays(
            people.listed,
            people.group,
            people.centre,
            people.open_to,
            people.donor_group,
            people.quality,
            people.distances,
            people.candidate_law,
            people.donor_law,
            life_table(world.law, world.year, world.tau),
        ),
        ListRules(
            np.array(world.acceptance),
            world.most_offers,
            world.reach_nm,
            np.array(world.zones_nm),
            float(low),
            float(high),
        ),
        order,
        state,
    )
    return state


def _tables(people: People, start: State, policies: Sequence[Policy], world: World) -> dict[int, Scores]:
    """Years by candidate and type of donor, by the identity of the model; only for those a policy can meet."""
    wanted = {id(policy.model): policy.model for policy in policies if policy.order == "model" and not policy.knows}
    rows = np.flatnonzero((start.place == WAITING) | (start.place == NOT_YET))
    return dict(zip(wanted, score_candidates(list(wanted.values()), people, rows, world), strict=True))


def _order(policy: Policy, people: People, tables: dict[int, Scores], world: World) -> Order:
    """What the kernels need to know of a policy.

    For life-years gained, who knows the truth knows each candidate's frailty; a model knows the rates of the status.
    """
    if policy.order != "model":
        return Order(KINDS[policy.order], policy.k, NO_YEARS, NO_TYPE, NO_LIFE)
    without = NO_LIFE
    if policy.target == "gain":
        without = people.without if policy.knows else life_without(np.ones(1), world)
    if policy.knows:
        return Order(BY_TRUTH, policy.k, NO_YEARS, NO_TYPE, without)
    scores = tables[id(policy.model)]
    return Order(BY_TABLE, policy.k, scores.years, scores.donor_type, without)
