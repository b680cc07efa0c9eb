"""What a reader of the command line gets: errors in its terms and with its exit codes, progress, and a log."""

import logging
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import lifeyears as ly
from lifeyears.cli import run
from lifeyears.cli._dialect import option_terms, render_report, table_terms
from lifeyears.cli._progress import show_progress
from lifeyears.cli._session import as_command, new_session, set_verbosity
from lifeyears.data import DataReport
from lifeyears.errors import DataError, Message, MissingFileError, RequestError, Setting, WorkError


@pytest.fixture
def in_compare():
    """A session in which `compare` is run."""
    with new_session():

        def function(horizon=None, seed=None, jobs=None, centre=None, drop=None, event_values=None, overwrite=False):
            return None

        as_command("compare", function)()
        yield


@pytest.mark.parametrize(
    ("setting", "text"),
    [
        (Setting("event_values", 2), "--event-values 2"),
        (Setting("event_values"), "--event-values"),
        (Setting("event_values", ["a b", "c"]), "--event-values 'a b,c'"),
        (Setting("tau", 20.0), "--horizon 20"),
        (Setting("random_state", 1), "--seed 1"),
        (Setting("n_jobs"), "--jobs"),
        (Setting("overwrite", True), "--overwrite"),
        (Setting("drop", ["it's"]), """--drop 'it'"'"'s'"""),
        (Setting("out", "run"), "--out run"),  # of another command
        (Setting("floor", 0.05), "floor=0.05"),  # of none: only Python has it
    ],
)
def test_settings_are_named_by_their_options(in_compare, setting, text):
    assert option_terms(setting) == text


def test_the_subgroups_of_a_table_are_its_centre(in_compare):
    text = Message("name it with ", Setting("subgroups", "ward"), " or ", Setting("drop"))
    assert text.render(table_terms) == "name it with --centre ward or --drop"
    report = DataReport(3, 2, {"bad": 1}, {"a": Message("named in ", Setting("drop"))}, (text,), (text,))
    rendered = render_report(report, table_terms)
    assert rendered.dropped_columns == {"a": "named in --drop"}
    assert rendered.warnings == rendered.leaks == ("name it with --centre ward or --drop",)


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (RequestError("k is 0", hint=Message("Pass ", Setting("out", "a b"), ".")), 2, "k is 0. Pass --out 'a b'."),
        (DataError("no event"), 2, "no event"),
        (MissingFileError("no file"), 2, "no file"),
        (WorkError("it did not converge"), 1, "it did not converge"),
        (ValueError("operands could not be broadcast"), 1, "the work failed: ValueError: operands could not"),
        (np.linalg.LinAlgError("Singular matrix"), 1, "the work failed: LinAlgError: Singular matrix"),
        (FileNotFoundError(2, "No such file", "x.npz"), 1, "the work failed: FileNotFoundError"),
        (KeyError("years"), 1, "the work failed: KeyError: 'years'"),
        (KeyboardInterrupt(), 130, "interrupted; finished jobs are kept, and the same command continues from them"),
    ],
)
def test_only_our_request_errors_exit_with_2(capsys, monkeypatch, tmp_path, error, code, words):
    """A bug deep inside, here in the statistics of a fit, is the work that failed and not a wrong request."""

    def fail(*given, **more):
        raise error

    monkeypatch.setattr("lifeyears.data.simulate_registry", fail)
    assert run(["demo", "--rows", "400", "--out", str(tmp_path / "run")]) == code
    err = capsys.readouterr().err
    assert f"lifeyears: {words}" in err
    assert ("LIFEYEARS_TRACEBACK=1" in err) == (code == 1 and not isinstance(error, WorkError))
    assert "Traceback (most" not in err


def test_a_bug_deep_inside_a_fit_exits_with_1(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr("lifeyears.models.Cox.fit", lambda *given: np.zeros(2) + np.zeros(3))
    code = run(["fit", "registry", "--rows", "300", "--method", "none", "--jobs", "1", "--out", str(tmp_path / "m")])
    assert code == 1
    err = capsys.readouterr().err
    assert "the work failed: ValueError: operands could not be broadcast" in err
    assert "LIFEYEARS_TRACEBACK=1" in err
    monkeypatch.setenv("LIFEYEARS_TRACEBACK", "1")
    with pytest.raises(ValueError, match="broadcast"):
        run(["fit", "registry", "--rows", "300", "--method", "none", "--jobs", "1", "--out", str(tmp_path / "m")])


def test_progress_is_plain_lines_where_there_is_no_terminal(capsys):
    with new_session(), show_progress("registry, full") as progress:
        progress("fitting")
        progress("running jobs", 0, 3)
        progress("running jobs", 1, 3)
        progress("running jobs", 3, 3)
    out, err = capsys.readouterr()
    assert not out
    first, second, third, fourth = err.splitlines()
    assert first == "registry, full: fitting"
    assert second == "registry, full: running jobs: 0 of 3 done"
    assert third == "registry, full: running jobs: 1 of 3 done, about 0 s left"
    assert fourth == "registry, full: running jobs: 3 of 3 done"


def test_progress_is_a_bar_on_a_terminal(capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")  # rich takes standard error for a terminal
    monkeypatch.setenv("COLUMNS", "160")
    with new_session(), show_progress("registry") as progress:
        progress("running jobs", 1, 4)
        progress("writing")
    out, err = capsys.readouterr()
    assert not out
    assert "registry: running jobs" in err or "registry: writing" in err


def test_quiet_shows_no_progress_and_keeps_the_result(capsys, tmp_path):
    fit = ["fit", "registry", "--rows", "300", "--method", "none", "--jobs", "1", "--horizon", "10"]
    assert run([*fit, "--out", str(tmp_path / "loud")]) == 0
    loud = capsys.readouterr()
    assert "fitting Cox" in loud.err
    for arguments in (["--quiet", *fit], [*fit, "--quiet"]):
        assert run([*arguments, "--overwrite", "--out", str(tmp_path / "silent")]) == 0
        quiet = capsys.readouterr()
        assert quiet.err == ""
        assert quiet.out.replace("/silent", "/loud") == loud.out


def test_verbose_logs_what_is_done(capsys, tmp_path):
    fit = ["fit", "registry", "--rows", "300", "--method", "none", "--jobs", "1", "--out", str(tmp_path / "model")]
    assert run(["--verbose", *fit]) == 0
    assert "lifeyears.scoring._fit: fitted Cox to 300 rows" in capsys.readouterr().err
    assert run(["describe", str(tmp_path / "model"), "--verbose"]) == 0
    assert "lifeyears.scoring._model: read the model" in capsys.readouterr().err
    assert run(["describe", str(tmp_path / "model")]) == 0
    assert capsys.readouterr().err == ""
    assert run(["version", "--verbose", "--quiet"]) == 2
    assert "--verbose and --quiet exclude each other" in capsys.readouterr().err
    assert run(["--verbose", "version", "--quiet"]) == 2


def test_a_session_leaves_the_loggers_as_they_were():
    log = logging.getLogger("lifeyears")
    before = (log.level, list(log.handlers))
    with new_session():
        set_verbosity(verbose=True)
        assert log.level == logging.DEBUG
    assert (log.level, log.handlers) == before


def test_the_library_logs_nothing_unless_asked():
    script = "import lifeyears, logging; logging.getLogger('lifeyears.service').error('secret')"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == done.stderr == ""


@pytest.mark.parametrize("command", ["demo", "reproduce", "compare", "report", "datasets", "fit", "rank", "describe"])
def test_every_command_has_the_shared_options(capsys, command):
    assert run([command, "--help"]) == 0
    out = capsys.readouterr().out
    assert "--verbose" in out
    assert "--quiet" in out


def test_a_split_by_centre_reads_the_file_once(capsys, monkeypatch, tmp_path):
    d = ly.data.simulate_registry(n=400, random_state=3)
    table = d.X[["age", "sex"]].assign(years=d.y.time, died=d.y.event, CTR_CODE=np.arange(400) % 9)
    table.to_csv(tmp_path / "my.csv", index=False)
    read_csv, opened = pd.read_csv, []

    def counting(*given, **options):
        opened.append(1)
        return read_csv(*given, **options)

    monkeypatch.setattr(pd, "read_csv", counting)
    compare = ["compare", str(tmp_path / "my.csv"), "--time", "years", "--event", "died", "--models", "KM"]
    assert run([*compare, "--folds", "2", "--dry-run"]) == 0
    once, plain = len(opened), capsys.readouterr().out
    assert "400 subjects, 3 features" in plain
    assert run([*compare, "--folds", "2", "--split", "centre", "--dry-run"]) == 0
    assert len(opened) == 2 * once
    split = capsys.readouterr().out
    assert "400 subjects, 2 features" in split
    assert "column CTR_CODE left out: kept for subgroups" in split
    assert run([*compare, "--folds", "2", "--split", "centre", "--centre", "CTR_CODE", "--dry-run"]) == 0
    assert capsys.readouterr().out == "".join(split.splitlines(keepends=True)[1:])


def test_files_that_cannot_be_opened_are_wrong_requests(capsys, tmp_path):
    for arguments, words in (
        (["compare", "a" * 500], "file name too long"),
        (["compare", "a\0.csv"], "there is no file"),
        (["status", "a" * 500], "file name too long"),
        (["report", "a" * 500], "file name too long"),
        (["fit", "registry", "--out", "a" * 500], "file name too long"),
        (["serve", "--token-file", str(tmp_path / "none")], "no such file or directory"),
        (["serve", "--token-file", str(tmp_path)], "is a directory"),
        (["compare", "registry", "--config", str(tmp_path)], "is a directory"),
    ):
        assert run(arguments) == 2
        assert words in capsys.readouterr().err
