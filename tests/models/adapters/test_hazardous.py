"""hazardous' SurvivalBoost behind our interface; run by the slow tests in an environment of its own."""

import numpy as np
import pytest
from sklearn.base import clone

import lifeyears as ly
from conftest import cohort
from lifeyears.models import KaplanMeier, wrap

hazardous = pytest.importorskip("hazardous")


@pytest.fixture(scope="module")
def data():
    return cohort(300)


def model(**settings):
    return hazardous.SurvivalBoost(**{"n_iter": 10, "min_samples_leaf": 20, "random_state": 0} | settings)


def test_curves_are_those_of_the_library(data, capfd):
    X, y = data
    wrapped = clone(wrap(model(), tau=8.0)).fit(X, y)
    theirs = model(show_progressbar=False).fit(X, {"event": y.event.astype(int), "duration": y.time})
    curves = wrapped.predict_curves(X)
    expected = np.minimum.accumulate(theirs.predict_survival_function(X), axis=1)
    assert curves.survival == pytest.approx(expected[:, np.unique(theirs.time_grid_, return_index=True)[1]])
    assert (np.diff(curves.survival, axis=1) <= 0).all()
    assert curves.at(0.0, left=True) == pytest.approx(1.0)
    assert wrapped.predict(X) == pytest.approx(curves.restricted_mean(8.0))
    assert wrapped.score(X, y) > 0.6
    assert wrap(theirs, tau=8.0).predict(X) == pytest.approx(wrapped.predict(X))  # fitted elsewhere
    assert "%" not in capfd.readouterr().err  # no bars


def test_it_serves_as_nuisance_and_as_base(data):
    X, y = data
    robust = ly.relevance.DoublyRobust(model(), KaplanMeier(), tau=8.0, on_violation="clip")
    by_cox = ly.relevance.DoublyRobust(None, KaplanMeier(), tau=8.0, on_violation="clip")
    values = [ly.relevance.cross_fit(each, X, y, cv=2, random_state=0).values for each in (robust, by_cox)]
    assert values[0].mean() == pytest.approx(values[1].mean(), rel=0.1)
    ranker = ly.BootstrappedRanker(model(), tau=8.0, n_estimators=5, random_state=0, n_jobs=1)
    assert ranker.fit(X, y).score(X, y) > 0.6
    with pytest.raises(ValueError, match="takes no sample weights"):
        wrap(model()).fit(X, y, sample_weight=np.ones(300))
