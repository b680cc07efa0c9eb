"""The linear start of the hazard members: where boosting begins, and what it finds where effects turn round."""

import numpy as np
import pytest

import lifeyears as ly
from lifeyears.ranking._ensemble import grow_hazard, grow_years, linear_start
from lifeyears.ranking._settings import settings_of
from lifeyears.ranking._trees import LinearScore, training_table


def test_equals_scikit_survivals_ridge_on_columns_of_unit_spread():
    linear_model = pytest.importorskip("sksurv.linear_model")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3)) * [1.0, 20.0, 0.1] + [0.0, 50.0, 3.0]
    life = rng.exponential(np.exp(-((X - X.mean(0)) / X.std(0)) @ [0.5, -0.3, 0.0]))
    y = ly.Outcome(np.minimum(life, 2.0), life < 2.0)
    found = LinearScore.fit(X, y, ridge=30.0)
    scaled = (X - X.mean(0)) / X.std(0)
    peer = linear_model.CoxPHSurvivalAnalysis(alpha=30.0, ties="breslow").fit(scaled, y.to_structured())
    np.testing.assert_allclose(found.coef * X.std(0), peer.coef_, atol=1e-5)
    np.testing.assert_allclose(found(X), scaled @ peer.coef_, atol=1e-4)


def test_constant_columns_missing_cells_and_no_events():
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.normal(size=200), np.full(200, 7.0)])
    time = rng.exponential(np.exp(-X[:, 0]))
    seen = ly.Outcome(time, np.ones(200, dtype=bool))
    found = LinearScore.fit(X, seen, ridge=1.0)
    assert found.coef[0] > 0.5
    assert found.coef[1] == 0
    X[3, 0] = np.nan
    assert not LinearScore.fit(X, seen, ridge=1.0).coef.any()
    assert not LinearScore.fit(X[10:], ly.Outcome(time[10:], np.zeros(190, dtype=bool)), ridge=1.0).coef.any()


def test_effects_that_turn_round_are_found_phase_by_phase():
    """Log hazard +x in the first year and −x after it: by hand, which phase must have which sign."""
    rng = np.random.default_rng(2)
    x = rng.normal(size=4000)
    early = rng.exponential(np.exp(-x)) * 3
    late = 1 + rng.exponential(np.exp(x)) * 3
    life = np.where(early < 1, early, late)
    y = ly.Outcome(np.minimum(life, 10), life < 10)
    X = np.column_stack([x, rng.normal(size=4000)])
    settings, edges = settings_of("default", {"n_estimators": 40}), np.array([0.0, 1.0, 10.0])
    start, table = linear_start(X, y, edges, 20.0), training_table(X, settings, 0)
    hazard = grow_hazard(table, X, X[:50], y, edges, start, settings, 0)
    years = grow_years(table, X, X[:50], y.time, y.time, start, settings, 0)
    first, second = hazard.stages[-1].phases
    assert first.start.coef[0] > 0.7
    assert second.start.coef[0] < -0.7
    assert abs(first.start.coef[1]) < 0.1
    for grown in (hazard, years):
        np.testing.assert_allclose(grown.stages[-1].predict(X[:50]), grown.held_out[-1], atol=1e-9)
        said, parts = grown.stages[-1].explained(X[:50])
        np.testing.assert_allclose(parts.sum(axis=1), said, atol=1e-8)
        np.testing.assert_allclose(said, grown.held_out[-1], atol=1e-9)
    by_curves = sum_of_phases(X, y)
    np.testing.assert_allclose(start.predict(X[:50]), by_curves, rtol=0.02)


def sum_of_phases(X, y):
    """The same years by two Cox models' curves: life in the first year, and the chance to live it times life after."""
    first = ly.models.Cox(alpha=20.0, tau=1.0).fit(X, ly.Outcome(np.minimum(y.time, 1.0), y.event & (y.time <= 1.0)))
    alive = y.time > 1
    second = ly.models.Cox(alpha=20.0, tau=9.0).fit(X[alive], ly.Outcome(y.time[alive] - 1.0, y.event[alive]))
    reached = first.predict_curves(X[:50], np.array([1.0])).survival[:, 0]
    return first.predict(X[:50]) + reached * second.predict(X[:50])
