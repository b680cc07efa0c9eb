"""Spline hazards: against Cox, a dense matrix, closed forms of the marginal likelihood, and areas summed by hand."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

import lifeyears as ly
from conftest import cohort
from lifeyears.models.fitting import PartialLikelihood
from lifeyears.ranking import make_members
from lifeyears.ranking._piecewise import restrict_to_interval
from lifeyears.ranking.splines import InteractionTerms, SplineTerms, fit_spline_hazards, fit_spline_interactions
from lifeyears.ranking.splines._hazards import (
    SPLINE_PRIOR,
    IntervalLikelihood,
    compute_posterior,
    estimate_prior_variances,
)
from lifeyears.ranking.splines._terms import NO_INTERACTIONS, TermMatrix

TAU = 4.0
EDGES = np.array([0.0, 1.0, TAU])


@pytest.fixture(scope="module")
def rows():
    X, y = cohort(600, seed=3)
    X = np.column_stack([X, np.random.default_rng(1).random(600) < 0.1])
    return (X - X.mean(axis=0)) / np.append(X[:, :-1].std(axis=0), 1.0), y


def both(X, y, edges=EDGES):
    search = fit_spline_hazards(X, y, edges)
    return [search.hazards, fit_spline_interactions(search)]


# the matrix of terms


def test_terms_are_the_column_and_its_parts_above_the_quartiles():
    x = np.arange(9.0)
    lines = SplineTerms.from_matrix(np.column_stack([x, x > 4, np.ones(9)]))
    np.testing.assert_array_equal(lines.column, [0, 0, 0, 0, 1, 2])
    np.testing.assert_array_equal(lines.knot, [0, 2, 4, 6, 0, 1])
    np.testing.assert_allclose(lines.mean, [4, 21 / 9, 10 / 9, 3 / 9, 4 / 9, 0])
    assert lines.scale[0] == x.std()
    assert lines.scale[4] == 1.0
    assert lines.scale[5] == 1.0


def dense(X, lines, pairs):
    drawn = np.maximum(X[:, lines.column] - lines.knot, 0.0) - lines.mean
    drawn /= lines.scale
    cut = np.clip(drawn, -2, 2)
    return np.column_stack([drawn, cut[:, pairs.first] * cut[:, pairs.second] - pairs.mean])


def test_a_matrix_in_blocks_is_the_matrix(rows):
    X, _ = rows
    lines = SplineTerms.from_matrix(X)
    pairs = InteractionTerms.from_splines(X, lines, np.array([0, 3, 5, len(lines.column) - 1]))
    assert (lines.column[pairs.first] != lines.column[pairs.second]).all()
    many = len(lines.column) + len(pairs.mean)
    chosen = np.sort(np.random.default_rng(0).permutation(many)[: many - 3])
    order = np.random.default_rng(1).permutation(len(X))[:500]
    terms, whole = TermMatrix(X, order, lines, pairs, chosen), dense(X, lines, pairs)[np.ix_(order, chosen)]
    np.testing.assert_allclose(dense(X, lines, pairs)[:, len(lines.column) :].mean(axis=0), 0, atol=1e-14)
    np.testing.assert_allclose(terms[10:70], whole[10:70], rtol=1e-12, atol=1e-14)
    coef, weights = np.random.default_rng(2).normal(size=len(chosen)), np.random.default_rng(3).random(500)
    np.testing.assert_allclose(terms @ coef, whole @ coef, atol=1e-12)
    np.testing.assert_allclose(weights @ terms, weights @ whole, atol=1e-11)


def test_the_likelihood_does_not_tell_blocks_from_the_whole(rows):
    X, y = rows
    lines = SplineTerms.from_matrix(X)
    part = IntervalLikelihood(X, y, 0.0, TAU)
    terms = part.make_terms(lines, NO_INTERACTIONS, np.arange(len(lines.column)))
    found = []
    for matrix in (terms, dense(X, lines, NO_INTERACTIONS)[part.order]):
        likelihood = PartialLikelihood(matrix, part.sets, np.ones(len(lines.column)))
        at = np.full(len(lines.column), 0.1)
        found.append((likelihood.value(at), likelihood.gradient(at), likelihood.curvature(at)))
    for ours, whole in zip(*found, strict=True):
        np.testing.assert_allclose(ours, whole, rtol=1e-9, atol=1e-9)


def test_with_one_ridge_for_all_they_are_cox(rows):
    X, y = rows
    lines = SplineTerms.from_matrix(X)
    part, every = IntervalLikelihood(X, y, 0.0, TAU), np.arange(len(lines.column))
    terms = part.make_terms(lines, NO_INTERACTIONS, every)
    coef = part.maximise(terms, np.full(len(every), 1 / 20), np.zeros(len(every)), tol=1e-6)
    cox = ly.models.Cox(alpha=20.0, tau=TAU).fit(dense(X, lines, NO_INTERACTIONS), restrict_to_interval(y, 0.0, TAU)[1])
    np.testing.assert_allclose(coef, cox.coef_, atol=1e-7)
    interval = part.make_interval(terms, coef)
    np.testing.assert_allclose(
        interval.expected_life(terms @ coef), cox.predict(dense(X, lines, NO_INTERACTIONS))[part.order], rtol=1e-6
    )


# the marginal likelihood


def test_the_posterior_is_that_of_a_normal_prior_and_a_parabola():
    root = np.random.default_rng(0).normal(size=(5, 5))
    curvature, slope, prior = root @ root.T, np.arange(5.0), np.array([0.1, 1.0, 3.0, 0.01, 0.5])
    covariance = np.linalg.inv(curvature + np.diag(1 / prior))
    mean, variance = compute_posterior(curvature, slope, prior)
    np.testing.assert_allclose(mean, covariance @ slope)
    np.testing.assert_allclose(variance, np.diag(covariance))


def test_one_coefficient_has_the_evidence_in_closed_form():
    # b ~ N(0, v + 1/h): most likely at v = b² − 1/h, and at 0 where the estimate is within its standard error
    h, b = 400.0, np.array([0.15, 0.1, 0.04])
    wide = np.full(3, 1.0)
    found = estimate_prior_variances(
        [(np.diag(np.full(3, h)), h * b)], np.full(3, SPLINE_PRIOR.initial), wide * 1e-6, wide
    )
    np.testing.assert_allclose(found[:2], b[:2] ** 2 - 1 / h, rtol=0.02)
    assert found[2] < 1e-4
    found = estimate_prior_variances(
        [(np.diag(np.full(3, h)), h * b)], np.full(3, SPLINE_PRIOR.initial), wide * 1e-3, wide * 0.01
    )
    np.testing.assert_allclose(found, [0.01, b[1] ** 2 - 1 / h, 0.0], rtol=0.02)


def test_phases_share_the_variance():
    h, b = np.array([300.0, 900.0]), np.array([0.12, -0.2])

    def unlikely(v):
        return np.sum(np.log(v + 1 / h) + b**2 / (v + 1 / h))

    best = minimize_scalar(unlikely, bounds=(1e-6, 1.0), method="bounded").x
    known = [(np.array([[one]]), np.array([one * two])) for one, two in zip(h, b, strict=True)]
    found = estimate_prior_variances(known, np.array([SPLINE_PRIOR.initial]), np.array([1e-6]), np.array([1.0]))
    np.testing.assert_allclose(found, best, rtol=0.02)


def test_what_matters_is_found_and_the_rest_is_dropped():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(6000, 30))
    log_hazard = 1.2 * np.maximum(X[:, 0], 0) + 0.5 * X[:, 1] + 0.5 * X[:, 2] + 0.5 * X[:, 1] * X[:, 2]
    life, end = rng.exponential(5 * np.exp(-log_hazard)), rng.exponential(10, 6000)
    alone, paired = both(X, ly.Outcome(np.minimum(life, end), life <= end), np.array([0.0, TAU]))
    assert {0, 1, 2} <= set(alone.splines.column)
    assert len(set(alone.splines.column)) <= 12
    together = {
        frozenset(pair)
        for pair in zip(
            paired.splines.column[paired.interactions.first],
            paired.splines.column[paired.interactions.second],
            strict=True,
        )
    }
    assert frozenset((1, 2)) in together
    assert len(together) <= 6
    truth = -5 * np.exp(-log_hazard) * np.expm1(-TAU / (5 * np.exp(-log_hazard)))
    errors = [np.mean((made.predict(X) - truth) ** 2) / truth.var() for made in (alone, paired)]
    assert errors[1] < 0.02
    assert errors[1] < 0.5 * errors[0]


def test_of_few_deaths_little_is_believed():
    rng = np.random.default_rng(6)
    X, y = rng.normal(size=(200, 40)), ly.Outcome(rng.exponential(5, 200), rng.random(200) < 0.5)  # noise
    ours = [made.predict(X).std() for made in both(X, y, np.array([0.0, TAU]))]
    assert max(ours) < 0.5 * ly.models.Cox(tau=TAU).fit(X, y).predict(X).std()


def test_of_too_many_terms_the_strongest_are_looked_at(monkeypatch):
    rng = np.random.default_rng(7)
    X = rng.normal(size=(1500, 30))
    life = rng.exponential(5 * np.exp(-X[:, 3] + 0.8 * X[:, 17]))
    monkeypatch.setattr("lifeyears.ranking.splines._hazards.MOST_TERMS", 10)
    for made in both(X, ly.Outcome(life, np.ones(1500, dtype=bool)), np.array([0.0, TAU])):
        assert {3, 17} <= set(made.splines.column)
        assert len(made.splines.column) <= 10


def test_who_dies_at_once_is_seen():
    time = np.append(np.zeros(300), np.full(700, 2.0))
    X = np.random.default_rng(8).normal(size=(1000, 2))
    made = both(X, ly.Outcome(time, np.ones(1000, dtype=bool)), np.array([0.0, TAU]))[0]
    # Breslow's hazard: 300 of 1,000 at 0, all of the rest at 2
    np.testing.assert_allclose(made.predict(X).mean(), 2 * np.exp(-0.3) + 2 * np.exp(-1.3), rtol=0.002)


# years


@pytest.mark.parametrize("which", [0, 1])
def test_years_are_the_area_under_the_curves_of_both_phases_joined(rows, which):
    X, y = rows
    made = both(X, y)[which]
    chosen = np.arange(len(made.splines.column) + len(made.interactions.mean))
    terms = dense(X, made.splines, made.interactions)
    assert len(chosen) == terms.shape[1]
    area, alive = np.zeros(len(X)), np.ones(len(X))
    for interval, slope, together in zip(made.intervals, made.slope, made.interaction_slope, strict=True):
        log_hazard = terms @ np.append(slope * made.splines.scale, together)
        times = np.append(interval.baseline.times, interval.length)
        hazard = np.append(0.0, interval.baseline.hazard)
        survival = np.exp(-np.outer(np.exp(log_hazard), hazard))
        area += alive * (survival * np.diff(times, prepend=0.0)).sum(axis=1)
        alive = alive * survival[:, -1]
    np.testing.assert_allclose(made.predict(X), area, rtol=1e-5)


def test_the_unit_of_a_column_does_not_matter(rows):
    X, y = rows
    other = X * np.array([1000.0, 1.0, *[0.01] * (X.shape[1] - 3), 7.0]) + 5.0
    for made, again in zip(both(X, y), both(other, y), strict=True):
        np.testing.assert_allclose(again.predict(other), made.predict(X), rtol=1e-6)


def test_years_depend_on_nobody_else_and_beyond_what_was_seen_nothing_changes(rows):
    X, y = rows
    far = X.copy()
    far[0], far[1] = X.max(axis=0) + 100.0, X.min(axis=0) - 100.0
    ends = np.array([X.max(axis=0), X.min(axis=0)])
    for made in both(X, y):
        assert made.predict(X[7:8])[0] == made.predict(X)[7]
        np.testing.assert_allclose(made.predict(far)[:2], made.predict(ends), rtol=1e-12)


def test_contributions_add_up_and_a_column_that_says_nothing_adds_nothing(rows):
    X, y = rows
    X = np.column_stack([X, np.ones(len(X))])
    for made in both(X, y):
        years, parts = made.predict_contributions(X)
        np.testing.assert_array_equal(years, made.predict(X))
        np.testing.assert_allclose(parts.sum(axis=1), years, rtol=1e-10)
        assert (parts[:, -2] == 0).all()


def test_what_two_columns_do_together_is_shared_by_halves(rows):
    X, y = rows
    made = both(X, y)[0]
    pair = InteractionTerms(np.array([0]), np.array([len(made.splines.column) - 1]), np.array([0.0]))
    zero, slope = np.zeros_like(made.slope), np.full((len(made.intervals), 1), 0.3)
    only = type(made)(made.splines, pair, zero, slope, made.intervals)
    parts = only.predict_contributions(X)[1]
    one, other = made.splines.column[[0, -1]]
    assert one != other
    np.testing.assert_allclose(parts[:, one], parts[:, other], rtol=1e-12)
    assert only.n_terms == 1


def test_a_phase_without_deaths_is_lived_through(rows):
    X, y = rows
    late = ly.Outcome(y.time + TAU, y.event)
    for made in both(X, late, np.array([0.0, TAU])):
        assert made.n_terms == 0
        np.testing.assert_array_equal(made.predict(X), TAU)
        years, parts = made.predict_contributions(X)
        np.testing.assert_array_equal(years, TAU)
        assert (parts[:, :-1] == 0).all()
    members = make_members(n_estimators=5)
    ranker = ly.StackedRanker(ly.models.Cox(alpha=10.0), TAU, members=members, random_state=0, n_jobs=1)
    assert np.isfinite(ranker.fit(X, late).predict(X)).all()


@pytest.mark.parametrize(
    "names", [("spline_hazards",), ("spline_interactions",), ("spline_hazards", "spline_interactions")]
)
def test_a_ranker_of_splines_alone_is_saved(rows, tmp_path, names):
    X, y = rows
    members = make_members(names=names)
    ranker = ly.StackedRanker(tau=TAU, members=members, with_base=False, folds=2, random_state=0, n_jobs=1).fit(X, y)
    assert set(ranker.members_) <= set(names)
    assert set(ranker.report_.terms) == set(ranker.members_)
    assert "terms: " in str(ranker.report_)
    np.testing.assert_array_equal(ly.load(ly.save(ranker, tmp_path / "m")).predict(X), ranker.predict(X))


@pytest.mark.parametrize(
    ("part", "name", "value"),
    [
        ("splines", "column", [-1]),
        ("splines", "knot", []),
        ("splines", "scale", [0.0]),
        ("splines", "mean", [np.nan]),
        ("interactions", "first", [10**9]),
        ("interactions", "mean", [0.0, 0.0]),
        (None, "slope", [[1.0]]),
    ],
)
def test_what_does_not_fit_together_is_refused_before_compiled_loops_see_it(rows, part, name, value):
    X, y = rows
    made = both(X, y)[0]
    lines, none = made.splines.select(np.arange(1)), np.zeros((2, 0))
    one = InteractionTerms(np.array([0]), np.array([0]), np.array([0.0]))
    parts = {"splines": lines, "interactions": one, "slope": np.ones((2, 1)), "interaction_slope": np.ones((2, 1))}
    type(made)(**parts, intervals=made.intervals)
    forged = np.array(value, dtype=getattr(parts[part], name).dtype if part else float)
    parts |= {part: replace(parts[part], **{name: forged})} if part else {name: forged}
    with pytest.raises(ValueError, match="fit together"):
        type(made)(**parts, intervals=made.intervals)
    empty = made.splines.select(np.arange(0))
    with pytest.raises(ValueError, match="fit together"):
        type(made)(empty, one, none, np.ones((2, 1)), made.intervals)
    far = type(made)(replace(lines, column=np.array([99])), NO_INTERACTIONS, np.ones((2, 1)), none, made.intervals)
    with pytest.raises(ValueError, match="columns"):
        far.predict(X)


def test_a_search_that_does_not_end_is_reported(rows, monkeypatch):
    X, y = rows
    ranker = ly.StackedRanker(tau=TAU, members=make_members(names=["spline_hazards"]), random_state=0)
    assert not any("Newton" in note for note in ranker.fit(X, y).report_.notes)
    monkeypatch.setattr("lifeyears.ranking.splines._hazards.MOST_STEPS", 1)
    notes = ranker.fit(X, y).report_.notes
    assert "spline hazards: Newton's method did not converge in 5 of 5 folds" in notes
