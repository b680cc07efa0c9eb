from itertools import combinations, pairwise, permutations
from math import comb, log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as sklearn_metrics

from lifeyears.metrics import concordance_index, dcg_score, discounts, ndcg_score, policy_value, rank_weights


def cohorts(smallest=2, largest=40):
    """Relevance and scores with plenty of ties."""
    whole = st.integers(0, 12).map(float)
    return st.integers(smallest, largest).flatmap(
        lambda n: st.tuples(st.lists(whole, min_size=n, max_size=n), st.lists(whole, min_size=n, max_size=n))
    )


@given(cohorts(), st.integers(1, 40))
@settings(max_examples=200, deadline=None)
def test_ndcg_and_dcg_equal_scikit_learn_with_ties(cohort, k):
    relevance, scores = cohort
    k = min(k, len(scores))
    assert dcg_score(relevance, scores, k) == pytest.approx(sklearn_metrics.dcg_score([relevance], [scores], k=k))
    if max(relevance) > 0:
        assert ndcg_score(relevance, scores, k) == pytest.approx(sklearn_metrics.ndcg_score([relevance], [scores], k=k))


def test_ndcg_without_ties_equals_the_sum_written_out():
    relevance, scores = np.array([3.0, 1.0, 4.0, 1.5]), np.array([0.2, 0.9, 0.5, 0.4])
    by_score = [1.0, 4.0, 1.5, 3.0]
    assert dcg_score(relevance, scores) == pytest.approx(sum(r / log2(i + 2) for i, r in enumerate(by_score)))


def enumerated(relevance, scores, k, waitlist):
    """Mean over every waitlist and every order of the ties of Σ d(i)·relevance, by brute force."""
    lists = []
    for members in combinations(range(len(scores)), waitlist):
        orders = [order for order in permutations(members) if all(scores[a] >= scores[b] for a, b in pairwise(order))]
        lists.append(np.mean([sum(relevance[m] / log2(i + 2) for i, m in enumerate(order[:k])) for order in orders]))
    return np.mean(lists)


@given(cohorts(2, 6), st.data())
@settings(max_examples=60, deadline=None)
def test_waitlist_dcg_equals_enumeration(cohort, data):
    relevance, scores = cohort
    waitlist = data.draw(st.integers(1, len(scores)))
    k = data.draw(st.integers(1, waitlist))
    expected = enumerated(relevance, scores, k, waitlist)
    assert dcg_score(relevance, scores, k, waitlist) == pytest.approx(expected)
    best = enumerated(relevance, relevance, k, waitlist)
    if best > 0:
        assert ndcg_score(relevance, scores, k, waitlist) == pytest.approx(expected / best)
    weight = sum(1 / log2(i + 2) for i in range(k))
    assert policy_value(relevance, scores, k, waitlist) == pytest.approx(expected / weight)


def test_weights_are_the_formula_of_binomials():
    n, k, W = 30, 4, 9
    formula = [
        sum(comb(r - 1, j - 1) * comb(n - r, W - j) / comb(n, W) / log2(j + 1) for j in range(1, k + 1))
        for r in range(1, n + 1)
    ]
    assert rank_weights(n, k, W) == pytest.approx(formula, rel=1e-12)


@pytest.mark.parametrize("k", [1, 5, 100])
def test_weights_are_stable_for_a_million_candidates(k):
    n, W = 1_000_000, 256
    weights = rank_weights(n, k, W)
    assert np.isfinite(weights).all()
    assert (weights >= 0).all()
    assert weights.sum() == pytest.approx(discounts(k).sum(), rel=1e-9)
    assert weights[0] == pytest.approx(W / n)  # the best of all leads whenever it is on the list
    if k == 1:
        assert (np.diff(weights) <= 0).all()


def test_a_waitlist_of_everybody_is_the_ordinary_list():
    rng = np.random.default_rng(0)
    relevance, scores = rng.exponential(5, 50), rng.normal(size=50)
    assert dcg_score(relevance, scores, 7, waitlist=50) == pytest.approx(dcg_score(relevance, scores, 7))


def test_a_constant_score_is_worth_a_random_ranking():
    relevance = [1.0, 2.0, 6.0]
    for waitlist in (None, 1, 2):
        assert policy_value(relevance, [0.0, 0.0, 0.0], k=1, waitlist=waitlist) == pytest.approx(3.0)


def test_random_ties_average_to_average_ties():
    rng = np.random.default_rng(1)
    relevance, scores = rng.exponential(5, 30), rng.integers(0, 3, 30).astype(float)
    draws = [dcg_score(relevance, scores, 3, ties="random", random_state=i) for i in range(2000)]
    mean, error = np.mean(draws), np.std(draws) / np.sqrt(2000)
    assert abs(mean - dcg_score(relevance, scores, 3)) < 4 * error
    assert draws[0] == dcg_score(relevance, scores, 3, ties="random", random_state=0)


def test_the_papers_example_of_one_misplaced_patient():
    # section 3.1: utilities 1 … 100, only the worst patient misplaced, at the top
    utility = np.arange(1.0, 101.0)
    predicted = utility.copy()
    predicted[0] = 101
    assert concordance_index((np.ones(100), utility), predicted) == pytest.approx(0.98)
    assert ndcg_score(utility, predicted, k=1) == pytest.approx(0.01)


def test_the_papers_figure_1():
    truth = np.arange(1.0, 11.0)
    green, red = truth.copy(), truth.copy()
    # P1 … P10 live 1 … 10 years; green: 1, 3, …, 10, 8 for P1, P2, P9, P10, red: 11, 2, …, 9, 10
    green[[0, 1, 8, 9]] = [1, 3, 10, 8]
    red[[0, 1, 8, 9]] = [11, 2, 9, 10]
    assert ndcg_score(truth, green, k=1) == pytest.approx(0.9)
    assert concordance_index((np.ones(10), truth), red) == pytest.approx(0.8)
    assert ndcg_score(truth, red, k=1) == pytest.approx(0.1)


def test_negative_relevance_is_taken_and_warned_of():
    relevance, scores = [-1.0, 2.0, 3.0], [3.0, 2.0, 1.0]
    assert policy_value(relevance, scores) == -1
    assert dcg_score(relevance, scores, 1) == -1
    with pytest.warns(UserWarning, match="negative"):
        assert ndcg_score(relevance, scores, 1) == pytest.approx(-1 / 3)
    with pytest.warns(UserWarning, match="negative"):
        assert np.isnan(ndcg_score([-1.0, -2.0], [1.0, 2.0]))
    assert np.isnan(ndcg_score([0.0, 0.0], [1.0, 2.0]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": 0}, "k must lie between 1"),
        ({"k": 4}, "k must lie between 1 and the length of the list, 3"),
        ({"k": 1.5}, "whole number"),
        ({"k": True}, "whole number"),
        ({"waitlist": 4}, "waitlist must lie between 1 and the number of candidates, 3"),
        ({"waitlist": 0}, "waitlist"),
        ({"k": 3, "waitlist": 2}, "k must lie between 1 and the length of the list, 2"),
    ],
)
def test_places_and_lists_out_of_range_are_refused(options, message):
    for score in (dcg_score, ndcg_score, policy_value):
        with pytest.raises(ValueError, match=message):
            score([1.0, 2.0, 3.0], [1.0, 2.0, 3.0], **options)


@pytest.mark.parametrize(
    ("relevance", "scores", "message"),
    [
        ([1.0, 2.0], [np.nan, 1.0], "scores is missing or infinite in row 0"),
        ([1.0, np.inf], [1.0, 1.0], "relevance is missing or infinite in row 1"),
        ([1.0], [1.0, 2.0], "1 relevances and 2 scores"),
        ([], [], "empty"),
        ([[1.0, 2.0]], [[1.0, 2.0]], "one-dimensional"),
    ],
)
def test_bad_values_are_refused(relevance, scores, message):
    with pytest.raises(ValueError, match=message):
        ndcg_score(relevance, scores)


def test_unknown_tie_rule_is_refused():
    with pytest.raises(ValueError, match="ties"):
        dcg_score([1.0], [1.0], ties="first")
