"""The list as a queue whose answer is known: one blood group, every heart fits and is taken by whoever is first."""

from dataclasses import replace

import numpy as np
import pytest

from lifeyears.simulation import NAMED_POLICIES, World
from lifeyears.simulation.engine import WAITING, warm_up
from lifeyears.simulation.policies import US_STATUS_ORDER, run_simulated, view_world
from lifeyears.simulation.worlds.heart import draw_arrivals, make_scenario, measure_run

YEARS, REPLICATES = 15.0, 8
MEASURED = ("waiting", "transplants_per_year", "hearts_lost_per_year", "waitlist_deaths_per_100_patient_years")


def queue(listed, hearts, death):
    """A world in which candidates wait, die at one rate, and take any heart."""
    return World(
        listed_per_year=listed,
        donors_per_year=hearts,
        waiting_at_start=round(listed / 10),
        burn_in_years=4.0,
        death_rates=(death,) * 7,
        leaving_rates=(0,) * 7,
        status_changes=np.zeros((7, 7)),
        listed_in=np.tile([0, 0, 0, 1, 0, 0], (6, 1)),
        frailty=0.0,
        acceptance=(20,) * 6,
        quality=0.0,
        reach_nm=20_000,
        zones_nm=(),
        size_match=None,
    )


def played(world, policy, seed):
    arrivals = draw_arrivals(world, YEARS, np.random.SeedSequence((9, seed)))
    nobody_differs = {
        "candidates": arrivals.candidates.assign(blood_group="O"),
        "donors": arrivals.donors.assign(donor_blood_group="O"),
        "group": np.zeros_like(arrivals.group),
        "donor_group": np.zeros_like(arrivals.donor_group),
        "open_to": np.ones_like(arrivals.open_to),
    }
    arrivals = replace(arrivals, **nobody_differs)
    # those who wait when the burn-in begins may be inactive: here they are not
    arrivals = replace(arrivals, events=replace(arrivals.events, state=np.where(arrivals.events.state < 7, 3, 7)))
    scenario = make_scenario(arrivals, world)
    seen = view_world(NAMED_POLICIES[policy], arrivals, scenario, {}, world)
    return arrivals, run_simulated(NAMED_POLICIES[policy], seen, warm_up(scenario, US_STATUS_ORDER))


def near(found, expected, errors=4.0):
    found = np.asarray(found)
    return abs(found.mean() - expected) < errors * found.std(ddof=1) / np.sqrt(len(found))


@pytest.mark.parametrize("policy", ["us_status", "first_come", "uniform"])
def test_a_queue_that_loses_patience_is_that_of_the_birth_and_death_chain(policy):
    """Lengths have chances p_n ∝ Π_{i≤n} λ/(μ + iθ), whatever the order: from them who waits, and what is lost."""
    arriving, served, death = 220.0, 200.0, 5.0
    world = queue(arriving, served, death)
    n = np.arange(1, 400)
    chances = np.exp(np.append(0, np.cumsum(np.log(arriving) - np.log(served + n * death))))
    chances /= chances.sum()
    waiting = chances @ np.append(0, n)
    expected = waiting, served * (1 - chances[0]), served * chances[0], 100 * death
    found = [measure_run(*played(world, policy, seed), world, YEARS).measures for seed in range(REPLICATES)]
    for name, value in zip(MEASURED, expected, strict=True):
        assert near([each[name] for each in found], value), name


def test_first_come_first_served_waits_as_in_a_queue_with_one_server():
    """M/M/1: without deaths the wait from listing is exponential with rate μ − λ, and the mean length ρ/(1 − ρ)."""
    arriving, served = 200.0, 240.0
    world = queue(arriving, served, 0.0)
    found = [measure_run(*played(world, "first_come", seed), world, YEARS).measures for seed in range(REPLICATES)]
    assert near([each["waiting_days_median"] for each in found], np.log(2) / (served - arriving) * 365.25)
    assert near([each["waiting"] for each in found], arriving / (served - arriving))
    assert near([each["hearts_lost_per_year"] for each in found], served - arriving)


def test_everybody_is_accounted_for():
    """Listed before or after the start = waiting at the end + dead + gone + transplanted, and patient-years add up."""
    world = replace(World().scaled(1 / 20), burn_in_years=1.0)
    arrivals = draw_arrivals(world, 3.0, np.random.SeedSequence(4))
    scenario = make_scenario(arrivals, world)
    start = warm_up(scenario, US_STATUS_ORDER)
    policy = NAMED_POLICIES["uniform"]
    end = run_simulated(policy, view_world(policy, arrivals, scenario, {}, world), start)
    found = measure_run(arrivals, end, world, 3.0).measures
    came = (start.place == WAITING).sum() + (arrivals.listed >= 0).sum()
    went = sum(found[name] for name in ("transplants_per_year", "waitlist_deaths_per_year", "left_per_year")) * 3.0
    assert came == round(went) + (end.place == WAITING).sum()
    # patient-years by stepping through time: the length of the list at 3,000 moments
    moments = (np.arange(3000) + 0.5) / 1000
    lengths = [((arrivals.listed <= now) & (end.left_at > now)).sum() for now in moments]
    assert found["waiting"] == pytest.approx(np.mean(lengths), rel=1e-3)
