"""Members alone: what they predict and explain, and that the ranker is a weighted sum of them."""

import numpy as np
import pytest

import lifeyears as ly
from lifeyears import errors
from lifeyears.ranking import (
    BoostedHazards,
    BoostedYears,
    NetworkYears,
    SplineHazards,
    SplineInteractionHazards,
    make_members,
)

MEMBERS = {
    "boosted years": BoostedYears(n_estimators=60, random_state=0),
    "network": NetworkYears(random_state=0),
    "boosted hazards": BoostedHazards(n_estimators=60, random_state=0),
    "splines": SplineHazards(),
    "interactions": SplineInteractionHazards(),
}


@pytest.fixture(scope="module")
def rows():
    """Exponential lives whose restricted mean is known."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(1500, 3))
    rate = 0.1 * np.exp(0.8 * X[:, 0])
    life, cut = rng.exponential(1 / rate), rng.uniform(2, 30, 1500)
    return X, ly.Outcome(np.minimum(life, cut), life <= cut), (1 - np.exp(-rate * 10)) / rate


@pytest.mark.parametrize("name", MEMBERS)
def test_alone_it_predicts_years_and_explains_them(name, rows, tmp_path):
    if name == "network":
        pytest.importorskip("torch")
    X, y, truth = rows
    member = MEMBERS[name].set_params(tau=10).fit(X, y)
    years = member.predict(X)
    assert np.corrcoef(years, truth)[0, 1] > 0.9
    assert years.mean() == pytest.approx(truth.mean(), abs=0.4)
    assert years.min() >= 0
    assert years.max() <= 10
    explained = member.explain(X[:50])
    np.testing.assert_allclose(explained.typical + explained.contributions.sum(axis=1), years[:50], atol=1e-8)
    assert explained.contributions.abs().mean().to_numpy().argmax() == 0
    again = ly.load(ly.save(member, tmp_path / "member"))
    np.testing.assert_array_equal(again.predict(X), years)


@pytest.mark.parametrize("name", ["boosted years", "network"])
def test_those_that_learn_from_labels_learn_from_relevance(name):
    if name == "network":
        pytest.importorskip("torch")
    X = np.random.default_rng(0).normal(size=(800, 2))
    member = MEMBERS[name].set_params(tau=None).fit_relevance(X, 100 * X[:, 1] - 50)
    assert np.corrcoef(member.predict(X), X[:, 1])[0, 1] > 0.9
    assert member.score(X, X[:, 1]) > 0.9


def test_a_survival_model_can_be_a_member(rows, tmp_path):
    X, y, truth = rows
    members = [("aft", ly.models.WeibullAFT()), *make_members(names=["spline_hazards"])]
    ranker = ly.StackedRanker(ly.models.KaplanMeier(), 10, members=members, folds=2, random_state=0, n_jobs=1).fit(X, y)
    assert set(ranker.members_) == {"aft", "spline_hazards"}
    assert np.corrcoef(ranker.predict(X), truth)[0, 1] > 0.9
    parts = ranker.weights_.get("base", 0.0) * ranker.base_.predict(X)
    for name, fits in ranker.members_.items():
        parts += ranker.weights_[name] * np.mean([fit.predict(X) for fit in fits], axis=0)
    np.testing.assert_allclose(ranker.calibration_map_(ranker.intercept_ + parts), ranker.predict(X), rtol=1e-12)
    ranker.explain(X[:5])
    np.testing.assert_array_equal(ly.load(ly.save(ranker, tmp_path / "m")).predict(X), ranker.predict(X))


def test_base_alone_is_the_base_calibrated(rows):
    X, y, _ = rows
    ranker = ly.StackedRanker(tau=10, members=(), random_state=0, n_jobs=1).fit(X, y)
    assert ranker.report_.kept_base
    order = np.argsort(ranker.base_.predict(ranker.preprocessor_.transform(X)))
    assert (np.diff(ranker.predict(X)[order]) >= 0).all()


@pytest.mark.parametrize("effort", ["fast", "balanced", "best"])
def test_members_of_an_effort_can_be_passed(effort, rows):
    X, y = rows[0][:400], rows[1][:400]
    settings = {"tau": 10, "folds": 2, "random_state": 0, "n_jobs": 1}
    chosen = ly.StackedRanker(effort=effort, **settings).fit(X, y)
    passed = ly.StackedRanker(members=make_members(effort), **settings).fit(X, y)
    np.testing.assert_array_equal(chosen.predict(X), passed.predict(X))
    with pytest.raises(errors.RequestError, match="names must be one of"):
        make_members(effort, names=["lines"])
