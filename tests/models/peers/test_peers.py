"""LightGBM, XGBoost, CatBoost and scikit-survival as models of ours: curves, order, seeds, horizons, units."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone

import lifeyears as ly
from conftest import cohort
from lifeyears.errors import MissingExtraError
from lifeyears.models import CatBoostCox, Cox, LightGBMCox, RandomSurvivalForest, XGBoostAFT, XGBoostCox
from lifeyears.models.peers._forest import merge_times

KEYS = {"LightGBMCox": "lightgbm", "XGBoostCox": "xgboost", "XGBoostAFT": "xgboost", "CatBoostCox": "catboost"}
KEYS |= {"RSF": "sksurv"}
FEW = {"n_estimators": 20, "random_state": 0, "tau": 8.0}


@pytest.fixture(scope="module")
def data():
    return cohort(300)


def build(key, **settings):
    pytest.importorskip(KEYS[key])
    return ly.catalogue.models[key].build(**FEW | settings)


def breslow(time, event, eta):
    """H₀ at the event times, term by term."""
    steps = {t: sum(time[event] == t) / np.exp(eta[time >= t]).sum() for t in np.unique(time[event])}
    return np.array(list(steps)), np.cumsum(list(steps.values()))


@pytest.mark.parametrize("key", KEYS)
def test_every_peer_is_a_survival_model(key, data):
    X, y = data
    model = clone(build(key))
    before = np.random.get_state()[1].copy()  # noqa: NPY002 - that nobody touches it
    model.fit(X, y)
    assert (np.random.get_state()[1] == before).all()  # noqa: NPY002
    curves = model.predict_curves(X)
    assert curves.at(0.0, left=True) == pytest.approx(1.0)
    assert (np.diff(curves.survival, axis=1) <= 0).all()
    assert len(curves.times) <= 512
    assert (curves.survival >= 0).all()
    assert model.predict(X) == pytest.approx(curves.restricted_mean(8.0), abs=1e-6)
    assert model.tau_ == 8.0
    assert ((model.predict(X) > 0) & (model.predict(X) <= 8.0)).all()
    assert model.score(X, y) > 0.65
    again = clone(model).fit(X, y)
    assert (again.predict(X) == model.predict(X)).all()
    assert (pickle.loads(pickle.dumps(model)).predict(X) == model.predict(X)).all()
    assert model.predict(X[7:9]) == pytest.approx(model.predict(X)[7:9], abs=1e-12)  # a row's curve is its own


@pytest.mark.parametrize("key", ["LightGBMCox", "XGBoostCox", "CatBoostCox"])
def test_the_baseline_is_breslows(key):
    X, y = cohort(60, ties=True)
    model = build(key, tau=None).fit(X, y)
    eta = model._eta(X)
    times, hazard = breslow(y.time, y.event, eta)
    assert model.baseline_times_ == pytest.approx(times)
    assert model.baseline_hazard_ == pytest.approx(hazard, rel=1e-6)
    asked = model.predict_curves(X[:3], [times[4]]).survival[:, 0]
    assert asked == pytest.approx(np.exp(-hazard[4] * np.exp(eta[:3])), rel=1e-6)


@pytest.mark.parametrize("column", [[0.0, 1.0, 2.0], [0.0, 0.0, 0.0]])
def test_expected_life_of_three_rows_by_hand(column):
    """Without a split every η is 0: H₀ is 1/3, 1/3 + 1/2, 1/3 + 1/2 + 1 at times 1, 2, 3."""
    model = LightGBMCox(n_estimators=1, random_state=0).fit(np.c_[column], ([1, 1, 1], [1.0, 2.0, 3.0]))
    assert model.baseline_hazard_ == pytest.approx([1 / 3, 5 / 6, 11 / 6])
    assert model.predict([[0.0]]) == pytest.approx([1 + np.exp(-1 / 3) + np.exp(-5 / 6)])


def test_the_order_is_the_librarys_reversed(data):
    X, y = data
    xgboost = pytest.importorskip("xgboost")
    ours = XGBoostCox(**FEW).fit(X, y)
    settings = {name: value for name, value in ours.get_params().items() if name != "tau"}
    theirs = xgboost.XGBRegressor(objective="survival:cox", tree_method="hist", n_jobs=1, **settings)
    margin = theirs.fit(X, np.where(y.event, y.time, -y.time)).predict(X, output_margin=True)
    assert (ours._eta(X) == margin).all()
    assert (np.argsort(ours.predict(X), kind="stable") == np.argsort(-margin, kind="stable")).all()


def test_times_of_zero_and_times_that_single_precision_cannot_tell_apart_keep_their_order():
    pytest.importorskip("xgboost")
    X, y = cohort(200)
    moved = ly.Outcome(np.where(y.time == y.time.min(), 0.0, 1000 + y.time * 1e-6), y.event)
    plain = XGBoostCox(**FEW).fit(X, y)._eta(X)
    assert (XGBoostCox(**FEW | {"tau": None}).fit(X, moved)._eta(X) == plain).all()


@pytest.mark.parametrize("distribution", ["normal", "logistic", "extreme"])
def test_an_accelerated_model_has_the_curves_of_its_distribution(distribution, data):
    stats = pytest.importorskip("scipy.stats")
    pytest.importorskip("xgboost")
    X, y = data
    model = XGBoostAFT(distribution=distribution, scale=0.7, **FEW).fit(X, y)
    error = {"normal": stats.norm, "logistic": stats.logistic, "extreme": stats.gumbel_l}[distribution]
    location = np.log(model.model_.predict(X[:3]))  # XGBoost predicts e^μ
    times = np.array([0.5, 2.0, 7.0])
    expected = error.sf((np.log(times) - location[:, None]) / 0.7)
    assert model.predict_curves(X[:3], times).survival == pytest.approx(expected, abs=1e-6)
    assert (np.argsort(model.predict(X)) == np.argsort(model.model_.predict(X))).mean() > 0.99


def test_without_features_an_accelerated_model_is_the_maximum_likelihood_fit(data):
    lifelines = pytest.importorskip("lifelines")
    pytest.importorskip("xgboost")
    _, y = data
    fitter = lifelines.WeibullFitter().fit(y.time, y.event)
    settings = {"n_estimators": 400, "reg_lambda": 0.0, "subsample": 1.0, "tau": 8.0, "random_state": 0}
    model = XGBoostAFT(distribution="extreme", scale=1 / fitter.rho_, **settings).fit(np.zeros((300, 1)), y)
    assert model.model_.predict(np.zeros((1, 1))) == pytest.approx([fitter.lambda_], rel=1e-3)
    assert model.predict_curves([[0.0]], [3.0]).survival[0, 0] == pytest.approx(fitter.predict(3.0), abs=1e-3)


def test_the_unit_of_the_times_does_not_matter(data):
    X, y = data
    days = ly.Outcome(y.time * 365.25, y.event)
    for key in ("LightGBMCox", "XGBoostAFT", "RSF"):
        in_years, in_days = build(key).fit(X, y), build(key, tau=8.0 * 365.25).fit(X, days)
        assert in_days.predict(X) / 365.25 == pytest.approx(in_years.predict(X), rel=1e-3), key


def test_a_weight_is_a_row_repeated(data):
    X, y = data
    weight = np.random.default_rng(0).integers(0, 4, len(y))
    rows = np.repeat(np.arange(len(y)), weight)
    # what counts rows (leaves, bins, samples of rows) is switched off; leaves of three values are large anyway
    X = np.sign(X) * (abs(X) > 0.5)
    settings = {"min_child_samples": 1, "num_leaves": 4, "subsample": 1.0, "colsample_bytree": 1.0, "tau": 8.0}
    weighted = LightGBMCox(n_estimators=20, random_state=0, **settings).fit(X, y, sample_weight=weight)
    repeated = LightGBMCox(n_estimators=20, random_state=0, **settings).fit(X[rows], y[rows])
    assert weighted.predict(X) == pytest.approx(repeated.predict(X), abs=1e-6)
    pytest.importorskip("xgboost")
    with pytest.raises(TypeError, match="sample_weight"):
        XGBoostCox(**FEW).fit(X, y, sample_weight=weight)


def test_a_forest_is_scikit_survivals():
    ensemble = pytest.importorskip("sksurv.ensemble")
    X, y = cohort(80, ties=True)
    ours = RandomSurvivalForest(min_samples_leaf=5, n_estimators=10, random_state=3, time_points=1000).fit(X, y)
    theirs = ensemble.RandomSurvivalForest(10, min_samples_leaf=5, min_samples_split=10, random_state=3)
    theirs.fit(X, y.to_structured())
    functions = theirs.predict_survival_function(X)
    times = np.array([1.0, 4.0])
    assert ours.predict_curves(X, times).survival == pytest.approx(np.array([f(times) for f in functions]))
    area = [np.sum(np.diff(np.append(0, f.x)) * np.append(1, f.y)[:-1]) for f in functions]
    assert ours.predict(X) == pytest.approx(area)


def test_merged_times_keep_expected_life(data):
    pytest.importorskip("sksurv")
    X, y = data
    merged = merge_times(y, 64)
    assert len(np.unique(merged.time)) <= 64
    assert (np.diff(merged.time[np.argsort(y.time)]) >= 0).all()
    km = ly.models.KaplanMeier(tau=8.0)
    assert km.fit(X, merged).predict(X[:1]) == pytest.approx(km.fit(X, y).predict(X[:1]), abs=0.02)


@pytest.mark.parametrize("key", KEYS)
def test_no_events_and_wrong_settings_are_refused(key, data):
    X, y = data
    with pytest.raises(ValueError, match="at least one event"):
        build(key).fit(X, ly.Outcome(y.time, np.zeros(len(y), bool)))
    wrong = {"RSF": {"time_points": 1}, "XGBoostAFT": {"scale": 0.0}}.get(key, {"learning_rate": -1.0})
    with pytest.raises(ValueError, match=next(iter(wrong))):
        build(key, **wrong).fit(X, y)


def test_accelerated_models_refuse_events_at_time_zero(data):
    X, y = data
    time, event = y.time.copy(), y.event.copy()
    time[:2], event[:2] = 0.0, [False, True]
    with pytest.raises(ValueError, match="events at time 0"):
        build("XGBoostAFT").fit(X, ly.Outcome(time, event))
    event[1] = False
    dropped = build("XGBoostAFT").fit(X[2:], y[2:])
    kept = build("XGBoostAFT").fit(X, ly.Outcome(time, event))
    assert kept.predict(X) == pytest.approx(dropped.predict(X), abs=0.05)


@pytest.mark.parametrize(
    ("model", "missing", "install"),
    [
        (XGBoostCox(), "xgboost", r"lifeyears\[peers\]"),
        (XGBoostAFT(), "xgboost", r"lifeyears\[peers\]"),
        (RandomSurvivalForest(), "sksurv.ensemble", r"lifeyears\[peers\]"),
        (CatBoostCox(), "catboost", "pip install catboost"),
    ],
)
def test_a_missing_library_says_how_to_get_it(model, missing, install, monkeypatch, data):
    X, y = data
    monkeypatch.setitem(__import__("sys").modules, missing, None)
    with pytest.raises(MissingExtraError, match=install):
        model.fit(X, y)
    assert type(model).requires == (missing.partition(".")[0],)


def test_the_catalogue_knows_them():
    labels = {key: ly.catalogue.models[key].label for key in KEYS}
    assert labels == {
        "LightGBMCox": "LightGBM Cox",
        "XGBoostCox": "XGBoost Cox",
        "XGBoostAFT": "XGBoost AFT",
        "CatBoostCox": "CatBoost Cox",
        "RSF": "random survival forest",
    }
    assert {key for key in KEYS if ly.catalogue.models[key].extra == "peers"} == {"XGBoostCox", "XGBoostAFT", "RSF"}
    assert Cox.requires == LightGBMCox.requires == ()
    assert ly.models.DeepHit.requires == ("torch",)
