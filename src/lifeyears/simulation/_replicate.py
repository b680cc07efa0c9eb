"""One replicate: the same candidates and hearts under every policy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .engine import warm_up
from .policies import US_STATUS_ORDER, Simulated, run_simulated, score_for_policies, view_world
from .worlds.heart import Measurements, World, draw_arrivals, make_scenario, measure_run


def run_replicate(
    world: World,
    policies: Sequence[Simulated],
    years: float,
    seed: np.random.SeedSequence,
    common: bool = True,
) -> dict[str, Measurements]:
    """Run every policy on arrivals drawn once, or, without common random numbers, each on separate arrivals."""
    if common:
        return _run_policies(world, policies, years, seed)
    measured: dict[str, Measurements] = {}
    for policy, own_seed in zip(policies, seed.spawn(len(policies)), strict=True):
        measured |= _run_policies(world, [policy], years, own_seed)
    return measured


def _run_policies(
    world: World, policies: Sequence[Simulated], years: float, seed: np.random.SeedSequence
) -> dict[str, Measurements]:
    """Warm the list up under the US rules, and continue from there under each policy."""
    arrivals = draw_arrivals(world, years, seed)
    scenario = make_scenario(arrivals, world)
    start = warm_up(scenario, US_STATUS_ORDER)
    tables = score_for_policies(policies, arrivals, start, world)
    measured = {}
    for policy in policies:
        end = run_simulated(policy, view_world(policy, arrivals, scenario, tables, world), start)
        measured[policy.name] = measure_run(arrivals, end, world, years)
    return measured
