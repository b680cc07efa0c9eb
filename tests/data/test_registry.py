import numpy as np
import pandas as pd
import pytest
from scipy import stats

import lifeyears as ly
from lifeyears.data import Population, simulate_registry
from lifeyears.data._registry_outcome import WORLDS, Lifetimes, _effects
from lifeyears.experiments import registry_check
from lifeyears.experiments._registry_check import follow_up


@pytest.fixture(scope="module")
def registry():
    return simulate_registry()


@pytest.fixture(scope="module")
def small():
    return simulate_registry(n=3000, random_state=5)


def test_the_cohort_is_the_papers(registry):
    assert registry.X.shape == (60_055, 92)
    assert len(registry.categorical) == 46
    table = follow_up(registry.y).set_index("years")
    assert abs(table.loc["share censored", "simulated"] - 0.4947) < 0.005
    off = table["difference %"].abs().drop("share censored")
    largest = off.index.str.startswith("maximum")
    assert off[~largest].max() < 5
    assert off[largest].max() < 10
    assert registry.horizon == pytest.approx(19.64, rel=0.05)


def test_a_random_ranking_of_the_events_scores_as_in_the_papers_km_row(registry):
    times = registry.y.time[registry.y.event]
    folds = np.random.default_rng(0).permutation(len(times)) % 5
    first = [ly.metrics.ndcg_score(times[folds == f], np.zeros((folds == f).sum()), k=1) for f in range(5)]
    whole = [ly.metrics.ndcg_score(times[folds == f], np.zeros((folds == f).sum())) for f in range(5)]
    assert np.mean(first) == pytest.approx(0.230, abs=0.04)
    assert np.mean(whole) == pytest.approx(0.850, abs=0.01)


@pytest.mark.slow
def test_the_signal_is_as_weak_as_in_the_papers_cox_rows():
    check = registry_check(models=["KM", "Cox"])
    events, full = check.events_only.set_index("model"), check.full.set_index("model")
    assert events.loc["Cox", "C-index"] == pytest.approx(0.623, abs=0.012)
    assert full.loc["Cox", "C-index"] == pytest.approx(0.601, abs=0.012)
    assert events.loc["KM", "NDCG@1"] == pytest.approx(0.230, abs=0.04)
    assert events.loc["KM", "NDCG"] == pytest.approx(0.850, abs=0.01)


def test_calibration_is_not_the_luck_of_one_seed():
    table = follow_up(simulate_registry(random_state=1234).y).set_index("years")
    assert abs(table.loc["share censored", "simulated"] - 0.4947) < 0.005
    assert table["difference %"].abs().max() < 6


@pytest.mark.parametrize("world", WORLDS)
def test_the_truth_is_the_truth(world):
    # 200 redraws of each of 1,500 patients: |mean − expectation| beyond three standard errors happens by chance in
    # 0.27% of normal means; 200 skewed draws allow a little more
    data = simulate_registry(n=1500, world=world, random_state=3)
    for tau in (1.0, 20.0):
        draws = np.array([np.minimum(data.truth.redraw(seed), tau) for seed in range(200)])
        error = draws.std(axis=0, ddof=1) / np.sqrt(200)
        z = (draws.mean(axis=0) - data.truth.expected(tau)) / error
        assert (np.abs(z) > 3).mean() < 0.012
        assert abs(z.mean()) < 4 / np.sqrt(len(z))  # and no bias over all patients


@pytest.mark.parametrize("world", WORLDS)
def test_true_curves_are_the_law_of_the_redraws(world):
    data = simulate_registry(n=300, world=world, random_state=3)
    times = np.array([0.1, 1.0, 5.0, 15.0])
    alive = np.mean([np.greater.outer(data.truth.redraw(seed), times) for seed in range(400)], axis=0)
    curves = data.truth.curves(times).survival
    error = np.sqrt(curves * (1 - curves) / 400)
    assert (np.abs(alive - curves) > 4 * error + 1e-9).mean() < 0.002


def test_expected_life_equals_a_fine_sum():
    law = Lifetimes(np.array([0.3, 0.01]), np.array([0.4, 1.2]), np.array([1.8, 0.9]))
    grid = (np.arange(400_000) + 0.5) * (20 / 400_000)
    assert law.expected(20.0) == pytest.approx(np.exp(-law.hazard(grid)).mean(axis=1) * 20, abs=1e-5)
    assert law.expected(0.2) == pytest.approx(law.curves(np.linspace(0, 0.2, 2001)).restricted_mean(0.2), abs=1e-7)


def test_observation_follows_from_truth_and_censoring(small):
    y, life = small.y, small.truth.lifetime
    assert np.abs(y.time - life)[y.event].max() <= 1 / 365.25  # rounded up to days
    assert (y.time[~y.event] <= life[~y.event] + 1 / 365.25).all()
    assert (y.time <= 2024 - small.entry).all()
    assert (y.time > 0).all()


def test_censoring_curves_are_true(small):
    # by the probability transform G(C⁻) of the censoring time is uniform where it is a dropout
    times = np.array([2.0, 8.0])
    G = small.truth.censoring(times).survival
    follow = 2024 - small.entry
    assert (G[follow <= 2, 0] == 0).all()
    reach = follow > 8
    seen = small.y.time >= 8
    died_before = small.y.event & (small.y.time < 8)
    expected = (G[:, 1] * np.exp(-small.truth.law.hazard(times)[:, 1]))[reach]
    observed = (seen & ~died_before)[reach].mean()
    assert observed == pytest.approx(expected.mean(), abs=4 * np.sqrt(0.25 / reach.sum()))


def test_worlds_share_the_table_and_differ_in_the_outcome():
    tables = {world: simulate_registry(n=400, world=world, random_state=1) for world in WORLDS}
    first = tables["registry"]
    for world, data in tables.items():
        pd.testing.assert_frame_equal(data.X, first.X)
        if world not in ("registry", "informative_censoring"):
            assert not np.allclose(data.truth.expected(20.0), first.truth.expected(20.0))


def test_worlds_do_what_they_are_named_for():
    small = simulate_registry(n=4000, random_state=2)
    late, early, nonlinear = _effects(small.X)
    for part in (late, early, nonlinear):
        assert abs(part.mean()) < 0.1
        assert part.std() == pytest.approx(1, abs=0.1)
    times = np.array([1.0, 10.0])
    proportional = simulate_registry(n=50, world="proportional", random_state=2).truth.law.hazard(times)
    ratio = proportional[:, 1] / proportional[:, 0]
    assert ratio == pytest.approx(np.full(50, ratio[0]))
    crossing = simulate_registry(n=200, world="crossing", random_state=2).truth.law.hazard(np.array([2.0, 20.0]))
    order = np.argsort(crossing[:, 0])
    assert (np.diff(crossing[order, 1]) < 0).mean() > 0.3
    informative = simulate_registry(n=4000, world="informative_censoring", random_state=2)
    close = informative.truth.lifetime - informative.y.time < 0.25 * informative.truth.lifetime
    assert close[~informative.y.event].mean() > 0.3


def test_the_population_is_plausible(small):
    X = small.X
    assert X["age"].between(18, 80).all()
    groups = pd.crosstab(X["donor_blood_group"], X["blood_group"])
    for donor, recipient in (("A", "O"), ("B", "O"), ("AB", "O"), ("A", "B"), ("B", "A"), ("AB", "A"), ("AB", "B")):
        assert groups.loc[donor, recipient] == 0  # incompatible
    assert X["blood_group"].value_counts(normalize=True)["O"] == pytest.approx(0.40, abs=0.04)
    assert X["height_cm"].corr(X["weight_kg"]) > 0.3
    assert X["height_cm"].corr(X["donor_height_cm"]) > 0.3
    assert X.loc[X["sex"] == "male", "height_cm"].mean() > X.loc[X["sex"] == "female", "height_cm"].mean() + 5
    old, new = X["transplant_year"] < 1995, X["transplant_year"] > 2015
    assert X.loc[old, "albumin"].isna().mean() > 0.4 > 0.1 > X.loc[new, "albumin"].isna().mean()
    assert set(X.loc[new & (X["transplant_year"] > 2019), "status"]) <= {f"status {i}" for i in range(1, 7)}
    assert small.subgroups.columns.tolist() == ["race_ethnicity", "insurance", "region", "centre"]
    assert not set(small.subgroups.columns) & set(X.columns)
    assert small.table.shape == (3000, 96)


def test_era_matters_in_the_events_only_cohort(registry):
    # right truncation: who entered late and died cannot have lived long, so the year alone ranks
    seen = registry.y.event
    index = ly.metrics.concordance_index(registry.y[seen], -registry.X.loc[seen, "transplant_year"])
    assert 0.56 < index < 0.64


def test_same_seed_same_registry():
    a, b, c = (simulate_registry(n=300, random_state=seed) for seed in (7, 7, 8))
    pd.testing.assert_frame_equal(a.table, b.table)
    assert (a.y.time == b.y.time).all()
    assert (a.y.time != c.y.time).any()


def test_bad_requests_are_refused():
    with pytest.raises(ValueError, match=r"no world 'mars'; there are registry"):
        simulate_registry(n=10, world="mars")
    with pytest.raises(ValueError, match="at least 1"):
        simulate_registry(n=0)


def test_candidates_and_donors_come_from_the_same_population(small):
    people = Population(year=2022.0)
    candidates, donors = people.candidates(2000, random_state=0), people.donors(2000, random_state=1)
    pairs = people.pairs(candidates, donors)
    assert set(small.table.columns) == set(pairs.columns)
    assert (pairs["transplant_year"] == 2022).all()
    life = people.lifetimes(pairs)
    assert life.expected(20.0).std() > 0.5
    recent = small.X["transplant_year"] > 2015
    assert stats.ks_2samp(candidates["age"], small.X.loc[recent, "age"]).pvalue > 1e-4
    with pytest.raises(ValueError, match="give one donor each"):
        people.pairs(candidates, donors[:5])


def test_the_donor_matters_to_the_pair():
    people = Population()
    candidate = pd.concat([people.candidates(1, random_state=0)] * 200, ignore_index=True)
    life = people.lifetimes(people.pairs(candidate, people.donors(200, random_state=1))).expected(20.0)
    assert life.max() - life.min() > 1


def test_check_beside_the_paper_has_all_rows():
    check = registry_check(models=["KM"], n=1500, folds=2)
    assert len(check.follow_up) == 19
    assert check.events_only.loc[0, "C-index"] == 0.5
    assert check.full.loc[0, "AUC at 5 years, UNOS"] == 0.5
