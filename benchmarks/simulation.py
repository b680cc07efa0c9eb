"""What a policy-year of the simulator costs, and what common random numbers save.

`python benchmarks/simulation.py speed` prints processor time by part, at US size, on one thread.
`python benchmarks/simulation.py called` prints the processor time of policies that are called in Python for every
heart, beside that of the same policies in the kernel.
`python benchmarks/simulation.py common` prints the width of the interval of each paired difference with common random
numbers over its width with streams of its own for each policy. Both tables stand in docs/simulation.md.
"""

import os

for library in ("OPENBLAS", "OMP", "MKL"):
    os.environ[f"{library}_NUM_THREADS"] = "1"

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from lifeyears.allocation import Tiers
from lifeyears.progress import no_progress
from lifeyears.simulation import US_CLASSES, Composite, Config, World, as_policy, simulate
from lifeyears.simulation.engine import warm_up
from lifeyears.simulation.policies import (
    US_STATUS_ORDER,
    as_policies,
    attach_models,
    fit_models,
    run_simulated,
    score_for_policies,
    view_world,
)
from lifeyears.simulation.worlds.heart import draw_arrivals, make_scenario, measure_run

COMPARED = {
    "life_years_gained": "life-years gained, a year",
    "transplants_per_year": "transplants a year",
    "life_years_per_transplant": "life-years a transplant",
    "waitlist_deaths_per_year": "deaths on the list a year",
    "waitlist_deaths_per_100_patient_years": "deaths per 100 patient-years",
    "life_years_gained_per_transplant": "life-years gained, for one transplant",
}


def seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    """Processor time of a call, and what it returned."""
    start = time.process_time()
    found = work()
    return time.process_time() - start, found


def speed(years: float, rows: int) -> pd.DataFrame:
    """Processor seconds per policy-year (of the list), per year (of scoring), or per replicate."""
    world, policies = World(), as_policies()
    fitted = attach_models(policies, fit_models(policies, world, rows, 0, no_progress))
    small = world.scaled(0.02)
    warm_up(make_scenario(draw_arrivals(small, 0.5, np.random.SeedSequence(0)), small), US_STATUS_ORDER)  # compile
    drawing, arrivals = seconds(lambda: draw_arrivals(world, years, np.random.SeedSequence(1)))
    scenario = make_scenario(arrivals, world)
    burn_in, start = seconds(lambda: warm_up(scenario, US_STATUS_ORDER))
    scoring, tables = seconds(lambda: score_for_policies(fitted, arrivals, start, world))
    table = {
        "drawing people, a replicate": drawing,
        "burn-in, a replicate": burn_in,
        "scoring by two models, a year": scoring / years,
    }
    for policy in fitted:
        seen = view_world(policy, arrivals, scenario, tables, world)
        run_simulated(policy, seen, start)
        listing, end = seconds(lambda policy=policy, seen=seen: run_simulated(policy, seen, start))  # type: ignore[misc]
        table[f"the list under {policy.name}, a year"] = listing / years
    measuring, _ = seconds(lambda: measure_run(arrivals, end, world, years))
    table["measuring, a year"] = measuring / years
    return pd.DataFrame({"seconds": table}).rename_axis("work")


class Simplest:
    """A policy in plain Python that reads one column."""

    def scores(self, candidates: Any, donor: Any, now: float) -> Any:
        return candidates["waiting"]


def called(years: float) -> pd.DataFrame:
    """Processor seconds per policy-year of the list, in the kernel and called in Python, and the slowdown."""
    world = World()
    weights = {
        "life": 1, "without": -1, "hazard": 5, "status": [4, 3, 2, 1, 0, 0], "waiting": 0.1, "waiting_at_status": 0.1,
        "primary_blood_group": 1, "distance": -0.001, "sensitised": 1, "size": -1, "age": -0.01,
    }  # fmt: skip
    policies = {
        "first come, no zones: Composite, and a Python class": (Composite({"waiting": 1}), Simplest()),
        "us_status": (as_policy("us_status"), as_policy("us_status")),
        "oracle": (as_policy("oracle"), as_policy("oracle")),
        "oracle, position-weighted (k = 5)": (Composite({"life": 1}, model="truth", k=5),) * 2,
        "eleven terms": (Composite(weights, zones=US_CLASSES, model="truth"),) * 2,
        "Tiers (status, then waiting)": (None, Tiers("status", waiting="waiting")),
    }
    arrivals = draw_arrivals(world, years, np.random.SeedSequence(1))
    scenario = make_scenario(arrivals, world)
    start = warm_up(scenario, US_STATUS_ORDER)
    rows = {}
    for name, pair in policies.items():
        took = []
        for policy, compiled in zip(pair, (True, False), strict=True):
            if policy is None:
                took.append(np.nan)
                continue
            simulated = as_policy(policy)
            seen = view_world(simulated, arrivals, scenario, {}, world)

            def run(simulated: Any = simulated, seen: Any = seen, compiled: bool = compiled) -> Any:
                return run_simulated(simulated, seen, start, compiled=compiled)

            run()
            took.append(seconds(run)[0] / years)
        rows[name] = (*took, took[1] / took[0])
    return pd.DataFrame.from_dict(rows, orient="index", columns=["kernel", "Python", "slowdown"]).rename_axis("policy")


def common(years: float, replicates: int, jobs: int, scale: float) -> pd.DataFrame:
    """Interval widths with common random numbers over those without, by measure and policy."""
    widths = {}
    for shared in (True, False):
        world = World().scaled(scale)
        config = Config(world=world, years=years, replicates=replicates, common_random_numbers=shared)
        found = simulate(["us_status", "first_come", "uniform", "oracle"], config=config, n_jobs=jobs).differences
        widths[shared] = (found["high"] - found["low"]).unstack("policy")
    ratio = widths[True] / widths[False]
    return ratio.loc[list(COMPARED), ["first_come", "uniform", "oracle"]].rename(COMPARED)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["speed", "called", "common"])
    parser.add_argument("--years", type=float, help="4 for speed, 1 for called, 5 for common, unless given")
    parser.add_argument("--replicates", type=int, default=16)
    parser.add_argument("--rows", type=int, default=40_000, help="of the registry that the models are fitted on")
    parser.add_argument("--scale", type=float, default=1.0, help="of the US list, for common")
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    if given.what == "speed":
        print(speed(given.years or 4.0, given.rows).round(3).to_string())
    elif given.what == "called":
        print(called(given.years or 1.0).round(3).to_string())
    else:
        print(common(given.years or 5.0, given.replicates, given.jobs, given.scale).round(2).to_string())


if __name__ == "__main__":
    main()
