"""The engine without a heart: a list worked out by hand, and code that names no organ."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lifeyears.simulation import World, engine
from lifeyears.simulation.engine import (
    CHANGED,
    DEAD,
    GONE,
    ITEM,
    LISTED,
    MATCHED,
    NO_FIT,
    REMOVED,
    WAITING,
    CandidateArrays,
    ItemArrays,
    ListRules,
    Scenario,
    make_order,
    mean_or_nan,
    rate_per_100,
    run_called_policy,
    run_policy,
    sort_events,
    tally_run,
    time_in_states,
    warm_up,
)
from lifeyears.simulation.worlds.heart import draw_arrivals, make_scenario

DIED, AWAY = 2, 3  # states 0 and 1 are on the list; 1 is not offered anything
YES, NO = 30.0, -30.0  # log-odds of acceptance


@pytest.fixture(scope="module")
def unused_law():
    """A law of the type that the kernels are compiled for; no order here asks it."""
    world = replace(World(), listed_per_year=0, waiting_at_start=0, donors_per_year=0)
    return make_scenario(draw_arrivals(world, 1.0, np.random.SeedSequence(0)), world).law


def whole(*values):
    return np.array(values, dtype=np.int64)


def scenario(law, quality=(YES, YES, YES), fits=((0, 1), (NO_FIT, 0))):
    """Four candidates: 0 and 3 near, 1 and 2 far; 0 dies at 0.5, 1 is removed at 0.9, 3 is inactive until 0.6."""
    events = [
        (np.array([-0.3, -0.2, -0.1, 0.1]), np.full(4, LISTED), np.arange(4), whole(0, 0, 0, 1)),
        (np.array([0.5, 0.9, 0.6]), whole(GONE, GONE, CHANGED), whole(0, 1, 3), whole(DIED, AWAY, 0)),
        (np.array([0.2, 0.7, 0.8]), np.full(3, ITEM), np.arange(3), whole(0, 0, 0)),
    ]
    return Scenario(
        events=sort_events(events),
        candidates=CandidateArrays(
            key=np.arange(4, dtype=np.uint64),
            listed=np.array([-0.3, -0.2, -0.1, 0.1]),
            kind=whole(0, 1, 1, 0),
            site=whole(0, 1, 1, 0),
            size=np.ones(4),
            openness=np.ones(4),
        ),
        items=ItemArrays(
            key=np.arange(3, dtype=np.uint64),
            kind=whole(0, 0, 0),
            size=np.ones(3),
            quality=np.array(quality),
            distances=np.tile([10.0, 500.0], (3, 1)),
        ),
        rules=ListRules(
            acceptance=np.zeros(2),
            n_active=1,
            death=DIED,
            fits=np.array(fits),
            most_offers=3,
            reach=1000.0,
            size_low=0.5,
            size_high=2.0,
        ),
        law=law,
    )


def order_by(weights, zones=(100.0,), **settings):
    return make_order(weights, zones=np.array(zones), n_states=2, **settings)


BY_WAITING = order_by({"waiting": 1.0})


def run(case, order):
    return run_policy(case, warm_up(case, BY_WAITING), order)


def test_nearer_zones_come_first_and_then_time_on_the_list(unused_law):
    end = run(scenario(unused_law), BY_WAITING)
    assert end.recipient.tolist() == [0, 3, 1]  # 3 is near, and active by then
    assert end.place.tolist() == [MATCHED, MATCHED, WAITING, MATCHED]
    assert end.left_at.tolist() == [0.2, 0.8, np.inf, 0.7]


def test_without_zones_time_on_the_list_decides_alone(unused_law):
    end = run(scenario(unused_law), order_by({"waiting": 1.0}, zones=()))
    assert end.recipient.tolist() == [0, 1, 2]


def test_an_item_that_nobody_accepts_is_lost_and_events_go_on(unused_law):
    end = run(scenario(unused_law, quality=(NO, NO, YES)), BY_WAITING)
    assert end.recipient.tolist() == [-1, -1, 3]
    assert end.offers.tolist() == [3, 3, 1]
    assert end.place.tolist() == [DEAD, REMOVED, WAITING, MATCHED]


def test_kinds_that_do_not_fit_are_not_asked(unused_law):
    end = run(scenario(unused_law, fits=((NO_FIT, 0), (0, 0))), BY_WAITING)
    assert end.recipient.tolist() == [1, 2, -1]


def test_classes_go_by_state_zone_and_degree_of_fit(unused_law):
    """The far zone has the earlier class; of two candidates in it, the one listed earlier is asked first."""
    order = order_by({"waiting": 1.0}, classes=np.array([[5, 1]]), second_fit=1)
    assert run(scenario(unused_law), order).recipient.tolist() == [1, 2, 3]


def test_scores_and_what_the_state_adds_decide_within_a_zone(unused_law):
    table = {"scores": np.array([[1.0], [2.0], [3.0], [9.0]]), "item_type": np.zeros(3, dtype=np.int64)}
    order = order_by({"pair": 1.0}, zones=(), **table)
    assert run(scenario(unused_law), order).recipient.tolist() == [2, 3, 1]
    by_state = np.array([[0.0, 0], [0, 0], [-5, 0], [0, 0]])
    order = order_by({"pair": 1.0}, zones=(), by_state=by_state, **table)
    assert run(scenario(unused_law), order).recipient.tolist() == [1, 3, 2]
    order = order_by({"pair": 1.0}, zones=(), by_candidate=np.array([0.0, 0, -5, 0]), **table)
    assert run(scenario(unused_law), order).recipient.tolist() == [1, 3, 2]


def test_time_in_the_state_is_not_time_since_listing(unused_law):
    """At 0.7 candidate 3 has been active for 0.1; candidates 1 and 2 for 0.9 and 0.8, all their time on the list."""
    order = order_by({"in_state": -1.0}, zones=())
    end = run(scenario(unused_law, quality=(NO, YES, YES)), order)
    assert end.recipient.tolist() == [-1, 3, 2]
    np.testing.assert_allclose(end.since, [-0.3, -0.2, -0.1, 0.6])


@pytest.mark.parametrize(
    ("weights", "expected"),
    [({"distance": 1.0, "waiting": 1.0}, [1, 2, 3]), ({"first_fit": 9.0, "waiting": -1.0}, [0, 3, 2])],
    ids=["distance", "fit"],
)
def test_terms_add_up(unused_law, weights, expected):
    assert run(scenario(unused_law), order_by(weights, zones=())).recipient.tolist() == expected


class Called:
    """A policy in Python: by number, the last first; or drawn."""

    def __init__(self, probabilities=None):
        self.probabilities, self.runs = probabilities, []

    def rank(self, run):
        self.runs.append((run.item, run.now, sorted(run.who.tolist())))
        return run.who.astype(float)


def test_a_policy_is_called_for_every_item_with_those_whom_it_fits(unused_law):
    case, policy = scenario(unused_law, quality=(YES, NO, YES)), Called()
    start = warm_up(case, BY_WAITING)
    end = run_called_policy(case, start, policy)
    assert policy.runs == [(0, 0.2, [0, 1, 2]), (1, 0.7, [1, 3]), (2, 0.8, [1, 3])]
    assert end.recipient.tolist() == [2, -1, 3]
    assert end.offers.tolist() == [1, 2, 1]
    assert start.recipient.tolist() == [-1, -1, -1]


def test_probabilities_decide_who_is_next_and_nobody_without_one_is_asked(unused_law):
    case = scenario(unused_law, quality=(NO, NO, NO))
    last = Called(lambda scores: np.eye(len(scores))[-1])  # of those in order, the last
    end = run_called_policy(case, warm_up(case, BY_WAITING), last)
    assert end.offers.tolist() == [3, 3, 3]
    nobody = Called(lambda scores: np.zeros(len(scores)))
    assert run_called_policy(case, warm_up(case, BY_WAITING), nobody).offers.tolist() == [0, 0, 0]
    case = scenario(unused_law)
    assert run_called_policy(case, warm_up(case, BY_WAITING), last).recipient.tolist() == [0, 1, 2]


def test_a_run_is_counted(unused_law):
    case = scenario(unused_law, quality=(NO, YES, YES))
    end = run(case, BY_WAITING)
    tally = tally_run(case.candidates.listed, np.array([0.2, 0.7, 0.8]), end, 1.0)
    assert (tally.item.tolist(), tally.recipient.tolist()) == ([1, 2], [3, 1])
    np.testing.assert_allclose(tally.waits, [0.6, 1.0])
    np.testing.assert_allclose(tally.exposure, [0.5, 0.8, 1.0, 0.6])
    assert tally.entered.tolist() == [False, False, False, True]
    assert tally.died.tolist() == [True, False, False, False]
    assert not tally.removed.any()
    assert tally.lost.tolist() == [True, False, False]
    assert tally.first_accepted.tolist() == [False, True, True]
    # candidate 3: in state 1 from 0.1 to 0.6, in state 0 until the match at 0.7; the others in state 0 from time 0 on
    time = time_in_states(
        whole(0, 1, 2, 3, 3), np.array([-0.3, -0.2, -0.1, 0.1, 0.6]), whole(0, 0, 0, 1, 0), end, 1.0, 2
    )
    np.testing.assert_allclose(time, [0.5 + 0.8 + 1.0 + 0.1, 0.5])


def test_rates_and_means_of_nothing_are_missing():
    assert rate_per_100(3, 2.0) == 150
    assert np.isnan(rate_per_100(0, 0))
    assert np.isnan(mean_or_nan(np.zeros(0)))


def test_a_law_that_no_world_registered_is_refused():
    with pytest.raises(NotImplementedError, match="no world has registered score_pairs for tuple"):
        engine.score_pairs((), whole(0), whole(0), np.zeros(1), 1, np.zeros(1))


def test_the_engine_names_no_organ():
    words = re.compile(r"heart|blood|donor|transplant|nautical|antibod|mass\b|status [1-6]", re.IGNORECASE)
    for path in Path(engine.__file__).parent.glob("*.py"):
        assert not words.search(path.read_text()), path.name
