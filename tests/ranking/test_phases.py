"""Linear hazards phase by phase: against Cox, against curves pieced together by hand, in any unit."""

import numpy as np
import pytest

import lifeyears as ly
from conftest import cohort
from lifeyears.ranking._phases import RIDGES, linear_hazards, phase_of

TAU = 4.0


@pytest.fixture(scope="module")
def rows():
    X, y = cohort(600, seed=3)
    X = np.column_stack([X, np.random.default_rng(1).random(600) < 0.1])
    return (X - X.mean(axis=0)) / np.append(X[:, :-1].std(axis=0), 1.0), y


def test_one_phase_is_cox_under_the_ridge(rows):
    X, y = rows
    for made, ridge in zip(linear_hazards(X, y, np.array([0.0, TAU])), RIDGES, strict=True):
        cox = ly.models.Cox(alpha=ridge, tau=TAU).fit(X, phase_of(y, 0.0, TAU)[1])
        assert made.ridge == ridge
        np.testing.assert_allclose(made.predict(X), cox.predict(X), rtol=1e-3)


def test_two_phases_are_the_area_under_two_curves_joined(rows):
    X, y = rows
    edges = np.array([0.0, 1.0, TAU])
    made = linear_hazards(X, y, edges)[0]
    times = np.linspace(0.0, 1.0, 20_001)
    area, alive = np.zeros(len(X)), np.ones(len(X))
    for start, stop in ((0.0, 1.0), (1.0, TAU)):
        seen, within = phase_of(y, start, stop)
        curves = ly.models.Cox(alpha=RIDGES[0], tau=stop - start).fit(X[seen], within).predict_curves(X)
        survival = curves.at(times * (stop - start))
        area += alive * survival[:, :-1].mean(axis=1) * (stop - start)
        alive = alive * survival[:, -1]
    np.testing.assert_allclose(made.predict(X), area, rtol=2e-3)


def test_the_unit_of_a_column_does_not_matter(rows):
    X, y = rows
    edges = np.array([0.0, 1.0, TAU])
    other = X * np.array([1000.0, 1.0, *[0.01] * (X.shape[1] - 3), 7.0]) + 5.0
    for made, again in zip(linear_hazards(X, y, edges), linear_hazards(other, y, edges), strict=True):
        np.testing.assert_allclose(again.predict(other), made.predict(X), rtol=1e-6)


def test_contributions_add_up_and_a_column_that_says_nothing_adds_nothing(rows):
    X, y = rows
    X = np.column_stack([X, np.ones(len(X))])
    made = linear_hazards(X, y, np.array([0.0, 1.0, TAU]))[-1]
    years, parts = made.explained(X)
    np.testing.assert_allclose(years, made.predict(X), rtol=1e-12)
    np.testing.assert_allclose(parts.sum(axis=1), years, rtol=1e-10)
    assert (parts[:, -2] == 0).all()


def test_a_phase_without_deaths_is_lived_through(rows):
    X, y = rows
    late = ly.Outcome(y.time + TAU, y.event)
    for made in linear_hazards(X, late, np.array([0.0, TAU])):
        np.testing.assert_array_equal(made.predict(X), TAU)
        years, parts = made.explained(X)
        np.testing.assert_array_equal(years, TAU)
        assert (parts[:, :-1] == 0).all()
    ranker = ly.BootstrappedRanker(ly.models.Cox(alpha=10.0), tau=TAU, n_estimators=5, random_state=0, n_jobs=1)
    assert np.isfinite(ranker.fit(X, late).predict(X)).all()


def test_a_ranker_of_linear_hazards_alone_is_saved_and_says_that_it_has_no_trees(rows, tmp_path):
    X, y = rows
    ranker = ly.BootstrappedRanker(tau=TAU, members=("linear",), folds=2, random_state=0, n_jobs=1).fit(X, y)
    np.testing.assert_array_equal(ly.load(ly.save(ranker, tmp_path / "m")).predict(X), ranker.predict(X))
    with pytest.raises(AttributeError, match="no trees"):
        ranker.booster_  # noqa: B018
