"""The list in time: the kernels against their plain twin, and what must hold of any list."""

from dataclasses import replace

import numpy as np
import pytest
from plain_list import run_plainly, us_class

from lifeyears.data import Population
from lifeyears.simulation import Policy, World
from lifeyears.simulation._match import DEAD, GONE_AWAY, TRANSPLANTED, US_CLASSES, US_ZONES, WAITING
from lifeyears.simulation._people import draw_people
from lifeyears.simulation._policies import NAMED
from lifeyears.simulation._replicate import US, _order, run_policy, warmed_up
from lifeyears.simulation._scores import Scores, donor_types
from lifeyears.simulation._waitlist import DIED, life_without
from lifeyears.simulation._world import INACTIVE

SMALL = replace(World().scaled(1 / 60), burn_in_years=0.5, suitable=0.5, most_offers=12)
YEARS = 0.7


@pytest.fixture(scope="module")
def people():
    return draw_people(SMALL, YEARS, np.random.SeedSequence(3))


def end_of(people, policy, world=SMALL, tables=None):
    start = warmed_up(people, world)
    return run_policy(people, start, world, _order(policy, people, tables or {}, world))


@pytest.mark.parametrize(
    "policy",
    [
        NAMED["us_status"],
        NAMED["first_come"],
        NAMED["uniform"],
        NAMED["oracle"],
        NAMED["oracle_lyg"],
        Policy("model", "model", model="any", k=5),
        Policy("gain", "model", model="any", target="gain"),
    ],
    ids=lambda policy: policy.name,
)
def test_kernels_do_what_the_plain_loop_does(people, policy):
    years = np.random.default_rng(0).normal(10, 2, (len(people.candidates), 4))
    without = people.without if policy.knows else life_without(np.ones(1), SMALL)
    tables = {id(policy.model): Scores(years, donor_types(people.donors))}
    end = end_of(people, policy, tables=tables)
    recipient, offers, waiting, away = run_plainly(
        people, SMALL, policy, years_of=years, without=without, burn_in=NAMED["us_status"]
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
            zone = int(np.searchsorted(US_ZONES, distance))
            assert US_CLASSES[status, zone] == us_class(status + 1, distance, "primary")
            assert US_CLASSES[status, zone] + 1 == us_class(status + 1, distance, "secondary")


@pytest.mark.parametrize("name", ["us_status", "first_come", "uniform", "oracle", "oracle_lyg"])
def test_hearts_are_conserved_and_nobody_is_transplanted_twice_or_after_leaving(name):
    world = World().scaled(1 / 10)
    people = draw_people(world, 2.0, np.random.SeedSequence(5))
    end = end_of(people, NAMED[name], world)
    given = np.flatnonzero(end.recipient >= 0)
    who = end.recipient[given]
    assert len(given) + (end.recipient < 0).sum() == len(people.donors)
    assert (end.offers >= 0).all()
    assert len(np.unique(who)) == len(who)
    assert set(who) == set(np.flatnonzero(end.place == TRANSPLANTED))
    assert (end.left_at[who] == people.arrived[given]).all()
    assert (people.arrived[given] >= people.listed[who]).all()
    assert (end.status[who] != INACTIVE).all()
    assert (end.status[end.place == WAITING] == INACTIVE).any()
    # the path without a transplant ends (death or leaving) only after the heart came
    last = people.paths.state >= DIED
    ends = np.full(len(people.listed), np.inf)
    ends[people.paths.candidate[last]] = people.paths.time[last]
    assert (ends[who] > people.arrived[given]).all()
    away = np.isin(end.place, [DEAD, GONE_AWAY])
    assert (end.left_at[away] == ends[away]).all()
    kinds = Population.compatible(
        people.donors["donor_blood_group"].iloc[given], people.candidates["blood_group"].iloc[who]
    )
    assert "incompatible" not in set(kinds)
    assert (people.distances[given, people.centre[who]] <= world.reach_nm).all()
    ratio = people.donor_law.mass[given] / people.candidate_law.mass[who]
    assert not ((ratio < world.size_match[0]) | (ratio > world.size_match[1])).any()


def test_the_list_is_as_long_after_the_burn_in_as_years_later():
    """No warm-up is left in what is measured: mean of three lists, whose lengths have a standard error of about 2%."""
    world, lengths = World(), []
    for seed in range(3):
        people = draw_people(world, 3.0, np.random.SeedSequence((7, seed)))
        start = warmed_up(people, world)
        end = run_policy(people, start, world, US)
        lengths.append([(each.place == WAITING).sum() for each in (start, end)])
    before, after = np.mean(lengths, axis=0)
    assert before == pytest.approx(after, rel=0.06)


def test_size_match_can_be_left_out():
    world = replace(SMALL, size_match=None)
    people = draw_people(world, YEARS, np.random.SeedSequence(3))
    end = end_of(people, NAMED["uniform"], world)
    given = np.flatnonzero(end.recipient >= 0)
    ratio = people.donor_law.mass[given] / people.candidate_law.mass[end.recipient[given]]
    assert np.nanmin(ratio) < 0.75


def test_nobody_listed_and_no_hearts_are_fine():
    for world in (replace(SMALL, listed_per_year=0, waiting_at_start=0), replace(SMALL, donors_per_year=0)):
        people = draw_people(world, YEARS, np.random.SeedSequence(0))
        end = end_of(people, NAMED["oracle"], world)
        assert (end.recipient < 0).all()


def test_candidates_do_not_change_with_the_rate_of_donors():
    """Streams of their own: what becomes of a candidate without a heart is the same in both worlds."""
    few, many = (
        draw_people(replace(SMALL, donors_per_year=rate), YEARS, np.random.SeedSequence(1)) for rate in (20.0, 80.0)
    )
    assert (few.listed == many.listed).all()
    assert (few.paths.time == many.paths.time).all()
    assert few.candidates.equals(many.candidates)
