"""The list as a queue whose answer is known: one blood group, every heart fits and is taken by whoever is first."""

from dataclasses import replace

import numpy as np
import pytest

from lifeyears.simulation import World
from lifeyears.simulation._match import WAITING
from lifeyears.simulation._measures import DAYS, measure
from lifeyears.simulation._people import draw_people
from lifeyears.simulation._policies import NAMED
from lifeyears.simulation._replicate import _order, run_policy, warmed_up

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
    people = draw_people(world, YEARS, np.random.SeedSequence((9, seed)))
    nobody_differs = {
        "candidates": people.candidates.assign(blood_group="O"),
        "donors": people.donors.assign(donor_blood_group="O"),
        "group": np.zeros_like(people.group),
        "donor_group": np.zeros_like(people.donor_group),
        "open_to": np.ones_like(people.open_to),
    }
    people = replace(people, **nobody_differs)
    # those who wait when the burn-in begins may be inactive: here they are not
    people = replace(people, events=replace(people.events, state=np.where(people.events.state < 7, 3, 7)))
    return people, run_policy(people, warmed_up(people, world), world, _order(NAMED[policy], people, {}, world))


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
    found = [measure(*played(world, policy, seed), world, YEARS).measures for seed in range(REPLICATES)]
    for name, value in zip(MEASURED, expected, strict=True):
        assert near([each[name] for each in found], value), name


def test_first_come_first_served_waits_as_in_a_queue_with_one_server():
    """M/M/1: without deaths the wait from listing is exponential with rate μ − λ, and the mean length ρ/(1 − ρ)."""
    arriving, served = 200.0, 240.0
    world = queue(arriving, served, 0.0)
    found = [measure(*played(world, "first_come", seed), world, YEARS).measures for seed in range(REPLICATES)]
    assert near([each["waiting_days_median"] for each in found], np.log(2) / (served - arriving) * DAYS)
    assert near([each["waiting"] for each in found], arriving / (served - arriving))
    assert near([each["hearts_lost_per_year"] for each in found], served - arriving)


def test_everybody_is_accounted_for():
    """Listed before or after the start = waiting at the end + dead + gone + transplanted, and patient-years add up."""
    world = replace(World().scaled(1 / 20), burn_in_years=1.0)
    people = draw_people(world, 3.0, np.random.SeedSequence(4))
    start = warmed_up(people, world)
    end = run_policy(people, start, world, _order(NAMED["uniform"], people, {}, world))
    found = measure(people, end, world, 3.0).measures
    came = (start.place == WAITING).sum() + (people.listed >= 0).sum()
    went = sum(found[name] for name in ("transplants_per_year", "waitlist_deaths_per_year", "left_per_year")) * 3.0
    assert came == round(went) + (end.place == WAITING).sum()
    # patient-years by stepping through time: the length of the list at 3,000 moments
    moments = (np.arange(3000) + 0.5) / 1000
    lengths = [((people.listed <= now) & (end.left_at > now)).sum() for now in moments]
    assert found["waiting"] == pytest.approx(np.mean(lengths), rel=1e-3)
