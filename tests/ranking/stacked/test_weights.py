"""Stages and weights of members."""

import numpy as np
import pytest

import lifeyears as ly
from lifeyears.ranking._piecewise import choose_cut_points
from lifeyears.ranking.stacked._boosted import choose_stages
from lifeyears.ranking.stacked._members import FoldFit
from lifeyears.ranking.stacked._weights import SHRINKAGE, choose_simplest, fit_weights


def test_intervals_and_stages():
    y = ly.Outcome(np.arange(1.0, 1001), np.ones(1000, dtype=bool))
    np.testing.assert_allclose(choose_cut_points(y, 1000.0, 2), [0, np.quantile(y.time, 1 / 3), 1000])
    assert list(choose_cut_points(y[:100], 1000.0, 2)) == [0, 1000]  # too few deaths for two
    assert choose_stages(600)[-1] == 600
    assert len(choose_stages(600)) == 12
    assert list(choose_stages(3)) == [1, 2, 3]


@pytest.mark.parametrize("sign", [1, -1])
def test_weights_are_least_squares_pulled_towards_the_members_with_none_negative(sign):
    rng = np.random.default_rng(0)
    truth = rng.normal(size=400)
    base, member = truth + rng.normal(size=400), sign * truth + rng.normal(size=400)
    splits = [(np.arange(200, 400), np.arange(200)), (np.arange(200), np.arange(200, 400))]
    folds = [{"years": FoldFit(member[None, test], [None])} for _, test in splits]
    found = fit_weights(folds, splits, base, truth, {"years": 1.0})
    both = np.column_stack([base - base.mean(), member - member.mean()])
    pull = SHRINKAGE * np.trace(both.T @ both) / 2  # (A'A + pull·I)·w = A'b + pull·aims, aims: none for the base
    right = both.T @ truth + pull * np.array([0.0, 1.0])
    if sign > 0:
        expected = np.linalg.solve(both.T @ both + pull * np.eye(2), right)
    else:
        expected = [right[0] / (both[:, 0] @ both[:, 0] + pull), 0.0]  # the member would count against itself
    np.testing.assert_allclose(list(found.weights.values()), expected, rtol=1e-9)


def test_of_stages_about_as_good_the_simplest_is_kept():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=10_000)
    best, alike, worse = noise, noise + 0.01 * rng.normal(size=10_000), noise + 0.2 * rng.normal(size=10_000)
    errors = np.array([worse + 0.1, alike + 0.0001, best])  # worse by 50, and by 1, standard errors
    assert choose_simplest(errors) == 1
    assert choose_simplest(errors[[0, 2]]) == 1
    assert choose_simplest(errors[1:]) == 0
