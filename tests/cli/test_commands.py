import errno
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest

import lifeyears as ly
from lifeyears.cli import run


def out_of(capsys, *arguments):
    code = run(list(arguments))
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_version_lists_what_is_installed(capsys):
    code, out, _ = out_of(capsys, "version")
    assert code == 0
    assert "lifeyears" in out
    assert "scikit-learn" in out


def test_no_command_shows_the_help(capsys):
    code, out, err = out_of(capsys)
    assert code == 0
    assert "demo" in out + err


@pytest.mark.parametrize("command", ["demo", "reproduce", "compare", "datasets", "simulate", "status", "version"])
def test_every_help_has_an_example(capsys, command):
    code, out, _ = out_of(capsys, command, "--help")
    assert code == 0
    assert f"lifeyears {command}" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("dmeo",), "No such command 'dmeo'"),
        (("demo", "--rosw", "5"), "--rosw"),
        (("demo", "--rows", "many"), "--rows"),
        (("demo", "--rows", "5"), "--rows"),
        (("datasets", "suport2"), "support2"),
        (("datasets", "support2", "--against-paper"), "lifeyears datasets registry --against-paper"),
        (("datasets", "registry", "--against-paper", "--models", "KM,Coxx"), "'Coxx' (did you mean 'Cox'?). Known are"),
        (("datasets", "registry", "--against-paper", "--models", ""), "--models names nothing. Known are KM, Cox"),
        (("datasets", "registry", "--against-paper", "--models", " , "), "--models names nothing. Known are KM, Cox"),
        (("fit", "registry", "--model", "Coxx", "--out", "m"), "no survival model 'Coxx' (did you mean 'Cox'?)"),
        (("fit", "registry", "--method", "stack", "--out", "m"), "Known are bootstrapped, stacked"),
        (("compare", "pbc", "--methods", "staked"), "there is no ranking method 'staked' (did you mean 'stacked'?)"),
        (("datasets", "registry", "--models", "Cox"), "lifeyears datasets registry --against-paper --models"),
        (("datasets", "support2", "--rows", "500"), "--rows would change nothing here"),
        (("datasets", "support2", "--seed", "0"), "lifeyears datasets registry --seed"),
        (("datasets", "--rows", "500", "--seed", "1"), "--rows and --seed would change nothing here"),
        (("datasets", "--against-paper"), "lifeyears datasets registry --against-paper"),
        (("datasets", "registry", "--seed", "-1"), "--seed"),
        (("datasets", "registry", "--rows", "50"), "--rows"),
    ],
)
def test_wrong_requests_exit_2_with_plain_words(capsys, arguments, message):
    code, _, err = out_of(capsys, *arguments)
    assert code == 2
    assert message in err
    assert "Traceback" not in err


def test_failures_and_interruptions_have_their_own_codes(capsys, monkeypatch):
    for error, code in ((RuntimeError("broken"), 1), (KeyboardInterrupt(), 130)):

        def fail(error=error):
            raise error

        monkeypatch.setattr("lifeyears._versions.show_versions", fail)
        assert out_of(capsys, "version")[0] == code


def test_traceback_on_request(monkeypatch):
    monkeypatch.setenv("LIFEYEARS_TRACEBACK", "1")
    with pytest.raises(ValueError, match="suport2"):
        run(["datasets", "suport2"])


def test_datasets_lists_and_describes(capsys):
    code, out, _ = out_of(capsys, "datasets")
    assert code == 0
    assert "hdfail" in out
    assert "registry" in out
    code, out, _ = out_of(capsys, "datasets", "registry", "--rows", "500")
    assert code == 0
    assert "500 subjects" in out
    assert "95th percentile" in out


def test_demo_prints_five_models_and_a_sentence(capsys, tmp_path):
    code, out, _ = out_of(capsys, "demo", "--rows", "400", "--out", str(tmp_path / "run"), "--jobs", "1")
    assert code == 0
    for model in ("Kaplan–Meier", "Cox + stacked ranker", "Weibull AFT", "DeepSurv", "DeepHit", "Oracle"):
        assert model in out
    assert "has the highest value" in out
    assert (tmp_path / "run" / "summary.json").exists()
    code, out, _ = out_of(capsys, "status", str(tmp_path / "run"))
    assert "2 of 2 jobs done, tables written" in out


def test_compare_a_file_of_ones_own(capsys, tmp_path):
    import numpy as np
    import pandas as pd

    rng = np.random.default_rng(0)
    n = 300
    table = pd.DataFrame(
        {
            "years": rng.exponential(5, n).round(2) + 0.01,
            "died": np.where(rng.random(n) < 0.6, "yes", "no"),
            "age": np.where(rng.random(n) < 0.1, np.nan, rng.normal(50, 10, n)),
            "ward": rng.choice(["A", "B", None], n),
        }
    )
    table.to_csv(tmp_path / "mine.csv", index=False)
    run = ["compare", str(tmp_path / "mine.csv"), "--models", "KM,cox", "--folds", "2", "--jobs", "1"]
    run += ["--out", str(tmp_path / "run")]
    code, _, err = out_of(capsys, *run, "--time", "yaers", "--event", "died")
    assert code == 2
    assert "yaers" in err
    assert "years" in err
    code, _, err = out_of(capsys, *run)
    assert code == 2
    assert "--event" in err
    code, out, _ = out_of(capsys, *run, "--time", "years", "--event", "died")
    assert code == 0
    assert "has the highest value" in out
    assert "not 256" in out
    code, _, err = out_of(capsys, *run, "--time", "years", "--event", "died", "--seed", "3")
    assert code == 2
    assert "--seed was 0, is 3. Choose another folder with --out" in err


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("iterations = 0", "iterations must be at least 1; got 0"),
        ("k = 0", "k must be at least 1; got 0"),
        ("folds = 1", "folds must be at least 2; got 1"),
        ("rows = 99", "rows must be at least 100; got 99"),
        ("jobs = 0", "jobs must be at least 1; got 0"),
        ("seed = -1", "seed must be at least 0; got -1"),
        ("k = 1.5", "k must be a whole number; got 1.5"),
        ("k = true", "k must be a whole number; got True"),
        ('waitlist = "many"', "waitlist must be a whole number; got 'many'"),
        ("horizon = [5]", "horizon must be a number; got [5]"),
        ("horizon = nan", "horizon must be at least 0; got nan"),
        ("models = 3", "models must be text or a list of texts; got 3"),
        ('drop = ["age", 3]', "drop must be text or a list of texts; got ['age', 3]"),
        ('time = ["years"]', "time must be text; got ['years']"),
        ("k: 1", "is not TOML"),
        ('evnt = "died"', "has evnt, which is no option (did you mean 'event'?); known are time, event"),
        ('data-format = "%d"', "(did you mean 'date_format'?)"),
        ("dry_run = true", "has dry_run, which is for the command line alone: --dry-run"),
        ('event-values = "1"\nevent_values = "1"', "has event_values twice"),
        ("event-values = [[1]]", "event_values must be text or a list of texts; got [[1]]"),
    ],
)
def test_options_of_a_file_are_checked_like_those_of_the_command_line(capsys, tmp_path, line, message):
    file = tmp_path / "options.toml"
    file.write_text(line)
    code, _, err = out_of(capsys, "compare", "registry", "--config", str(file), "--dry-run")
    assert code == 2
    assert "options.toml" in err
    assert message in err


def test_the_command_line_goes_before_the_file(capsys, tmp_path):
    file = tmp_path / "options.toml"
    file.write_text('rows = 300\nfolds = 3\niterations = 2\nseed = 0\nmodels = ["KM", "cox"]\nhorizon = 5')
    wanted = ["compare", "registry", "--config", str(file), "--folds", "2", "--jobs", "1", "--dry-run"]
    code, out, _ = out_of(capsys, *wanted)
    assert code == 0
    assert "300 subjects" in out
    assert "horizon 5 years" in out
    assert "4 jobs (2 iterations of 2 folds), 5 arms, 1 job at once" in out


@pytest.mark.parametrize("line", ["event-values = [2, 3.5]", 'event_values = "2,3.5"', 'event-values = ["2", "3.5"]'])
def test_codes_of_the_event_in_a_file_may_be_numbers(capsys, dated, tmp_path, line):
    table = pd.read_csv(dated[1])
    table.assign(died=np.where(table["died"], [2, 3.5] * 250, 0)).to_csv(tmp_path / "codes.csv", index=False)
    (tmp_path / "options.toml").write_text(line)
    wanted = ("compare", str(tmp_path / "codes.csv"), *dated[2:], "--config", str(tmp_path / "options.toml"))
    code, out, err = out_of(capsys, *wanted, "--dry-run")
    assert code == 0, err
    assert f"{table['died'].sum()} events" in out
    assert "count as censored" not in out


@pytest.fixture
def dated(tmp_path):
    """A table of one's own: days, a date of entry, a hospital."""
    d = ly.data.simulate_registry(n=500, random_state=3)
    listed = np.datetime64("1987-01-01") + ((d.entry - 1987) * 365.25).astype("timedelta64[D]")
    table = d.X[["age", "sex", "blood_group"]].assign(
        survived=(d.y.time * 365.25).round(), died=d.y.event, listed=listed, hospital=np.arange(500) % 9
    )
    path = tmp_path / "dated.csv"
    table.to_csv(path, index=False)
    return "compare", str(path), "--time", "survived", "--event", "died", "--models", "KM", "--folds", "2"


def test_compare_learns_from_the_past_or_from_other_centres(capsys, dated, tmp_path):
    options = (*dated, "--entry", "listed", "--unit", "days", "--centre", "hospital", "--subgroups", "blood_group")
    for split in ("temporal", "centre"):
        code, out, err = out_of(capsys, *options, "--split", split, "--out", str(tmp_path / split))
        assert code == 0, err
        assert "column hospital left out: kept for subgroups" in out
    with open(tmp_path / "temporal" / "tables" / "subgroups.csv") as file:
        groups = {line.split(",")[0] for line in file}
    assert {"age", "sex", "blood_group", "era"} <= groups
    assert "--split temporal" in (tmp_path / "temporal" / "report.html").read_text()


def test_a_column_of_centres_found_by_its_name_is_told_and_no_feature(capsys, dated, tmp_path):
    pd.read_csv(dated[1]).rename(columns={"hospital": "CTR_CODE"}).to_csv(tmp_path / "my.csv", index=False)
    wanted = (
        "compare",
        str(tmp_path / "my.csv"),
        *dated[2:],
        "--split",
        "centre",
        "--subgroups",
        "CTR_CODE",
        "--jobs",
        "1",
    )
    code, found, err = out_of(capsys, *wanted, "--out", str(tmp_path / "found"))
    assert code == 0, err
    assert found.startswith("Split by centre: by column 'CTR_CODE', which is excluded from the features; --centre")
    code, named, err = out_of(capsys, *wanted, "--centre", "CTR_CODE", "--out", str(tmp_path / "named"))
    assert code == 0, err
    assert named.replace("named", "found") in found.replace("named", "found")
    for name in ("manifest.json", "summary.json"):
        assert (tmp_path / "found" / name).read_bytes() == (tmp_path / "named" / name).read_bytes()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--split", "temporal"), "Name its column with --entry."),
        (("--split", "temporal", "--entry", "listed"), "Name the unit with --unit."),
        (("--split", "centre"), "Name it with --centre"),
        (("--split", "sideways"), "split must be one of 'random', 'temporal', 'centre'; got 'sideways'"),
        (("--subgroups", "shoe"), "subgroups are asked for by shoe; the columns are age, sex"),
        (("--entry", "lsited"), "listed"),
        (("--centre", "nope"), "has no column 'nope', which --centre names"),
        (("--event-values", "foo"), "--event-values has 'foo', which is not in the event column"),
        (("--decimal", ";"), "--decimal must be '.' or ','"),
        (("--split", "centre", "--centre", "hospital", "--folds", "10"), "there are 9. Use --folds 9.\n"),
    ],
)
def test_a_dry_run_refuses_what_the_run_would(capsys, dated, options, message):
    code, _, err = out_of(capsys, *dated, *options, "--dry-run")
    assert code == 2
    assert message in err


def test_codes_of_the_event_and_dates_are_read_from_the_command_line(capsys, dated, tmp_path):
    table = pd.read_csv(dated[1]).assign(status=lambda t: np.where(t["died"], 2, 1))
    last = pd.to_datetime(table["listed"]) + pd.to_timedelta(table["survived"], unit="D")
    table.assign(last=last).drop(columns=["died", "survived"]).to_csv(tmp_path / "codes.csv", index=False)
    options = ("compare", str(tmp_path / "codes.csv"), "--entry", "listed", "--exit", "last", "--dry-run")
    code, _, err = out_of(capsys, *options, "--event", "status")
    assert code == 2
    assert "that is --event-values 2" in err
    assert "event_values" not in err
    code, out, err = out_of(capsys, *options, "--event", "status", "--event-values", "2", "--unit", "days")
    assert code == 0, err
    assert f"{int((table['status'] == 2).sum())} events" in out
    assert "UserWarning" not in err


def test_a_leak_is_told_with_the_answer(capsys, dated, tmp_path):
    table = pd.read_csv(dated[1])
    table.assign(days_in_study=table["survived"] + 1.0).to_csv(tmp_path / "leaky.csv", index=False)
    code, out, err = out_of(capsys, dated[0], str(tmp_path / "leaky.csv"), *dated[2:], "--out", str(tmp_path / "run"))
    assert code == 0, err
    assert "Warning: A column may reveal the outcome. column days_in_study may leak" in out
    assert out.index("Warning: A column may reveal") < out.index("has the highest value")


def test_an_unknown_unit_is_told(capsys, dated):
    told = (
        "look: the unit of the times is not known: pass --unit hours, days, weeks, months or years (it sets the margin"
    )
    assert told in out_of(capsys, *dated, "--dry-run")[1]
    assert "--unit" not in out_of(capsys, *dated, "--unit", "days", "--dry-run")[1]


def test_reproduce_tells_what_was_read(capsys, dated):
    code, out, err = out_of(capsys, "reproduce", "full", "--data", *dated[1:], "--stacked-over", "none", "--dry-run")
    assert code == 0, err
    assert out.startswith("500 rows read, 500 kept\n  column listed left out: it holds dates")


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_a_run_that_is_terminated_leaves_no_worker_behind(tmp_path):
    command = [
        sys.executable,
        "-m",
        "lifeyears",
        "demo",
        "--rows",
        "2000",
        "--jobs",
        "2",
        "--out",
        str(tmp_path / "run"),
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    while "0 of 2 done" not in process.stdout.readline():
        pass
    time.sleep(4.0)
    process.send_signal(signal.SIGTERM)
    out, _ = process.communicate(timeout=30)  # ends when nobody holds the pipe any longer
    assert process.returncode == 130
    assert "finished jobs are kept, and the same command continues from them" in out


def test_a_folder_called_like_a_set_is_not_taken_for_it(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pbc").mkdir()
    code, out, err = out_of(capsys, "compare", "pbc", "--models", "KM", "--dry-run")
    assert code == 0, err
    assert "Dataset('pbc'" in out


def test_the_systems_errors_are_told_without_numbers(capsys, tmp_path):
    code, _, err = out_of(capsys, "compare", "support2", "--config", str(tmp_path / "none.toml"))
    assert code == 2
    assert err == f"lifeyears: {tmp_path / 'none.toml'}: no such file or directory\n"


def test_options_of_tables_are_refused_elsewhere(capsys, tmp_path):
    for data, words in (("registry", "the registry is simulated"), ("support2", "support2 is a set of the catalogue")):
        code, _, err = out_of(capsys, "compare", data, "--entry", "when", "--unit", "days", "--dry-run")
        assert code == 2
        assert f"{words}: --entry, --unit are for tables of your own" in err
    code, _, err = out_of(capsys, "compare", str(tmp_path), "--time", "PTIME", "--dry-run")
    assert code == 2
    assert "is taken for a STAR release, whose columns are known: --time is for tables of your own" in err
    code, _, err = out_of(capsys, "reproduce", "full", "--split", "temporal", "--iterations", "5", "--dry-run")
    assert code == 2
    assert "a temporal split has one iteration" in err


@pytest.mark.parametrize("horizon", ["0", "-1", "nan", "inf"])
def test_a_horizon_is_a_time_above_zero(capsys, horizon):
    code, _, err = out_of(capsys, "compare", "registry", "--rows", "300", "--horizon", horizon, "--dry-run")
    assert code == 2
    assert f"--horizon must be a time above 0; got {float(horizon):g}" in err


def test_events_at_time_zero_leave_the_weibull_model_out(capsys, tmp_path):
    d = ly.data.simulate_registry(300, random_state=0)
    table = d.X.iloc[:, :4].assign(years=d.y.time.round(2), died=d.y.event)
    table.loc[5, ["years", "died"]] = [0.0, True]
    table.to_csv(tmp_path / "my.csv", index=False)
    wanted = ["compare", str(tmp_path / "my.csv"), "--time", "years", "--event", "died", "--dry-run"]
    code, out, _ = out_of(capsys, *wanted)
    assert code == 0
    assert "zero" in out
    assert "AFT is left out: 1 event is at time 0" in out
    assert "9 arms" in out


def test_demo_dry(capsys, tmp_path):
    code, out, _ = out_of(capsys, "demo", "--rows", "400", "--out", str(tmp_path / "run"), "--dry-run")
    assert code == 0
    assert "2 jobs" in out
    assert not (tmp_path / "run").exists()


def test_another_share_is_censored(capsys):
    code, _, err = out_of(capsys, "reproduce", "artificial", "--rows", "400", "--censored-share", "1.5", "--dry-run")
    assert code == 2
    assert "censored-share" in err


def test_reproduce_small_and_dry(capsys, tmp_path):
    code, out, _ = out_of(capsys, "reproduce", "all", "--rows", "400", "--dry-run")
    assert code == 0
    assert "nothing was run" in out
    small = ["--rows", "400", "--iterations", "1", "--folds", "2", "--models", "KM", "--stacked-over", "none"]
    code, out, _ = out_of(capsys, "reproduce", "artificial", *small, "--jobs", "1", "--out", str(tmp_path / "r"))
    assert code == 0
    assert "Table 1" in (tmp_path / "r" / "artificial" / "tables.md").read_text()
    code, _, err = out_of(capsys, "reproduce", "both")
    assert code == 2
    assert "artificial, full or all" in err
    code, _, err = out_of(capsys, "compare", "no_such_set")
    assert code == 2
    assert "no data set called" in err
    code, _, err = out_of(capsys, "status", str(tmp_path))
    assert code == 2


def test_registry_beside_the_paper(capsys):
    wanted = ["datasets", "registry", "--against-paper", "--models", "km,KM", "--rows", "1500"]  # a name in any case
    code, out, _ = out_of(capsys, *wanted)
    assert code == 0
    assert sum(line.split()[:1] == ["KM"] for line in out.splitlines()) == 2  # on events only, on the full cohort
    for words in ("UNOS", "share censored, %", "2011–13", "AUC at 15 years"):
        assert words in out


def test_the_installed_command_runs():
    done = subprocess.run([sys.executable, "-m", "lifeyears", "version"], capture_output=True, text=True, check=True)
    assert "numpy" in done.stdout


@pytest.mark.parametrize("command", [("compare",), ("reproduce", "full", "--data"), ("fit", "--out", "model")])
def test_a_table_without_features_is_refused_before_anything_runs(capsys, dated, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    columns = (*dated[1:6], "--drop", "age,sex,blood_group,listed,hospital")
    for dry in ((), ("--dry-run",)):
        code, _, err = out_of(capsys, *command, *columns, *dry)
        assert code == 2
        assert "no feature is left in dated" in err
        assert "name fewer in --drop" in err
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize(
    ("command", "remedy"),
    [
        (("compare", "--models", "KM,AFT"), "leave AFT out: --models KM"),
        (("reproduce", "full", "--data"), "--models KM,Cox,DeepSurv,DeepHit"),
        (("reproduce", "artificial", "--data"), "--models KM,Cox,DeepSurv,DeepHit"),
        (("fit", "--model", "AFT", "--out", "model"), "--model Cox"),
    ],
)
def test_events_at_time_zero_refuse_the_weibull_model_if_it_is_asked_for(
    capsys, dated, tmp_path, monkeypatch, command, remedy
):
    monkeypatch.chdir(tmp_path)
    table = pd.read_csv(dated[1])
    table.loc[table.index[table["died"]][:3], "survived"] = 0
    table.to_csv(tmp_path / "zero.csv", index=False)
    for dry in ((), ("--dry-run",)):
        code, _, err = out_of(capsys, *command, str(tmp_path / "zero.csv"), *dated[2:6], *dry)
        assert code == 2
        assert f"3 of {table['died'].sum()} events are there" in err
        assert "add half a day" in err
        assert remedy in err


@pytest.mark.parametrize(
    ("code", "words"),
    [(errno.ENOSPC, "the disk is full. Make room there"), (errno.EROFS, "the disk is read-only. Make it writable")],
)
def test_a_disk_that_takes_no_more_is_told_with_the_folder(capsys, tmp_path, monkeypatch, code, words):
    def fsync(descriptor):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr("os.fsync", fsync)
    small = ("--rows", "400", "--jobs", "1", "--out", str(tmp_path / "run"))
    failed, _, err = out_of(capsys, "demo", *small)
    assert failed == 1
    assert f"nothing more can be written to {tmp_path / 'run'}: {words}, or choose another folder with --out" in err
    assert "finished jobs are kept, and the same command continues from them" in err
    failed, _, err = out_of(capsys, "fit", "registry", "--method", "none", *small[:-1], str(tmp_path / "model"))
    assert failed == 1
    assert f"nothing more can be written to {tmp_path}: {words}" in err
    assert "continues" not in err


def test_a_folder_with_another_run_is_told_in_options(capsys, dated, tmp_path):
    wanted = (*dated, "--jobs", "1", "--out", str(tmp_path / "run"))
    assert out_of(capsys, *wanted)[0] == 0
    changed = ("--models", "KM,Cox", "--waitlist", "7", "--horizon", "900", "--drop", "age")
    code, _, err = out_of(capsys, *wanted, *changed)
    assert code == 2
    for words in ("--models was KM, is KM,Cox", "--waitlist was 31, is 7", "is 900.0; ", "; the data differ. "):
        assert words in err
    assert "sha256" not in err
    assert "plan." not in err
    code, _, err = out_of(capsys, "rank", str(tmp_path / "run"), dated[1], "--out", str(tmp_path / "match"))
    assert code == 2
    assert "is a run, not a model: `lifeyears fit` makes a model" in err


TOY = """
import numpy as np
from lifeyears.models import Cox


class Toy(Cox):
    pass
"""


def test_compare_takes_a_model_of_a_file_and_methods_by_name(capsys, dated, tmp_path):
    (tmp_path / "toy.py").write_text(TOY)
    model = f"{tmp_path / 'toy.py'}:Toy"
    code, out, err = out_of(capsys, *dated[:-4], "--models", f"{model},km", "--methods", "Stacked,none", "--dry-run")
    assert code == 0, err
    assert "4 arms" in out  # two models, each as it is and with the stacked ranker
    code, out, err = out_of(capsys, *dated[:-4], "--models", f"{tmp_path / 'none.py'}:Toy", "--dry-run")
    assert (code, "there is no file" in err) == (2, True)
