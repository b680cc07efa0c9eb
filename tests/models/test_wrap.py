import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import lifeyears as ly
from conftest import cohort
from lifeyears.models import Cox, KaplanMeier, WeibullAFT, wrap

lifelines = pytest.importorskip("lifelines")
linear_model = pytest.importorskip("sksurv.linear_model")
ensemble = pytest.importorskip("sksurv.ensemble")
svm = pytest.importorskip("sksurv.svm")

TIMES = np.array([1.0, 4.0, 9.0])


@pytest.fixture(scope="module")
def table():
    X, y = cohort(200)
    return pd.DataFrame(X, columns=["a", "b", "c"]), y


def models():
    return [
        linear_model.CoxPHSurvivalAnalysis(alpha=0.1),
        linear_model.CoxnetSurvivalAnalysis(fit_baseline_model=True),
        ensemble.RandomSurvivalForest(n_estimators=10, random_state=0),
        ensemble.ExtraSurvivalTrees(n_estimators=10, random_state=0),
        ensemble.GradientBoostingSurvivalAnalysis(n_estimators=10, random_state=0),
        lifelines.CoxPHFitter(penalizer=0.01),
        lifelines.WeibullAFTFitter(),
        lifelines.LogNormalAFTFitter(),
        lifelines.AalenAdditiveFitter(coef_penalizer=1.0),
        lifelines.KaplanMeierFitter(),
        make_pipeline(StandardScaler(), Cox()),
        make_pipeline(StandardScaler(), linear_model.CoxPHSurvivalAnalysis(alpha=0.1)),
    ]


@pytest.mark.parametrize("model", models(), ids=lambda model: type(model).__name__)
def test_wrapped_models_have_the_whole_interface(model, table):
    X, y = table
    wrapped = clone(wrap(model, tau=8.0)).fit(X, y)
    curves = wrapped.predict_curves(X)
    assert curves.survival.shape == (200, len(curves.times))
    assert len(curves.times) <= 512
    asked = wrapped.predict_curves(X, TIMES)
    assert (asked.times == TIMES).all()
    assert wrapped.predict(X) == pytest.approx(curves.restricted_mean(8.0), abs=0.02)
    assert wrapped.predict_survival_function(X[:2])[1](4.0) == pytest.approx(curves.at(4.0)[1], abs=0.02)
    assert wrapped.score(X, y) >= 0.5


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        (linear_model.CoxPHSurvivalAnalysis(alpha=0.1), Cox(alpha=0.1)),
        (lifelines.CoxPHFitter(penalizer=0.0), Cox(alpha=0.0)),
        (lifelines.WeibullAFTFitter(penalizer=0.1), WeibullAFT(penalizer=0.1)),
        (lifelines.KaplanMeierFitter(), KaplanMeier()),
    ],
    ids=lambda model: type(model).__name__,
)
def test_the_same_model_wrapped_gives_the_same_curves(theirs, ours, table):
    X, y = table
    found = wrap(theirs).fit(X, y).predict_curves(X, TIMES).survival
    assert found == pytest.approx(ours.fit(X, y).predict_curves(X, TIMES).survival, abs=1e-4)


def test_fitted_models_can_be_used_at_once(table):
    X, y = table
    theirs = linear_model.CoxPHSurvivalAnalysis(alpha=0.1).fit(X, y.to_structured())
    ours = Cox(alpha=0.1).fit(X, y)
    assert wrap(theirs).predict(X) == pytest.approx(ours.predict(X), abs=1e-2)
    fitter = lifelines.WeibullAFTFitter().fit(X.assign(t=y.time, e=y.event), "t", "e")
    assert (
        pytest.approx(fitter.predict_survival_function(X, times=TIMES).to_numpy())
        == wrap(fitter).predict_curves(X, TIMES).survival.T
    )
    pipe = make_pipeline(StandardScaler(), Cox()).fit(X, y)
    assert wrap(pipe).predict_curves(X, TIMES).survival == pytest.approx(
        pipe[-1].predict_curves(pipe[0].transform(X), TIMES).survival
    )
    with pytest.raises(NotFittedError, match="call fit first"):
        wrap(linear_model.CoxPHSurvivalAnalysis()).predict(X)


def test_the_wrapped_models_own_horizon_holds(table):
    X, y = table
    pipe = make_pipeline(StandardScaler(), Cox(tau=5.0))
    expected = clone(pipe).fit(X, y).predict(X)
    assert wrap(clone(pipe)).fit(X, y).predict(X) == pytest.approx(expected, abs=1e-2)
    assert wrap(clone(pipe).fit(X, y)).predict(X) == pytest.approx(expected, abs=1e-2)
    assert wrap(clone(pipe), tau=3.0).fit(X, y).predict(X).max() <= 3.0
    whole = wrap(make_pipeline(StandardScaler(), Cox())).fit(X, y)
    assert whole.tau_ == y.time.max()


def test_lengths_and_weights_are_checked(table):
    X, y = table
    for model in (lifelines.KaplanMeierFitter(), lambda X: (np.ones(1), np.ones((len(X), 1)))):
        with pytest.raises(ValueError, match="X has 200 rows and y has 100"):
            wrap(model).fit(X, y[:100])
    with pytest.raises(ValueError, match="negative"):
        wrap(lifelines.KaplanMeierFitter()).fit(X, y, sample_weight=-np.ones(200))


def test_a_model_without_curves_says_so(table):
    X, y = table
    wrapped = wrap(linear_model.IPCRidge()).fit(X, y)
    assert (wrapped.predict(X) > 0).all()
    with pytest.raises(TypeError, match="IPCRidge predicts times but no survival curves"):
        wrapped.predict_curves(X)
    with pytest.raises(ValueError, match="risk scores, neither times nor curves"):
        wrap(svm.FastSurvivalSVM(max_iter=1000, random_state=0)).fit(X, y).predict(X)


def test_coxnet_without_baseline_says_what_to_set(table):
    X, y = table
    with pytest.raises(ValueError, match="fit_baseline_model"):
        wrap(linear_model.CoxnetSurvivalAnalysis()).fit(X, y).predict_curves(X)


class Halves:
    """A model of another distribution with our interface: half of those who were alive die at each unit of time."""

    def __init__(self, until=3):
        self.until = until

    def fit(self, X, y):
        self.n_rows_ = len(X)
        return self

    def predict_curves(self, X, times=None):
        times = np.arange(1.0, self.until + 1) if times is None else np.asarray(times)
        return times, np.tile(0.5 ** np.floor(times), (len(X), 1))


def test_a_model_with_our_interface_needs_no_base_class():
    X, y = np.zeros((4, 1)), ([1, 1, 0, 1], [1.0, 2.0, 2.0, 3.0])
    with pytest.raises(NotFittedError):
        wrap(Halves()).predict(X)
    assert wrap(Halves().fit(X, y)).predict(X) == pytest.approx([1.75] * 4)  # 1 + 1/2 + 1/4
    fitted = wrap(Halves(), tau=2.5).fit(X, y)
    assert fitted.predict(X) == pytest.approx([1.625] * 4)  # 1 + 1/2 + 1/8
    years = ly.relevance.ExpectedYears(Halves(), tau=3.0).fit(X, y).estimate(X, y).values
    assert years == pytest.approx([1.0, 2.0, 3.0, 3.0])  # alive at 2, in the last step: 2 + 1


def test_functions_give_known_curves():
    truth = ly.SurvivalCurves([1.0, 3.0], [[0.7, 0.2], [0.5, 0.0]])
    wrapped = wrap(lambda X: truth, tau=4.0)
    assert wrapped.predict(np.zeros((2, 1))) == pytest.approx(truth.restricted_mean(4.0))
    assert (wrapped.predict_curves(np.zeros((2, 1)), [2.0]).survival == [[0.7], [0.5]]).all()
    assert wrapped.fit(np.zeros((2, 1)), ([1, 1], [1.0, 2.0])).tau_ == 4.0


def test_weights_reach_the_wrapped_model(table):
    X, y = table
    weight = np.random.default_rng(0).integers(1, 4, len(y))
    rows = np.repeat(np.arange(len(y)), weight)
    for model in (lifelines.WeibullAFTFitter(), make_pipeline(StandardScaler(with_std=False, with_mean=False), Cox())):
        weighted = wrap(model).fit(X, y, sample_weight=weight).predict_curves(X, TIMES).survival
        repeated = wrap(model).fit(X.iloc[rows].reset_index(drop=True), y[rows]).predict_curves(X, TIMES).survival
        assert weighted == pytest.approx(repeated, abs=1e-4)
    with pytest.raises(ValueError, match="takes no sample weights"):
        wrap(linear_model.CoxPHSurvivalAnalysis()).fit(X, y, sample_weight=weight)


def test_ours_come_back_as_they_are_and_strangers_are_refused():
    cox = Cox()
    assert wrap(cox) is cox
    assert wrap(cox, tau=3.0).tau == 3.0
    for stranger in (StandardScaler(), make_pipeline(StandardScaler()), 3, Cox):
        with pytest.raises(TypeError, match="cannot wrap"):
            wrap(stranger)


def test_wrapping_imports_nothing():
    code = (
        "import sys, lifeyears as ly, numpy as np\n"
        "ly.models.wrap(lambda X: (np.ones(1), np.ones((len(X), 1)))).predict(np.ones((2, 2)))\n"
        "print([name for name in ('sksurv', 'lifelines', 'torch') if name in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
