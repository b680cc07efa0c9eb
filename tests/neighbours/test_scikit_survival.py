"""scikit-survival: our metrics on its models, our models in its metrics, its y, its tools."""

import numpy as np
import pytest
from sklearn.model_selection import KFold, cross_validate

import lifeyears as ly
from conftest import cohort
from lifeyears.models import Cox, KaplanMeier, WeibullAFT, wrap

metrics = pytest.importorskip("sksurv.metrics")
linear_model = pytest.importorskip("sksurv.linear_model")
ensemble = pytest.importorskip("sksurv.ensemble")
Surv = pytest.importorskip("sksurv.util").Surv

TIMES = np.array([2.0, 4.0, 6.0])


@pytest.fixture(scope="module")
def data():
    X, y = cohort(300, seed=2)
    return X, y, Surv.from_arrays(y.event, y.time)


def test_its_outcomes_are_ours(data):
    X, y, theirs = data
    assert np.array_equal(ly.as_outcome(theirs).time, y.time)
    assert np.array_equal(y.to_structured(), theirs)
    odd = Surv.from_arrays(y.event, y.time, name_event="cens", name_time="d.time")
    assert Cox().fit(X, odd).predict(X) == pytest.approx(Cox().fit(X, y).predict(X))


def test_our_concordance_of_its_models_is_its_own(data):
    X, y, theirs = data
    for model in (
        linear_model.CoxPHSurvivalAnalysis(alpha=0.1),
        ensemble.RandomSurvivalForest(n_estimators=10, random_state=0),
        ensemble.GradientBoostingSurvivalAnalysis(n_estimators=10, random_state=0),
    ):
        risk = model.fit(X, theirs).predict(X)
        assert ly.metrics.concordance_index(y, risk=risk) == pytest.approx(model.score(X, theirs))


@pytest.mark.parametrize("ours", [KaplanMeier(), Cox(), WeibullAFT()], ids=lambda model: type(model).__name__)
def test_its_metrics_take_our_models(ours, data):
    X, y, theirs = data
    model = ours.fit(X, y)
    functions = model.predict_survival_function(X)
    survival = np.vstack([function(TIMES) for function in functions])
    theirs_brier = metrics.brier_score(theirs, theirs, survival, TIMES)[1]
    assert ly.metrics.brier_score(y, model.predict_curves(X, TIMES), TIMES) == pytest.approx(theirs_brier, abs=2e-3)
    assert 0 < metrics.integrated_brier_score(theirs, theirs, survival, TIMES) < 0.3
    risk = -model.predict(X)
    if type(ours) is not KaplanMeier:
        auc, _ = metrics.cumulative_dynamic_auc(theirs, theirs, risk, TIMES)
        assert ly.metrics.auc_at(y, -risk, TIMES) == pytest.approx(auc, abs=2e-3)
        assert metrics.concordance_index_ipcw(theirs, theirs, risk, tau=6.0)[0] > 0.6


def test_our_ranker_in_its_metrics(data):
    X, y, theirs = data
    ranker = ly.BootstrappedRanker(tau=8.0, n_estimators=10, random_state=0, n_jobs=1).fit(X, y)
    found = metrics.concordance_index_censored(theirs["event"], theirs["time"], -ranker.predict(X))[0]
    assert found == pytest.approx(ly.metrics.concordance_index(y, ranker.predict(X)))


def test_its_models_under_our_ranker_and_relevance(data):
    X, y, _ = data
    forest = ensemble.RandomSurvivalForest(n_estimators=10, min_samples_leaf=20, random_state=0)
    ranker = ly.BootstrappedRanker(forest, tau=8.0, n_estimators=5, random_state=0, n_jobs=1)
    assert ranker.fit(X, y).predict(X).shape == (300,)
    robust = ly.relevance.DoublyRobust(forest, KaplanMeier(), tau=8.0, on_violation="clip")
    values = ly.relevance.cross_fit(robust, X, y, cv=2, random_state=0).values
    by_ours = ly.relevance.DoublyRobust(Cox(), KaplanMeier(), tau=8.0, on_violation="clip")
    assert values.mean() == pytest.approx(
        ly.relevance.cross_fit(by_ours, X, y, cv=2, random_state=0).values.mean(), 0.1
    )


def test_our_scorers_judge_its_models_in_cross_validation(data):
    X, _, theirs = data
    wrapped = wrap(linear_model.CoxPHSurvivalAnalysis(alpha=0.1), tau=8.0)
    scoring = ly.metrics.make_scorer("concordance")
    by_wrapped = cross_validate(wrapped, X, theirs, cv=KFold(3), scoring=scoring, error_score="raise")["test_score"]
    its_own = cross_validate(linear_model.CoxPHSurvivalAnalysis(alpha=0.1), X, theirs, cv=KFold(3))["test_score"]
    assert by_wrapped == pytest.approx(its_own, abs=5e-3)
