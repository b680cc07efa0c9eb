"""What is made of the jobs: the decision, the headroom, the bound, calibration, support, findings."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import lifeyears as ly
from lifeyears import errors
from lifeyears.experiments import Arm, Measure
from lifeyears.experiments.jobs import Source, estimate_relevances
from lifeyears.experiments.results import (
    ChartKey,
    bound_utility,
    choose_best,
    columns_to_markdown,
    corrected_half_width,
    display_columns,
    make_charts,
    parse_summary,
    render_latex,
    tabulate_headroom,
    tabulate_subgroups,
    write_summary,
)

COX, COX_RANKER, KM, ORACLE = Arm("Cox"), Arm("Cox", "bootstrapped"), Arm("KM"), Arm("oracle")
SMALL = {"iterations": 1, "folds": 2, "models": ("KM", "Cox"), "stacked_over": (), "waitlist": 20, "tau": 15.0}


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


def finding(run, code):
    """The only finding with a code, or None."""
    known = [each for each in run.findings if each.code == code]
    assert len(known) < 2
    return known[0] if known else None


def test_the_audit_is_of_what_c_index_would_choose(full):
    audit, answer = full.summary.audit, full.summary.answer
    table = full.allocation.assign(arm=full.arms)
    models = table[table["model"] != "oracle"]
    by_index = models.loc[models["c_index"].idxmax(), "arm"]
    assert audit.by_c_index == by_index
    assert answer.best == models.loc[models["value"].idxmax(), "arm"]
    if by_index == answer.best:
        assert audit.same
        assert audit.cost is None
    else:
        cost = pooled(full, answer.best, "expected") - pooled(full, by_index, "expected")
        assert audit.cost.gain.value == pytest.approx(cost)
        assert audit.cost.gain.low <= cost <= audit.cost.gain.high
        assert f"{cost:.2f}" in finding(full, "c_index").text
    table = full.tables["audit"]
    for _, row in table.iterrows():
        arm = Arm(row["model"], row["method"])
        short = pooled(full, answer.best, "expected") - pooled(full, arm, "expected")
        assert row["shortfall"] == pytest.approx(short, abs=1e-9)
    assert sorted(table["place_by_value"]) == [1, 2, 3, 4]


def test_what_cannot_be_told_apart_is_corrected_for_comparisons(full, monkeypatch):
    """Holm by hand: 0.01 × 3, 0.03 × 2, 0.04 × 1; uncorrected, all three would be told from the best."""
    best = full.best()
    others = full.allocation.assign(arm=full.arms).sort_values("value", ascending=False)["arm"]
    others = [arm for arm in others if arm not in (best, ORACLE)]
    p = dict(zip(others, (0.03, 0.04, 0.01), strict=True))
    monkeypatch.setattr(ly.experiments.Run, "gain", lambda self, new, old: (1.0, 0.1, 1.9, p.get(old, 0.001)))
    assert choose_best(full).alike == tuple(others[:2])
    again = ly.experiments.Run(full.plan, full.jobs, full.dataset)
    assert "cannot be distinguished from 2 of the other 3" in again.reading()
    assert f"{others[0].label} and {others[1].label}" in finding(again, "certainty").text
    p |= dict(zip(others, (0.01, 0.001, np.nan), strict=True))
    assert choose_best(full).alike == tuple(others[2:])
    p |= dict(zip(others, (0.01, 0.001, 0.001), strict=True))
    clear = ly.experiments.Run(full.plan, full.jobs, full.dataset)
    assert finding(clear, "best_arm").title == f"Use {best.label}"
    assert finding(clear, "certainty").facts["sufficient"]


def test_tables_are_latex_that_any_engine_reads(full):
    text = render_latex(full)
    assert text.isascii()
    assert "$-$" in text


def test_the_bound_is_ndcg_over_the_sum_of_discounts(full):
    table = full.tables["audit"].set_index(["model", "method"])
    assert table.loc[("Cox", "none"), "bound"] == pytest.approx(full.ndcg_of(COX)[0])  # W_1 = 1
    five = ly.experiments.Run(replace(full.plan, k=5), full.jobs, full.dataset)
    total = sum(1 / np.log2(i + 1) for i in range(1, 6))
    assert bound_utility(five)[COX][0] == pytest.approx(five.ndcg_of(COX)[0] / total)


def test_the_headroom_is_between_base_and_oracle(full):
    table = full.tables["headroom"].set_index(["model", "method"])
    base, ranker, ceiling = (pooled(full, arm, "expected") for arm in (COX, COX_RANKER, ORACLE))
    row = table.loc[("Cox", "bootstrapped")]
    assert row["closed"] == pytest.approx((ranker - base) / (ceiling - base))
    assert table.loc[("Cox", "none"), "left"] == pytest.approx(ceiling - base)
    assert np.isnan(table.loc[("Cox", "none"), "closed"])
    assert row["closed_low"] < row["closed"] < row["closed_high"]


def test_with_many_folds_the_error_of_the_headroom_is_that_of_a_ratio(full):
    many = ly.experiments.Run(replace(full.plan, iterations=5), full.jobs * 5, full.dataset)
    assert many.by_folds
    value = Measure("expected", "value", k=1, waitlist=20)
    new, old, top = (many.values(arm, value) for arm in (COX_RANKER, COX, ORACLE))
    share = (new - old).mean() / (top - old).mean()
    half = corrected_half_width((new - old) - share * (top - old), 1.0) / (top - old).mean()
    row = tabulate_headroom(many).set_index(["model", "method"]).loc[("Cox", "bootstrapped")]
    assert row["closed"] == pytest.approx(share)
    assert row["closed_high"] == pytest.approx(share + half)
    value, _, high = many.ndcg_of(COX)
    known = many.values(COX, Measure("expected", "ndcg", k=1, waitlist=20))
    assert value == pytest.approx(known.mean())
    assert high - value == pytest.approx(corrected_half_width(known, 1.0))


def test_calibration_by_hand(full):
    place = full.arms.index(COX)
    predicted = np.concatenate([job.scores[place] for job in full.jobs])
    outcome = np.concatenate([job.outcomes["expected"] for job in full.jobs])
    table = full.tables["calibration"]
    rows = table[(table["model"] == "Cox") & (table["method"] == "none")]
    assert rows["patients"].tolist() == [30] * 10
    lowest = np.argsort(predicted)[:30]
    assert rows.iloc[0]["predicted"] == pytest.approx(predicted[lowest].mean())
    assert rows.iloc[0]["outcome"] == pytest.approx(outcome[lowest].mean())
    by_arm = full.tables["calibration_by_arm"].set_index(["model", "method"])
    assert by_arm.loc[("Cox", "none"), "slope"] == pytest.approx(np.polyfit(predicted, outcome, 1)[0])
    assert by_arm.loc[("Cox", "none"), "gap"] == pytest.approx((predicted - outcome).mean())
    assert np.isnan(by_arm.loc[("KM", "none"), "slope"])  # one value for all: nothing to draw a slope through
    assert ((table["model"] == "KM") & (table["method"] == "none")).sum() == 1
    assert "oracle" not in by_arm.index.get_level_values(0)


def test_support_is_that_of_the_positivity_check(full, data):
    X = ly.data.TablePreprocessor().fit_transform(data.X)
    report = ly.relevance.check_positivity(
        ly.models.Cox(alpha=10.0), X, data.y, 15.0, by=np.floor(data.entry).astype(int)
    )
    row = full.tables["positivity"].set_index("censoring").loc["Cox"]
    assert row["share_unsupported"] == report.share_out_of_reach
    assert row["effective_sample_size"] == pytest.approx(report.effective_sample_size)
    assert full.summary.support.violated
    curves = full.tables["positivity_curves"]
    assert (curves.loc[curves["time"] == 0, "chance"] == 1).all()
    assert finding(full, "no_support").severity == "note"  # judged by the truth of the simulation


def test_without_the_truth_lack_of_support_is_serious(full):
    blind = [replace(job, outcomes={name: job.outcomes[name] for name in ("EY", "IPCW", "DR")}) for job in full.jobs]
    run = ly.experiments.Run(full.plan, blind, replace(full.dataset, truth=None))
    assert run.relevance == "DR"
    assert run.findings[0].severity == "serious"
    assert run.findings[0].title == "No support at 15 years"
    assert "No support at 15 years" in run.reading()
    assert run.summary.ndcg_relevance == ("EY" if min(u.outcomes["DR"].min() for u in blind) < 0 else "DR")


def test_dr_stands_beside_the_papers_estimators(artificial):
    for name in ("table_a6", "table_a6_by_iteration", "figure_a1"):
        assert "DR" in set(artificial.tables[name]["relevance"])
    table = artificial.tables["table_a6"]
    dr = table[table["relevance"] == "DR"].iloc[0]
    ey = table[(table["relevance"] == "EY") & table["nuisance"].isna()].iloc[0]
    assert 0 <= dr["value"] <= 100
    assert 0 <= ey["ndcg_waitlist"] <= 100
    truth, estimate = (Measure(relevance, "value", k=1, waitlist=20) for relevance in ("restricted", "DR"))
    right = []
    for job in artificial.jobs:
        true = [job.measures[arm][truth] for arm in artificial.arms]
        estimated = [job.measures[arm][estimate] for arm in artificial.arms]
        pairs = [(i, j) for i in range(4) for j in range(i) if true[i] != true[j]]
        right.append(np.mean([(true[i] > true[j]) == (estimated[i] > estimated[j]) for i, j in pairs]))
    assert dr["value"] == pytest.approx(100 * np.mean(right))


def test_a_summary_is_read_as_it_was_written(full, artificial):
    for run in (full, artificial):
        again = parse_summary(json.loads(write_summary(run.summary)))
        assert again == run.summary
        before, after = make_charts(run.summary), make_charts(again)
        assert {key: chart.alt for key, chart in before.items()} == {key: chart.alt for key, chart in after.items()}
        for name, table in again.tables.items():
            for key in run.tables[name]:
                if pd.api.types.is_float_dtype(run.tables[name][key]):
                    np.testing.assert_array_equal(table.to_frame()[key].astype(float), run.tables[name][key])
    assert {ChartKey("figure_2"), ChartKey("figure_a2", "ndcg")} <= set(after)
    assert artificial.summary.command == "lifeyears reproduce"


def test_a_summary_that_does_not_fit_is_refused(full):
    content = json.loads(write_summary(full.summary))
    with pytest.raises(errors.DataError, match=r"answer\.best\.model"):
        parse_summary({**content, "answer": {**content["answer"], "best": {"method": "none"}}})
    with pytest.raises(errors.DataError, match="schema 2; this version of lifeyears reads 3"):
        parse_summary({**content, "schema": 2})
    with pytest.raises(errors.DataError, match="newer"):
        parse_summary({**content, "schema": 4})
    short = {**content["tables"]["audit"], "rows": [["Cox"]]}
    with pytest.raises(errors.DataError, match="'audit' has rows that do not fit"):
        parse_summary({**content, "tables": {"audit": short}})


def test_the_schema_describes_the_summary(full):
    jsonschema = pytest.importorskip("jsonschema_rs")  # comes with schemathesis
    jsonschema.validate(ly.experiments.summary_schema(), json.loads(write_summary(full.summary)))


def test_headings_have_the_unit_and_every_column_has_a_note(full, artificial):
    for run in (full, artificial):
        days = ly.experiments.Run(run.plan, run.jobs, replace(run.dataset, unit="days"))
        for name, table in days.summary.tables.items():
            assert not any("year" in column.heading for column in table.columns), name
            assert "{" not in table.title
            # a column that nothing describes would have its key for a heading, with its underscores
            assert not any("_" in column.heading for column in table.columns), name
        headings = {column.key: column.heading for column in days.summary.tables["allocation"].columns}
        assert headings["value"] == "days per allocation"


def test_people_see_labels_and_intervals_in_one_cell(full):
    model, value, *_ = display_columns(full.summary.tables["allocation"])
    assert model.texts[full.arms.index(COX_RANKER)] == "Cox + bootstrapped ranker (paper)"
    mean, low, high = full.value_of(COX)
    assert value.texts[full.arms.index(COX)] == f"{mean:.2f} ({low:.2f} to {high:.2f})"
    text = columns_to_markdown(display_columns(full.summary.tables["comparison"]))
    assert "| compared with | difference (years) | p |" in text


def test_runs_show_in_a_notebook(full):
    assert full.best().label in full._repr_html_()
    assert '<table class="lifeyears"' in full._repr_html_()
    assert full.plot("audit").get_xlabel() == "C-index"
    assert full.plot("calibration", "Cox").get_title() == "Cox"
    with pytest.raises(ValueError, match="there are allocation, audit"):
        full.plot("pie")


def test_change_of_shares_adds_up_to_nothing(data):
    rng = np.random.default_rng(0)
    scores = {COX: rng.normal(size=300), COX_RANKER: rng.normal(size=300)}
    table = tabulate_subgroups(data, np.arange(300), rng.uniform(0, 20, 300), scores, waitlist=20)
    sexes = table[(table["by"] == "sex") & (table["method"] == "bootstrapped")]
    assert sexes["share_change"].sum() == pytest.approx(0, abs=1e-12)
    assert table.loc[table["method"] == "none", "share_change"].isna().all()
    assert (table["value_low"] <= table["value_high"]).all()
    ages = table[table["by"] == "age"]["group"].drop_duplicates().tolist()
    order = ["under 40", "40–54", "55–64", "65 and over"]
    assert ages == [age for age in order if age in ages]


def test_who_is_censored_beyond_a_curve_is_worth_the_time_lived_and_counted():
    data = ly.data.simulate_registry(n=240, random_state=3)
    X = ly.data.TablePreprocessor().fit_transform(data.X)  # wide: Cox says of some that they are dead
    plan = ly.experiments.Plan("full", models=("KM", "Cox"), tau=20.0)
    estimated = estimate_relevances(plan, X, data.y, 0)
    lived = np.minimum(data.y.time, 20.0)
    for model in ("KM", "Cox"):
        assert (estimated.values[Source("EY", model)] >= lived - 1e-9).all()
    assert any(name.startswith("EY by Cox fell back") and count > 0 for name, count in estimated.counts.items())


def test_what_stands_beside_pooled_years_is_of_the_same_patients(data, tmp_path):
    twice = ly.experiments.run("full", data, tmp_path / "run", n_jobs=1, **{**SMALL, "iterations": 2})
    row = twice.allocation.set_index(["model", "method"]).loc[("Cox", "none")]
    assert not twice.by_folds
    measures = {"c_index": Measure(None, "c_index"), "value_EY": Measure("EY", "value", k=1, waitlist=20)}
    for column, measure in measures.items():
        values = twice.values(COX, measure)
        assert row[column] == pytest.approx(values[:2].mean())
        assert values[:2].mean() != pytest.approx(values.mean(), abs=1e-12)


def test_decades_with_few_patients_have_shorter_lists_and_it_says_so(data, tmp_path):
    within = ly.experiments.run("full", data, tmp_path / "run", n_jobs=1, **{**SMALL, "era": "within"})
    smallest = min(np.unique(data.entry[job.rows] // 10, return_counts=True)[1].min() for job in within.jobs)
    assert f"only {smallest} rows" in finding(within, "short_lists_in_decades").text


def test_impossible_years_are_said_to_be_so_and_intervals_are_cut(data, tmp_path):
    run = ly.experiments.run("full", replace(data, truth=None), tmp_path / "run", n_jobs=1, **{**SMALL, "tau": 2.0})
    table, tau = run.allocation, 2.0
    assert (table["high"] <= np.maximum(tau, table["value"])).all()
    assert (table["low"] >= np.minimum(0, table["value"])).all()
    gains = run.tables["comparison"]
    assert gains[["low", "high"]].abs().max().max() <= max(tau, gains["difference"].abs().max())
    off = table[(table["value"] > tau) | (table["value"] < 0)]
    assert (finding(run, "impossible_values") is not None) == (len(off) > 0)
    impossible = ly.experiments.Run(run.plan, run.jobs, run.dataset)
    impossible.__dict__["allocation"] = table.assign(value=table["value"] + 5)
    assert KM.label in finding(impossible, "impossible_values").text


def test_a_horizon_in_the_wrong_unit_is_asked_about(data, tmp_path):
    days = replace(data, y=ly.Outcome(data.y.time * 365.25, data.y.event), unit="days", truth=None)
    run = ly.experiments.run("full", days, tmp_path / "run", n_jobs=1, **{**SMALL, "tau": 15.0})
    assert "is the horizon in days?" in finding(run, "few_events").text


def test_a_draw_among_several_is_not_called_the_top_pick(data, tmp_path):
    run = ly.experiments.run("full", data, tmp_path / "run", n_jobs=1, **{**SMALL, "k": 5})
    assert "draw by position among the first 5 of a waitlist of 20" in run.reading()
    assert "top pick" not in run.reading()
