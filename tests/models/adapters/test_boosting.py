"""`wrap` of boosting libraries' models: fitted or not, in relevance, in the ranker, in cross-fitting, in a Pipeline."""

import inspect

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import lifeyears as ly
from conftest import cohort
from lifeyears.errors import UnsupportedModelError
from lifeyears.models import KaplanMeier, wrap
from lifeyears.models.fitting import PartialLikelihoodObjective


def xgboost_cox():
    xgboost = pytest.importorskip("xgboost")
    return xgboost.XGBRegressor(objective="survival:cox", n_estimators=10, max_depth=2, learning_rate=0.1)


def xgboost_aft():
    xgboost = pytest.importorskip("xgboost")
    return xgboost.XGBRegressor(objective="survival:aft", n_estimators=20, max_depth=2, base_score=5.0)


def lightgbm_cox():
    lightgbm = pytest.importorskip("lightgbm")
    return lightgbm.LGBMRegressor(n_estimators=10, num_leaves=4)


def catboost_cox():
    catboost = pytest.importorskip("catboost")
    return catboost.CatBoostRegressor(loss_function="Cox", n_estimators=10, depth=2)


def catboost_aft():
    catboost = pytest.importorskip("catboost")
    return catboost.CatBoostRegressor(loss_function="SurvivalAft:dist=Logistic;scale=0.8", n_estimators=60, depth=2)


MAKERS = [xgboost_cox, xgboost_aft, lightgbm_cox, catboost_cox, catboost_aft]
RANKERS = ["BootstrappedRanker", "StackedRanker"]
WITHOUT_BASELINE = [xgboost_cox, catboost_cox]


@pytest.fixture(scope="module")
def table():
    X, y = cohort(200)
    return pd.DataFrame(X, columns=["a", "b", "c"]), y


@pytest.mark.parametrize("make", MAKERS)
def test_a_wrapped_booster_has_the_whole_interface(make, table, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y = table
    wrapped = clone(wrap(make(), tau=8.0)).fit(X, y)
    curves = wrapped.predict_curves(X)
    assert curves.at(0.0, left=True) == pytest.approx(1.0)
    assert (np.diff(curves.survival, axis=1) <= 0).all()
    assert wrapped.predict(X) == pytest.approx(curves.restricted_mean(8.0), abs=1e-9)
    assert (wrapped.predict_curves(X, [1.0, 4.0]).times == [1.0, 4.0]).all()
    assert wrapped.score(X, y) > 0.6
    assert (clone(wrapped).fit(X, y).predict(X) == wrapped.predict(X)).all()
    in_pipeline = wrap(make_pipeline(StandardScaler(), make()), tau=8.0).fit(X, y)
    assert in_pipeline.score(X, y) == pytest.approx(wrapped.score(X, y), abs=0.02)
    assert not list(tmp_path.iterdir())  # CatBoost would leave a folder


@pytest.mark.parametrize("make", MAKERS)
def test_boosters_serve_as_nuisance_and_as_base(make, table):
    X, y = table
    years = ly.relevance.ExpectedYears(make(), tau=8.0).fit(X, y).estimate(X, y)
    by_hand = wrap(make(), tau=8.0).fit(X, y).predict_curves(X).mean_life_after(y.time, 8.0)
    restricted = y.restrict(8.0)
    assert years.values == pytest.approx(np.where(restricted.event, restricted.time, by_hand))
    robust = ly.relevance.DoublyRobust(make(), KaplanMeier(), tau=8.0, on_violation="clip")
    crossed = ly.relevance.cross_fit(robust, X, y, cv=2, random_state=0).values
    assert crossed.mean() == pytest.approx(years.values.mean(), rel=0.15)
    for name in set(RANKERS) & set(ly.ranking.__all__):
        ranker = getattr(ly.ranking, name)
        settings = {"n_estimators": 5} if "n_estimators" in inspect.signature(ranker).parameters else {}
        fitted = ranker(make(), tau=8.0, random_state=0, n_jobs=1, **settings).fit(X, y)
        assert fitted.score(X, y) > 0.6


@pytest.mark.parametrize("make", WITHOUT_BASELINE)
def test_a_model_fitted_elsewhere_needs_the_rows_for_its_baseline(make, table):
    X, y = table
    theirs = make()
    if "verbose" not in theirs.get_params():
        theirs.set_params(**({"allow_writing_files": False, "verbose": False} if make is catboost_cox else {}))
    theirs.fit(X, np.where(y.event, y.time, -y.time))
    with pytest.raises(NotFittedError, match=r"keeps no baseline hazard.*baseline="):
        wrap(theirs).predict(X)
    ready = wrap(theirs, tau=8.0, baseline=(X, y))
    assert ready.predict(X) == pytest.approx(wrap(make(), tau=8.0).fit(X, y).predict(X), abs=1e-6)
    years = ly.relevance.ExpectedYears(ready, tau=8.0).estimate(X, y)
    assert years.values == pytest.approx(ly.relevance.ExpectedYears(make(), tau=8.0).fit(X, y).estimate(X, y).values)
    assert (ly.relevance.ExpectedYears(theirs, tau=8.0).fit(X, y).estimate(X, y).values > 0).all()


def test_an_accelerated_model_fitted_elsewhere_is_used_at_once(table):
    X, y = table
    xgboost = pytest.importorskip("xgboost")
    rows = xgboost.DMatrix(X, label_lower_bound=y.time, label_upper_bound=np.where(y.event, y.time, np.inf))
    theirs = xgboost_aft()
    theirs.load_model(xgboost.train(theirs.get_xgb_params(), rows, 20).save_raw())
    assert wrap(theirs, tau=8.0).predict(X) == pytest.approx(
        wrap(xgboost_aft(), tau=8.0).fit(X, y).predict(X), abs=1e-3
    )
    with pytest.raises(ValueError, match=r"largest training time.*tau="):
        wrap(theirs).predict(X)
    with pytest.raises(ValueError, match=r"curves of its own\. Leave out baseline="):
        wrap(theirs, baseline=(X, y)).predict(X)


def test_what_is_no_survival_model_is_refused_with_what_is_supported():
    xgboost, lightgbm = pytest.importorskip("xgboost"), pytest.importorskip("lightgbm")
    refused = [
        (xgboost.XGBRegressor(), "XGBRegressor"),
        (xgboost.XGBRegressor(objective="reg:squarederror"), "objective 'reg:squarederror'"),
        (xgboost.XGBClassifier(), "XGBClassifier"),
        (lightgbm.LGBMRegressor(objective="poisson"), "objective 'poisson'"),
        (lightgbm.LGBMClassifier(), "LGBMClassifier"),
        (lightgbm.LGBMRanker(), "LGBMRanker"),
        (make_pipeline(StandardScaler(), lightgbm.LGBMClassifier()), "LGBMClassifier"),
        (lightgbm.LGBMRegressor, "type"),
        ("Cox", "str"),
    ]
    for model, named in refused:
        with pytest.raises(UnsupportedModelError, match=f"cannot wrap a .*{named}") as caught:
            wrap(model)
        for library in (
            "scikit-survival",
            "lifelines",
            "survival:cox",
            "CatBoost",
            "LightGBM",
            "hazardous",
            "Pipeline",
        ):
            assert library in str(caught.value)
        assert isinstance(caught.value, TypeError)


@pytest.mark.parametrize("make", WITHOUT_BASELINE)
def test_weights_that_would_not_reach_the_risk_sets_are_refused(make, table):
    X, y = table
    with pytest.raises(ValueError, match="takes no sample weights"):
        wrap(make()).fit(X, y, sample_weight=np.ones(200))


def test_weights_are_rows_repeated_in_gradient_and_hessian():
    _, y = cohort(20, ties=True)
    rng = np.random.default_rng(1)
    weight, f = rng.integers(1, 4, 20), rng.normal(size=20)
    rows = np.repeat(np.arange(20), weight)

    def loss(scores):
        at_risk = [np.exp(scores)[y.time[rows] >= t].sum() for t in y.time[rows]]
        return y.event[rows] @ (np.log(at_risk) - scores)

    gradient, hessian = PartialLikelihoodObjective(y, weight.astype(float))(f)
    for i, copy in enumerate(np.cumsum(weight) - 1):
        step = 1e-4 * np.eye(len(rows))[copy]
        low, centre, high = loss(f[rows] - step), loss(f[rows]), loss(f[rows] + step)
        assert gradient[i] == pytest.approx(weight[i] * (high - low) / 2e-4, abs=1e-6)
        assert hessian[i] == pytest.approx(weight[i] * (high - 2 * centre + low) / 1e-8, abs=1e-4)
