import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import lifeyears as ly
from lifeyears.allocation import DonorTypeRanker, Greedy, LifeYearsGained
from lifeyears.models import Cox, KaplanMeier, WeibullAFT, wrap

TAU = 10.0


def restricted(rate):
    return -np.expm1(-rate * TAU) / rate


def world(n, seed):
    """Candidates, life with and without a transplant (exponential), both seen to the end, and the true gain."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({"sick": rng.normal(size=n), "age": rng.normal(size=n)})
    with_rate = 0.15 * np.exp(0.2 * table["sick"] + 0.5 * table["age"]).to_numpy()
    without_rate = 0.4 * np.exp(1.0 * table["sick"] + 0.1 * table["age"]).to_numpy()
    after, waiting = rng.exponential(1 / with_rate), rng.exponential(1 / without_rate)
    gain = restricted(with_rate) - restricted(without_rate)
    return table, (np.ones(n), after), (np.ones(n), waiting), gain


def test_the_gain_is_that_of_the_true_law():
    table, after, waiting, _ = world(4000, 0)
    f = LifeYearsGained(WeibullAFT(), tau=TAU).fit(table, after, table, waiting)
    later, _, _, gain = world(2000, 1)
    found = f.predict(later)
    assert np.corrcoef(found, gain)[0, 1] > 0.99
    assert np.abs(found - gain).mean() < 0.15


def test_the_one_who_gains_most_is_not_the_one_who_lives_longest():
    table, after, waiting, _ = world(4000, 0)
    f = LifeYearsGained(WeibullAFT(), tau=TAU).fit(table, after, table, waiting)
    later, _, _, gain = world(200, 1)
    by_gain = Greedy().choose(f.predict(later))
    by_life = Greedy().choose(f.with_.model.predict(later))
    assert gain[by_gain] > gain[by_life] + 1


def test_horizons_are_one_and_the_gain_is_by_hand():
    table = pd.DataFrame({"age": [50.0, 60.0]})
    f = LifeYearsGained(KaplanMeier(), KaplanMeier(), tau=6)
    f.fit(table, ([1, 1], [4.0, 10.0]), table, ([1, 1], [1.0, 9.0]))
    assert f.predict(table) == pytest.approx([5.0 - 3.5] * 2)


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
    table, after, waiting, _ = world(100, 0)
    f = LifeYearsGained(make_pipeline(StandardScaler(), Moody()), KaplanMeier(), tau=TAU, random_state=0)
    first, second = (clone(f).fit(table, after, table, waiting).predict(table) for _ in range(2))
    assert np.array_equal(first, second)


def test_a_fitted_model_without_a_horizon_is_asked_for_one():
    table, _, waiting, _ = world(100, 0)
    known = wrap(lambda X: (np.array([1.0, 2.0]), np.tile([0.5, 0.0], (len(X), 1))))
    with pytest.raises(ValueError, match="the horizon is not known: the fitted model has none of its own"):
        LifeYearsGained(known).fit(X_waitlist=table, y_waitlist=waiting)


def test_fitted_models_are_used_as_they_are_at_the_horizon_asked_for():
    table, after, waiting, _ = world(500, 0)
    with_, without = Cox(tau=8).fit(table, after), WeibullAFT(tau=TAU).fit(table, waiting)
    f = LifeYearsGained(with_, without, tau=5).fit()
    expected = with_.predict_curves(table).restricted_mean(5) - without.predict_curves(table).restricted_mean(5)
    assert f.predict(table) == pytest.approx(expected)
    assert f.with_.model is with_
    assert LifeYearsGained(with_, without).fit().tau_ == 8
    half = LifeYearsGained(with_, tau=8).fit(X_waitlist=table, y_waitlist=waiting)
    assert half.with_.model is with_
    with pytest.raises(ValueError, match="without_transplant is not fitted"):
        LifeYearsGained(with_, WeibullAFT()).fit()
    with pytest.raises(ValueError, match="pass X and y"):
        LifeYearsGained(Cox(tau=3), without).fit()


def test_each_model_takes_its_own_columns_from_one_table():
    table, after, waiting, _ = world(500, 0)
    pairs = table.assign(donor_age=30.0 + np.arange(500) % 40, ward=np.where(table["age"] > 0, "A", "B"))
    f = LifeYearsGained(Cox(), tau=TAU).fit(pairs, after, table[["sick"]], waiting)
    assert f.predict(pairs[["ward", "sick", "donor_age", "age"]]) == pytest.approx(f.predict(pairs))
    with pytest.raises(ValueError, match="Cox needs: donor_age"):
        f.predict(pairs.drop(columns="donor_age"))
    with pytest.raises(ValueError, match="WeibullAFT needs: sick"):
        LifeYearsGained(Cox(), tau=TAU).fit(table[["age"]], after, table[["sick"]], waiting).predict(table[["age"]])


def test_with_donor_types_the_gain_is_a_look_up_too():
    table, after, waiting, _ = world(600, 0)
    pairs = table.assign(donor_age=np.where(np.arange(600) % 3, 30.0, 60.0) + table["age"] / 10)
    types = DonorTypeRanker(Cox(), n_types=2, prior=50, random_state=0)
    f = LifeYearsGained(types, tau=TAU, random_state=0).fit(pairs, after, table, waiting)
    scores = f.scores(table)
    assert scores.shape == (600, 2)
    donor = pairs.iloc[[0]]
    assert f.predict(table, donor) == pytest.approx(scores[:, f.lookup(donor)[0]])
    assert f.predict(pairs) == pytest.approx(scores[np.arange(600), f.lookup(pairs)])
    with pytest.raises(TypeError, match="has no donor types"):
        LifeYearsGained(Cox(), tau=TAU).fit(table, after, table, waiting).scores(table)


def test_the_default_on_the_registry_with_a_simulated_waitlist():
    d = ly.data.simulate_registry(n=500, random_state=0)
    rng = np.random.default_rng(0)
    listed = ly.data.Population().candidates(400, random_state=1)[["age", "creatinine", "sex", "blood_group"]]
    death = rng.exponential(4, 400)
    removed = rng.exponential(2, 400)
    waitlist = ly.Outcome(np.minimum(death, removed), death <= removed)
    ranker = ly.BootstrappedRanker(n_estimators=10)
    f = LifeYearsGained(ranker, tau=10, random_state=0).fit(d.X, d.y, listed, waitlist)
    gained = f.predict(d.X)
    assert 1 < gained.mean() < 8
    assert (gained == clone(f).fit(d.X, d.y, listed, waitlist).predict(d.X)).all()


def test_a_step_curve_that_ends_before_the_horizon_is_warned_of():
    table, after, waiting, _ = world(200, 0)
    short = ly.as_outcome(waiting).time
    short = ly.Outcome(np.minimum(short, 2.0), short <= 2.0)
    with pytest.warns(UserWarning, match="nobody on the waitlist was followed beyond 2, and the horizon is 10"):
        f = LifeYearsGained(Cox(), Cox(), tau=TAU).fit(table, after, table, short)
    falling = LifeYearsGained(Cox(), tau=TAU).fit(table, after, table, short)  # Weibull: no warning
    assert falling.predict(table).mean() > f.predict(table).mean()


def test_bad_calls_are_refused():
    table, after, waiting, _ = world(100, 0)
    with pytest.raises(NotFittedError):
        LifeYearsGained().predict(table)
    with pytest.raises(ValueError, match="the table and y_waitlist must be passed together"):
        LifeYearsGained(Cox()).fit(table, after, table)
    with pytest.raises(ValueError, match="100 rows and y has 50"):
        LifeYearsGained(Cox()).fit(table, (np.ones(50), after[1][:50]), table, waiting)
    with pytest.raises(ValueError, match="tau must be"):
        LifeYearsGained(Cox(), tau=-1).fit(table, after, table, waiting)
    types = DonorTypeRanker(Cox(), types=np.arange(100) % 2, prior=5, tau=5).fit(table, after)
    with pytest.raises(ValueError, match="no curves"):
        LifeYearsGained(types, tau=TAU).fit(X_waitlist=table, y_waitlist=waiting)
    with pytest.raises(TypeError, match="has no donor types"):
        LifeYearsGained(Cox(), tau=5).fit(table, after, table, waiting).predict(table, donor=0)
