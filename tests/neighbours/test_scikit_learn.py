"""scikit-learn's own checks on all of our estimators, and its tools."""

import inspect

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    cross_val_predict,
    cross_validate,
    train_test_split,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.estimator_checks import estimator_checks_generator

import lifeyears as ly
from lifeyears.data import TablePreprocessor
from lifeyears.models import Cox, DeepHit, DeepSurv, KaplanMeier, WeibullAFT


def outcome(y):
    """Make an outcome of the numeric y that the checks pass: all events, times above 0."""
    if y is None:
        return y
    try:
        y = np.asarray(y).astype(float)
    except (TypeError, ValueError):
        raise ValueError("Unknown label type: y must be numbers") from None
    return np.ones(len(y)), np.where(np.isfinite(y), y - min(np.nanmin(y), 0) + 0.5, y)


def numeric(model):
    """The model with a `fit` and `score` that take a numeric y."""
    cls = type(model)

    def fit_weighted(self, X, y, sample_weight=None):
        return cls.fit(self, X, outcome(y), sample_weight)

    def fit(self, X, y):
        return cls.fit(self, X, outcome(y))

    def score(self, X, y):
        return cls.score(self, X, outcome(y))

    takes_weights = "sample_weight" in inspect.signature(cls.fit).parameters
    name = f"Numeric{cls.__name__}"
    members = {"fit": fit_weighted if takes_weights else fit, "score": score, "__module__": __name__}
    globals()[name] = type(name, (cls,), members)  # by name in this module, so that it can be pickled
    return globals()[name](**model.get_params(deep=False))


DEEP = {"epochs": 2, "hidden": (4,), "random_state": 0}
ESTIMATORS = [
    numeric(KaplanMeier()),
    numeric(Cox()),
    numeric(WeibullAFT()),
    numeric(DeepSurv(**DEEP)),
    numeric(DeepHit(bins=5, **DEEP)),
    TablePreprocessor(),
    numeric(ly.BootstrappedRanker(n_estimators=4, random_state=0, n_jobs=1)),
    numeric(ly.StackedRanker(members=ly.ranking.make_members(n_estimators=4), random_state=0, n_jobs=1)),
    numeric(ly.ranking.BoostedYears(n_estimators=4, random_state=0)),
    numeric(ly.ranking.NetworkYears(random_state=0)),
    numeric(ly.ranking.BoostedHazards(n_estimators=4, random_state=0)),
    numeric(ly.ranking.SplineHazards()),
    numeric(ly.ranking.SplineInteractionHazards()),
]
EXPECTED_FAILURES: dict[str, dict[str, str]] = {
    "NumericNetworkYears": {"check_methods_subset_invariance": "single precision: sums depend on the size of a batch"},
}


def checks():
    for estimator in ESTIMATORS:
        name = type(estimator).__name__
        for each, check in estimator_checks_generator(estimator):
            yield pytest.param(each, check, EXPECTED_FAILURES.get(name, {}), id=f"{name}-{check.func.__name__}")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("estimator", "check", "expected"), list(checks()))
def test_estimator_checks(estimator, check, expected):
    reason = expected.get(check.func.__name__)
    if reason is None:
        check(estimator)
    else:
        with pytest.raises(Exception):  # noqa: B017 - each check fails in its own way
            check(estimator)


def test_at_most_three_expected_failures():
    assert all(len(failures) <= 3 for failures in EXPECTED_FAILURES.values())


@pytest.mark.parametrize("model", [KaplanMeier(), Cox(), WeibullAFT(), DeepSurv(), DeepHit()])
def test_clone_and_defaults_are_plain(model):
    assert clone(model).get_params() == model.get_params()


def test_grid_search_over_a_pipeline(X, y):
    table = X.assign(ward=np.where(X["x"] > 0, "A", "B"))
    pipe = make_pipeline(TablePreprocessor(), Cox())
    search = GridSearchCV(pipe, {"cox__alpha": [0.1, 100.0]}, cv=3, error_score="raise").fit(table, y)
    assert search.best_score_ > 0.6
    assert ly.metrics.concordance_index(y, search.predict(table)) > 0.6


def test_a_column_transformer_of_scikit_learns_own_parts(X, y):
    table = X.assign(ward=np.where(X["x"] > 0, "A", "B"))
    parts = make_column_transformer(
        (StandardScaler(), make_column_selector(dtype_include="number")), (OneHotEncoder(drop="if_binary"), ["ward"])
    )
    pipe = make_pipeline(parts, Cox(alpha=1.0)).fit(table, y)
    by_hand = np.column_stack([StandardScaler().fit_transform(X), table["ward"] == "B"])
    assert pipe.predict(table) == pytest.approx(Cox(alpha=1.0).fit(by_hand, y).predict(by_hand))
    inside = make_pipeline(make_column_transformer((TablePreprocessor(), ["age", "ward"])), KaplanMeier())
    assert inside.fit(table, y).predict(table).shape == (len(table),)


def test_cross_validate_with_several_scorers_of_ours(X, y):
    relevance = ly.relevance.ExpectedYears(Cox(), tau=10.0)
    scorers = {
        "c": ly.metrics.make_scorer("concordance"),
        "auc": ly.metrics.make_scorer("auc", time=3.0),
        "years": ly.metrics.make_scorer("policy_value", waitlist=5, relevance=relevance),
    }
    found = cross_validate(
        Cox(tau=10.0), X, y, cv=KFold(3), scoring=scorers, error_score="raise", return_estimator=True
    )
    for number, (_, test) in enumerate(KFold(3).split(X)):
        model = found["estimator"][number]
        assert found["test_c"][number] == ly.metrics.concordance_index(y[test], model.predict(X.iloc[test]))
        assert 0 < found["test_years"][number] <= 10


def test_a_grid_search_over_a_ranker_by_years(X, y):
    scorer = ly.metrics.make_scorer("policy_value", waitlist=5, relevance=ly.relevance.ExpectedYears(Cox(), tau=10.0))
    ranker = ly.BootstrappedRanker(tau=10.0, n_estimators=5, random_state=0, n_jobs=1)
    grid = {"alpha": [0.3, 1.0], "base": [KaplanMeier(), Cox()]}
    search = GridSearchCV(ranker, grid, scoring=scorer, cv=KFold(2), error_score="raise").fit(X, y)
    assert set(search.best_params_) == {"alpha", "base"}
    assert len(search.cv_results_["mean_test_score"]) == 4


def test_predictions_across_folds_and_splits_of_outcomes(X, y):
    groups = np.arange(len(y)) % 7
    said = cross_val_predict(Cox(tau=10.0), X, y, cv=GroupKFold(3), groups=groups)
    train, test = next(GroupKFold(3).split(X, groups=groups))
    assert said[test] == pytest.approx(Cox(tau=10.0).fit(X.iloc[train], y[train]).predict(X.iloc[test]))
    parts = train_test_split(X, y, random_state=0)
    assert isinstance(parts[3], ly.Outcome)
    assert len(parts[3]) == len(parts[1])


def test_nested_parameters_reach_their_models():
    ranker = ly.BootstrappedRanker(base=Cox()).set_params(base__alpha=3.0, n_estimators=7)
    again = clone(ranker)
    assert (again.base.alpha, again.n_estimators) == (3.0, 7)
    stacked = ly.StackedRanker(members=ly.ranking.make_members()).set_params(boosted_years__n_estimators=9, folds=3)
    assert dict(clone(stacked).members)["boosted_years"].n_estimators == 9
    assert clone(stacked).folds == 3
    robust = ly.relevance.DoublyRobust(Cox(), KaplanMeier()).set_params(survival__alpha=2.0)
    assert clone(robust).survival.alpha == 2.0


def test_frames_keep_their_names(X, y):
    cox = Cox().fit(X, y)
    assert list(cox.feature_names_in_) == ["age", "sex", "x"]
    with pytest.raises(ValueError, match="order"):
        cox.predict(X[["x", "sex", "age"]])
