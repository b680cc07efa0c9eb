"""What is made of the jobs: the decision, the room, the bound, calibration, support, warnings."""

import json
from dataclasses import replace

import numpy as np
import pytest

import lifeyears as ly
from lifeyears.experiments._plan import CEILING
from lifeyears.experiments.jobs import estimate_relevances
from lifeyears.experiments.results import (
    bound_utility,
    choose_best,
    corrected_half_width,
    make_charts,
    render_latex,
    tabulate_headroom,
    tabulate_subgroups,
)

SMALL = {"iterations": 1, "folds": 2, "models": ("KM", "Cox"), "default_over": (), "waitlist": 20, "tau": 15.0}


@pytest.fixture(scope="module")
def data():
    return ly.data.simulate_registry(n=300, random_state=1)


@pytest.fixture(scope="module")
def full(data, tmp_path_factory):
    return ly.experiments.run("full", data, tmp_path_factory.mktemp("full") / "run", n_jobs=1, **SMALL)


@pytest.fixture(scope="module")
def artificial(data, tmp_path_factory):
    out = tmp_path_factory.mktemp("artificial") / "run"
    return ly.experiments.run("artificial", data, out, n_jobs=1, command="lifeyears reproduce", **SMALL)


def pooled(run, arm, judge):
    """Policy value by hand: relevance of all patients, ranked within their folds, over every list."""
    mine = [job.scores[run.arms.index(arm)] for job in run.jobs]
    ranks = [np.array([((fold < s) + 0.5 * (fold == s)).mean() for s in fold]) for fold in mine]  # equals share theirs
    relevance = np.concatenate([job.outcomes[judge] for job in run.jobs])
    return ly.metrics.policy_value(relevance, np.concatenate(ranks), waitlist=run.waitlist)


def test_the_audit_is_of_what_c_index_would_choose(full):
    audit, answer = full.summary["audit"], full.summary["answer"]
    years = full.years[full.years["model"] != "truth"].assign(arm=lambda t: t["model"] + " " + t["framework"])
    by_index = years.loc[years["C-index"].idxmax(), "arm"]
    assert audit["by_c_index"] == by_index
    assert answer["best"] == years.loc[years["years"].idxmax(), "arm"]
    if by_index == answer["best"]:
        assert audit["same"]
        assert audit["cost"] is None
    else:
        cost = pooled(full, answer["best"], "expected") - pooled(full, by_index, "expected")
        assert audit["cost"]["gain"] == pytest.approx(cost)
        assert audit["cost"]["low"] <= cost <= audit["cost"]["high"]
    table = full.tables["audit"].assign(arm=lambda t: t["model"] + " " + t["framework"]).set_index("arm")
    for arm in table.index:
        short = pooled(full, answer["best"], "expected") - pooled(full, arm, "expected")
        assert table.loc[arm, "short of best"] == pytest.approx(short, abs=1e-9)
    assert sorted(table["place by years"]) == [1, 2, 3, 4]


def test_what_cannot_be_told_apart_is_corrected_for_comparisons(full, monkeypatch):
    """Holm by hand: 0.01 × 3, 0.03 × 2, 0.04 × 1; uncorrected, all three would be told from the best."""
    best = full.best()
    others = full.years.assign(arm=lambda t: t["model"] + " " + t["framework"]).sort_values("years", ascending=False)
    others = [arm for arm in others["arm"] if arm not in (best, CEILING)]
    p = dict(zip(others, (0.03, 0.04, 0.01), strict=True))
    monkeypatch.setattr(ly.experiments.Run, "gain", lambda self, new, old: (1.0, 0.1, 1.9, p.get(old, 0.001)))
    assert choose_best(full)["alike"] == others[:2]
    assert "cannot be told from 2 of the other 3" in full.reading()
    p |= dict(zip(others, (0.01, 0.001, np.nan), strict=True))
    assert choose_best(full)["alike"] == others[2:]


def test_tables_are_latex_that_any_engine_reads(full):
    text = render_latex(full)
    assert text.isascii()
    assert "$-$" in text


def test_the_bound_is_ndcg_over_the_sum_of_discounts(full):
    table = full.tables["audit"].set_index(["model", "framework"])
    assert table.loc[("Cox", "standard"), "bound"] == pytest.approx(full.ndcg_of("Cox standard")[0])  # W_1 = 1
    five = ly.experiments.Run(replace(full.plan, k=5), full.jobs, full.dataset)
    total = sum(1 / np.log2(i + 1) for i in range(1, 6))
    bound = bound_utility(five)["Cox standard"][0]
    assert bound == pytest.approx(five.ndcg_of("Cox standard")[0] / total)


def test_the_room_is_between_base_and_ceiling(full):
    room = full.tables["room"].set_index(["model", "framework"])
    base, ranker, ceiling = (pooled(full, arm, "expected") for arm in ("Cox standard", "Cox ranker", CEILING))
    assert room.loc[("Cox", "ranker"), "closed"] == pytest.approx((ranker - base) / (ceiling - base))
    assert room.loc[("Cox", "standard"), "room left"] == pytest.approx(ceiling - base)
    assert np.isnan(room.loc[("Cox", "standard"), "closed"])
    row = room.loc[("Cox", "ranker")]
    assert row["closed low"] < row["closed"] < row["closed high"]


def test_with_many_folds_the_error_of_the_room_is_that_of_a_ratio(full):
    many = ly.experiments.Run(replace(full.plan, iterations=5), full.jobs * 5, full.dataset)
    assert many.by_folds
    new, old, top = (many.values(arm, "expected value") for arm in ("Cox ranker", "Cox standard", CEILING))
    share = (new - old).mean() / (top - old).mean()
    half = corrected_half_width((new - old) - share * (top - old), 1.0) / (top - old).mean()
    row = tabulate_headroom(many).set_index(["model", "framework"]).loc[("Cox", "ranker")]
    assert row["closed"] == pytest.approx(share)
    assert row["closed high"] == pytest.approx(share + half)
    value, _, high = many.ndcg_of("Cox standard")
    known = many.values("Cox standard", "expected waitlist NDCG")
    assert value == pytest.approx(known.mean())
    assert high - value == pytest.approx(corrected_half_width(known, 1.0))


def test_calibration_by_hand(full):
    arm = full.arms.index("Cox standard")
    predicted = np.concatenate([job.scores[arm] for job in full.jobs])
    outcome = np.concatenate([job.outcomes["expected"] for job in full.jobs])
    table = full.tables["calibration"]
    rows = table[table["arm"] == "Cox standard"]
    assert rows["patients"].tolist() == [30] * 10
    lowest = np.argsort(predicted)[:30]
    assert rows.iloc[0]["predicted"] == pytest.approx(predicted[lowest].mean())
    assert rows.iloc[0]["outcome"] == pytest.approx(outcome[lowest].mean())
    by_arm = full.tables["calibration_by_arm"].set_index("arm")
    assert by_arm.loc["Cox standard", "slope"] == pytest.approx(np.polyfit(predicted, outcome, 1)[0])
    assert by_arm.loc["Cox standard", "predicted less outcome"] == pytest.approx((predicted - outcome).mean())
    assert np.isnan(by_arm.loc["KM standard", "slope"])  # one value for all: nothing to draw a slope through
    assert (table["arm"] == "KM standard").sum() == 1
    assert CEILING not in by_arm.index


def test_support_is_that_of_the_positivity_check(full, data):
    X = ly.data.TablePreprocessor().fit_transform(data.X)
    report = ly.relevance.check_positivity(
        ly.models.Cox(alpha=10.0), X, data.y, 15.0, by=np.floor(data.entry).astype(int)
    )
    row = full.tables["positivity"].set_index("model of censoring").loc["Cox"]
    assert row["share out of reach"] == report.share_out_of_reach
    assert row["effective sample size"] == pytest.approx(report.effective_sample_size)
    assert full.summary["support"]["violated"]
    assert (full.tables["positivity_curves"].iloc[0, 1:] == 1).all()
    (warning,) = [w for w in full.summary["warnings"] if w["title"].startswith("No support")]
    assert not warning["serious"]  # judged by the truth of the simulation


def test_without_the_truth_lack_of_support_is_serious(full):
    blind = [replace(job, outcomes={name: job.outcomes[name] for name in ("EY", "IPCW", "DR")}) for job in full.jobs]
    run = ly.experiments.Run(full.plan, blind, replace(full.dataset, truth=None))
    assert run.judge == "DR"
    assert run.summary["warnings"][0]["serious"]
    assert run.summary["warnings"][0]["title"] == "No support at 15 years"
    assert run.summary["ndcg_judge"] == ("EY" if min(u.outcomes["DR"].min() for u in blind) < 0 else "DR")


def test_dr_stands_beside_the_papers_estimators(artificial):
    for name in ("table_a6", "table_a6_by_iteration", "figure_a1"):
        table = artificial.tables[name].set_index("estimator")
        assert "DR" in table.index
    table = artificial.tables["table_a6"].set_index("estimator")
    assert 0 <= table.loc["DR", "years"] <= 100
    assert 0 <= table.loc["EY", "waitlist NDCG"] <= 100
    arms = [arm for arm in artificial.arms if arm.endswith(("standard", "ranker"))]
    right = []
    for job in artificial.jobs:
        truth = [job.measures[arm]["truth value"] for arm in arms]
        found = [job.measures[arm]["DR value"] for arm in arms]
        pairs = [(i, j) for i in range(4) for j in range(i) if truth[i] != truth[j]]
        right.append(np.mean([(truth[i] > truth[j]) == (found[i] > found[j]) for i, j in pairs]))
    assert table.loc["DR", "years"] == pytest.approx(100 * np.mean(right))


def test_charts_are_the_same_from_the_run_and_from_its_summary(full, artificial):
    from lifeyears.report import Summary, check_summary

    for run in (full, artificial):
        content = json.loads(json.dumps(run.summary))
        before = make_charts(run.tables, run.dataset.unit, run.best(), run.plan.tau)
        after = Summary(check_summary(content)).charts
        assert list(before) == list(after)
        assert {name: chart.alt for name, chart in before.items()} == {n: chart.alt for n, chart in after.items()}
    assert {"figure_2", "figure_a2 NDCG"} <= set(after)
    assert artificial.summary["command"] == "lifeyears reproduce"


def test_runs_show_in_a_notebook(full):
    assert full.best() in full._repr_html_()
    assert '<table class="lifeyears"' in full._repr_html_()
    assert full.plot("audit").get_xlabel() == "C-index"
    with pytest.raises(ValueError, match="there are years, audit"):
        full.plot("pie")


def test_change_of_shares_adds_up_to_nothing(data):
    rng = np.random.default_rng(0)
    scores = {"Cox standard": rng.normal(size=300), "Cox ranker": rng.normal(size=300)}
    table = tabulate_subgroups(data, np.arange(300), rng.uniform(0, 20, 300), scores, waitlist=20)
    sexes = table[(table["by"] == "sex") & (table["arm"] == "Cox ranker")]
    assert sexes["share change"].sum() == pytest.approx(0, abs=1e-12)
    assert table.loc[table["arm"] == "Cox standard", "share change"].isna().all()
    assert (table["years low"] <= table["years high"]).all()
    ages = table[table["by"] == "age"]["group"].drop_duplicates().tolist()
    order = ["under 40", "40–54", "55–64", "65 and over"]
    assert ages == [age for age in order if age in ages]


def test_who_is_censored_beyond_a_curve_is_worth_the_time_lived_and_counted():
    data = ly.data.simulate_registry(n=240, random_state=3)
    X = ly.data.TablePreprocessor().fit_transform(data.X)  # wide: Cox says of some that they are dead
    found, counts = estimate_relevances(ly.experiments.Plan("full", models=("KM", "Cox"), tau=20.0), X, data.y, 0)
    lived = np.minimum(data.y.time, 20.0)
    for model in ("KM", "Cox"):
        assert (found[f"EY {model}"] >= lived - 1e-9).all()
    assert any(name.startswith("EY Cox fell back") and many > 0 for name, many in counts.items())


def test_what_stands_beside_pooled_years_is_of_the_same_patients(data, tmp_path):
    twice = ly.experiments.run("full", data, tmp_path / "run", n_jobs=1, **{**SMALL, "iterations": 2})
    row = twice.years.set_index(["model", "framework"]).loc[("Cox", "standard")]
    assert not twice.by_folds
    for column, measure in (("C-index", "C-index"), ("years by EY", "EY value")):
        values = twice.values("Cox standard", measure)
        assert row[column] == pytest.approx(values[:2].mean())
        assert values[:2].mean() != pytest.approx(values.mean(), abs=1e-12)


def test_decades_with_few_patients_have_shorter_lists_and_it_says_so(data, tmp_path):
    within = ly.experiments.run("full", data, tmp_path / "run", n_jobs=1, **{**SMALL, "era": "within"})
    smallest = min(np.unique(data.entry[job.rows] // 10, return_counts=True)[1].min() for job in within.jobs)
    told = {warning["title"]: warning["text"] for warning in within.summary["warnings"]}
    assert f"only {smallest} rows" in told["Shorter lists in some decades"]


def test_impossible_years_are_said_to_be_so_and_intervals_are_cut(data, tmp_path):
    run = ly.experiments.run("full", replace(data, truth=None), tmp_path / "run", n_jobs=1, **{**SMALL, "tau": 2.0})
    years, tau = run.years, 2.0
    assert (years["high"] <= np.maximum(tau, years["years"])).all()
    assert (years["low"] >= np.minimum(0, years["years"])).all()
    gains = run.tables["comparison"]
    assert gains[["low", "high"]].abs().max().max() <= max(tau, gains["value"].abs().max())
    off = years[(years["years"] > tau) | (years["years"] < 0)]
    told = [warning["text"] for warning in run.summary["warnings"] if warning["title"] == "Impossible estimates"]
    assert len(told) == (len(off) > 0)
    monkey = years.assign(years=years["years"] + 5)
    impossible = ly.experiments.Run(run.plan, run.jobs, run.dataset)
    impossible.__dict__["years"] = monkey
    (text,) = [w["text"] for w in impossible.summary["warnings"] if w["title"] == "Impossible estimates"]
    assert "KM standard" in text


def test_a_horizon_in_the_wrong_unit_is_asked_about(data, tmp_path):
    days = replace(data, y=ly.Outcome(data.y.time * 365.25, data.y.event), unit="days", truth=None)
    run = ly.experiments.run("full", days, tmp_path / "run", n_jobs=1, **{**SMALL, "tau": 15.0})
    (told,) = [warning["text"] for warning in run.summary["warnings"] if warning["title"] == "Few events"]
    assert "is the horizon in days?" in told


def test_a_draw_among_several_is_not_called_the_top_pick(data, tmp_path):
    run = ly.experiments.run("full", data, tmp_path / "run", n_jobs=1, **{**SMALL, "k": 5})
    assert "draw by position among the first 5 of a waitlist of 20" in run.reading()
    assert "top pick" not in run.reading()
