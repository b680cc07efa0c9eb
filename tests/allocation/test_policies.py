from dataclasses import FrozenInstanceError
from itertools import pairwise, permutations
from math import log2

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lifeyears.allocation import Greedy, Policy, PositionWeighted, Tiers, UniformRandom
from lifeyears.errors import DataError
from lifeyears.metrics import policy_value

POLICIES = [Greedy(), PositionWeighted(1), PositionWeighted(5), PositionWeighted(50), UniformRandom()]
some_scores = st.lists(st.integers(0, 6).map(float), min_size=1, max_size=30)


@pytest.mark.parametrize("policy", POLICIES, ids=str)
@given(scores=some_scores)
@settings(max_examples=60, deadline=None)
def test_chances_sum_to_1_equal_scores_share_and_higher_scores_never_have_less(policy, scores):
    chances = policy.probabilities(scores)
    assert chances.sum() == pytest.approx(1, abs=1e-12)
    assert (chances >= 0).all()
    for a, b in zip(scores, chances, strict=True):
        for c, d in zip(scores, chances, strict=True):
            if a == c:
                assert b == d
            elif a > c:
                assert b >= d


def test_algorithm_1_by_hand():
    w = [1 / log2(2), 1 / log2(3), 1 / log2(4)]
    expected = [0, w[0] / sum(w), w[2] / sum(w), w[1] / sum(w)]
    assert PositionWeighted(3).probabilities([1.0, 9.0, 4.0, 5.0]) == pytest.approx(expected, abs=1e-15)


def test_position_weights_are_renormalised_when_there_are_fewer_candidates_than_k():
    w = np.array([1.0, 1 / log2(3)])
    assert PositionWeighted(5).probabilities([2.0, 1.0]) == pytest.approx(w / w.sum())
    assert PositionWeighted(5).probabilities([2.0]) == pytest.approx([1.0])


def test_a_tie_across_the_last_place_is_shared():
    # places 2 and 3 are tied and only place 2 counts at k=2: each has half of its chance
    w = np.array([1.0, 1 / log2(3)]) / (1 + 1 / log2(3))
    assert PositionWeighted(2).probabilities([9.0, 4.0, 4.0]) == pytest.approx([w[0], w[1] / 2, w[1] / 2])


@pytest.mark.parametrize("k", [1, 2, 3, 7])
def test_ties_are_the_mean_over_every_order_of_equals(k):
    scores = [2.0, 1.0, 2.0, 0.0, 1.0]
    orders = [p for p in permutations(range(5)) if all(scores[a] >= scores[b] for a, b in pairwise(p))]
    w = [1 / log2(i + 2) for i in range(min(k, 5))] + [0.0] * (5 - min(k, 5))
    expected = np.zeros(5)
    for order in orders:
        expected[list(order)] += np.array(w) / sum(w) / len(orders)
    assert len(orders) == 4
    assert PositionWeighted(k).probabilities(scores) == pytest.approx(expected, abs=1e-15)


def test_k_of_1_is_greedy():
    scores = np.random.default_rng(0).integers(0, 5, 40)
    assert PositionWeighted(1).probabilities(scores) == pytest.approx(Greedy().probabilities(scores), abs=0)


@given(some_scores, st.integers(1, 8), st.integers(0, 100))
@settings(max_examples=100, deadline=None)
def test_expected_relevance_is_the_policy_value(scores, k, seed):
    relevance = np.random.default_rng(seed).exponential(5, len(scores))
    k = min(k, len(scores))
    found = PositionWeighted(k).probabilities(scores) @ relevance
    assert found == pytest.approx(policy_value(relevance, scores, k))


@pytest.mark.parametrize("policy", [*POLICIES, Tiers([1, 1, 2, 1, 2, 1])], ids=lambda p: type(p).__name__)
def test_choices_and_first_offers_follow_the_chances(policy):
    scores, draws = [3.0, 3.0, 9.0, 1.0, 9.0, 2.0], 4000
    chances = policy.probabilities(scores)
    rng = np.random.default_rng(0)
    for draw in (lambda: policy.choose(scores, rng), lambda: policy.offers(scores, rng)[0]):
        share = np.bincount([draw() for _ in range(draws)], minlength=6) / draws
        assert (np.abs(share - chances) <= 4 * np.sqrt(chances * (1 - chances) / draws)).all()


@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_the_same_seed_gives_the_same_choice_and_order(policy):
    scores = np.random.default_rng(3).integers(0, 4, 60)
    assert policy.choose(scores, 7) == policy.choose(scores, 7)
    offers = policy.offers(scores, 7)
    assert (offers == policy.offers(scores, 7)).all()
    assert sorted(offers) == list(range(60))


def test_greedy_without_ties_leaves_nothing_to_the_seed():
    scores = np.random.default_rng(0).permutation(50)
    assert {Greedy().choose(scores, seed) for seed in range(20)} == {int(scores.argmax())}
    assert (Greedy().offers(scores, 1) == np.argsort(-scores)).all()


def test_offers_go_on_as_the_policy_chooses_among_those_left():
    # after the first refusal, position-weighted k=2 chooses between the best two of the others
    scores, draws, rng = [4.0, 3.0, 2.0, 1.0], 6000, np.random.default_rng(1)
    pairs = np.array([PositionWeighted(2).offers(scores, rng)[:2] for _ in range(draws)])
    first = PositionWeighted(2).probabilities(scores)
    for one in (0, 1):
        left = [place for place in range(4) if place != one]
        then = PositionWeighted(2).probabilities([scores[place] for place in left])
        for other, chance in zip(left, then, strict=True):
            expected = first[one] * chance
            found = ((pairs[:, 0] == one) & (pairs[:, 1] == other)).mean()
            assert abs(found - expected) <= 4 * np.sqrt(expected * (1 - expected) / draws) + 1e-12


@pytest.mark.parametrize("policy", [*POLICIES, Tiers([1])], ids=lambda p: type(p).__name__)
@pytest.mark.parametrize(
    ("scores", "words"),
    [([], "empty"), ([1.0, np.nan], "row 1"), ([[1.0, 2.0]], "one-dimensional"), ([np.inf], "infinite")],
)
def test_bad_scores_are_refused(policy, scores, words):
    with pytest.raises(ValueError, match=words):
        policy.probabilities(scores)
    with pytest.raises(ValueError, match=words):
        policy.choose(scores, 0)


@pytest.mark.parametrize("k", [0, -1, 2.5, True, "5", None])
def test_bad_k_is_refused(k):
    with pytest.raises(ValueError, match=r"whole number|at least 1"):
        PositionWeighted(k)


def test_bad_seeds_are_refused_and_policies_are_frozen():
    with pytest.raises(ValueError, match="random_state"):
        Greedy().choose([1.0], "seed")
    with pytest.raises(FrozenInstanceError):
        PositionWeighted(5).k = 3
    assert PositionWeighted(5) == PositionWeighted(k=5)


def test_tiers_come_before_scores_and_ties_are_shared():
    assert Tiers([2, 1, 1, 1]).probabilities([9.0, 4.0, 5.0, 5.0]) == pytest.approx([0, 0, 0.5, 0.5])
    assert list(Tiers([2, 1, 1, 3]).offers([9.0, 4.0, 5.0, 99.0], 0)) == [2, 1, 0, 3]


def test_tiers_by_column_by_function_and_by_waiting_time():
    listed = pd.DataFrame({"status": ["1B", "1A", "1A"], "days": [900.0, 10.0, 30.0]})
    scores = [5.0, 9.0, 1.0]
    assert Tiers("status").choose(scores, candidates=listed) == 1
    assert Tiers("status", waiting="days").choose(scores, candidates=listed) == 2
    assert Tiers(lambda table: table["days"] < 100, order=[True, False]).choose(scores, candidates=listed) == 1
    assert Tiers(listed["status"], waiting=listed["days"]).choose(scores) == 2
    assert Tiers("status", order=["1B", "1A"]).choose(scores, candidates=listed) == 0


def test_ordered_categories_keep_their_order_and_numbers_sort_as_numbers():
    status = pd.Categorical(["low", "high", "low"], categories=["high", "low"], ordered=True)
    assert Tiers(status).choose([9.0, 1.0, 5.0]) == 1
    assert Tiers([10, 9]).choose([1.0, 1.0]) == 1


def test_many_levels_of_score_do_not_spill_into_the_next_tier():
    rng = np.random.default_rng(0)
    scores, tiers = rng.normal(size=20_000), rng.integers(0, 6, 20_000)
    assert (Tiers(tiers).offers(scores, 0) == np.lexsort((-scores, tiers))).all()


@pytest.mark.parametrize(
    ("tiers", "words"),
    [
        (Tiers([1, 2]), "each of the 3"),
        (Tiers([1, np.nan, 2]), "candidate 1 is missing"),
        (Tiers("status"), "Pass the table with candidates="),
        (Tiers(lambda table: table), "function"),
        (Tiers([1, 2, 9], order=[1, 2]), "9 is not in order"),
        (Tiers([1, 1, 1], waiting=[1.0, np.nan, 2.0]), "waiting is missing for candidate 1"),
    ],
)
def test_bad_tiers_are_refused(tiers, words):
    with pytest.raises(ValueError, match=words):
        tiers.probabilities([1.0, 2.0, 3.0])


def test_a_column_that_is_not_there_is_named():
    with pytest.raises(ValueError, match="'rank'"):
        Tiers("rank").probabilities([1.0], candidates=pd.DataFrame({"status": [1]}))


def test_scores_of_a_table_are_its_lives_or_those_of_the_model():
    """The protocol that simulations use: a column `life`, or a fitted model that predicts it."""

    class Older:
        def predict(self, X):
            return X["age"].to_numpy() / 2

    listed = pd.DataFrame({"age": [40.0, 60.0], "status": [2, 1], "days": [9, 3]})
    assert Greedy(model=Older()).scores(listed).tolist() == [20, 30]
    assert PositionWeighted(k=2).scores(listed.assign(life=[5.0, 4.0]), {}, 1.0).tolist() == [5, 4]
    assert UniformRandom().scores(listed).tolist() == [0, 0]
    assert np.argmax(Tiers("status").scores(listed.assign(life=[5.0, 4.0]))) == 1
    assert np.argmax(Tiers("status", order=[2, 1], waiting="days").scores(listed)) == 0
    with pytest.raises(DataError, match="no column 'life'"):
        Greedy().scores(listed)
    for policy in (Greedy(), PositionWeighted(), UniformRandom(), Tiers("status")):
        assert isinstance(policy, Policy)
    assert [each.randomised for each in (Greedy(), PositionWeighted(k=1), PositionWeighted(k=2))] == [
        False,
        False,
        True,
    ]
