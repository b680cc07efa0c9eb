"""What the simulator knows of life: with a transplant (the registry's law, fast) and without (a chain of statuses)."""

from dataclasses import replace

import numpy as np
import pytest

from lifeyears.data import Population
from lifeyears.simulation import World
from lifeyears.simulation.engine import pair_uniform
from lifeyears.simulation.worlds.heart import expect_life_without
from lifeyears.simulation.worlds.heart._pair_law import (
    expect_lives,
    normal_quantile,
    split_effects,
    tabulate_expected_life,
)
from lifeyears.simulation.worlds.heart._paths import DIED, LEFT, compute_frailty, draw_paths


@pytest.mark.parametrize(("law", "nearness"), [("registry", 5e-4), ("proportional", 5e-4), ("crossing", 0.02)])
def test_fast_expected_life_is_that_of_the_registry(law, nearness):
    world = World(law=law)
    people = Population(world.year, law)
    candidates, donors = people.candidates(800, random_state=0), people.donors(500, random_state=1)
    rng = np.random.default_rng(2)
    rows, hearts = rng.integers(800, size=3000), rng.integers(500, size=3000)
    pairs = people.pairs(candidates, donors, candidate=rows, donor=hearts, incompatible="keep")
    theirs, ours = split_effects(candidates, donors, world)
    found = np.empty(3000)
    distance = pairs["distance_nm"].to_numpy()
    expect_lives(rows, hearts, distance, 3000, theirs, ours, tabulate_expected_life(law, world.year, 20.0), found)
    np.testing.assert_allclose(found, people.lifetimes(pairs).expected(20.0), atol=nearness)


def test_pair_uniform_is_the_registrys():
    from lifeyears.data.registry import hash_pairs as slow

    keys = np.random.default_rng(0).integers(0, 2**63, (2, 50)).astype(np.uint64)
    fast = [[pair_uniform(a, b, place) for a, b in keys.T] for place in (1, 2, 3)]
    np.testing.assert_array_equal(fast, slow(keys[0], keys[1], 3))


def test_normal_quantile_is_scipys():
    from scipy import special

    p = np.concatenate([np.linspace(1e-6, 1 - 1e-6, 2001), [1e-12, 1 - 1e-12]])
    np.testing.assert_allclose([normal_quantile(each) for each in p], special.ndtri(p), rtol=2e-9, atol=2e-9)


def test_paths_die_and_leave_at_the_stated_rates():
    """With no changes of status, deaths and leavings are exponential: compare with rates × patient-years."""
    world = replace(World(), status_changes=np.zeros((7, 7)))
    n = 40_000
    first = np.random.default_rng(0).integers(7, size=n)
    paths = draw_paths(first, np.zeros(n), np.ones(n), 50.0, world, np.random.default_rng(1))
    ends = np.full(n, 50.0)
    ends[paths.candidate] = paths.time
    for status in range(7):
        time = ends[first == status].sum()
        for rates, state in ((world.death_rates, DIED), (world.leaving_rates, LEFT)):
            count = (paths.state[first[paths.candidate] == status] == state).sum()
            assert abs(count / time - rates[status]) < 4 * np.sqrt(rates[status] / time)


def test_life_without_is_the_mean_of_drawn_paths():
    """E[min(T, τ)] by the matrix exponential against 20,000 paths without leaving, four standard errors."""
    world = replace(World(), leaving_rates=(0,) * 7)
    factor, n = 1.4, 20_000
    expected = expect_life_without(np.array([1.0, factor]), world)[1]
    for status in (0, 3, 6):
        first = np.full(n, status)
        paths = draw_paths(first, np.zeros(n), np.full(n, factor), world.tau, world, np.random.default_rng(status))
        life = np.full(n, world.tau)
        died = paths.state == DIED
        life[paths.candidate[died]] = paths.time[died]
        assert abs(life.mean() - expected[status]) < 4 * life.std() / np.sqrt(n)


def test_frailty_is_about_one_on_average():
    frailty = compute_frailty(Population(2022.5).candidates(40_000, random_state=0), 0.5)
    assert frailty.mean() == pytest.approx(1, abs=0.15)
    assert np.log(frailty).std() == pytest.approx(0.5, abs=0.1)
