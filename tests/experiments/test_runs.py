"""The runner: the same bytes however it was run, stopped or spread; and what the protocols do with the data."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import lifeyears as ly
from lifeyears import errors
from lifeyears.experiments import Arm, Measure, Plan, read_summary
from lifeyears.experiments._store import job_path, load_job
from lifeyears.experiments.jobs import censor_at_test_entry, censor_outcome, count_warnings, run_job, split_rows
from lifeyears.experiments.results import (
    chance_of_allocation,
    chance_within_strata,
    compare_folds,
    corrected_half_width,
    label_subgroups,
    tabulate_subgroups,
)

COX, COX_RANKER, KM = Arm("Cox"), Arm("Cox", "bootstrapped"), Arm("KM")
SMALL = {"iterations": 2, "folds": 2, "models": ("KM", "Cox"), "stacked_over": (), "waitlist": 40, "tau": 15.0}
SCRIPT = """
import sys, lifeyears as ly
data = ly.data.simulate_registry(n=400, random_state=1)
options = dict(iterations=2, folds=2, models=("KM", "Cox"), stacked_over=(), waitlist=40, tau=15.0)
ly.experiments.run(sys.argv[1], data, sys.argv[2], n_jobs=int(sys.argv[3]), dask=sys.argv[4] or None, **options)
"""


@pytest.fixture(scope="module")
def data():
    return ly.data.simulate_registry(n=400, random_state=1)


@pytest.fixture(scope="module")
def undisturbed(data, tmp_path_factory):
    out = tmp_path_factory.mktemp("undisturbed") / "run"
    return out, ly.experiments.run("full", data, out, n_jobs=1, **SMALL)


def contents(out: Path) -> dict[str, bytes]:
    """All files but the manifest."""
    return {
        str(path.relative_to(out)): path.read_bytes()
        for path in sorted(out.rglob("*"))
        if path.is_file() and path.name != "manifest.json"
    }


def started(protocol, out, jobs=1, dask=""):
    return subprocess.Popen([sys.executable, "-c", SCRIPT, protocol, str(out), str(jobs), dask], start_new_session=True)


def killed_and_resumed(out: Path, kills: int, seed: int) -> None:
    """kill -9 at random moments, from the first second of a run to its last; one that came to its end does not count.

    At least one kill is in the middle, with some jobs done and some not.
    """
    rng = np.random.default_rng(seed)
    begun = time.monotonic()
    assert started("full", out.with_name("timed")).wait() == 0
    whole = time.monotonic() - begun
    killed, halfway = 0, False
    while killed < kills or not halfway:
        process = started("full", out)
        time.sleep(float(rng.uniform(0.1, 1.0)) * whole)
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            killed += 1
            halfway |= 0 < sum(1 for _ in out.glob("jobs/iteration-*.npz")) < 4
        else:
            shutil.rmtree(out)
        process.wait()
    assert started("full", out).wait() == 0


def test_three_kills_end_in_the_same_bytes(undisturbed, tmp_path):
    killed_and_resumed(tmp_path / "run", kills=3, seed=0)
    assert contents(tmp_path / "run") == contents(undisturbed[0])


@pytest.mark.slow
def test_twenty_kills_end_in_the_same_bytes(undisturbed, tmp_path):
    killed_and_resumed(tmp_path / "run", kills=20, seed=1)
    assert contents(tmp_path / "run") == contents(undisturbed[0])


def test_two_jobs_end_in_the_same_bytes(undisturbed, tmp_path):
    assert started("full", tmp_path / "run", jobs=2).wait() == 0
    assert contents(tmp_path / "run") == contents(undisturbed[0])


def test_dask_ends_in_the_same_bytes(undisturbed, tmp_path):
    pytest.importorskip("distributed")
    assert started("full", tmp_path / "run", jobs=2, dask="local:2").wait() == 0
    assert contents(tmp_path / "run") == contents(undisturbed[0])


def test_a_broken_job_is_made_again(undisturbed, data, tmp_path):
    out, _ = undisturbed
    copy = tmp_path / "run"
    for name, content in contents(out).items():
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        (copy / name).write_bytes(content)
    (copy / "manifest.json").write_bytes((out / "manifest.json").read_bytes())
    broken = bytearray(job_path(copy, 0, 1).read_bytes())
    broken[len(broken) // 2] ^= 255
    job_path(copy, 0, 1).write_bytes(broken[:-40])
    assert load_job(copy, 0, 1) is None
    calls = []
    ly.experiments.run(
        "full", data, copy, n_jobs=1, progress=lambda message, done, total: calls.append((done, total)), **SMALL
    )
    assert calls == [(3, 4), (4, 4)]
    assert contents(copy) == contents(out)


def test_other_settings_or_data_are_refused(undisturbed, data, tmp_path):
    out, _ = undisturbed
    with pytest.raises(ValueError, match=r"another run: seed= was 0, is 5\. Choose"):
        ly.experiments.run("full", data, out, **{**SMALL, "seed": 5})
    with pytest.raises(ValueError, match=r"another run: the data differ\. Choose another folder with out="):
        ly.experiments.run("full", ly.data.simulate_registry(n=400, random_state=2), out, **SMALL)
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(ValueError, match="not empty"):
        ly.experiments.run("full", data, tmp_path, **SMALL)


def test_what_a_kill_leaves_behind_does_not_stop_a_run(undisturbed, data, tmp_path):
    out = tmp_path / "run"
    out.mkdir()
    (out / ".manifest.json.999").write_text("half")  # killed while the manifest was written
    ly.experiments.run("full", data, out, n_jobs=1, **SMALL)
    (out / "jobs" / ".iteration-00-fold-00.npz.999").write_text("half")
    ly.experiments.run("full", data, out, n_jobs=1, **SMALL)
    assert contents(out) == contents(undisturbed[0])


def test_a_wrong_request_leaves_no_folder(data, tmp_path):
    from dataclasses import replace

    plain = replace(data, entry=None, subgroups=None)
    for options, words in (
        ({"split": "temporal", "iterations": 1}, "time of entry"),
        ({"split": "centre"}, "centre"),
        ({"era": "within"}, "time of entry"),
        ({"folds": 200}, "events and needs"),
    ):
        with pytest.raises(ValueError, match=words):
            ly.experiments.run("full", plain, tmp_path / "run", **{**SMALL, **options})
    assert not (tmp_path / "run").exists()
    with pytest.raises(ValueError, match="one order"):
        Plan("full", split="temporal")


def test_centres_are_drawn_anew_in_each_iteration(data):
    plan, rows = Plan("full", split="centre", folds=3), np.arange(len(data))
    first, second = (split_rows(data, rows, data.y, plan, i)[0][1] for i in (0, 1))
    assert not np.array_equal(first, second)


def test_times_of_auc_follow_the_unit():
    from lifeyears.experiments.jobs import choose_auc_times

    assert choose_auc_times(Plan("artificial"), "years") == (5, 10, 15, 20)
    assert choose_auc_times(Plan("full", tau=1950.0), "days") == (487.5,)


def test_summary_is_plain_json_without_time_or_path(undisturbed):
    out, run = undisturbed
    text = (out / "summary.json").read_text()
    summary = json.loads(text)
    assert str(out) not in text
    assert summary["schema"] == 3
    assert summary["plan"]["folds"] == 2
    assert {"allocation", "comparison", "table_2", "table_a7", "table_a8", "subgroups"} <= set(summary["tables"])
    assert summary["answer"]["best"] == {"model": run.best().model, "method": run.best().method}
    assert "NaN" not in text
    assert read_summary(out) == run.summary
    allocation = pd.read_csv(out / "tables" / "allocation.csv")
    np.testing.assert_allclose(allocation["value"], run.tables["allocation"]["value"])
    measures = pd.read_csv(out / "tables" / "measures.csv")
    keys = ["iteration", "fold", "model", "method", "relevance", "nuisance", "metric", "k", "waitlist", "time", "value"]
    assert list(measures) == keys
    chosen = measures[(measures["model"] == "Cox") & (measures["method"] == "none") & (measures["metric"] == "c_index")]
    np.testing.assert_allclose(chosen["value"], run.values(COX, Measure(None, "c_index")))


def test_scores_belong_to_their_arms(undisturbed, data):
    """The pooled comparison scores each arm by its own scores: the constant KM is worth the mean."""
    _, run = undisturbed
    relevance = np.concatenate([job.outcomes["expected"] for job in run.jobs[:2]])
    assert run.pooled.values.loc[KM.label, "value"] == pytest.approx(relevance.mean())
    assert run.pooled.values.loc[Arm("oracle").label, "value"] == run.pooled.values["value"].max()
    for j, arm in enumerate(run.arms):
        if arm == KM:
            assert all(np.ptp(job.scores[j]) == 0 for job in run.jobs)
        if arm.is_oracle:
            np.testing.assert_array_equal(np.concatenate([job.scores[j] for job in run.jobs[:2]]), relevance)


def test_fits_that_do_not_converge_are_counted_and_told(data, monkeypatch, tmp_path):
    """Of a job's fits by `build_model` with one step each: the base, and EY's nuisance on two folds."""
    for module in ("_fitting", "_relevance"):
        name = f"lifeyears.experiments.jobs.{module}.build_model"
        monkeypatch.setattr(name, lambda *_: ly.models.Cox(tau=15.0, max_iter=1))
    run = ly.experiments.run("full", data, tmp_path / "run", n_jobs=1, **SMALL | {"models": ("Cox",)})
    assert run.summary.counts["Cox did not converge"] == 3 * len(run.jobs)
    (told,) = (finding.text for finding in run.findings if finding.code == "fits")
    assert told.startswith("In 4 jobs: ")
    assert "Cox did not converge, 12 times" in told


def test_warnings_are_counted_by_category_whatever_they_say():
    messages = [
        errors.ConvergenceWarning("any words", model="Cox"),
        errors.ConvergenceWarning("other words", model="AFT"),
        errors.FollowUpWarning("a"),
        errors.FollowUpWarning("b"),
        errors.DataWarning("c"),
        errors.PositivityWarning("clipped weights are counted elsewhere"),
        UserWarning("Cox did not converge: a warning of another library"),
    ]
    assert count_warnings(messages) == {
        "AFT did not converge": 1,
        "Cox did not converge": 1,
        "column without a known category in a test fold": 1,
        "horizon beyond the follow-up of the rows used to fit a nuisance model": 2,
    }


def test_a_category_unknown_in_training_is_counted(data):
    """A column with a category of its own in each fold."""
    plan = Plan("full", **SMALL | {"models": ("KM",)})
    _, test = split_rows(data, np.arange(len(data)), data.y, plan, 0)[0]
    X = data.X.assign(ward=pd.Categorical(np.where(np.isin(np.arange(len(data)), test), "new", "old")))
    counts = run_job(replace(data, X=X), plan, 0, 0).counts
    assert counts["column without a known category in a test fold"] == 1


def test_an_error_names_the_setting_for_its_reader(data):
    with pytest.raises(errors.DataError) as raised:
        split_rows(replace(data, entry=None), np.arange(400), data.y, Plan("full", split="temporal", iterations=1), 0)
    assert raised.value.hint == "Name its column with entry=."
    assert raised.value.hint.render(lambda setting: f"--{setting.name}") == "Name its column with --entry."


def test_what_a_ranker_did_otherwise_is_counted(data, monkeypatch):
    monkeypatch.setattr("lifeyears.ranking._fit.FEWEST_TO_CALIBRATE", 1_000)
    counts = run_job(data, Plan("full", **SMALL | {"models": ("KM",)}), 0, 0).counts
    told = [count for name, count in counts.items() if name.startswith(f"{Arm('KM', 'bootstrapped').label}: not cali")]
    assert told == [1]


def test_artificial_censoring_is_the_papers(data):
    rows = data.y.event
    y = data.y[rows]
    plan = Plan("artificial")
    first, second = censor_outcome(y, plan, 0), censor_outcome(y, plan, 1)
    assert (~first.event).sum() == round(0.5 * len(y))
    assert (first.time <= y.time).all()
    np.testing.assert_array_equal(first.time[first.event], y.time[first.event])
    assert not np.array_equal(first.event, second.event)  # censored anew in each iteration
    ratio = (first.time / y.time)[~first.event]  # uniform on [0, 1]
    from scipy import stats

    assert stats.kstest(ratio, "uniform").pvalue > 0.001
    independent = censor_outcome(y, Plan("artificial", censoring="independent"), 0)
    assert (~independent.event).mean() == pytest.approx(0.5, abs=0.02)


def test_a_temporal_split_learns_from_what_was_known_at_the_time(data):
    """By hand: at the first test entry a training row has been followed from its own entry to then, and no longer."""
    rows, plan = np.arange(len(data)), Plan("full", split="temporal", folds=3, iterations=1)
    for train, test in split_rows(data, rows, data.y, plan, 0):
        seen, now = censor_at_test_entry(data, rows, data.y, plan, train, test), data.entry[test].min()
        assert (data.entry[train] + seen.time <= now + 1e-9).all()
        ended = data.entry[train] + data.y.time[train] <= now
        np.testing.assert_array_equal(seen.event, data.y.event[train] & ended)
        np.testing.assert_array_equal(seen.time[ended], data.y.time[train][ended])
        np.testing.assert_allclose(seen.time[~ended], now - data.entry[train][~ended])
    in_days = replace(data, unit="days", y=ly.Outcome(data.y.time * 365.25, data.y.event))
    days = censor_at_test_entry(in_days, rows, in_days.y, plan, train, test)
    np.testing.assert_allclose(days.time, 365.25 * seen.time)
    whole = censor_at_test_entry(data, rows, data.y, Plan("full"), train, test)
    np.testing.assert_array_equal(whole.time, data.y.time[train])


def test_expanding_windows_have_a_ratio_of_their_own():
    assert Plan("full", folds=5).test_to_train == 1 / 4
    by_hand = (1 / 1 + 1 / 2 + 1 / 3) / 3  # a block against one, two and three before it
    assert Plan("full", folds=3, iterations=1, split="temporal").test_to_train == pytest.approx(by_hand)


def test_names_of_the_star_files_are_known(data):
    star = {"sex": "GENDER", "race_ethnicity": "ETHCAT", "insurance": "PRI_PAYMENT_TCR", "blood_group": "ABO"}
    star |= {"antibodies_class_1": "CPRA", "transplant_year": "TX_YEAR", "region": "REGION", "age": "AGE"}
    X = data.X.rename(columns=star).drop(columns="centre_volume")
    there = replace(data, X=X, subgroups=data.subgroups.rename(columns={"centre": "CTR_CODE"}), truth=None)
    rows = np.arange(len(data))
    ours, theirs = label_subgroups(data, rows), label_subgroups(there, rows)
    assert list(theirs) == list(ours)
    for question in set(ours) - {"centre size"}:  # counted, where no column says it
        np.testing.assert_array_equal(theirs[question], ours[question])
    by_centre = Plan("full", split="centre", folds=3)
    for (a, _), (b, _) in zip(
        split_rows(data, rows, data.y, by_centre, 0), split_rows(there, rows, there.y, by_centre, 0), strict=True
    ):
        np.testing.assert_array_equal(a, b)
    assert run_job(there, Plan("full", **SMALL | {"era": "drop", "models": ("KM",)}), 0, 0).counts is not None


def test_columns_that_are_asked_for_make_subgroups(data):
    rows = np.arange(len(data))
    numbers, words = "donor_age", "blood_group"
    named = label_subgroups(data, rows, (numbers, words))
    assert set(named[numbers]) <= {"lowest third", "middle third", "highest third", "missing"}
    high = named[numbers] == "highest third"
    assert data.X[numbers][high].min() > data.X[numbers][named[numbers] == "middle third"].max()
    with pytest.raises(ValueError, match="subgroups are asked for by nonsense; the columns are"):
        ly.experiments.run("full", data, "unused", **SMALL, subgroups=("nonsense",))


def test_the_unit_of_time_does_not_matter(data):
    plan = Plan("full", **SMALL | {"models": ("Cox",)})
    in_days = replace(data, unit="days", y=ly.Outcome(data.y.time * 365.25, data.y.event), truth=None)
    years, days = run_job(data, plan, 0, 0), run_job(in_days, replace(plan, tau=15.0 * 365.25), 0, 0)
    for arm in range(2):
        assert days.scores[arm] / 365.25 == pytest.approx(years.scores[arm], rel=1e-4)


def test_more_folds_than_rows_are_refused_in_words(data):
    with pytest.raises(ValueError, match="3,000 folds need as many rows; there are 400"):
        ly.experiments.run("full", data, "unused", **SMALL | {"folds": 3000})


def test_splits_by_time_and_by_centre(data):
    rows = np.arange(len(data))
    later = split_rows(data, rows, data.y, Plan("full", split="temporal", folds=3, iterations=1), 0)
    for train, test in later:
        assert data.entry[train].max() <= data.entry[test].min()
    for train, test in split_rows(data, rows, data.y, Plan("full", split="centre", folds=3), 0):
        centres = data.subgroups["centre"].to_numpy()
        assert not set(centres[train]) & set(centres[test])


def test_arms_without_era_and_within_eras(data):
    keep = run_job(data, Plan("artificial", folds=2, models=("Cox",), stacked_over=(), waitlist=30), 0, 0)
    drop = run_job(data, Plan("artificial", folds=2, models=("Cox",), stacked_over=(), waitlist=30, era="drop"), 0, 0)
    assert not np.array_equal(keep.scores[0], drop.scores[0])
    within = run_job(
        data, Plan("artificial", folds=2, models=("Cox",), stacked_over=(), waitlist=30, era="within"), 0, 0
    )
    np.testing.assert_array_equal(keep.scores, within.scores)
    for metric in ("ndcg", "value"):
        measure = Measure("restricted", metric, k=1, waitlist=30)
        assert keep.measures[COX][measure] != within.measures[COX][measure]


def test_artificial_tables(data, tmp_path):
    run = ly.experiments.run("artificial", data, tmp_path / "run", n_jobs=1, **SMALL)
    table = run.tables["table_1"].set_index(["model", "method"])
    assert table.loc[("KM", "none"), "c_index"] == 0.5
    values = run.values(COX_RANKER, Measure("truth", "ndcg", k=5))
    assert table.loc[("Cox", "bootstrapped"), "ndcg_5"] == pytest.approx(values.mean())
    estimate = Measure("EY", "ndcg", k=5, nuisance="Cox")
    for name, relevance in (("table_a6", "restricted"), ("table_a6_whole_life", "truth")):
        truth, right = Measure(relevance, "ndcg", k=5), []  # counted pair by pair: KM, Cox and their rankers in 4 jobs
        for job in run.jobs:
            pairs = [
                (a[truth] - b[truth], a[estimate] - b[estimate]) for a, b in combinations(job.measures.values(), 2)
            ]
            right.append(np.mean([(1 + np.sign(t * e)) / 2 for t, e in pairs if t]))
        accuracy = run.tables[name].set_index(["relevance", "nuisance"])
        assert accuracy.loc[("EY", "Cox"), "ndcg_5"] == pytest.approx(100 * np.mean(right))
    truth, estimate = Measure("truth", "ndcg", k=1), Measure("IPCW", "ndcg", k=1, nuisance="KM")
    errors = [abs(arm[estimate] - arm[truth]) for job in run.jobs for arm in job.measures.values()]
    table = run.tables["figure_a1_whole_life"].set_index(["relevance", "nuisance"])
    assert table.loc[("IPCW", "KM"), "ndcg_1_mae"] == pytest.approx(np.mean(errors))
    for name in ("figure_2", "figure_a1", "figure_a2", "allocation"):
        assert (tmp_path / "run" / "figures" / f"{name}.png").stat().st_size > 5000
        assert (tmp_path / "run" / "figures" / f"{name}.pdf").read_bytes().startswith(b"%PDF")
    text = (tmp_path / "run" / "tables.md").read_text()
    assert "The paper's (UNOS, not this data)" in text
    assert "\\begin{tabular}" in (tmp_path / "run" / "tables.tex").read_text()


def test_corrected_test_by_hand():
    """Nadeau and Bengio: t = mean / sqrt((1/J + n_test/n_train)·s²), J − 1 degrees of freedom."""
    from scipy import stats

    difference = np.array([0.2, 0.1, 0.4, 0.3, -0.1, 0.2, 0.3, 0.1, 0.0, 0.5])
    found = compare_folds(difference, np.zeros(10), test_to_train=1 / 4)
    spread = np.sqrt((1 / 10 + 1 / 4) * difference.var(ddof=1))
    assert found.p_corrected == pytest.approx(2 * stats.t.sf(0.2 / spread, 9))
    assert found.p_wilcoxon == pytest.approx(stats.wilcoxon(difference).pvalue)
    assert found.high - found.mean == pytest.approx(stats.t.ppf(0.975, 9) * spread)
    assert np.isnan(corrected_half_width(np.array([1.0]), 1 / 4))
    assert compare_folds(np.ones(5), np.ones(5), 1 / 4).p_corrected == 1.0


def test_chances_of_the_top_k_by_enumeration():
    """Every list of three of five, each drawing among its two best as Algorithm 1 does."""
    scores = np.array([3.0, 1.0, 2.0, 5.0, 4.0])
    weights = np.array([1.0, 1 / np.log2(3)])
    weights /= weights.sum()
    expected = np.zeros(5)
    lists = list(combinations(range(5), 3))
    for chosen in lists:
        first, second, _ = sorted(chosen, key=lambda i: -scores[i])
        expected[first] += weights[0] / len(lists)
        expected[second] += weights[1] / len(lists)
    assert chance_of_allocation(scores, 3, 2) == pytest.approx(expected)
    strata = np.array([0, 0, 1, 1, 1])  # the top of each pair and of each list of two of three
    within = [2 / 5, 0, 0, 2 / 3 * 3 / 5, 1 / 3 * 3 / 5]
    assert chance_within_strata(scores, 2, 1, strata) == pytest.approx(within)


def test_shares_of_allocations_add_up(data):
    rng = np.random.default_rng(0)
    scores = {COX: rng.normal(size=400)}
    table = tabulate_subgroups(data, np.arange(400), rng.uniform(0, 20, 400), scores, waitlist=20)
    shares = table[table["by"] == "sex"]["share_of_allocations"]
    assert shares.sum() == pytest.approx(1.0)
    equal = tabulate_subgroups(data, np.arange(400), rng.uniform(0, 20, 400), {KM: np.ones(400)}, waitlist=400)
    np.testing.assert_allclose(equal["share_of_allocations"], equal["share_of_patients"])  # a constant favours nobody
    assert ((table["low"] <= table["share_of_allocations"]) & (table["share_of_allocations"] <= table["high"])).all()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"models": ("Lasso",)}, "no survival model 'Lasso'. Known are KM"),
        ({"methods": ("stackd",)}, "did you mean 'stacked'"),
        ({"stacked_over": ("Coxx",)}, "did you mean 'Cox'"),
        ({"estimators": ("XY",)}, "no relevance estimator 'XY'"),
        ({"metrics": ("XY",)}, "no metric 'XY'"),
        ({"folds": 1}, "folds"),
        ({"censored_share": 1.5}, "censored_share"),
        ({"split": "moon"}, "split"),
        ({"tau": -1.0}, "tau"),
        ({"models": ()}, "at least one"),
    ],
)
def test_wrong_plans_are_named(options, words):
    with pytest.raises(ValueError, match=words):
        Plan("full", **options)


def test_status_of_a_run_that_stands_still_says_so(undisturbed, tmp_path):
    out, _ = undisturbed
    copy = tmp_path / "copy"
    shutil.copytree(out, copy)
    job_path(copy, 0, 1).unlink()
    now = time.time()
    for back, path in enumerate(sorted((copy / "jobs").iterdir())):
        os.utime(path, (now - back, now - back))
    assert ly.experiments.status(copy) == "3 of 4 jobs done, about 1 min left if it is running"
    for back, path in enumerate(sorted((copy / "jobs").iterdir())):
        os.utime(path, (now - 3600 - back, now - 3600 - back))
    told = "3 of 4 jobs done, none for 60 min: if it was interrupted, the same command continues it"
    assert ly.experiments.status(copy) == told
