"""StackedRanker: that it finds what is there to be found, and loses little where nothing is."""

import numpy as np
import pandas as pd
import pytest

import lifeyears as ly
from lifeyears import errors
from lifeyears.metrics import policy_value

SMALL = {"random_state": 0, "n_jobs": 1}


def small_stack(base=None, n_estimators=10, **settings):
    """A stacked ranker with all members and few trees."""
    return ly.StackedRanker(base, members=ly.ranking.make_members(n_estimators=n_estimators), **settings, **SMALL)


@pytest.fixture(scope="module")
def cohort():
    d = ly.data.simulate_registry(n=1500, world="interactions", random_state=11)
    return d, ly.data.TablePreprocessor().fit_transform(d.X)


@pytest.fixture(scope="module")
def stacked(cohort):
    d, _ = cohort
    return small_stack(ly.models.Cox(alpha=10.0), tau=15, n_estimators=60).fit(d.X, d.y)


class Known(ly.models.KaplanMeier):
    """Says of everybody that they are dead at 2, whatever the data."""

    def _fit(self, X, y, sample_weight):
        self.times_, self.survival_ = np.array([1.0, 2.0]), np.array([0.5, 0.0])
        self._expected_life = 1.5


def test_the_fallback_of_a_stack_is_never_below_the_time_lived():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 2)), ly.Outcome(rng.uniform(0.1, 5, 200), rng.random(200) < 0.6)
    lived = ~y.event & (y.time >= 2)
    f = small_stack(Known(), tau=5.0, n_estimators=3, label="ey", folds=2).fit(X, y)
    assert f.report_.labels.n_fallback == lived.sum()
    np.testing.assert_allclose(f.pseudo_labels_[lived], np.maximum(1.5, y.time[lived]))


def test_it_beats_a_wrong_base_and_is_calibrated():
    """A threshold interaction that Cox cannot see: the truth is known, so the gain needs no estimate."""
    rng = np.random.default_rng(5)

    def draw(n):
        X = rng.normal(size=(n, 6))
        rate = 0.1 * np.exp(1.2 * np.where((X[:, 0] > 0) == (X[:, 1] > 0), 1.0, -1.0))
        life, cut = rng.exponential(1 / rate), rng.uniform(2, 30, n)
        return X, ly.Outcome(np.minimum(life, cut), life <= cut), (1 - np.exp(-rate * 15)) / rate

    X, y, _ = draw(3000)
    new, _, truth = draw(3000)
    f = small_stack(tau=15, n_estimators=200).fit(X, y)
    gain = policy_value(truth, f.predict(new), waitlist=256) - policy_value(truth, f.base_.predict(new), waitlist=256)
    assert gain > 3.0  # of about 5.4 that there are
    said = f.predict(new)
    assert np.polyfit(said, truth, 1)[0] == pytest.approx(1.0, abs=0.2)  # a mean of folds is a little too cautious
    assert said.mean() == pytest.approx(truth.mean(), abs=0.3)


def test_where_cox_is_right_little_is_lost():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(3000, 5))
    rate = 0.1 * np.exp(X @ np.array([0.6, -0.4, 0.3, 0.0, 0.0]))
    life, cut = rng.exponential(1 / rate), rng.uniform(2, 30, 3000)
    f = small_stack(tau=15, n_estimators=200)
    f.fit(X, ly.Outcome(np.minimum(life, cut), life <= cut))
    new = rng.normal(size=(3000, 5))
    rate = 0.1 * np.exp(new @ np.array([0.6, -0.4, 0.3, 0.0, 0.0]))
    truth = (1 - np.exp(-rate * 15)) / rate
    loss = policy_value(truth, f.base_.predict(new), waitlist=256) - policy_value(truth, f.predict(new), waitlist=256)
    assert loss < 0.1


def test_same_for_any_number_of_jobs_and_seeded(cohort, stacked, monkeypatch):
    d, _ = cohort
    monkeypatch.setattr("lifeyears.ranking.stacked._fitting.WORTH_A_PROCESS", 100)
    again = small_stack(ly.models.Cox(alpha=10.0), tau=15, n_estimators=60).set_params(n_jobs=2).fit(d.X, d.y)
    np.testing.assert_array_equal(again.predict(d.X), stacked.predict(d.X))
    other = small_stack(ly.models.Cox(alpha=10.0), tau=15, n_estimators=60).set_params(random_state=1).fit(d.X, d.y)
    assert not np.array_equal(other.predict(d.X), stacked.predict(d.X))


def test_curves_have_the_predicted_years(cohort, stacked):
    d, _ = cohort
    curves = stacked.predict_curves(d.X)
    np.testing.assert_allclose(curves.restricted_mean(15), stacked.predict(d.X), atol=1e-6)
    assert (np.diff(curves.survival, axis=1) <= 0).all()


def test_explanation_finds_the_feature_that_matters():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(800, 3)), columns=["noise", "signal", "other"])
    y = ly.Outcome(rng.exponential(np.exp(X["signal"])) + 0.01, np.ones(800, dtype=bool))
    f = small_stack(tau=5, n_estimators=40).fit(X, y)
    assert f.explain(X).contributions.abs().mean().idxmax() == "signal"
    assert f.explain(X).movers(k=5).index[0] == "signal"


def test_nobody_censored():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = ly.Outcome(rng.exponential(np.exp(X[:, 0])) + 0.01, np.ones(300, dtype=bool))
    f = small_stack(tau=4, n_estimators=20).fit(X, y)
    np.testing.assert_allclose(f.pseudo_labels_, np.minimum(y.time, 4))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"effort": "more"}, "effort"),
        ({"folds": 1}, "folds"),
        ({"label": "ipcw"}, "label"),
        ({"members": ("boosted_years",)}, "members must be pairs"),
        ({"members": [("tree", 3)]}, "neither a member"),
        ({"members": [("base", ly.ranking.SplineHazards())]}, "names of members"),
        ({"members": [("a", ly.ranking.SplineHazards()), ("a", ly.ranking.SplineHazards())]}, "names of members"),
        ({"members": (), "with_base": False}, "nothing to rank by"),
        ({"members": [("a", ly.ranking.BoostedYears(alpha=2.0))]}, "alpha"),
        ({"members": [("a", ly.ranking.SplineHazards(n_intervals=0))]}, "n_intervals"),
        ({"members": [("a", ly.ranking.BoostedHazards(n_estimators=0))]}, "n_estimators"),
    ],
)
def test_wrong_settings_are_named(options, words, X, y):
    with pytest.raises(errors.RequestError, match=words):
        ly.StackedRanker(**options).fit(X, y)


def test_it_has_at_most_twelve_parameters():
    assert len(ly.StackedRanker().get_params(deep=False)) <= 12


def test_a_wrapped_model_as_base(X, y):
    sksurv = pytest.importorskip("sksurv.linear_model")
    base = sksurv.CoxPHSurvivalAnalysis(alpha=0.1)
    ours = small_stack(ly.models.Cox(), tau=y.time.max(), n_estimators=5).fit(X, y)
    theirs = small_stack(base, tau=y.time.max(), n_estimators=5).fit(X, y)
    np.testing.assert_allclose(theirs.predict(X), ours.predict(X), rtol=1e-3)


def test_the_scorer_and_the_pipeline(cohort):
    from sklearn.model_selection import cross_val_score
    from sklearn.pipeline import make_pipeline

    d, matrix = cohort
    model = make_pipeline(ly.data.TablePreprocessor(), small_stack(ly.models.Cox(alpha=10.0), tau=15, n_estimators=5))
    scorer = ly.metrics.make_scorer(
        "policy_value", k=1, waitlist=64, relevance=ly.relevance.ExpectedYears(ly.models.KaplanMeier(), tau=15)
    )
    scores = cross_val_score(model, matrix, d.y, scoring=scorer, cv=3, error_score="raise")
    assert np.isfinite(scores).all()


def test_curves_at_asked_times_are_those_of_the_own_grid(cohort, stacked):
    d, _ = cohort
    asked = stacked.predict_curves(d.X[:20], times=[5.0, 10.0])
    np.testing.assert_allclose(asked.survival, stacked.predict_curves(d.X[:20]).at([5.0, 10.0]), atol=2e-3)


def test_an_explanation_does_not_depend_on_who_else_is_explained(cohort, stacked):
    d, _ = cohort
    alone, among = stacked.explain(d.X.iloc[[3]]), stacked.explain(d.X.iloc[:10])
    np.testing.assert_allclose(alone.contributions.iloc[0], among.contributions.iloc[3], atol=1e-10)


def test_all_equal_times_with_many_rows():
    X = np.random.default_rng(0).normal(size=(1200, 2))
    y = ly.Outcome(np.full(1200, 3.0), np.ones(1200, dtype=bool))
    f = small_stack(ly.models.KaplanMeier(), tau=5, n_estimators=5).fit(X, y)
    np.testing.assert_allclose(f.predict(X), 3.0, atol=0.2)


def test_the_calibration_plot_shows_no_calibration_where_there_is_no_signal():
    """On noise, held-out years must not go with outcomes: over seeds, the mean correlation is near 0."""
    found = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(600, 4)), ly.Outcome(rng.exponential(5, 600), rng.random(600) < 0.6)
        f = small_stack(tau=8, n_estimators=20).set_params(random_state=seed).fit(X, y)
        said, outcomes = f.held_out_, f.held_out_outcomes_
        found.append(np.corrcoef(said, outcomes)[0, 1] if np.ptp(said) > 0 else 0.0)
    assert np.mean(found) < 2.5 * np.std(found, ddof=1) / np.sqrt(8) + 0.02
