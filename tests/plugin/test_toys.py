"""The toys by hand, each through the catalogue and what it plugs into, without an installation."""

import sys
from pathlib import Path

import numpy as np
import pytest

import lifeyears as ly

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE / "src")]
import hand
from lifeyears_toys.estimator import ToyOptimist
from lifeyears_toys.metric import top_relevance
from lifeyears_toys.model import ToyExponential
from lifeyears_toys.policy import Youngest
from lifeyears_toys.ranker import ToyReversed


@pytest.fixture(scope="module")
def data():
    table = hand.cohort()
    return table[["group"]], ly.as_outcome((table["died"], table["years"])), table["group"]


def by_group(values, group):
    return group.map(values).to_numpy()


def test_the_model_predicts_what_the_hand_does(data):
    X, y, group = data
    model = ly.models.wrap(ToyExponential(tau=hand.TAU)).fit(X, y)
    assert model.predict(X) == pytest.approx(by_group(hand.EXPECTED_LIFE, group))
    survival = model.predict_curves(X, [3.0]).survival[:, 0]
    assert survival == pytest.approx(np.exp(-3 * by_group(hand.RATES, group)))
    again = ToyExponential.from_state(model.to_state())
    assert (again.predict(X) == model.predict(X)).all()


def test_the_estimator_is_cross_fitted(data):
    X, y, group = data
    relevance = ly.relevance.cross_fit(ToyOptimist(tau=hand.TAU), X, y, cv=3)
    assert (relevance.values == by_group(hand.RELEVANCE, group)).all()


def test_the_ranker_turns_the_top_upside_down(data):
    X, y, group = data
    relevance = by_group(hand.RELEVANCE, group)
    model = ToyExponential(tau=hand.TAU)
    reversed_ = ToyReversed(model, tau=hand.TAU).fit(X, y)
    assert reversed_.predict(X) == pytest.approx(hand.TAU - by_group(hand.EXPECTED_LIFE, group))
    assert top_relevance(relevance, model.fit(X, y).predict(X)) == hand.TOP_BY_MODEL
    assert top_relevance(relevance, reversed_.predict(X)) == hand.TOP_BY_REVERSED
    interval = ly.metrics.bootstrap_interval(top_relevance, relevance, model.predict(X), n_resamples=50)
    assert interval == (8.0, 8.0, 8.0)


def test_the_model_serves_as_nuisance_and_as_base(data):
    X, y, group = data
    years = ly.relevance.ExpectedYears(ToyExponential(), tau=hand.TAU).fit(X, y).estimate(X, y).values
    # whoever is alive at 6 lives (1 − e^(−2/14))·14 more of the two years to the horizon
    alive = 6 + 14 * (1 - np.exp(-2 / 14))
    assert years == pytest.approx(np.where(y.event, by_group(hand.RELEVANCE, group), alive), abs=1e-4)
    ranker = ly.BootstrappedRanker(ToyExponential(), tau=hand.TAU, n_estimators=5, random_state=0, n_jobs=1)
    scores = ranker.fit(X, y).predict(X)
    assert scores[group == 1].min() > scores[group == 0].max()


def test_the_policy_asks_the_youngest_first():
    assert np.argmax(Youngest().scores({"age": [50.0, 31.0, 64.0]}, {}, 0.0)) == 1
