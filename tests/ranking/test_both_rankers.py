"""What both rankers do: the same rows together, odd data, known relevance."""

import numpy as np
import pandas as pd
import pytest

import lifeyears as ly
from lifeyears import errors
from lifeyears.ranking import make_members

SMALL = {"random_state": 0, "n_jobs": 1}


def small_stack(base=None, n_estimators=10, **settings):
    """A stacked ranker with all members and few trees."""
    return ly.StackedRanker(base, members=ly.ranking.make_members(n_estimators=n_estimators), **settings, **SMALL)


@pytest.fixture(scope="module")
def cohort():
    d = ly.data.simulate_registry(n=1500, world="interactions", random_state=11)
    return d, ly.data.TablePreprocessor().fit_transform(d.X)


@pytest.fixture(scope="module")
def stacked(cohort):
    d, _ = cohort
    return small_stack(ly.models.Cox(alpha=10.0), tau=15, n_estimators=60).fit(d.X, d.y)


@pytest.fixture(scope="module")
def paper(cohort):
    d, _ = cohort
    return ly.BootstrappedRanker(ly.models.Cox(alpha=10.0), tau=15, **SMALL).fit(d.X, d.y)


def test_fitted_together_they_are_what_each_is_alone(cohort, paper):
    d, _ = cohort
    bases = ly.models.KaplanMeier(), ly.models.Cox(alpha=10.0)
    rankers = [
        ranker
        for base in bases
        for ranker in (
            ly.BootstrappedRanker(base, tau=15, **SMALL),
            small_stack(base, tau=15, n_estimators=10, folds=2),
        )
    ]
    fitted = list(ly.ranking.fit_together(rankers, d.X, d.y))
    np.testing.assert_array_equal(fitted[2].predict(d.X), paper.predict(d.X))
    assert fitted[2].members_["years"][0].rounds == paper.members_["years"][0].rounds
    alone = small_stack(bases[1], tau=15, n_estimators=10, folds=2).fit(d.X, d.y)
    np.testing.assert_array_equal(fitted[3].predict(d.X), alone.predict(d.X))


def test_rankers_fitted_together_keep_their_own_model_of_censoring(cohort):
    d, _ = cohort
    make = [
        lambda censoring=c: ly.BootstrappedRanker(ly.models.KaplanMeier(), tau=15, censoring=censoring, **SMALL)
        for c in (None, ly.models.KaplanMeier(), ly.models.Cox(alpha=1.0))
    ]
    together = [ranker.predict(d.X) for ranker in ly.ranking.fit_together([each() for each in make], d.X, d.y)]
    for each, said in zip(make, together, strict=True):
        np.testing.assert_array_equal(said, each().fit(d.X, d.y).predict(d.X))
    assert len({tuple(said) for said in together}) == 3


class Known(ly.models.KaplanMeier):
    """Says of everybody that they are dead at 2, whatever the data."""

    def _fit(self, X, y, sample_weight):
        self.times_, self.survival_ = np.array([1.0, 2.0]), np.array([0.5, 0.0])


class Memoriser(ly.models.KaplanMeier):
    """Refuses to be asked about rows it was fitted on."""

    def _fit(self, X, y, sample_weight):
        super()._fit(X, y, sample_weight)
        self.seen_ = set(X[:, 0].tolist())

    def predict_curves(self, X, times=None):
        assert not self.seen_ & set(np.asarray(X)[:, 0].tolist()), "a label came from a model that saw the row"
        return super().predict_curves(X, times)


@pytest.mark.parametrize("method", ["paper", "stacked"])
@pytest.mark.parametrize("label", ["ey", "dr"])
def test_cross_fitted_labels_come_from_models_that_did_not_see_the_row(method, label):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(300, 2)), ly.Outcome(rng.uniform(0.1, 5, 300), rng.random(300) < 0.6)
    rankers = {
        "paper": ly.BootstrappedRanker(
            Memoriser(), 4.0, label, cross_fit_base=True, n_estimators=3, validation_fraction=0.0, **SMALL
        ),
        "stacked": small_stack(Memoriser(), tau=4.0, n_estimators=3, label=label),
    }
    assert len(rankers[method].fit(X, y).pseudo_labels_) == 300
    with pytest.raises(AssertionError, match="saw the row"):
        ly.BootstrappedRanker(Memoriser(), tau=4.0, n_estimators=3, **SMALL).fit(X, y)


def test_contributions_add_up(cohort, stacked, paper):
    d, _ = cohort
    for f in (stacked, paper):
        found = f.explain(d.X[:40])
        np.testing.assert_allclose(found.typical + found.contributions.sum(axis=1), f.predict(d.X[:40]), atol=1e-8)
        assert set(found.contributions.columns) == set(d.X.columns)
        assert found.top_reasons(0).abs().is_monotonic_decreasing
        assert found.movers(k=5)["moves_in"].max() <= 5
        found.plot(0)


@pytest.mark.parametrize("kind", [int, float])
@pytest.mark.parametrize("method", ["paper", "stacked"])
def test_known_relevance(kind, method):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(12_000, 3))
    relevance = (1000 * np.maximum(X[:, 0], 0) + rng.normal(0, 100, 12_000) - 50).astype(kind)  # beyond 30, negative
    settings = {"n_estimators": 30, "group_size": 12_000, "learning_rate": 0.3}
    rankers = {
        "paper": ly.BootstrappedRanker(**settings, **SMALL),
        "stacked": ly.StackedRanker(members=[("years", ly.ranking.BoostedYears(**settings))], **SMALL),
    }
    f = rankers[method].fit_relevance(X, relevance)
    assert f.base_ is None
    assert np.corrcoef(f.predict(X), relevance)[0, 1] > 0.8
    assert f.score(X, relevance) > 0.7
    with pytest.raises(TypeError, match="no base model"):
        f.predict_curves(X)


@pytest.mark.parametrize("ranker", [ly.BootstrappedRanker(), ly.StackedRanker(), ly.ranking.SplineHazards()])
@pytest.mark.parametrize("kind", [list, np.array, pd.Series])
def test_one_dimensional_y_is_refused_with_both_ways_out(ranker, kind):
    X = np.random.default_rng(0).normal(size=(40, 2))
    with pytest.raises(errors.DataError, match="one-dimensional") as raised:
        ranker.fit(X, kind(np.arange(40.0)))
    assert "fit(X, (event, time))" in str(raised.value)
    assert "fit_relevance(X, relevance)" in str(raised.value)


@pytest.mark.parametrize("ranker", [ly.BootstrappedRanker(), ly.StackedRanker(), ly.ranking.BoostedYears()])
def test_relevance_is_one_finite_number_for_each_row(ranker):
    X = np.random.default_rng(0).normal(size=(40, 2))
    for wrong, words in (
        (ly.Outcome(np.ones(40), np.ones(40, dtype=bool)), "one-dimensional array of numbers"),
        (np.ones(39), "40 rows and relevance has 39"),
        (np.append(np.ones(39), np.nan), "row 39 is nan"),
    ):
        with pytest.raises(errors.DataError, match=words):
            ranker.fit_relevance(X, wrong)


def test_mlp_has_the_same_loss(cohort):
    torch = pytest.importorskip("torch")
    from lifeyears.ranking import HybridLoss, HybridObjective
    from lifeyears.ranking._network import compute_hybrid_loss

    rng = np.random.default_rng(0)
    y = rng.uniform(0, 20, 64)
    f = rng.normal(10, 1, 64)
    output = torch.tensor(f, requires_grad=True)
    loss = compute_hybrid_loss(output, torch.tensor(y), torch.tensor(y), 0.3, 1.0, 64, 0.0, 1.0)
    assert float(loss.detach()) == pytest.approx(HybridLoss(y, 0.3, 1.0, 64)(f), rel=1e-12)
    loss.backward()
    expected = HybridObjective(y, 0.3, 1.0, 64, precision=np.float64).differentiate(f, np.arange(64))[0]
    np.testing.assert_allclose(output.grad.numpy(), expected, rtol=1e-6, atol=1e-12)
    d, _ = cohort
    base = ly.models.Cox(alpha=10.0)
    for f in (
        ly.BootstrappedRanker(base, tau=15, second_stage="mlp", **SMALL),
        ly.StackedRanker(base, tau=15, members=[("network", ly.ranking.NetworkYears())], **SMALL),
    ):
        f.fit(d.X[:300], d.y[:300])
        assert np.isfinite(f.predict(d.X)).all()
        f.explain(d.X[:5])


def test_missing_values_unseen_categories_and_column_order(cohort, stacked):
    d, _ = cohort
    new = d.X.iloc[:30].copy()
    new["age"] = np.nan
    new["diagnosis"] = new["diagnosis"].astype(object)
    new.loc[new.index[0], "diagnosis"] = "never seen"
    assert np.isfinite(stacked.predict(new)).all()
    assert len(stacked.predict(d.X.iloc[:1])) == 1
    with pytest.raises(ValueError, match="order"):
        stacked.predict(d.X[d.X.columns[::-1]])
    with pytest.raises(ValueError, match=r"age|feature names"):
        stacked.predict(d.X.drop(columns="age"))


def test_few_rows_equal_labels_one_group_no_validation_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 2))
    few = ly.Outcome(np.arange(1.0, 13), np.array([True, False] * 6))
    f = ly.StackedRanker(**SMALL).fit(X, few)
    assert f.report_.kept_base
    assert "too few" in str(f.report_)
    paper = ly.BootstrappedRanker(**SMALL).fit(X, few)
    assert "no rows were held out" in str(paper.report_)
    assert np.isfinite(paper.predict(X)).all()
    X = rng.normal(size=(200, 2))
    same = ly.Outcome(np.full(200, 3.0), np.ones(200, dtype=bool))
    for f in (
        ly.BootstrappedRanker(ly.models.KaplanMeier(), tau=5, n_estimators=5, **SMALL),
        small_stack(ly.models.KaplanMeier(), tau=5, n_estimators=5),
    ):
        f.fit(X, same)
        np.testing.assert_allclose(f.predict(X), 3.0, atol=0.2)
    with pytest.raises(ValueError, match="one outcome for each"):
        f.fit(X[:5], same)


def test_calibration_plot_is_one_call(stacked, paper):
    axes = stacked.plot_calibration()
    assert axes.get_xlabel() == "years predicted"
    paper.plot_calibration()


def test_a_single_censored_row_does_not_switch_it_off():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3))
    event = np.ones(600, dtype=bool)
    event[5] = False
    y = ly.Outcome(rng.exponential(np.exp(np.abs(X[:, 0]))) + 0.01, event)
    paper = ly.BootstrappedRanker(tau=4, n_estimators=10, cross_fit_base=True, **SMALL)
    for f in (small_stack(tau=4, n_estimators=10), paper):
        assert f.fit(X, y).members_


def test_predictions_stay_within_the_horizon(cohort):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 2))
    y = ly.Outcome(np.where(X[:, 0] > 0, 30.0, 1.0) * rng.uniform(0.5, 1, 800), np.ones(800, dtype=bool))
    for f in (ly.BootstrappedRanker(tau=10, n_estimators=40, **SMALL), small_stack(tau=10, n_estimators=40)):
        years = f.fit(X, y).predict(10 * X)
        assert years.min() > 0
        assert years.max() < 10


def test_relevance_needs_a_member_that_learns_from_labels():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    noise = ly.BootstrappedRanker(**SMALL).fit_relevance(X, rng.normal(size=300))
    assert noise.weights_ == {"years": 1.0}
    with pytest.raises(errors.RequestError, match="members"):
        ly.StackedRanker(members=(), **SMALL).fit_relevance(X, X[:, 0])
    few = ly.StackedRanker(members=make_members(names=["boosted_years"], n_estimators=5), **SMALL)
    assert len(few.fit_relevance(X[:6], X[:6, 0]).predict(X)) == 300  # too few rows for folds
