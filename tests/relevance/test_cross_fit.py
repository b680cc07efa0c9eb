import warnings
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import KFold

import lifeyears as ly
from conftest import cohort
from lifeyears.models import Cox, KaplanMeier, SurvivalModel
from lifeyears.relevance import (
    IPCW,
    DoublyRobust,
    Ensemble,
    ExpectedYears,
    PositivityError,
    average_relevance,
    cross_fit,
    temporal_folds,
)


class Forgetful(SurvivalModel):
    """A nuisance that raises when it is shown a row twice: in `fit` and then in `predict_curves`."""

    def __init__(self, tau=None):
        self.tau = tau

    def fit(self, X, y, sample_weight=None):
        self.seen_ = {row.tobytes() for row in np.asarray(X)}
        self.tau_ = 1.0
        return self

    def predict_curves(self, X, times=None):
        for row in np.asarray(X):
            if row.tobytes() in self.seen_:
                raise AssertionError("a row was estimated by a model that saw it")
        return ly.SurvivalCurves([1.0, 20.0], np.tile([0.9, 0.5], (len(X), 1)))


@pytest.mark.parametrize(
    "estimator",
    [
        ExpectedYears(Forgetful(), tau=8),
        IPCW(Forgetful(), tau=8),
        DoublyRobust(Forgetful(), Forgetful(), tau=8),
        Ensemble([ExpectedYears(Forgetful(), tau=8), ExpectedYears(KaplanMeier(), tau=8)]),
    ],
    ids=["EY", "IPCW", "DR", "Ensemble"],
)
@pytest.mark.parametrize("how", ["int", "splitter", "groups", "temporal", "given"])
def test_no_row_is_estimated_by_a_model_that_saw_it(estimator, how):
    X, y = cohort(90)
    options = {
        "int": {"cv": 4},
        "splitter": {"cv": KFold(3)},
        "groups": {"cv": 3, "groups": np.arange(90) % 7},
        "temporal": {"cv": temporal_folds(X[:, 0], 3)},
        "given": {"cv": [(np.arange(45, 90), np.arange(45)), (np.arange(45), np.arange(45, 90))]},
    }[how]
    relevance = cross_fit(estimator, X, y, **options)
    tested = np.concatenate([test for _, test in relevance.splits])
    assert sorted(tested) == list(range(90))
    assert np.isfinite(relevance.values).all()
    with pytest.raises(AssertionError, match="saw it"):
        estimator.fit(X, y).estimate(X, y)


def test_cross_fitting_is_fit_and_estimate_on_each_fold():
    X, y = cohort(200)
    relevance = cross_fit(ExpectedYears(Cox(), tau=8), X, y, cv=3, random_state=1)
    for train, test in relevance.splits:
        direct = ExpectedYears(Cox(), tau=8).fit(X[train], y[train]).estimate(X[test], y[test])
        assert relevance.values[test] == pytest.approx(direct.values)
    assert relevance.diagnostics.n == 200
    assert relevance.diagnostics.n_censored == 200 - y.restrict(8).n_events
    share = [y.event[test].mean() for _, test in relevance.splits]
    assert max(share) - min(share) < 0.02  # stratified


def test_same_folds_for_one_seed_and_any_number_of_jobs():
    X, y = cohort(120)
    one = cross_fit(ExpectedYears(Cox(), tau=8), X, y, n_jobs=1).values
    assert (one == cross_fit(ExpectedYears(Cox(), tau=8), X, y, n_jobs=2).values).all()
    assert (one != cross_fit(ExpectedYears(Cox(), tau=8), X, y, random_state=5).values).any()


def test_groups_stay_together_and_blocks_follow_time():
    X, y = cohort(100)
    groups = np.repeat(np.arange(20), 5)
    for train, test in cross_fit(ExpectedYears(tau=8), X, y, cv=4, groups=groups).splits:
        assert not set(groups[train]) & set(groups[test])
    entry = np.random.default_rng(0).uniform(1990, 2020, 100)
    blocks = [entry[test] for _, test in temporal_folds(entry, 4)]
    assert all(a.max() < b.min() for a, b in pairwise(blocks))


@pytest.mark.parametrize(
    ("cv", "message"),
    [
        (1, "cv must be at least 2"),
        ([(np.arange(10), np.arange(10, 60))], "row 0 is in 0 of them"),
        ([(np.arange(30, 60), np.arange(40)), (np.arange(30), np.arange(30, 60))], "training rows of a fold hold"),
        ([(np.arange(0), np.arange(40)), (np.arange(20), np.arange(20, 60))], "row 20 is in 2"),
        ([(np.arange(60), np.arange(-60, 0))], "row numbers from 0 to 59"),
        ([(np.arange(60.0), np.arange(60.0))], "row numbers from 0 to 59"),
    ],
)
def test_folds_that_do_not_partition_are_refused(cv, message):
    X, y = cohort(60)
    with pytest.raises(ValueError, match=message):
        cross_fit(ExpectedYears(tau=8), X, y, cv=cv)


def test_too_few_of_a_kind_and_known_curves_are_refused():
    X, y = cohort(30)
    with pytest.raises(ValueError, match="one kind has 2"):
        cross_fit(ExpectedYears(tau=8), X, ly.Outcome(y.time, np.arange(30) < 2))
    groups = np.arange(30) % 4
    halves = [(np.arange(15, 30), np.arange(15)), (np.arange(15), np.arange(15, 30))]
    with pytest.raises(ValueError, match="one group on both sides"):
        cross_fit(ExpectedYears(tau=8), X, y, cv=halves, groups=groups)
    with pytest.raises(ValueError, match="one label for each of the 30 rows"):
        cross_fit(ExpectedYears(tau=8), X, y, groups=[1, 2])
    known = ly.SurvivalCurves([1.0], [[0.5]])
    with pytest.raises(ValueError, match="known curves need no cross-fitting"):
        cross_fit(Ensemble([ExpectedYears(known, tau=8)]), X, y)


def test_masks_are_folds_too():
    X, y = cohort(60)
    first = np.arange(60) < 30
    halves = np.arange(30), np.arange(30, 60)
    masks = cross_fit(ExpectedYears(tau=8), X, y, cv=[(~first, first), (first, ~first)])
    numbers = cross_fit(ExpectedYears(tau=8), X, y, cv=[(halves[1], halves[0]), halves])
    assert (masks.values == numbers.values).all()


def test_one_nuisance_known_and_one_fitted():
    X, y = cohort(120)
    G = KaplanMeier().fit(X, y.censoring()).predict_curves(X)
    relevance = cross_fit(DoublyRobust(Cox(), G, tau=8), X, y, cv=3)
    for train, test in relevance.splits:
        direct = DoublyRobust(Cox(), G[test], tau=8).fit(X[train], y[train]).estimate(X[test], y[test])
        assert relevance.values[test] == pytest.approx(direct.values)


def test_temporal_folds_of_odd_entries():
    blocks = temporal_folds([2000] * 5 + [2001, 2002], 3)
    assert [test.tolist() for _, test in blocks] == [[0, 1, 2, 3, 4], [5, 6]]
    with pytest.raises(ValueError, match="entry is missing in row 2"):
        temporal_folds([2000, 2001, np.nan])
    with pytest.raises(ValueError, match="entered at one time"):
        temporal_folds([2000] * 6)


def test_diagnostics_of_folds_add_up():
    X, y = cohort(400)
    whole = IPCW(tau=6).fit(X, y).estimate(X, y).diagnostics
    folds = cross_fit(IPCW(tau=6), X, y).diagnostics
    assert folds.effective_sample_size == pytest.approx(whole.effective_sample_size, rel=0.05)
    assert folds.largest_weight_share == pytest.approx(whole.largest_weight_share, rel=0.3)


def test_values_cannot_be_changed_through_a_copy():
    X, y = cohort(60)
    relevance = ExpectedYears(tau=8).fit(X, y).estimate(X, y)
    copy = np.array(relevance)
    copy[0] = -99
    assert relevance.values[0] != -99
    with pytest.raises(ValueError, match="read-only"):
        relevance.values[0] = 1


def test_ensemble_is_the_mean():
    X, y = cohort(150)
    parts = [ExpectedYears(KaplanMeier(), tau=8), ExpectedYears(Cox(), tau=8)]
    mean = np.mean([cross_fit(part, X, y).values for part in parts], axis=0)
    together = cross_fit(Ensemble(parts), X, y)
    assert together.values == pytest.approx(mean)
    assert together.name == "mean of 2 EY"
    assert Ensemble(parts).fit(X, y).estimate(X, y).values.shape == (150,)
    with pytest.raises(NotFittedError):
        Ensemble(parts).estimate(X, y)
    with pytest.raises(ValueError, match="several horizons"):
        average_relevance([ExpectedYears(tau=tau).fit(X, y).estimate(X, y) for tau in (5, 8)])
    with pytest.raises(ValueError, match="nothing to average"):
        average_relevance([])


def test_known_curves_are_cut_to_the_fold_in_averages_of_averages_too():
    X, y = cohort(120)
    known = ExpectedYears(Cox().fit(X, y).predict_curves(X), tau=8)
    fitted = ExpectedYears(KaplanMeier(), tau=8)
    mean = (known.estimate(X, y).values + cross_fit(fitted, X, y).values) / 2
    for both in (Ensemble([known, fitted]), Ensemble([Ensemble([known]), fitted])):
        assert cross_fit(both, X, y).values == pytest.approx(mean)


def test_estimators_clone_and_take_frames_and_wrapped_models():
    X, y = cohort(120)
    frame = pd.DataFrame(X, columns=list("abc"))
    lifelines = pytest.importorskip("lifelines")
    for estimator in (
        ExpectedYears(lifelines.WeibullAFTFitter(), tau=8),
        DoublyRobust(Cox(alpha=1.0), lifelines.KaplanMeierFitter(), tau=8),
    ):
        copy = clone(estimator)
        assert np.isfinite(cross_fit(copy, frame, y, cv=2).values).all()
    with pytest.raises(NotFittedError, match="call fit first"):
        ExpectedYears(tau=8).estimate(X, y)
    with pytest.raises(ValueError, match="X has 120 rows and y has 10"):
        ExpectedYears(tau=8).fit(X, y).estimate(X, y[:10])
    with pytest.raises(ValueError, match="2 survival curves for 120 rows"):
        ExpectedYears(ly.SurvivalCurves([1.0], [[0.5], [0.4]]), tau=8).estimate(X, y)


def test_fitted_models_can_be_used_without_fitting():
    X, y = cohort(200)
    S, G = Cox().fit(X[:100], y[:100]), KaplanMeier().fit(X[:100], y[:100].censoring())
    direct = DoublyRobust(S, G, tau=8).estimate(X[100:], y[100:])
    fitted = DoublyRobust(Cox(), KaplanMeier(), tau=8).fit(X[:100], y[:100]).estimate(X[100:], y[100:])
    assert direct.values == pytest.approx(fitted.values)
    with pytest.raises(NotFittedError, match="fitted models or curves"):
        DoublyRobust(S, KaplanMeier(), tau=8).estimate(X, y)


def test_fitting_does_not_touch_what_was_given():
    X, y = cohort(60)
    model = Cox()
    ExpectedYears(model, tau=8).fit(X, y)
    assert not hasattr(model, "coef_")


SMALL_G = ly.SurvivalCurves([1.0, 3.0], [[0.5, 0.01]])


def test_violations_warn_raise_or_clip_as_stated():
    X = np.zeros((4, 1))
    y = ly.Outcome([0.5, 2.0, 4.0, 6.0], [True, True, True, False])
    with pytest.warns(UserWarning, match="of the rows have less than a chance of"):
        warned = IPCW(SMALL_G, tau=5).estimate(X, y)
    assert warned.values == pytest.approx([0.5, 4, 400, 500])  # nothing clipped
    assert warned.diagnostics.n_clipped == 0
    with pytest.raises(PositivityError, match="chance of"):
        IPCW(SMALL_G, tau=5, on_violation="raise").estimate(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clipped = IPCW(SMALL_G, tau=5, on_violation="clip", floor=0.1).estimate(X, y)
    assert clipped.values == pytest.approx([0.5, 4, 40, 50])
    assert clipped.diagnostics.n_clipped == 2
    assert "2 weights were clipped" in str(clipped)
    for bad in ({"on_violation": "ignore"}, {"floor": 0.0}, {"floor": 1.5}):
        with pytest.raises(ValueError, match=next(iter(bad))):
            IPCW(SMALL_G, tau=5, **bad).estimate(X, y)


def test_a_row_seen_where_g_is_zero_is_an_error_unless_clipped():
    zero = ly.SurvivalCurves([1.0], [[0.0]])
    y = ly.Outcome([0.5, 2.0], [True, True])
    with pytest.raises(PositivityError, match="1 rows were observed where the censoring model gives a chance of 0"):
        IPCW(zero, tau=5).estimate(np.zeros((2, 1)), y)
    assert np.isfinite(IPCW(zero, tau=5, on_violation="clip").estimate(np.zeros((2, 1)), y).values).all()


def test_clipped_g_is_the_same_in_weight_and_sum():
    X, y = cohort(50, ties=True)
    survival = Cox().fit(X, y).predict_curves(X)
    censoring = KaplanMeier().fit(X, y.censoring()).predict_curves(X)
    floored = ly.SurvivalCurves(censoring.times, np.maximum(censoring.survival, 0.4))
    clipped = DoublyRobust(survival, censoring, tau=9, on_violation="clip", floor=0.4).estimate(X, y)
    assert clipped.values == pytest.approx(DoublyRobust(survival, floored, tau=9).estimate(X, y).values)


def test_fallbacks_and_negatives_are_counted():
    X = np.zeros((3, 1))
    dead = ly.SurvivalCurves([1.0], [[0.0]])
    relevance = ExpectedYears(dead, tau=5).estimate(X, ly.Outcome([0.5, 2.0, 3.0], [True, False, False]))
    assert relevance.diagnostics.n_fallback == 2
    assert relevance.values.tolist() == [0.5, 2, 3]  # the restricted mean of the curve is 1, and they have lived longer
    # G falls to 0.2 at 0.5, where 5 years are expected; a death at 0.9 is worth 0.9/0.2 − 5·(1/0.2 − 1)
    sure, falling = ly.SurvivalCurves([5.0], [[0.0]]), ly.SurvivalCurves([0.5], [[0.2]])
    found = DoublyRobust(sure, falling, tau=5).estimate(X[:1], ly.Outcome([0.9], [True]))
    assert found.values == pytest.approx([4.5 - 20])
    assert found.diagnostics.n_negative == 1


def test_relevance_shows_itself():
    X, y = cohort(80)
    relevance = cross_fit(DoublyRobust(tau=6), X, y)
    assert "cross-fitted in 5 folds" in repr(relevance)
    assert "effective sample size" in str(relevance)
    assert "<table" in relevance._repr_html_()
    assert relevance.plot().get_xlabel() == "relevance by DR"
    assert len(relevance) == 80
    assert np.asarray(relevance).shape == (80,)


class HalfOfTheRest:
    """An estimator of another distribution: the censored live half of what is left to the horizon."""

    def __init__(self, tau=None):
        self.tau = tau

    def fit(self, X, y):
        return self

    def estimate(self, X, y):
        within = y.restrict(self.tau)
        return SimpleNamespace(values=np.where(within.event, within.time, (within.time + self.tau) / 2))


def test_an_estimator_without_our_base_class_is_cross_fitted():
    y = ly.Outcome(np.array([1.0, 2.0, 3.0, 9.0]), np.array([True, False, False, True]))
    relevance = ly.relevance.cross_fit(HalfOfTheRest(tau=6.0), np.zeros((4, 1)), y, cv=2)
    assert relevance.values == pytest.approx([1.0, 4.0, 4.5, 6.0])
    assert (relevance.tau, relevance.name, relevance.diagnostics.n_censored) == (6.0, "HalfOfTheRest", 2)
    assert len(relevance.splits) == 2
