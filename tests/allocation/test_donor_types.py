import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import lifeyears as ly
from lifeyears.allocation import DonorTypeRanker
from lifeyears.allocation._sharing import compute_weights, draw_type_folds, estimate_prior
from lifeyears.models import Cox, WeibullAFT

TAU = 10.0


def transplants(n, seed, differ=1.0, small=0.3):
    """Pairs with two kinds of donor, outcomes, and E[min(T, τ)|x]. With `differ` the effect of x hangs on the kind."""
    rng = np.random.default_rng(seed)
    kind = (rng.random(n) < small).astype(int)
    x, z = rng.normal(size=(2, n))
    rate = 0.2 * np.exp(0.5 * z + 0.4 * kind + 0.8 * x * np.where(kind == 1, 1 - 2 * differ, 1.0))
    life, end = rng.exponential(1 / rate), rng.uniform(2, 20, n)
    table = pd.DataFrame(
        {
            "x": x,
            "z": z,
            "group": rng.choice(["a", "b"], n),
            "donor_age": 25.0 + 35 * kind + rng.normal(size=n),
            "donor_size": 170 - 10 * kind + rng.normal(size=n),
            "distance_nm": rng.uniform(0, 500, n),
        }
    )
    expected = -np.expm1(-rate * TAU) / rate
    return table, ly.Outcome(np.minimum(life, end), life <= end), expected, kind


def off_by(f, seed, **world):
    table, _, expected, _ = transplants(4000, seed + 1000, **world)
    return np.mean((f.predict(table) - expected) ** 2)


def test_where_types_differ_each_is_believed_and_that_pays():
    table, y, _, _ = transplants(1500, 0)
    shared = DonorTypeRanker(Cox(), n_types=2, tau=TAU, random_state=0).fit(table, y)
    pooled = clone(shared).set_params(prior=np.inf).fit(table, y)
    assert (shared.report_["weight"] > 0.8).all()
    assert off_by(shared, 0) < 0.25 * off_by(pooled, 0)
    later, _, expected, _ = transplants(4000, 7)
    worth = [ly.metrics.policy_value(expected, f.predict(later), 1, 50) for f in (shared, pooled)]
    assert worth[0] > worth[1] + 0.1


def mean_errors(n, differ):
    """Mean squared error in years of the estimated prior, of pooling alone and of each type alone, over six cohorts."""
    off = {None: [], np.inf: [], 0: []}
    for seed in range(6):
        table, y, _, _ = transplants(n, seed, differ=differ)
        for prior, errors in off.items():
            f = DonorTypeRanker(Cox(), n_types=4, tau=TAU, prior=prior, min_events=20, random_state=0).fit(table, y)
            errors.append(off_by(f, seed, differ=differ))
    return [np.mean(errors) for errors in off.values()]


@pytest.mark.parametrize(("n", "differ"), [(600, 0.0), (1500, 0.25)])
def test_the_estimated_prior_is_near_the_better_of_pooling_and_each_alone_whichever_that_is(n, differ):
    shared, pooled, alone = mean_errors(n, differ)
    assert shared < 1.25 * min(pooled, alone)
    assert shared < 0.6 * max(pooled, alone)


def test_a_small_type_borrows_and_does_better_than_alone_and_than_pooled():
    errors = {"shared": [], "alone": [], "pooled": []}
    world = {"differ": 0.25, "small": 0.04}
    for seed in range(6):
        table, y, _, kind = transplants(1500, seed, **world)
        later, _, expected, which = transplants(6000, seed + 50, **world)
        later, expected = later[which == 1], expected[which == 1]
        for name, prior in (("shared", 40), ("alone", 0), ("pooled", np.inf)):
            f = DonorTypeRanker(Cox(), types=kind, prior=prior, min_events=10, tau=TAU).fit(table, y)
            errors[name].append(np.mean((f.predict(later, 1) - expected) ** 2))
    means = {name: np.mean(values) for name, values in errors.items()}
    assert means["shared"] < means["alone"]
    assert means["shared"] < means["pooled"]


def test_a_type_with_too_few_events_has_no_predictor_of_its_own():
    table, y, _, kind = transplants(1000, 0, small=0.03)
    f = DonorTypeRanker(Cox(), types=kind, tau=TAU, min_events=50).fit(table, y)
    assert f.report_.loc[1, "events"] < 50
    assert f.report_.loc[1, "weight"] == 0
    assert list(f.own_) in ([0], [])
    assert np.isfinite(f.scores(table)).all()


def test_weights_grow_with_events():
    assert compute_weights(np.array([0, 50, 150]), 50.0) == pytest.approx([0, 0.5, 0.75])
    assert compute_weights(np.array([0, 50]), np.inf) == pytest.approx([0, 0])
    assert compute_weights(np.array([0, 50]), 0.0) == pytest.approx([0, 1])


def test_the_estimated_prior_is_that_of_the_normal_model():
    # types scatter with variance 1; an own predictor's error has variance 80/m: the best prior is 80 events
    rng = np.random.default_rng(0)
    events = np.repeat(rng.integers(10, 400, 3000), 20)
    effect = np.repeat(rng.normal(size=3000), 20)
    own = effect + np.repeat(rng.normal(size=3000), 20) * np.sqrt(80 / events)
    years = 5 + effect + rng.normal(size=60_000)
    assert estimate_prior(years, np.full(60_000, 5.0), 5 + own, events) == pytest.approx(80, rel=0.35)
    nothing = 5 + rng.normal(size=60_000)  # the own predictors are noise
    assert estimate_prior(nothing, np.full(60_000, 5.0), 5 + own, events) > 1e4
    assert estimate_prior(years, own, np.full(60_000, np.nan), events) == np.inf


def test_folds_share_out_every_stratum():
    strata = np.random.default_rng(0).choice(4, 300, p=[0.7, 0.2, 0.08, 0.02])
    folds = draw_type_folds(strata // 2, strata % 2 == 1, 3, 0)
    assert sorted(np.concatenate([test for _, test in folds])) == list(range(300))
    for train, test in folds:
        assert not np.intersect1d(train, test).size
        counts = np.bincount(strata[test], minlength=4)
        assert (np.abs(counts - np.bincount(strata) / 3) <= 1).all()


def test_a_type_with_fewer_rows_than_folds_does_not_unbalance_the_others():
    kind, event = np.repeat([0, 1, 2], [90, 60, 1]), np.arange(151) % 3 == 0
    for _, test in draw_type_folds(kind, event, 3, 0):
        assert list(np.bincount(2 * kind[test] + event[test])[:2]) in ([20, 10], [19, 10])  # 1 row joined the largest
        assert list(np.bincount(2 * kind[test] + event[test])[2:4]) in ([13, 7], [14, 6], [13, 6], [14, 7])


class Touchy(BaseEstimator):
    """Refuses to speak of rows it was trained on: so leakage into the prior would be seen."""

    def fit(self, X, y):
        self.seen_ = {row[0] for row in X}
        self.mean_ = float(y.time.mean())
        return self

    def predict(self, X):
        assert not self.seen_ & {row[0] for row in X}, "asked about a training row"
        return np.full(len(X), self.mean_)


def test_the_prior_comes_from_rows_that_no_predictor_had_seen():
    table, y, _, _ = transplants(400, 0)
    assert DonorTypeRanker(Touchy(), n_types=2, tau=TAU, min_events=10, random_state=0).fit(table, y).prior_ > 0


def test_k_means_finds_the_kinds_and_knows_new_donors():
    table, y, _, kind = transplants(600, 0)
    f = DonorTypeRanker(Cox(), n_types=2, prior=100, tau=TAU, random_state=0).fit(table, y)
    assert (f.lookup(table) == kind).all()  # the larger type comes first
    assert list(f.types_) == [0, 1]
    assert f.report_["rows"].tolist() == [int((kind == 0).sum()), int((kind == 1).sum())]
    assert f.lookup({"donor_age": 61.0, "donor_size": 160.0}).tolist() == [1]
    assert f.lookup(table.iloc[0]).tolist() == [kind[0]]
    assert f.representatives_["donor_age"].tolist() == pytest.approx([25, 60], abs=1)


@pytest.mark.parametrize("how", ["array", "column", "callable"])
def test_types_may_be_given(how):
    table, y, _, kind = transplants(600, 0)
    table["donor_kind"] = np.where(kind == 1, "old", "young")
    types = {
        "array": table["donor_kind"].to_numpy(),
        "column": "donor_kind",
        "callable": lambda donors: np.where(donors["donor_age"] > 45, "old", "young"),
    }[how]
    f = DonorTypeRanker(Cox(), types=types, prior=100, tau=TAU, random_state=0).fit(table, y)
    assert list(f.types_) == ["old", "young"]
    assert f.predict(table, "old") == pytest.approx(f.scores(table)[:, 0])
    assert "donor_kind" not in f.candidate_columns_
    if how == "array":
        with pytest.raises(ValueError, match="Pass the type itself"):
            f.predict(table)
    else:
        assert (f.types_[f.lookup(table)] == table["donor_kind"]).all()
    with pytest.raises(ValueError, match="donor type 'pig' did not occur"):
        f.predict(table, "pig")


def test_a_match_run_is_a_look_up():
    table, y, _, kind = transplants(600, 0)
    f = DonorTypeRanker(WeibullAFT(), n_types=2, prior=100, tau=TAU, random_state=0).fit(table, y)
    candidates = table[["group", "z", "x"]].iloc[:30]  # no donor, no pair, another order
    scores = f.scores(candidates)
    assert scores.shape == (30, 2)
    donor = table.iloc[[5]]
    assert (f.predict(candidates, donor) == scores[:, kind[5]]).all()
    assert (f.predict(candidates, table.iloc[:30]) == scores[np.arange(30), kind[:30]]).all()
    assert (f.predict(table.iloc[:30]) == f.predict(candidates, table.iloc[:30])).all()
    assert 0.5 < f.score(table, y) < 1
    assert ((scores > 0) & (scores < TAU)).all()


def test_prior_0_is_each_type_alone_and_infinity_is_pooled_alone():
    table, y, _, kind = transplants(500, 0)
    f = DonorTypeRanker(Cox(), types=kind, prior=0, tau=TAU, candidate_columns=["x", "z"]).fit(table, y)
    matrix = f.preprocessor_.transform(table[["x", "z"]])
    alone = Cox(tau=TAU).fit(matrix[kind == 1], y[kind == 1])
    assert f.scores(table)[:, 1] == pytest.approx(alone.predict(matrix))
    f.set_params(prior=np.inf).fit(table, y)
    everybody = Cox(tau=TAU).fit(np.column_stack([matrix, kind == 0, kind == 1]), y)
    ones = np.ones(len(y))
    assert f.scores(table)[:, 1] == pytest.approx(everybody.predict(np.column_stack([matrix, 0 * ones, ones])))
    assert f.own_ == {}


def test_rankers_of_ours_and_of_others():
    others = pytest.importorskip("sksurv.linear_model")
    table, y, _, kind = transplants(400, 0)
    for ranker in (
        ly.BootstrappedRanker(n_estimators=5),
        make_pipeline(StandardScaler(), Cox()),
        others.CoxPHSurvivalAnalysis(alpha=1.0),
    ):
        f = DonorTypeRanker(ranker, types=kind, prior=50, tau=TAU, min_events=10, random_state=0).fit(table, y)
        assert (f.report_["weight"] > 0).all()
        assert ly.metrics.concordance_index(y, f.predict(table, kind)) > 0.55


def test_the_default_on_the_simulated_registry_and_its_population():
    d = ly.data.simulate_registry(n=700, random_state=0)
    ranker = ly.BootstrappedRanker(n_estimators=10)
    f = DonorTypeRanker(ranker, n_types=3, tau=12, folds=2, random_state=0).fit(d.X, d.y)
    assert not {"distance_nm", "donor_age", "blood_match"} & set(f.candidate_columns_)
    assert f.prior_ > 0
    people = ly.data.Population()
    waiting, donors = people.candidates(40, random_state=1), people.donors(5, random_state=2)
    # a candidate's centre volume and the year come with any donor
    candidates = people.pairs(waiting, donors, donor=0, incompatible="keep")
    scores = f.scores(candidates)
    assert scores.shape == (40, 3)
    for row in range(5):
        assert (scores[:, f.lookup(donors)[row]] == f.predict(candidates, donors.iloc[[row]])).all()
    with pytest.raises(ValueError, match="centre_volume, transplant_year"):
        f.scores(waiting)
    assert DonorTypeRanker().fit(d.X, d.y).tau_ == d.y.time.max()


class Moody(BaseEstimator):
    """Says what it is seeded to say."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y):
        self.years_ = np.random.default_rng(self.random_state).random()
        return self

    def predict(self, X):
        return np.full(len(X), self.years_)


def test_the_seed_reaches_every_part_of_a_pipeline():
    table, y, _, _ = transplants(200, 0)
    f = DonorTypeRanker(make_pipeline(StandardScaler(), Moody()), n_types=2, prior=100, tau=TAU, random_state=0)
    first, second = (clone(f).fit(table, y).predict(table) for _ in range(2))
    assert np.array_equal(first, second)
    assert not np.array_equal(first, clone(f).set_params(random_state=1).fit(table, y).predict(table))


def test_the_same_seed_gives_the_same_scores_and_settings_stay():
    table, y, _, _ = transplants(500, 0)
    f = DonorTypeRanker(ly.BootstrappedRanker(n_estimators=5), n_types=3, folds=2, random_state=4)
    before = {name: repr(value) for name, value in f.get_params().items()}
    one, two = clone(f).fit(table, y).scores(table), f.fit(table, y).scores(table)
    assert (one == two).all()
    assert {name: repr(value) for name, value in f.get_params().items()} == before
    assert not hasattr(f.ranker, "report_")


def test_the_horizon_is_the_rankers_if_none_is_given():
    table, y, _, _ = transplants(300, 0)
    assert DonorTypeRanker(Cox(tau=4.0), n_types=2, prior=10).fit(table, y).scores(table).max() < 4


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"n_types": 0}, "n_types must be"),
        ({"folds": 1}, "folds must be"),
        ({"prior": -1}, "prior must be"),
        ({"tau": 0}, "tau must be"),
        ({"n_types": 1000}, "fewer than the 1000 types"),
        ({"types": "donor_rank"}, "'donor_rank'"),
        ({"types": [0, 1]}, "one for each of the 200"),
        ({"types": np.append(np.nan, np.zeros(199))}, "row 0 is missing"),
        ({"donor_columns": ["heart"]}, "heart"),
        ({"candidate_columns": ["liver"]}, "liver"),
        ({"donor_columns": []}, "no donor columns"),
    ],
)
def test_bad_settings_are_refused(settings, words):
    table, y, _, _ = transplants(200, 0)
    with pytest.raises(ValueError, match=words):
        DonorTypeRanker(Cox(), **settings).fit(table, y)


def test_bad_tables_are_refused():
    table, y, _, _ = transplants(200, 0)
    with pytest.raises(ValueError, match="DataFrame"):
        DonorTypeRanker().fit(np.zeros((200, 3)), y)
    with pytest.raises(ValueError, match="200 rows and y has 100"):
        DonorTypeRanker().fit(table, y[:100])
    with pytest.raises(ValueError, match="target y is None"):
        DonorTypeRanker().fit(table, None)
    with pytest.raises(NotFittedError):
        DonorTypeRanker().scores(table)
    with pytest.raises(TypeError, match="cannot wrap"):
        DonorTypeRanker(object()).fit(table, y)
    f = DonorTypeRanker(Cox(), n_types=2, prior=1, tau=TAU, random_state=0).fit(table, y)
    with pytest.raises(ValueError, match="3 candidates and 2 donors"):
        f.predict(table.iloc[:3], table.iloc[:2])
    with pytest.raises(ValueError, match="donors lack columns"):
        f.predict(table, pd.DataFrame({"donor_age": [30.0]}))
