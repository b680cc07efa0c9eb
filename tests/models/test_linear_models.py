"""Kaplan–Meier, Cox and Weibull against R, scikit-survival, lifelines, and hand."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import quad
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import lifeyears as ly
from conftest import cohort
from lifeyears.models import Cox, KaplanMeier, WeibullAFT
from lifeyears.models.fitting import Maximum, PartialLikelihood, RiskSets, maximise

NEW = pd.DataFrame({"age": [40.0, 65.0], "sex": [1.0, 0.0], "x": [-1.0, 0.5]})


def test_kaplan_meier_equals_r(X, y, patients, from_r):
    for weight, key in ((None, "km"), (patients["weight"], "km_weighted")):
        curve = KaplanMeier().fit(X, y, sample_weight=weight).predict_curves(X[:1], from_r["times"])
        assert curve.survival[0] == pytest.approx(from_r[key]["survival"], abs=1e-12)


def test_kaplan_meier_is_the_same_for_all_and_predicts_its_area(X, y):
    km = KaplanMeier(tau=6).fit(X, y)
    area, _ = quad(
        lambda t: km.predict_curves(X[:1], [t]).survival[0, 0], 0, 6, points=np.arange(0.25, 6, 0.25), limit=500
    )
    assert km.predict(X) == pytest.approx(np.full(len(X), area), abs=1e-9)


def test_kaplan_meier_of_censored_data_alone_stays_at_one(X, y):
    km = KaplanMeier().fit(X, ly.Outcome(y.time, np.zeros(len(y))))
    assert km.predict_curves(X[:2], [1.0, 99.0]).survival.tolist() == [[1, 1], [1, 1]]
    assert km.predict(X[:1]) == [y.time.max()]


@pytest.mark.parametrize("ties", ["breslow", "efron"])
def test_cox_equals_r(X, y, from_r, ties):
    cox, r = Cox(alpha=0, ties=ties).fit(X, y), from_r[f"cox_{ties}"]
    assert cox.coef_ == pytest.approx(r["coef"], abs=1e-8)
    assert cox.standard_error_ == pytest.approx(r["se"], rel=1e-5)
    assert cox.log_likelihood_ == pytest.approx(r["loglik"], abs=1e-9)
    curves = cox.predict_curves(NEW, from_r["times"])
    assert curves.survival == pytest.approx(np.array(r["survival"]), abs=1e-7)


def test_weighted_cox_equals_r(X, y, patients, from_r):
    cox, r = Cox(alpha=0).fit(X, y, sample_weight=patients["weight"]), from_r["cox_breslow_weighted"]
    assert cox.coef_ == pytest.approx(r["coef"], abs=1e-8)
    assert cox.log_likelihood_ == pytest.approx(r["loglik"], abs=1e-8)
    assert cox.predict_curves(NEW, from_r["times"]).survival == pytest.approx(np.array(r["survival"]), abs=1e-7)


@pytest.mark.parametrize("ties", ["breslow", "efron"])
@pytest.mark.parametrize("alpha", [0.1, 50.0])
def test_cox_equals_scikit_survival(ties, alpha):
    X, y = cohort(300, p=5, ties=True)
    sksurv = pytest.importorskip("sksurv.linear_model")
    theirs = sksurv.CoxPHSurvivalAnalysis(alpha=alpha, ties=ties, tol=1e-14).fit(X, y.to_structured())
    ours = Cox(alpha=alpha, ties=ties).fit(X, y)
    assert ours.coef_ == pytest.approx(theirs.coef_, abs=1e-9)
    survival = theirs.predict_survival_function(X[:9], return_array=True)
    assert ours.predict_curves(X[:9], theirs.unique_times_).survival == pytest.approx(survival, abs=1e-9)


def test_cox_equals_lifelines_with_its_penalty_translated():
    X, y = cohort(300, p=4)
    table = pd.DataFrame(X / X.std(axis=0, ddof=1)).assign(time=y.time, event=y.event)
    lifelines = pytest.importorskip("lifelines")
    theirs = lifelines.CoxPHFitter(penalizer=0.05).fit(table, "time", "event", fit_options={"precision": 1e-12})
    ours = Cox(alpha=0.05 * len(y)).fit(table[[0, 1, 2, 3]].to_numpy(), y)
    assert ours.coef_ == pytest.approx(theirs.params_.to_numpy(), abs=1e-6)


@pytest.mark.parametrize("ties", ["breslow", "efron"])
def test_partial_likelihood_derivatives_equal_finite_differences(ties):
    X, y = cohort(60, ties=True)
    sets = RiskSets.of(y, np.random.default_rng(0).uniform(0.5, 2, 60), ties)
    likelihood = PartialLikelihood(X[sets.order], sets, np.array([0.1, 0.2, 0.3]))
    at, step = np.array([0.3, -0.2, 0.1]), 1e-5
    likelihood.value(at)
    gradient, curvature = likelihood.gradient(at), likelihood.curvature(at)
    for j in range(3):
        up, down = at.copy(), at.copy()
        up[j] += step
        down[j] -= step
        slope = (likelihood.value(up) - likelihood.value(down)) / (2 * step)
        likelihood.value(up)
        above = likelihood.gradient(up)
        likelihood.value(down)
        below = likelihood.gradient(down)
        assert gradient[j] == pytest.approx(slope, rel=1e-6)
        assert curvature[j] == pytest.approx(-(above - below) / (2 * step), rel=1e-5, abs=1e-6)


def warm_started(monkeypatch, model, rows=1000):
    """From now on tables of so many rows start from a sample; the fits of samples, as they come."""
    monkeypatch.setattr(f"{model.__module__}.WARM_START_ROWS", rows)
    found, original = [], model._fit_sample

    def spied(self, *given):
        near = original(self, *given)
        found.extend([near] if near is not None else [])
        return near

    monkeypatch.setattr(model, "_fit_sample", spied)
    return found


@pytest.mark.parametrize("ties", ["breslow", "efron"])
def test_blocks_and_warm_start_do_not_change_the_answer(monkeypatch, ties):
    X, y = cohort(2000, ties=True)
    whole = Cox(ties=ties).fit(X, y)
    monkeypatch.setattr("lifeyears.models.fitting._partial_likelihood.BLOCK_ROWS", 7)
    starts = warm_started(monkeypatch, Cox)
    warm = Cox(ties=ties).fit(X, y)
    assert starts
    assert warm.coef_ == pytest.approx(whole.coef_, abs=1e-9)
    assert warm.standard_error_ == pytest.approx(whole.standard_error_, rel=1e-5)


def test_a_warm_start_does_not_change_weibull(monkeypatch):
    X, y = cohort(2000)
    whole = WeibullAFT().fit(X, y)
    starts = warm_started(monkeypatch, WeibullAFT)
    warm = WeibullAFT().fit(X, y)
    assert starts
    assert [*warm.coef_, warm.intercept_, warm.shape_] == pytest.approx(
        [*whole.coef_, whole.intercept_, whole.shape_], abs=1e-9
    )


def test_a_column_that_runs_away_is_named_in_a_large_table_too(monkeypatch):
    starts = warm_started(monkeypatch, Cox, 300)
    rng = np.random.default_rng(0)
    X, time = rng.normal(size=(3000, 2)), rng.exponential(size=3000)
    X[:, 1] = time > 1
    with pytest.warns(ConvergenceWarning, match="coefficient of 1 runs away"):
        Cox(alpha=0).fit(X, (time <= 1, time))
    X[:, 1] = 0
    X[np.argsort(time)[:400:40], 1] = 1  # not one of them in the sample
    with pytest.warns(ConvergenceWarning, match="coefficient of 1 runs away"):
        Cox(alpha=0).fit(X, ((rng.random(3000) < 0.7) & (X[:, 1] == 0), time))
    assert len(starts) == 2


@pytest.mark.parametrize("model", [Cox(), WeibullAFT(penalizer=0)])
def test_one_typing_error_outside_the_sample_changes_nothing(monkeypatch, model):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(3000, 2))
    time, event = rng.exponential(size=3000) * np.exp(-0.5 * X[:, 0]), rng.random(3000) < 0.7
    X[100, 1] = 1e5
    whole = clone(model).fit(X, (event, time))
    starts = warm_started(monkeypatch, type(model))
    warm = clone(model).fit(X, (event, time))
    assert starts
    assert warm.coef_ == pytest.approx(whole.coef_, rel=1e-6, abs=1e-12)
    assert warm.log_likelihood_ == pytest.approx(whole.log_likelihood_, rel=1e-9)


def test_columns_that_add_up_do_not_run_away(monkeypatch):
    starts = warm_started(monkeypatch, WeibullAFT)
    rng = np.random.default_rng(1)
    kinds, x = np.eye(3)[rng.integers(0, 3, 5000)], rng.normal(size=5000)
    time = rng.weibull(3, 5000) * np.exp(0.3 * x + 0.4 * kinds[:, 0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted = WeibullAFT(penalizer=0).fit(np.column_stack([x, kinds]), (rng.random(5000) > 0.5, time))
    assert starts
    assert fitted.coef_[1] - fitted.coef_[2] == pytest.approx(0.4, abs=0.05)


def test_a_column_penalised_out_of_sight_leaves_the_others_as_they_are(X, y):
    tiny = X.assign(sex=X["sex"] * 1e-11)  # in its units the penalty allows hardly any effect
    with_it, without = Cox().fit(tiny, y), Cox().fit(X.drop(columns="sex"), y)
    assert with_it.coef_[[0, 2]] == pytest.approx(without.coef_, rel=1e-6)
    assert with_it.standard_error_[[0, 2]] == pytest.approx(without.standard_error_, rel=1e-6)


def test_a_constant_column_alone_is_fitted_in_silence():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Cox(alpha=0).fit(np.ones((300, 1)), (np.ones(300), np.arange(1.0, 301))).coef_.tolist() == [0.0]


@pytest.mark.parametrize("guess", [0.1, 1.0, 30.0])
@pytest.mark.parametrize("at", [[0.2, 1.0], [-3.0, 2.0]])  # better than zeros, and worse
def test_a_poor_start_costs_time_only(guess, at):
    """Three answers, two columns, a ridge: the slope is zero where the search ends."""

    class Logistic:
        x, answers = np.array([[1.0, 0.3], [2.0, -1.0], [3.0, 0.5]]), np.array([1.0, 0.0, 1.0])

        def value(self, at):
            self.at, eta = at, self.x @ at
            return float(self.answers @ eta - np.logaddexp(0, eta).sum() - at @ at / 8)

        def gradient(self, at):
            assert (at == self.at).all()  # asked for right after the value
            return self.x.T @ (self.answers - 1 / (1 + np.exp(-self.x @ at))) - at / 4

        def curvature(self, at):
            assert (at == self.at).all()
            chance = 1 / (1 + np.exp(-self.x @ at))
            return (self.x.T * (chance * (1 - chance))) @ self.x + np.eye(2) / 4

    function = Logistic()
    near = Maximum(np.array(at), 0.0, guess * np.eye(2), 1, True, np.ones(2), np.ones(2))
    found = maximise(function, np.zeros(2), tol=1e-6, max_iter=50, near=near)
    function.value(found.parameters)
    assert found.converged
    assert np.abs(function.gradient(found.parameters)).max() < 1e-11
    assert found.curvature == pytest.approx(function.curvature(found.parameters), rel=1e-5)


def test_weibull_equals_r(X, y, from_r):
    aft, r = WeibullAFT(penalizer=0).fit(X, y), from_r["weibull"]
    assert [aft.intercept_, *aft.coef_] == pytest.approx(r["coef"], abs=1e-7)
    assert 1 / aft.shape_ == pytest.approx(r["scale"], abs=1e-8)
    assert aft.log_likelihood_ == pytest.approx(r["loglik"], abs=1e-8)


@pytest.mark.parametrize("penalizer", [0.0, 0.1])
def test_weibull_equals_lifelines(X, y, penalizer):
    table = X.assign(time=y.time, event=y.event)
    lifelines = pytest.importorskip("lifelines")
    theirs = lifelines.WeibullAFTFitter(penalizer=penalizer).fit(table, "time", "event", fit_options={"ftol": 1e-15})
    ours = WeibullAFT(penalizer=penalizer).fit(X, y)
    assert ours.coef_ == pytest.approx(theirs.params_["lambda_"][["age", "sex", "x"]].to_numpy(), abs=1e-5)
    assert ours.intercept_ == pytest.approx(theirs.params_["lambda_"]["Intercept"], abs=1e-4)
    assert np.log(ours.shape_) == pytest.approx(theirs.params_["rho_"]["Intercept"], abs=1e-5)
    assert ours.log_likelihood_ / len(y) == pytest.approx(theirs.score(table), rel=1e-6)
    times = [1.0, 5.0, 10.0]
    assert (
        pytest.approx(theirs.predict_survival_function(X[:5], times=times).to_numpy(), abs=1e-5)
        == ours.predict_curves(X[:5], times).survival.T
    )


def test_weibull_expected_life_is_the_area_under_its_curve(X, y):
    for tau in (0.5, 5.0, 40.0):
        aft = WeibullAFT(tau=tau).fit(X, y)
        area = [
            quad(lambda t, r=row, m=aft: m.predict_curves(r, [t]).survival[0, 0], 0, tau)[0] for row in (X[:1], X[1:2])
        ]
        assert aft.predict(X[:2]) == pytest.approx(area, abs=1e-6)
        assert aft.predict_curves(X[:2]).restricted_mean(tau) == pytest.approx(area, abs=2e-3)


def test_weibull_weights_are_repeated_rows():
    X, y = cohort(80)
    weight = np.random.default_rng(0).integers(0, 4, 80)
    rows = np.repeat(np.arange(80), weight)
    weighted, repeated = WeibullAFT().fit(X, y, sample_weight=weight), WeibullAFT().fit(X[rows], y[rows])
    assert weighted.coef_ == pytest.approx(repeated.coef_, abs=1e-9)


def test_weibull_at_time_zero():
    X, y = cohort(50)
    censored = ly.Outcome(np.append(y.time, 0.0), np.append(y.event, False))
    assert WeibullAFT().fit(np.vstack([X, X[:1]]), censored).coef_ == pytest.approx(WeibullAFT().fit(X, y).coef_)
    with pytest.raises(ValueError, match=r"cannot take events at time 0: 1 of 19 events is there \(row 50\)"):
        WeibullAFT().fit(np.vstack([X, X[:1]]), ly.Outcome(censored.time, np.append(y.event, True)))


@pytest.mark.parametrize("model", [KaplanMeier(), Cox(), WeibullAFT()])
def test_tau_defaults_to_the_largest_time_and_bounds_prediction(model, X, y):
    assert model.fit(X, y).tau_ == y.time.max()
    predicted = model.set_params(tau=3.0).fit(X, y).predict(X)
    assert ((predicted > 0) & (predicted <= 3)).all()
    with pytest.raises(ValueError, match="tau must be"):
        model.set_params(tau=-1.0).fit(X, y)
    model.set_params(tau=None)


def test_cox_expected_life_equals_integration_over_every_step():
    X, y = cohort(3000)
    cox = Cox(tau=10).fit(X, y)
    far = np.vstack([X[:200], [[9.0, 9.0, 9.0]], [[-9.0, -9.0, -9.0]]])
    exact = cox.predict_curves(far, cox.baseline_times_).restricted_mean(10)
    assert cox.predict(far) == pytest.approx(exact, abs=1e-7)


def test_grids_have_at_most_512_times():
    X, y = cohort(3000)
    for model in (KaplanMeier(), Cox(), WeibullAFT()):
        assert len(model.fit(X, y).predict_curves(X[:3]).times) <= 512


@pytest.mark.parametrize("model", [Cox(), WeibullAFT()])
def test_hard_tables_converge(model):
    X, y = cohort(300)
    plain = model.fit(X, y).predict(X)
    for hard in (
        np.column_stack([X, np.full(300, 7.0)]),  # constant
        np.column_stack([X, np.full(300, 0.1 + 0.2)]),  # constant, with rounding
        np.column_stack([X, 1e6 * X[:, 0] + 1e9]),  # huge scale, collinear
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = model.fit(hard, y).predict(hard)
        assert np.corrcoef(found, plain)[0, 1] > 0.99  # a ridge shares the effect among like columns, no more


def test_collinear_columns_without_penalty_share_the_effect():
    X, y = cohort(300)
    alone = Cox(alpha=0).fit(X, y)
    doubled = Cox(alpha=0).fit(np.column_stack([X, X[:, 0]]), y)
    assert doubled.coef_[0] == pytest.approx(doubled.coef_[3], abs=1e-6)
    assert doubled.predict(np.column_stack([X, X[:, 0]])) == pytest.approx(alone.predict(X), abs=1e-6)


def test_separation_says_so():
    x = np.arange(40.0)
    with pytest.warns(ConvergenceWarning, match="coefficient of x0"):
        Cox(alpha=0).fit(pd.DataFrame({"x0": -x}), (np.ones(40), 1 + x))


@pytest.mark.parametrize("model", [Cox(alpha=0), WeibullAFT(penalizer=0)], ids=["Cox", "WeibullAFT"])
@pytest.mark.parametrize("exposed", [5, 100])
def test_a_binary_column_without_events_says_so(model, exposed):
    X, y = cohort(500)
    column = np.arange(500) < exposed
    table = pd.DataFrame({"x": X[:, 0], "exposed": column.astype(float)})
    with pytest.warns(ConvergenceWarning, match="coefficient of exposed runs away"):
        model.fit(table, ly.Outcome(y.time, y.event & ~column))


def test_a_strong_but_honest_effect_does_not_warn():
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 400, 2000)
    time = rng.exponential(np.exp(-0.2 * x + 40))
    cox = Cox(alpha=0).fit(x[:, None], (np.ones(2000), time))
    assert cox.coef_[0] == pytest.approx(0.2, abs=4 * cox.standard_error_[0])


def test_a_shape_without_bound_says_so():
    with pytest.warns(ConvergenceWarning, match="shape runs away"):
        WeibullAFT(penalizer=0).fit(np.arange(5.0)[:, None], (np.ones(5), np.full(5, 3.0)))


def test_columns_that_cannot_be_told_apart_have_no_standard_error():
    X, y = cohort(300)
    doubled = Cox(alpha=0).fit(np.column_stack([X, X[:, 0], np.ones(300)]), y)
    assert np.isnan(doubled.standard_error_).tolist() == [True, False, False, True, True]


@pytest.mark.parametrize("model", [Cox(alpha=0), WeibullAFT(penalizer=0)], ids=["Cox", "WeibullAFT"])
@pytest.mark.parametrize(("factor", "shift"), [(1e-9, 0.0), (1.0, 1e8), (1e9, -3.0)])
def test_scale_and_place_of_a_column_do_not_matter(model, factor, shift):
    X, y = cohort(300)
    plain = model.fit(X, y).coef_
    assert model.fit(X * factor + shift, y).coef_ * factor == pytest.approx(plain, rel=1e-4)


def test_weighted_efron_equals_r(X, y, patients, from_r):
    cox, r = Cox(alpha=0, ties="efron").fit(X, y, sample_weight=patients["weight"]), from_r["cox_efron_weighted"]
    assert cox.coef_ == pytest.approx(r["coef"], abs=1e-8)
    assert cox.log_likelihood_ == pytest.approx(r["loglik"], abs=1e-8)


def test_censoring_at_time_zero_is_refused_by_weibull_either_way():
    X, y = cohort(50)
    for events in ([False], [False, True]):
        zeros = ly.Outcome(np.append(y.time, np.zeros(len(events))), np.append(y.event, events))
        with pytest.raises(ValueError, match="cannot take events at time 0"):
            WeibullAFT().fit(np.vstack([X, X[: len(events)]]), zeros.censoring())


@pytest.mark.parametrize("model", [KaplanMeier(), Cox()])
def test_each_row_at_a_time_of_its_own(model):
    X, y = cohort(1500, ties=True)
    model = clone(model).fit(X, y)
    own = y.time[:40]
    for left in (False, True):
        grid = model.predict_curves(X[:40], np.unique(np.append(y.time, own)))  # all times: no step is joined
        assert model.survival_at(X[:40], own, left) == pytest.approx(grid.at_own(own, left), rel=1e-12)
    assert model.survival_at(X[:3], np.zeros(3), left=True).tolist() == [1.0] * 3


def test_thinned_grids_keep_the_area():
    X, y = cohort(6000)
    for model in (KaplanMeier(), Cox()):
        model.fit(X, y)
        full = model.predict_curves(X[:50], np.unique(y.time[y.event]))
        own = model.predict_curves(X[:50])
        assert len(own.times) == 512
        assert own.restricted_mean(9.0) == pytest.approx(full.restricted_mean(9.0), abs=1e-3)
        assert own.mean_life_after(3.0, 9.0) == pytest.approx(full.mean_life_after(3.0, 9.0), abs=5e-3)


def test_the_life_table_is_a_cubic_spline_and_integrates_beyond_its_nodes():
    from scipy.interpolate import CubicHermiteSpline

    X, y = cohort(500)
    cox = Cox(tau=9.0).fit(X, y)
    table, baseline = cox._table, cox._baseline()
    eta = np.concatenate([np.random.default_rng(0).uniform(table.eta[0], table.eta[-1], 5000), table.eta])
    expected = CubicHermiteSpline(table.eta, table.life, table.slope)(eta)
    np.testing.assert_allclose(table(eta, baseline, 9.0), expected, rtol=1e-14)
    beyond = np.array([table.eta[0] - 0.5, table.eta[-1] + 0.5])
    np.testing.assert_array_equal(table(beyond, baseline, 9.0), baseline.expected_life(beyond, 9.0))


def test_one_outlying_row_does_not_spoil_the_life_table():
    X, y = cohort(2000)
    X = np.vstack([X, [[200.0, 0.0, 0.0]]])
    y = ly.Outcome(np.append(y.time, 0.01), np.append(y.event, True))
    cox = Cox(tau=9.0).fit(X, y)
    exact = cox.predict_curves(X, cox.baseline_times_).restricted_mean(9.0)
    assert cox.predict(X) == pytest.approx(exact, abs=1e-5)
    assert (cox.predict(X) >= 0).all()


def test_linear_algebra_runs_on_one_thread_while_fitting(X, y, monkeypatch):
    from threadpoolctl import threadpool_info

    seen = []
    original = Cox._fit_sample
    monkeypatch.setattr(
        Cox,
        "_fit_sample",
        lambda self, *a: (
            seen.extend(p["num_threads"] for p in threadpool_info() if p["user_api"] == "blas") or original(self, *a)
        ),
    )
    Cox().fit(X, y)
    assert set(seen) == {1}


def test_one_event_is_enough_and_none_is_not():
    X, y = cohort(30)
    one = ly.Outcome(y.time, np.arange(30) == 4)
    for model in (Cox(), WeibullAFT()):
        assert np.isfinite(model.fit(X, one).predict(X)).all()
        with pytest.raises(ValueError, match="all 30 times are censored"):
            model.fit(X, ly.Outcome(y.time, np.zeros(30)))


def test_bad_settings_are_refused(X, y):
    for model, message in (
        (Cox(ties="exact"), "ties"),
        (Cox(alpha=-1), "alpha"),
        (WeibullAFT(penalizer=-1), "penalizer"),
        (Cox(alpha=np.inf), "alpha"),
        (Cox(alpha="a"), "alpha"),
        (Cox(max_iter=0), "max_iter"),
        (Cox(tau="a"), "tau"),
        (Cox(tau=True), "tau"),
    ):
        with pytest.raises(ValueError, match=message):
            model.fit(X, y)


def test_bad_input_is_refused(X, y):
    cox = Cox().fit(X, y)
    with pytest.raises(ValueError, match="feature names"):
        cox.predict(X.rename(columns={"age": "years"}))
    with pytest.raises(ValueError, match="X has 200 rows and y has 199"):
        cox.fit(X, y[:199])
    with pytest.raises(ValueError, match="not numbers: ward"):
        cox.fit(X.assign(ward="A"), y)
    with pytest.raises(ValueError, match="NaN"):
        cox.fit(X.assign(age=np.nan), y)
    with pytest.raises(ValueError, match="negative"):
        cox.fit(X, y, sample_weight=-np.ones(len(y)))
    with pytest.raises(ValueError, match="zero"):
        cox.fit(X, y, sample_weight=np.zeros(len(y)))
    with pytest.raises(ValueError, match="target y is None"):
        cox.fit(X, None)


def test_summary_of_cox_is_a_table(X, y):
    table = Cox(alpha=0).fit(X, y).summary()
    assert list(table.index) == ["age", "sex", "x"]
    assert table.loc["x", "p"] < 1e-4
    assert table.loc["x", "low"] < table.loc["x", "coef"] < table.loc["x", "high"]


def test_survival_functions_are_callables_as_in_scikit_survival(X, y):
    functions = Cox().fit(X, y).predict_survival_function(X)
    times = np.linspace(1, 8, 12)
    array = np.vstack([function(times) for function in functions])
    sksurv = pytest.importorskip("sksurv.metrics")
    assert sksurv.integrated_brier_score(y.to_structured(), y.to_structured(), array, times) < 0.25
    assert functions[0].domain == (0.0, functions[0].x[-1])
    assert functions[0](3.0) == functions[0].y[np.searchsorted(functions[0].x, 3.0, side="right") - 1]
    assert "StepFunction" in repr(functions[0])


def test_score_is_the_c_index(X, y):
    cox = Cox().fit(X, y)
    assert cox.score(X, y) == ly.metrics.concordance_index(y, cox.predict(X))


@pytest.mark.parametrize("model", [Cox(), WeibullAFT(), Cox(ties="efron")])
def test_steps_by_an_earlier_curvature_change_nothing_but_the_time(monkeypatch, model):
    X, y = cohort(600)
    quick = clone(model).fit(X, y)
    monkeypatch.setattr("lifeyears.models.fitting._newton.SHRINKING", 0.0)  # Newton's method as the books have it
    plain = clone(model).fit(X, y)
    assert quick.coef_ == pytest.approx(plain.coef_, rel=1e-8, abs=1e-9)
    assert quick.n_iter_ <= plain.n_iter_
    if isinstance(model, Cox):
        assert quick.standard_error_ == pytest.approx(plain.standard_error_, rel=1e-4)


@pytest.mark.parametrize("model", [Cox(tol=0.0, max_iter=8), WeibullAFT(tol=0.0, max_iter=12)])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_tolerance_that_cannot_be_reached_harms_nothing(model):
    X, y = cohort(200)
    exact = clone(model).set_params(tol=1e-6, max_iter=100).fit(X, y)
    assert model.fit(X, y).coef_ == pytest.approx(exact.coef_, rel=1e-6)


def test_weibull_curves_do_not_depend_on_a_patient_like_no_other():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    life, end = rng.weibull(3, 300) * np.exp(X @ [0.5, -0.3]), rng.exponential(2, 300)
    model = WeibullAFT().fit(X, (life <= end, np.minimum(life, end)))
    among = model.predict_curves(np.vstack([X, [[-3000.0, 0.0]], [[3000.0, 0.0]]])).survival
    np.testing.assert_array_equal(among[:-2], model.predict_curves(X).survival)
    assert among[-2, 1:].tolist() == [0.0] * (among.shape[1] - 1)
    assert among[-1].tolist() == [1.0] * among.shape[1]


def test_infinite_steps_end_the_search():
    class Endless:
        def value(self, at):
            return -np.inf

        def gradient(self, at):
            return np.array([np.inf])

        def curvature(self, at):
            return np.eye(1)

    assert not maximise(Endless(), np.zeros(1), tol=1e-6, max_iter=50).converged
