"""Policies compared: results make sense, and one seed gives one result."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import lifeyears as ly
import lifeyears.simulation as simulation
from lifeyears.simulation import Config, OfferRule, World, simulate
from lifeyears.simulation._result import collect_replicates
from lifeyears.simulation.worlds.heart import GROUP_MEASURES, MAIN_MEASURES, MEASURES, Measurements

# A fifteenth of the US list; hearts suit more of the few who wait, so that a match run has some to choose from.
SMALL = replace(World().scaled(1 / 15), suitable=0.8, burn_in_years=1.5)
LIFE, DEATHS = "life_years_per_transplant", "waitlist_deaths_per_100_patient_years"


@pytest.fixture(scope="module")
def result():
    config = Config(world=SMALL, training_rows=6000, years=4, replicates=6)
    names = ["us_status", "first_come", "uniform", "greedy", "greedy_ranker", "position_weighted", "lyg", "oracle"]
    return simulate(names, config=config, n_jobs=1)


def paired(result, better, worse, measure):
    """Mean difference and its standard error over the replicates."""
    wide = result.replicates[measure].unstack("policy")
    gap = wide[better] - wide[worse]
    return gap.mean(), gap.std(ddof=1) / np.sqrt(len(gap))


@pytest.mark.parametrize("other", ["greedy", "greedy_ranker", "position_weighted", "uniform", "us_status"])
def test_true_expected_life_gives_more_years_a_transplant_than_any_model(result, other):
    gap, error = paired(result, "oracle", other, LIFE)
    assert gap > 2 * error


@pytest.mark.parametrize("model", ["greedy", "greedy_ranker", "position_weighted", "lyg"])
def test_uniform_is_beaten_by_a_good_model(result, model):
    gap, error = paired(result, model, "uniform", LIFE)
    assert gap > 2 * error


def test_position_weighted_gives_some_years_for_its_chances(result):
    gap, _ = paired(result, "greedy_ranker", "position_weighted", LIFE)
    assert gap > 0


def with_deaths(rates):
    """What a simulation would be in which policies have these rates of deaths, and all else is 1."""
    of_group = {("sex", "female"): dict.fromkeys(GROUP_MEASURES, 1.0)}
    one = {
        name: Measurements(dict.fromkeys(MEASURES, 1.0) | {DEATHS: rate}, of_group, np.ones(6))
        for name, rate in rates.items()
    }
    return collect_replicates(Config(policies=list(rates), replicates=2), [one, one])


def test_the_reading_tells_who_has_the_fewest_deaths_of_those_who_do_not_know_the_truth():
    reading = with_deaths({"us_status": 8.0, "greedy": 9.0, "oracle": 5.0}).reading()
    assert "us_status has the fewest deaths on the list (8.0 per 100 patient-years)" in reading
    assert "does not have the fewest" not in reading
    assert "not a forecast" in reading


def test_where_tiers_do_not_have_the_fewest_deaths_the_reading_says_why():
    reading = with_deaths({"us_status": 8.0, "greedy": 7.0, "oracle": 5.0}).reading()
    assert "greedy has the fewest deaths on the list (7.0 per 100 patient-years)" in reading
    assert "us_status does not have the fewest (8.0): it goes by status, zone and time on the list alone" in reading


def test_measures_are_told_apart_by_name_not_by_their_order():
    level = ("sex", "female")
    values = {name: float(number) for number, name in enumerate(MEASURES)}
    of_group = {name: 100.0 + number for number, name in enumerate(GROUP_MEASURES)}
    other_way = dict(reversed(values.items())), {level: dict(reversed(of_group.items()))}
    found = collect_replicates(
        Config(policies=["uniform"], replicates=1), [{"uniform": Measurements(*other_way, np.ones(6))}]
    )
    assert found.table["value"].droplevel("policy").to_dict() == values
    assert found.by_group.loc[("uniform", *level), "value"].to_dict() == of_group
    assert found.replicates.iloc[0].to_dict() == values


def test_more_donors_mean_fewer_deaths_and_more_transplants():
    few, many = (
        simulate(["us_status"], 3, 12, n_jobs=1, config=replace(SMALL, donors_per_year=SMALL.donors_per_year * factor))
        for factor in (0.5, 1.1)
    )
    for name, sign in ((DEATHS, -1), ("transplants_per_year", 1)):
        gap = many.replicates[name].to_numpy() - few.replicates[name].to_numpy()
        assert sign * gap.mean() > 2 * gap.std(ddof=1) / np.sqrt(len(gap))


def test_hearts_are_transplanted_or_lost(result):
    each = result.replicates
    hearts = each["transplants_per_year"] + each["hearts_lost_per_year"]
    assert hearts.groupby("replicate").nunique().max() <= 2  # the same hearts for all policies, but for rounding
    assert hearts.groupby("replicate").agg(np.ptp).max() < 1e-9
    assert each["listed_per_year"].groupby("replicate").agg(np.ptp).max() == 0


@pytest.mark.parametrize("elsewhere", [{"n_jobs": 2}, {"dask": "local:2"}], ids=["two jobs", "Dask"])
def test_it_is_the_same_wherever_the_replicates_run(elsewhere):
    if "dask" in elsewhere:
        pytest.importorskip("distributed")
    config, told = Config(world=SMALL, training_rows=500, years=1, replicates=3), []
    here, there = (
        simulate(["us_status", "greedy", "oracle"], config=config, progress=lambda *words: told.append(words), **where)
        for where in ({"n_jobs": 1}, elsewhere)
    )
    assert [words for words in told if words[0] == "simulating"] == 2 * [("simulating", n, 3) for n in range(4)]
    pd.testing.assert_frame_equal(here.replicates, there.replicates, check_exact=True)
    pd.testing.assert_frame_equal(here.by_group, there.by_group, check_exact=True)


def test_replicates_that_are_finished_in_another_order_are_collected_in_theirs(monkeypatch):
    def backwards(config, policies, n_jobs, dask):
        for number in reversed(range(config.replicates)):
            yield simulation._simulate._run_numbered(number, config, policies)

    expected = simulate(["us_status"], 0.5, 3, n_jobs=1, config=SMALL)
    monkeypatch.setattr("lifeyears.simulation._simulate._run_replicates", backwards)
    found = simulate(["us_status"], 0.5, 3, n_jobs=1, config=SMALL)
    pd.testing.assert_frame_equal(found.replicates, expected.replicates, check_exact=True)


def test_another_seed_gives_another_result_and_other_policies_do_not():
    tables = [
        simulate(names, 1, 2, seed, 1, SMALL).table.loc["uniform"]
        for names, seed in ((["uniform"], 0), (["uniform", "us_status"], 0), (["uniform"], 1))
    ]
    pd.testing.assert_frame_equal(tables[0], tables[1], check_exact=True)
    assert (tables[0]["value"] != tables[2]["value"]).any()


def test_common_random_numbers_narrow_a_paired_difference():
    widths = {}
    for common in (True, False):
        config = Config(world=SMALL, years=1, replicates=6, common_random_numbers=common)
        table = simulate(["us_status", "uniform"], config=config, n_jobs=1).differences.loc["uniform"]
        widths[common] = table["high"] - table["low"]
    # how many hearts come varies more than how many of them an order places
    assert widths[True]["transplants_per_year"] < 0.6 * widths[False]["transplants_per_year"]


def test_summary_has_every_measure_with_its_interval_and_is_json(result):
    summary = json.loads(json.dumps(result.summary(), allow_nan=False))
    assert set(summary["policies"]) == {policy.name for policy in result.config.policies}
    for part in (summary["policies"]["greedy"], summary["differences"]["greedy"]):
        assert set(part) == set(MEASURES)
        for name in MAIN_MEASURES:
            assert part[name]["low"] < part[name]["value"] < part[name]["high"]
    assert "us_status" not in summary["differences"]
    assert "not a forecast" in summary["label"]


def test_one_replicate_has_no_interval():
    result = simulate(["us_status", "uniform"], 1, 1, config=SMALL)
    assert result.table[["low", "high"]].isna().all().all()
    assert result.summary()["policies"]["uniform"][LIFE]["low"] is None


def test_subgroups_add_up_to_the_whole(result):
    listed = result.by_group.xs("listed_per_year", level="measure")["value"]
    whole = result.table.xs("listed_per_year", level="measure")["value"]
    for (policy, _), total in listed.groupby(["policy", "grouping"]).sum().items():
        assert total == pytest.approx(whole[policy])


def test_it_shows_itself(result):
    assert len(result.plot()) == 3
    assert "<table" in result._repr_html_()
    assert "replicates" in repr(result)
    with pytest.raises(ValueError, match="measures must be one of"):
        result.plot(["years"])


def test_a_fitted_model_of_ones_own_is_taken():
    class Youngest:
        def predict(self, X):
            return -X["age"].to_numpy()

    result = simulate([OfferRule("young", "model", model=Youngest()), "uniform"], 2, 2, n_jobs=1, config=SMALL)
    rate = result.by_group.xs("transplants_per_100_patient_years", level="measure")["value"]
    young, old = (rate[("young", "age", level)] for level in ("18–39", "65 and over"))
    assert young > 2 * old
    assert result.summary()["settings"]["policies"][0]["model"] == "Youngest"


def test_models_by_donor_type_are_looked_up():
    config = Config(world=SMALL, training_rows=2000, years=1, replicates=2)
    policy = {"name": "typed", "order": "model", "model": "cox_by_donor_type"}
    result = simulate([policy, "uniform"], config=config, n_jobs=1)
    gap, _ = paired(result, "typed", "uniform", LIFE)
    assert gap > 0


def test_a_saved_ranker_by_donor_type_is_taken_by_its_path(tmp_path):
    d = ly.data.simulate_registry(1500)
    model = ly.allocation.DonorTypeRanker(ly.models.Cox(), n_types=3, prior=np.inf, tau=20, random_state=0).fit(
        d.X, d.y
    )
    path = str(ly.save(model, tmp_path / "typed"))
    tables = [
        simulate([OfferRule("a", "model", model=each)], 1, 1, n_jobs=1, config=SMALL).table for each in (model, path)
    ]
    pd.testing.assert_frame_equal(*tables, check_exact=True)


def test_life_years_gained_without_donor_types_is_taken():
    d = ly.data.simulate_registry(1500)
    gained = ly.allocation.LifeYearsGained(ly.models.Cox(), tau=20)
    gained.fit(d.X, d.y, d.X[["age", "creatinine"]], (d.y.event, d.y.time / 5))
    table = simulate([OfferRule("gained", "model", model=gained)], 1, 1, n_jobs=1, config=SMALL).table
    assert table.loc[("gained", "transplants_per_year"), "value"] > 0


def test_without_a_burn_in_those_who_wait_at_the_start_are_scored_too():
    """A model that knows no difference asks in the order of listing: first come, first served."""

    class Same:
        def predict(self, X):
            return np.full(len(X), 9.0)

    world = replace(SMALL, burn_in_years=0.0)
    table = simulate([OfferRule("same", "model", model=Same()), "first_come"], 1, 1, n_jobs=1, config=world).table
    pd.testing.assert_frame_equal(table.loc["same"], table.loc["first_come"], check_exact=True)


@pytest.mark.parametrize("value", [np.nan, 1e6])
def test_a_model_that_predicts_no_years_is_refused(value):
    class Odd:
        def predict(self, X):
            return np.full(len(X), value)

    with pytest.raises(ValueError, match="the model Odd must predict years: finite numbers below 250,000"):
        simulate([OfferRule("odd", "model", model=Odd())], 1, 1, n_jobs=1, config=SMALL)


def test_a_large_seed_is_taken():
    config = Config(world=SMALL, training_rows=500, years=0.5, replicates=1)
    policy = {"name": "typed", "order": "model", "model": "cox_by_donor_type"}
    assert simulate([policy], random_state=2**40, config=config, n_jobs=1).config.random_state == 2**40


def test_differences_by_group_are_paired_by_replicate(result):
    row = ("greedy", "sex", "female", "waiting_days_median")
    gap = result.by_group.loc[row, "value"] - result.by_group.loc[("us_status", *row[1:]), "value"]
    assert result.group_differences.loc[row, "value"] == pytest.approx(gap)
    assert "us_status" not in result.group_differences.index.get_level_values("policy")
    width = result.group_differences["high"] - result.group_differences["low"]
    assert (width.xs("listed_per_year", level="measure") == 0).all()  # the same people under every policy


def test_a_list_without_hearts_has_nothing_to_compare():
    result = simulate(["us_status", "uniform"], 1, 2, n_jobs=1, config=replace(SMALL, donors_per_year=0))
    assert result.table.loc[("uniform", "transplants_per_year"), "value"] == 0
    assert "nothing to compare" in repr(result)
    assert result.summary()["policies"]["uniform"][LIFE]["value"] is None


def test_a_model_that_is_not_there_is_refused():
    with pytest.raises(ValueError, match="there is no model 'nope': name one of cox"):
        simulate([OfferRule("a", "model", model="nope")], 1, 1, n_jobs=1, config=SMALL)


def test_a_model_of_other_columns_is_refused():
    class Other:
        feature_names_in_ = np.array(["age", "shoe_size"])

        def predict(self, X):
            return X["age"].to_numpy()

    with pytest.raises(ValueError, match="lacks: shoe_size"):
        simulate([OfferRule("other", "model", model=Other())], 1, 1, n_jobs=1, config=SMALL)


def test_steady_state_of_the_us_list_is_within_15_per_cent_of_the_published_figures():
    check = simulation.steady_state(years=2, replicates=2, n_jobs=1)
    assert check.holds
    assert check.verdict.startswith("All promised figures")
    found = check.table.set_index("figure")
    assert found.loc["listed in status 4: days to transplant, median", "simulated"] == pytest.approx(67, rel=0.25)
    row = found.loc["transplanted a year"]
    assert row["difference"] == pytest.approx(100 * (row["simulated"] / 3668 - 1))
