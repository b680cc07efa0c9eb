import warnings
from inspect import signature

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.integrate import trapezoid
from sklearn.model_selection import GridSearchCV, KFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import lifeyears as ly
from conftest import cohort
from lifeyears.metrics import _scorers as scorers_module
from lifeyears.metrics import (
    compare,
    make_scorer,
    ndcg_score,
    pairwise_accuracy,
    policy_value,
    selection_measures,
)
from lifeyears.models import Cox, KaplanMeier
from lifeyears.relevance import DoublyRobust, ExpectedYears, cross_fit, sensitivity


@pytest.fixture(scope="module")
def ranked():
    rng = np.random.default_rng(0)
    years = rng.exponential(5, 1200)
    return years, {
        "good": (years + rng.normal(0, 4, 1200)).round(1),
        "fair": (years + rng.normal(0, 12, 1200)).round(),
        "none": np.zeros(1200),
    }


def test_values_are_the_metrics(ranked):
    years, scores = ranked
    c = compare(years, scores, k=3, waitlist=20, n_resamples=50)
    for name, score in scores.items():
        assert c.values.loc[name, "value"] == pytest.approx(policy_value(years, score, k=3, waitlist=20))
        assert c.values.loc[name, "ndcg"] == pytest.approx(ndcg_score(years, score, k=3, waitlist=20))
    gap = policy_value(years, scores["good"], 3, 20) - policy_value(years, scores["fair"], 3, 20)
    assert c.differences.loc[("good", "fair"), "value"] == pytest.approx(gap)
    assert c.best() == "good"
    assert list(c.differences.index) == [("good", "fair"), ("good", "none"), ("fair", "none")]


def test_resamples_are_the_metric_of_resampled_rows(ranked):
    """The one-pass kernel against drawing the rows and computing the metric on them, ties and repeats included."""
    years, scores = ranked
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        c = compare(
            years[:200], {name: score[:200] for name, score in scores.items()}, k=2, waitlist=15, n_resamples=30
        )
    rng = np.random.default_rng(0)
    for resample, rows in zip(c.resamples, rng.integers(200, size=(30, 200), dtype=np.int32), strict=True):
        for column, score in enumerate(scores.values()):
            expected = policy_value(years[:200][rows], score[:200][rows], k=2, waitlist=15)
            assert resample[column] == pytest.approx(expected, rel=1e-12)


def test_standard_errors_are_the_spread_over_samples():
    """The infinitesimal jackknife against 300 fresh samples of the same population (4% error), ties included."""
    from lifeyears.metrics._compare import _Resampler
    from lifeyears.metrics._gain import rank_weights

    rng = np.random.default_rng(0)
    values, errors, gap_errors = [], [], []
    for _ in range(300):
        a, b = rng.standard_normal((2, 3000)).round(1)
        years = rng.exponential(np.exp(a / 2 + b / 4))
        resample = _Resampler(years, [a, b], np.array([[0, 1]]), rank_weights(3000, 3, 30))
        found = resample(np.arange(3000, dtype=np.int32)[None])
        values.append(found[0][0])
        errors.append(found[1][0])
        gap_errors.append(found[2][0, 0])
    values = np.array(values)
    assert np.mean(errors, axis=0) == pytest.approx(values.std(axis=0), rel=0.13)
    assert np.mean(gap_errors) == pytest.approx((values[:, 0] - values[:, 1]).std(), rel=0.13)


def test_influence_is_the_derivative_by_the_mass_of_a_row():
    """Doubling one row out of many changes the gain by about its influence: the error's parts, checked one by one."""
    from lifeyears.metrics._compare import _Resampler
    from lifeyears.metrics._gain import rank_weights

    rng = np.random.default_rng(1)
    n = 4000
    score = rng.standard_normal(n).round(2)
    years = rng.exponential(np.exp(score))
    resample = _Resampler(years, [score], np.empty((0, 2), dtype=np.int64), rank_weights(n, 1, 40))
    everybody = np.arange(n, dtype=np.int32)
    base, error, _ = (found[0] for found in resample(everybody[None]))
    changes = []
    for row in range(n):  # leave one row out and put another in its place
        swapped = everybody.copy()
        swapped[row] = (row + 7) % n
        changes.append(resample(swapped[None])[0][0, 0] - base[0])
    # a swap takes one influence away and adds another: its variance is twice that of one, n of which make the error
    assert np.sqrt(n * np.var(changes) / 2) == pytest.approx(error[0], rel=0.15)


def test_intervals_are_symmetric_and_p_values_agree_with_them(ranked):
    years, scores = ranked
    c = compare(years, scores, waitlist=20, n_resamples=400, confidence=0.9)
    assert (c.values["high"] - c.values["value"]).to_numpy() == pytest.approx(
        (c.values["value"] - c.values["low"]).to_numpy()
    )
    wide = compare(years, scores, waitlist=20, n_resamples=400, confidence=0.99)
    assert (wide.values["high"] > c.values["high"]).all()
    excluded = (c.differences["low"] > 0) | (c.differences["high"] < 0)
    assert (excluded == (c.differences["p"] < 0.1)).all()
    same = compare(years, {"a": scores["good"], "b": scores["good"]}, waitlist=20, n_resamples=100)
    assert same.differences.iloc[0][["value", "low", "high", "p"]].tolist() == [0, 0, 0, 1]


def test_same_seed_same_comparison_whatever_the_chunk(ranked, monkeypatch):
    years, scores = ranked
    first = compare(years, scores, waitlist=20, n_resamples=60, random_state=4)
    monkeypatch.setattr("lifeyears.metrics._compare.CHUNK_BYTES", 4 * 1200 * 7)
    again = compare(years, scores, waitlist=20, n_resamples=60, random_state=4)
    pd.testing.assert_frame_equal(first.values, again.values)


def test_coverage_of_the_population_value():
    """95% intervals for the value of a fixed ranking: 400 cohorts of 4,000, lists of 40; the share's error is 0.011."""
    rng = np.random.default_rng(0)
    z = np.linspace(-8, 8, 8001)
    # life is exponential with mean exp(z); the best of 40 by z
    best = 40 * stats.norm.cdf(z) ** 39 * stats.norm.pdf(z)
    truth = trapezoid(np.exp(z / 2) * best, z)
    covered = []
    for _ in range(400):
        score = rng.standard_normal(4000)
        years = rng.exponential(np.exp(score / 2))
        row = compare(years, {"s": score}, waitlist=40, n_resamples=300, random_state=rng).values.iloc[0]
        covered.append(row["low"] <= truth <= row["high"])
    assert 0.91 <= np.mean(covered) <= 0.98


def test_few_rows_for_the_list_warn(ranked):
    years, scores = ranked
    with pytest.warns(UserWarning, match="1,200 rows are few for lists of 256"):
        compare(years, scores, n_resamples=20)
    with pytest.warns(UserWarning, match="few for lists"):
        compare(years, scores, waitlist=None, n_resamples=20)


def test_negative_relevance_gives_values_and_no_ndcg():
    c = compare(-np.arange(400.0), {"a": np.arange(400.0)}, waitlist=5, n_resamples=20)
    assert c.values.loc["a", "value"] < 0
    assert np.isnan(c.values.loc["a", "ndcg"])
    assert c.differences.empty


def test_bad_comparisons_are_refused(ranked):
    years, scores = ranked
    for bad, message in (
        ({"scores": {}}, "dict of model names"),
        ({"scores": [years]}, "dict of model names"),
        ({"scores": {"a": years[:5]}}, "1200 relevances and 5 scores"),
        ({"scores": {"a": np.full(1200, np.nan)}}, "missing or infinite"),
        ({"scores": scores, "k": 30, "waitlist": 20}, "k must lie"),
        ({"scores": scores, "n_resamples": 0}, "n_resamples"),
        ({"scores": scores, "n_resamples": 10}, "n_resamples"),
        ({"scores": scores, "waitlist": 2000}, "fewer than the list of 2000"),
        ({"scores": scores, "confidence": 1.0}, "confidence"),
    ):
        with pytest.raises(ValueError, match=message):
            compare(years, **{"waitlist": 20, **bad})


def test_comparison_shows_itself(ranked):
    years, scores = ranked
    c = compare(years, scores, waitlist=20, n_resamples=50)
    assert "Paired differences" in str(c)
    assert "<table" in c._repr_html_()
    assert c.plot().get_yticklabels()[0].get_text() == "good − fair"
    assert compare(years, {"one": scores["good"]}, waitlist=20, n_resamples=20).plot() is not None
    X, y = cohort(900)
    relevance = cross_fit(DoublyRobust(tau=6), X, y)
    assert "by DR" in str(compare(relevance, {"x": -X[:, 0]}, waitlist=10, n_resamples=20))


def test_models_that_differ_in_two_rows_have_finite_intervals():
    rng = np.random.default_rng(0)
    years = rng.exponential(5, 4000)
    score = rng.normal(size=4000)
    swapped = score.copy()
    top = np.argsort(-score)[:2]
    swapped[top] = score[top[::-1]]
    c = compare(years, {"a": score, "b": swapped}, waitlist=50, n_resamples=200)
    assert np.isfinite(c.differences[["low", "high"]].to_numpy()).all()
    with pytest.warns(UserWarning, match="few for lists"):
        one_list = compare(years, {"a": score}, waitlist=None, n_resamples=200)
    assert np.isfinite(one_list.values[["low", "high"]].to_numpy()).all()


def test_selection_measures_by_hand():
    found = selection_measures([0.2, 0.4, 0.9], [0.3, 0.2, 0.8])
    assert found.mean_absolute_error == pytest.approx((0.1 + 0.2 + 0.1) / 3)
    assert found.spearman == pytest.approx(0.5)
    assert found.pairwise_accuracy == pytest.approx(2 / 3)
    assert pairwise_accuracy([1.0, 1.0, 2.0], [0.0, 5.0, 5.0]) == pytest.approx((1 + 0.5) / 2)
    assert np.isnan(pairwise_accuracy([1.0, 1.0], [0.0, 5.0]))
    assert np.isnan(selection_measures([1.0, 1.0], [0.0, 5.0]).spearman)
    with pytest.raises(ValueError, match="2 true values and 1"):
        selection_measures([1.0, 2.0], [1.0])


@pytest.fixture(scope="module")
def table():
    X, y = cohort(600)
    return pd.DataFrame(X, columns=list("abc")), y


RELEVANCE = ExpectedYears(KaplanMeier(), tau=8)
SCORERS = {
    "ndcg": make_scorer("ndcg", k=1, waitlist=16, relevance=RELEVANCE, cv=2),
    "years": make_scorer("policy_value", k=1, waitlist=16, relevance=RELEVANCE, cv=2),
    "concordance": make_scorer("concordance"),
    "auc": make_scorer("auc", time=4.0),
}


def test_scorers_together_in_grid_search(table):
    X, y = table
    pipe = make_pipeline(StandardScaler(), Cox())
    search = GridSearchCV(pipe, {"cox__alpha": [0.1, 1e4]}, scoring=SCORERS, refit="years", cv=3, error_score="raise")
    search.fit(X, y)
    for name in SCORERS:
        assert np.isfinite(search.cv_results_[f"mean_test_{name}"]).all()
    assert search.best_estimator_.predict(X).shape == (600,)


def test_a_scorer_is_the_metric_of_cross_fitted_relevance(table):
    X, y = table
    found = cross_validate(Cox(), X, y, cv=KFold(3), scoring=SCORERS, error_score="raise", return_estimator=True)
    for fold, (_, test) in enumerate(KFold(3).split(X)):
        fold_X, fold_y = X.iloc[test], y[test]
        relevance = cross_fit(RELEVANCE, fold_X, fold_y, cv=2)
        scores = found["estimator"][fold].predict(fold_X)
        assert found["test_years"][fold] == pytest.approx(policy_value(relevance, scores, waitlist=16))
        assert found["test_ndcg"][fold] == pytest.approx(ndcg_score(relevance, scores, k=1, waitlist=16))
        assert found["test_concordance"][fold] == pytest.approx(ly.metrics.concordance_index(fold_y, scores))
        assert found["test_auc"][fold] == pytest.approx(ly.metrics.auc_at(fold_y, scores, 4.0))


def test_unfitted_relevance_is_cross_fitted_once_a_fold(table, monkeypatch):
    X, y = table
    calls = []
    original = ExpectedYears.cross_fit
    monkeypatch.setattr(ExpectedYears, "cross_fit", lambda self, *a, **k: calls.append(1) or original(self, *a, **k))
    monkeypatch.setattr(scorers_module, "_cache", type(scorers_module._cache)())
    model = Cox().fit(X, y)
    for _ in range(3):
        SCORERS["ndcg"](model, X, y)
        SCORERS["years"](model, X, y)
    assert len(calls) == 1


def test_functions_are_not_remembered(table):
    X, y = table
    model = Cox().fit(X, y)
    values = []
    for level in (0.9, 0.1):

        def nuisance(X, level=level):
            return np.array([1.0, 8.0]), np.tile([level, level / 2], (len(X), 1))

        relevance = DoublyRobust(nuisance, KaplanMeier(), tau=8, on_violation="clip")
        values.append(make_scorer("policy_value", waitlist=16, relevance=relevance, cv=2)(model, X, y))
    assert values[0] != values[1]


def test_fitted_relevance_is_used_as_it_is(table):
    X, y = table
    fitted = ExpectedYears(KaplanMeier(), tau=8).fit(X[:300], y[:300])
    model = Cox().fit(X, y)
    scorer = make_scorer("policy_value", waitlist=16, relevance=fitted)
    expected = policy_value(fitted.estimate(X[300:], y[300:]), model.predict(X[300:]), waitlist=16)
    assert scorer(model, X[300:], y[300:]) == pytest.approx(expected)


def test_bad_scorers_are_refused(table):
    X, y = table
    with pytest.raises(ValueError, match=r"measure must be one of 'ndcg', .* got 'gini'"):
        make_scorer("gini")
    with pytest.raises(ValueError, match="needs a time"):
        make_scorer("auc")
    for bad in ({"k": -3}, {"waitlist": 2.5}):
        with pytest.raises(ValueError, match=next(iter(bad))):
            make_scorer("ndcg", **bad)
    with pytest.raises(ValueError, match="each fold needs its own"):
        make_scorer("ndcg", relevance=np.ones(3))
    with pytest.raises(ValueError, match="needs an estimate of relevance"):
        make_scorer("ndcg")(Cox().fit(X, y), X, y)
    events = ly.Outcome(y.time, np.ones(len(y)))
    assert 0 < make_scorer("ndcg", k=5)(Cox().fit(X, y), X, events) < 1


def test_tipping_point_by_hand():
    # A picks a patient censored at 1 with 10 expected, B one who died at 4: A is better while 1 + f·9 > 4
    y = ly.Outcome([1.0, 4.0], [False, True])
    relevance = ExpectedYears(ly.SurvivalCurves([10.0], [[0.0]]), tau=20).estimate(np.zeros((2, 1)), y)
    scores = {"B": [0.0, 1.0], "A": [1.0, 0.0]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = sensitivity(relevance, y, scores, waitlist=None, n_resamples=20)
    assert (found.model, found.other) == ("A", "B")
    assert found.tipping_point == pytest.approx(1 / 3)
    assert found.table.loc[1.0, "value"] == pytest.approx(6.0)
    assert found.table.loc[0.0, "value"] == pytest.approx(-3.0)
    assert "67% shorter" in str(found)
    assert found.plot().get_ylabel() == "A − B"
    assert "<table" in found._repr_html_()


def test_tipping_points_respect_the_horizon():
    # A picks one seen to 12 (the horizon), B one censored at 5 with 5 left: capped at 12, B never overtakes
    y = ly.Outcome([12.0, 5.0, 8.0], [True, False, True])
    relevance = ExpectedYears(ly.SurvivalCurves([10.0], [[0.0]]), tau=12).estimate(np.zeros((3, 1)), y)
    scores = {"A": [3.0, 1.0, 1.0], "B": [0.0, 1.0, 1.0]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = sensitivity(relevance, y, scores, waitlist=None, n_resamples=20)
    assert np.isnan(found.tipping_point)
    assert "no common factor" in str(found)
    with pytest.raises(ValueError, match="not of the same rows"):
        sensitivity(relevance, y[::-1], scores, waitlist=None)


def test_sensitivity_needs_imputation_and_two_models():
    X, y = cohort(600)
    EY, DR = cross_fit(ExpectedYears(tau=8), X, y), cross_fit(DoublyRobust(tau=8), X, y)
    scores = {"a": -X[:, 0], "b": X[:, 2]}
    found = sensitivity(EY, y, scores, waitlist=10, n_resamples=20)
    assert len(found.table) == 8
    with pytest.raises(ValueError, match="not DR"):
        sensitivity(DR, y, scores, waitlist=10)
    with pytest.raises(ValueError, match="two models"):
        sensitivity(EY, y, {"a": X[:, 0]}, waitlist=10)
    with pytest.raises(ValueError, match="600 relevances and 5"):
        sensitivity(EY, y[:5], scores, waitlist=10)


def test_a_bootstrap_interval_of_any_metric_is_scipys():
    rng = np.random.default_rng(0)
    relevance, scores = rng.exponential(size=200), rng.normal(size=200)

    def covariance(relevance, scores):
        return float(np.cov(relevance, scores)[0, 1])

    ours = ly.metrics.bootstrap_interval(covariance, relevance, scores, n_resamples=4000)
    seed = {"rng" if "rng" in signature(stats.bootstrap).parameters else "random_state": 1}  # renamed in SciPy 1.15
    theirs = stats.bootstrap(
        (relevance, scores), covariance, paired=True, vectorized=False, n_resamples=4000, method="percentile", **seed
    ).confidence_interval
    assert ours.value == covariance(relevance, scores)
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=0.01)
    assert ours == ly.metrics.bootstrap_interval(covariance, relevance, scores, n_resamples=4000)


def test_a_bootstrap_interval_takes_outcomes_and_groups():
    rng = np.random.default_rng(1)
    time, scores = rng.exponential(size=60), rng.normal(size=60)
    y = (rng.random(60) < 0.7, time)
    value, low, high = ly.metrics.bootstrap_interval(ly.metrics.concordance_index, y, scores + time, n_resamples=200)
    assert value == ly.metrics.concordance_index(y, scores + time)
    assert low < value < high
    # one group of all rows is drawn whole, so that nothing varies
    settings = {"n_resamples": 20, "time": 0.5, "groups": np.zeros(60)}
    assert np.ptp(ly.metrics.bootstrap_interval(ly.metrics.auc_at, y, scores, **settings)) == 0
    twice = ly.metrics.bootstrap_interval(
        ly.metrics.policy_value, np.repeat(time, 2), np.repeat(scores, 2), groups=np.repeat(np.arange(60), 2), k=1
    )
    assert twice == ly.metrics.bootstrap_interval(ly.metrics.policy_value, time, scores, k=1)
    with pytest.raises(ValueError, match="3 rows of truth and 2 scores"):
        ly.metrics.bootstrap_interval(ly.metrics.policy_value, [1.0, 2.0, 3.0], [1.0, 2.0])


def test_the_catalogue_says_where_lower_is_better():
    better = {key: getattr(spec.load(), "greater_is_better", True) for key, spec in ly.catalogue.metrics.items()}
    assert {key for key, higher in better.items() if not higher} == {"brier", "integrated_brier"}
