"""lifelines: our metrics on its models, its summaries of our curves, its data sets."""

import numpy as np
import pandas as pd
import pytest

import lifeyears as ly
from conftest import cohort
from lifeyears.models import Cox, KaplanMeier, wrap

lifelines = pytest.importorskip("lifelines")
utils = pytest.importorskip("lifelines.utils")


@pytest.fixture(scope="module")
def data():
    X, y = cohort(300, seed=4, ties=True)
    return pd.DataFrame(X, columns=["a", "b", "c"]), y


def test_our_concordance_of_its_models_is_its_own(data):
    X, y = data
    fitter = lifelines.CoxPHFitter().fit(X.assign(t=y.time, e=y.event), "t", "e")
    risk = fitter.predict_partial_hazard(X)
    assert ly.metrics.concordance_index(y, risk=risk) == pytest.approx(fitter.concordance_index_)
    median = fitter.predict_expectation(X)
    assert ly.metrics.concordance_index(y, median) == pytest.approx(utils.concordance_index(y.time, median, y.event))


def test_a_restricted_mean_is_the_same_by_both(data):
    X, y = data
    fitter = lifelines.KaplanMeierFitter().fit(y.time, y.event)
    mean = utils.restricted_mean_survival_time(fitter, t=6.0)
    assert KaplanMeier(tau=6.0).fit(X, y).predict(X)[0] == pytest.approx(mean, rel=1e-6)


def test_its_models_under_our_ranker_relevance_and_comparison(data):
    X, y = data
    base = lifelines.WeibullAFTFitter(penalizer=0.01)
    ranker = ly.BootstrappedRanker(base, tau=8.0, n_estimators=5, random_state=0, n_jobs=1).fit(X, y)
    relevance = ly.relevance.DoublyRobust(wrap(base), KaplanMeier(), tau=8.0, on_violation="clip")
    values = ly.relevance.cross_fit(relevance, X, y, cv=2, random_state=0)
    scores = {"theirs": wrap(base, tau=8.0).fit(X, y).predict(X), "ranker": ranker.predict(X)}
    found = ly.metrics.compare(values, scores, waitlist=5, n_resamples=200)
    assert list(found.values.index) == ["theirs", "ranker"]


def test_its_data_sets_are_read_as_tables():
    datasets = pytest.importorskip("lifelines.datasets")
    rossi = ly.data.read_table(datasets.load_rossi(), time="week", event="arrest", unit="weeks")
    assert (len(rossi), rossi.y.n_events) == (432, 114)
    theirs = lifelines.CoxPHFitter().fit(datasets.load_rossi(), "week", "arrest")
    X = rossi.X.astype(float)
    ours = Cox(alpha=0.0, ties="efron").fit(X, rossi.y)
    assert ours.coef_ == pytest.approx(theirs.params_[list(X.columns)].to_numpy(), abs=1e-5)


def test_its_fitter_reads_our_curves_back(data):
    """Deaths drawn from our curves, fitted by its Kaplan–Meier, give the curve again."""
    X, y = data
    curve = KaplanMeier().fit(X, y).predict_curves(X[:1])
    drawn = np.random.default_rng(0).random(20_000)
    place = np.searchsorted(-curve.survival[0], -drawn)
    times = np.append(curve.times, curve.times[-1] + 1)[place]
    again = lifelines.KaplanMeierFitter().fit(times, place < len(curve.times))
    found = again.survival_function_at_times(curve.times).to_numpy()
    assert found == pytest.approx(curve.survival[0], abs=0.015)  # 4 standard errors of a share of 20,000
