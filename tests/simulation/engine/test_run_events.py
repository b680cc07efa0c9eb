"""The list in time: the kernels against their plain twin, and what must hold of any list."""

from dataclasses import replace

import numpy as np
import pytest
from plain_list import run_plainly, us_class

from lifeyears.data import Population
from lifeyears.simulation import NAMED_POLICIES, OfferRule, World
from lifeyears.simulation.engine import DEAD, MATCHED, REMOVED, WAITING, run_policy, warm_up
from lifeyears.simulation.policies import US_STATUS_ORDER, Composite, Scores, run_simulated, view_world
from lifeyears.simulation.worlds.heart import (
    INACTIVE,
    classify_donors,
    draw_arrivals,
    expect_life_without,
    make_scenario,
)
from lifeyears.simulation.worlds.heart._paths import DIED

SMALL = replace(World().scaled(1 / 60), burn_in_years=0.5, suitable=0.5, most_offers=12)
YEARS = 0.7


@pytest.fixture(scope="module")
def arrivals():
    return draw_arrivals(SMALL, YEARS, np.random.SeedSequence(3))


def end_of(arrivals, policy, world=SMALL, tables=None):
    scenario = make_scenario(arrivals, world)
    start = warm_up(scenario, US_STATUS_ORDER)
    return run_simulated(policy, view_world(policy, arrivals, scenario, tables or {}, world), start)


@pytest.mark.parametrize(
    "policy",
    [
        NAMED_POLICIES["us_status"],
        NAMED_POLICIES["first_come"],
        NAMED_POLICIES["uniform"],
        NAMED_POLICIES["oracle"],
        NAMED_POLICIES["oracle_lyg"],
        OfferRule("model", "model", model="any", k=5),
        OfferRule("gain", "model", model="any", target="gain"),
        Composite(
            {
                "life": 1.0,
                "without": -0.5,
                "hazard": 3.0,
                "status": [4, 3, 2, 1, 0.5, 0],
                "waiting": 0.3,
                "waiting_at_status": 0.7,
                "primary_blood_group": 1.5,
                "distance": -0.004,
                "sensitised": 2.0,
                "size": -3.0,
                "age": -0.05,
                "random": 0.8,
            },
            zones=(700.0,),
            model="any",
            name="weighted",
        ),
        Composite({"life": 1.0, "hazard": 2.0}, model="truth", k=3, name="weighted_oracle"),
    ],
    ids=lambda policy: policy.name,
)
def test_kernels_do_what_the_plain_loop_does(arrivals, policy):
    years = np.random.default_rng(0).normal(10, 2, (len(arrivals.candidates), 4))
    without = arrivals.without if policy.is_oracle else expect_life_without(np.ones(1), SMALL)
    tables = {id(policy.model): Scores(years, classify_donors(arrivals.donors))}
    end = end_of(arrivals, policy, tables=tables)
    recipient, offers, waiting, away = run_plainly(
        arrivals, SMALL, policy, years_of=years, without=without, burn_in=NAMED_POLICIES["us_status"]
    )
    assert len(recipient) > 30
    assert {d: c for d, c in enumerate(end.recipient) if c >= 0} == recipient
    assert dict(enumerate(end.offers)) == offers
    assert set(np.flatnonzero(end.place == WAITING)) == waiting
    assert set(np.flatnonzero(end.place == DEAD)) == {who for who, why in away.items() if why == "died"}


def test_us_classes_are_those_of_the_policy():
    middles = [100, 400, 900, 1200, 2000, 3000]
    for status in range(6):
        for distance in middles:
            first = US_STATUS_ORDER.classes[status, int(np.searchsorted(US_STATUS_ORDER.zones, distance))]
            assert first == us_class(status + 1, distance, "primary")
            assert first + 1 == us_class(status + 1, distance, "secondary")


@pytest.mark.parametrize("name", ["us_status", "first_come", "uniform", "oracle", "oracle_lyg"])
def test_hearts_are_conserved_and_nobody_is_transplanted_twice_or_after_leaving(name):
    world = World().scaled(1 / 10)
    arrivals = draw_arrivals(world, 2.0, np.random.SeedSequence(5))
    end = end_of(arrivals, NAMED_POLICIES[name], world)
    given = np.flatnonzero(end.recipient >= 0)
    who = end.recipient[given]
    assert len(given) + (end.recipient < 0).sum() == len(arrivals.donors)
    assert (end.offers >= 0).all()
    assert len(np.unique(who)) == len(who)
    assert set(who) == set(np.flatnonzero(end.place == MATCHED))
    assert (end.left_at[who] == arrivals.arrived[given]).all()
    assert (arrivals.arrived[given] >= arrivals.listed[who]).all()
    assert (end.status[who] != INACTIVE).all()
    assert (end.status[end.place == WAITING] == INACTIVE).any()
    # the path without a transplant ends (death or leaving) only after the heart came
    last = arrivals.paths.state >= DIED
    ends = np.full(len(arrivals.listed), np.inf)
    ends[arrivals.paths.candidate[last]] = arrivals.paths.time[last]
    assert (ends[who] > arrivals.arrived[given]).all()
    away = np.isin(end.place, [DEAD, REMOVED])
    assert (end.left_at[away] == ends[away]).all()
    kinds = Population.compatible(
        arrivals.donors["donor_blood_group"].iloc[given], arrivals.candidates["blood_group"].iloc[who]
    )
    assert "incompatible" not in set(kinds)
    assert (arrivals.distances[given, arrivals.centre[who]] <= world.reach_nm).all()
    ratio = arrivals.donor_law.mass[given] / arrivals.candidate_law.mass[who]
    assert not ((ratio < world.size_match[0]) | (ratio > world.size_match[1])).any()


def test_the_list_is_as_long_after_the_burn_in_as_years_later():
    """No warm-up is left in what is measured: mean of three lists, whose lengths have a standard error of about 2%."""
    world, lengths = World(), []
    for seed in range(3):
        arrivals = draw_arrivals(world, 3.0, np.random.SeedSequence((7, seed)))
        scenario = make_scenario(arrivals, world)
        start = warm_up(scenario, US_STATUS_ORDER)
        end = run_policy(scenario, start, US_STATUS_ORDER)
        lengths.append([(each.place == WAITING).sum() for each in (start, end)])
    before, after = np.mean(lengths, axis=0)
    assert before == pytest.approx(after, rel=0.06)


def test_size_match_can_be_left_out():
    world = replace(SMALL, size_match=None)
    arrivals = draw_arrivals(world, YEARS, np.random.SeedSequence(3))
    end = end_of(arrivals, NAMED_POLICIES["uniform"], world)
    given = np.flatnonzero(end.recipient >= 0)
    ratio = arrivals.donor_law.mass[given] / arrivals.candidate_law.mass[end.recipient[given]]
    assert np.nanmin(ratio) < 0.75


def test_nobody_listed_and_no_hearts_are_fine():
    for world in (replace(SMALL, listed_per_year=0, waiting_at_start=0), replace(SMALL, donors_per_year=0)):
        arrivals = draw_arrivals(world, YEARS, np.random.SeedSequence(0))
        end = end_of(arrivals, NAMED_POLICIES["oracle"], world)
        assert (end.recipient < 0).all()


def test_candidates_do_not_change_with_the_rate_of_donors():
    """Streams of their own: what becomes of a candidate without a heart is the same in both worlds."""
    few, many = (
        draw_arrivals(replace(SMALL, donors_per_year=rate), YEARS, np.random.SeedSequence(1)) for rate in (20.0, 80.0)
    )
    assert (few.listed == many.listed).all()
    assert (few.paths.time == many.paths.time).all()
    assert few.candidates.equals(many.candidates)
