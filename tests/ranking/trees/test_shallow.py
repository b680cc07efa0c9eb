"""Tables of shallow trees against LightGBM itself."""

import lightgbm
import numpy as np
import pytest

import lifeyears as ly
from lifeyears.ranking.trees._shallow import tabulate_trees


def grown(leaves, depth, rounds=40, columns=6, seed=0, **more):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(500, columns)).round(1)
    y = X[:, 0] * (X[:, 1] > 0) + np.abs(X[:, 2]) + rng.normal(0, 0.3, 500)
    options = {
        "num_leaves": leaves,
        "max_depth": depth,
        "verbosity": -1,
        "num_threads": 1,
        "min_data_in_leaf": 5,
        **more,
    }
    return lightgbm.train(options | {"objective": "regression"}, lightgbm.Dataset(X, y), rounds), X


# two columns make both questions of a tree ask for one feature, and three leaves leave one unasked
@pytest.mark.parametrize(("leaves", "depth", "columns"), [(4, 2, 6), (3, 2, 6), (2, 1, 6), (4, 2, 2), (4, 2, 1)])
@pytest.mark.parametrize("rounds", [40, 7])
def test_sums_are_lightgbms_to_the_bit_and_shapley_values_but_for_rounding(leaves, depth, columns, rounds):
    booster, X = grown(leaves, depth, columns=max(columns, 3))
    if columns < 3:  # train on few columns only
        booster, X = grown_on_few(columns)
    found = tabulate_trees(booster, rounds)
    sums, parts = found.predict_contributions(X)
    np.testing.assert_array_equal(sums, booster.predict(X, num_iteration=rounds))
    np.testing.assert_array_equal(found.predict(X), sums)
    np.testing.assert_array_equal(found.predict(np.asfortranarray(X)), sums)
    expected = booster.predict(X, num_iteration=rounds, pred_contrib=True)
    np.testing.assert_allclose(parts, expected, atol=1e-12)
    np.testing.assert_allclose(parts.sum(axis=1), sums, atol=1e-12)


def grown_on_few(columns):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, columns))
    y = np.sin(3 * X[:, 0]) + (X[:, -1] > 0.5)
    options = {"num_leaves": 4, "max_depth": 2, "verbosity": -1, "num_threads": 1, "objective": "regression"}
    return lightgbm.train(options, lightgbm.Dataset(X, y), 40), X


def test_shapley_values_of_one_tree_by_hand():
    """Root on a, left on b: knowing a or b first, each half of the time."""
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 25, dtype=float)
    y = np.where(X[:, 0] == 0, np.where(X[:, 1] == 0, 4.0, 0.0), 0.0)
    options = {"num_leaves": 4, "max_depth": 2, "learning_rate": 1.0, "min_data_in_leaf": 1, "verbosity": -1}
    options |= {"min_sum_hessian_in_leaf": 0, "lambda_l2": 0, "boost_from_average": False, "objective": "regression"}
    booster = lightgbm.train(options, lightgbm.Dataset(X, y), 1)
    _, parts = tabulate_trees(booster, 1).predict_contributions(X[:4])
    # all: 1; given a=0: 2; given b=0: 2; both: 4 → each adds the mean of (2 − 1) and (4 − 2)
    np.testing.assert_allclose(parts[0], [1.5, 1.5, 1.0], atol=1e-6)
    # a=0, b=1: given a: 2; given b: 0; both: 0 → a adds the mean of 1 and 0, b of −2 and −1
    np.testing.assert_allclose(parts[1], [0.5, -1.5, 1.0], atol=1e-6)


def test_deeper_trees_and_zeros_for_missing_are_left_to_lightgbm():
    assert tabulate_trees(grown(8, 3)[0], 40) is None
    assert tabulate_trees(grown(4, 2, zero_as_missing=True)[0], 40) is None


def test_tables_are_made_once():
    booster, _ = grown(4, 2)
    assert tabulate_trees(booster, 40) is tabulate_trees(booster, 40)


def test_explained_years_are_the_predicted_ones_to_the_bit():
    d = ly.data.simulate_registry(n=1500, random_state=1)
    members = ly.ranking.make_members(n_estimators=30)
    ranker = ly.StackedRanker(tau=10, members=members, folds=2, random_state=0, n_jobs=1)
    ranker.fit(d.X, d.y)
    assert set(ranker.members_) == {name for name, _ in members}
    for rows in (d.X, d.X.head(7)):
        np.testing.assert_array_equal(ranker.explain(rows).years, ranker.predict(rows))
