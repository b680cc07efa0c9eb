"""`lifeyears simulate`: prints, writes a folder, and says what was wrong."""

import json
import re

import pandas as pd
import pytest

from lifeyears import catalogue, cli
from lifeyears.cli import simulate as command
from lifeyears.simulation import write_run

SMALL = "years: 1\nreplicates: 2\npolicies: [us_status, uniform]\nworld:\n  scale: 0.02\n  burn_in_years: 0.5\n"


@pytest.fixture(autouse=True)
def _registered():
    if not any(each.name == "simulate" for each in cli.app.registered_commands):
        cli.app.command("simulate")(command.command)


@pytest.fixture
def small(tmp_path):
    path = tmp_path / "small.yaml"
    path.write_text(SMALL)
    return str(path)


def out_of(capsys, *arguments):
    code = cli.run(["simulate", *arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_a_run_is_printed_and_written_the_same_twice(capsys, tmp_path, small):
    for name in ("a", "b"):
        code, out, err = out_of(capsys, small, "--out", str(tmp_path / name), "--jobs", "1")
        assert code == 0
        assert "us_status" in out
        assert "not a forecast" in out
        assert "simulating: 2 of 2 done" in err
    files = sorted(path.name for path in (tmp_path / "a").iterdir())
    tables = [f"{name}.csv" for name in ("by_group", "differences", "group_differences", "measures", "replicates")]
    assert files == sorted([*tables, "config.json", "report.html", "summary.json"])
    for name in files:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    summary = json.loads((tmp_path / "a" / "summary.json").read_text())
    table = pd.read_csv(tmp_path / "a" / "measures.csv", index_col=["policy", "measure"])
    name = "transplants_per_year"
    assert summary["policies"]["uniform"][name]["value"] == pytest.approx(table.loc[("uniform", name), "value"])


def test_the_report_is_one_page_that_needs_nothing_else(capsys, tmp_path, small):
    out = tmp_path / "run"
    code, _, _ = out_of(capsys, small, "--out", str(out), "--jobs", "1")
    assert code == 0
    page = (out / "report.html").read_text()
    assert "not a forecast" in page
    table = pd.read_csv(out / "measures.csv", index_col=["policy", "measure"])["value"]
    assert f"{table['uniform', 'transplants_per_year']:.1f}" in page
    for words in ("Against us_status", "By blood group", "status when listed: paired differences", "burn_in_years"):
        assert words in page
    assert str(tmp_path) not in page
    head = page[: page.index("<body>")]
    assert "default-src 'none'" in head
    assert not re.search(r'(src|href)="(?!#|data:)', page[: page.index('<script type="application/json"')])


@pytest.mark.parametrize("replicates", [1, 2])
def test_a_list_without_hearts_has_a_report_too(replicates):
    from lifeyears.report import render_simulation
    from lifeyears.simulation import simulate

    config = {"world": {"scale": 0.02, "burn_in_years": 0.5, "donors_per_year": 0}}
    assert "nothing to compare" in render_simulation(simulate(["us_status", "uniform"], 0.5, replicates, config=config))


def test_names_of_policies_cannot_break_the_report(tmp_path):
    from lifeyears.report import render_simulation
    from lifeyears.simulation import OfferRule, simulate

    odd = OfferRule("<script>alert(1)</script>&\"'", "waiting")
    config = {"world": {"scale": 0.02, "burn_in_years": 0.5}}
    page = render_simulation(simulate([odd, "uniform"], 0.5, 2, n_jobs=1, config=config))
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)" in page


def test_options_go_before_the_file(capsys, tmp_path, small):
    code, _, _ = out_of(
        capsys, small, "--replicates", "1", "--years", "0.5", "--seed", "3", "--out", str(tmp_path / "a")
    )
    assert code == 0
    used = json.loads((tmp_path / "a" / "config.json").read_text())
    assert (used["replicates"], used["years"], used["random_state"]) == (1, 0.5, 3)


def test_policies_are_named_on_the_command_line(capsys, tmp_path, small, monkeypatch):
    monkeypatch.setattr(catalogue.policies, "_specs", dict(catalogue.policies))
    (tmp_path / "own.py").write_text(
        "class Nearest:\n    def scores(self, c, donor, now):\n        return -c['distance']\n"
    )
    names = f"us_status, {tmp_path / 'own.py'}:Nearest"
    code, _, _ = out_of(capsys, small, "--policies", names, "--out", str(tmp_path / "a"), "--jobs", "1")
    assert code == 0
    used = json.loads((tmp_path / "a" / "config.json").read_text())
    assert [each["name"] for each in used["policies"]] == ["us_status", "Nearest"]
    assert str(tmp_path) not in (tmp_path / "a" / "config.json").read_text()
    code, _, err = out_of(capsys, small, "--policies", "us_statsu")
    assert code == 2
    assert "did you mean 'us_status'" in err


def test_dry_run_only_tells(capsys, tmp_path):
    code, out, _ = out_of(capsys, "--dry-run", "--out", str(tmp_path / "none"))
    assert code == 0
    assert "would simulate 7 policies" in out
    assert "minutes" in out
    assert not (tmp_path / "none").exists()


def test_check_prints_published_figures_and_fails_where_they_are_missed(capsys, tmp_path):
    path = tmp_path / "few.json"
    path.write_text('{"world": {"scale": 0.02, "death_rates": [0, 0, 0, 0, 0, 0, 0]}}')
    code, out, _ = out_of(capsys, str(path), "--check", "--years", "1", "--replicates", "2")
    assert code == 1
    assert "4,446.0" in out
    assert "Not within 15%" in out
    assert "deaths per 100 patient-years" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--years", "0"], "years must be at least 0.1"),
        (["--replicates", "0"], "replicates must be at least 1"),
        (["no_such.yaml"], "no_such.yaml"),
        (["--jobs", "0"], "jobs"),
    ],
)
def test_wrong_requests_exit_with_2(capsys, arguments, message):
    code, _, err = out_of(capsys, *arguments)
    assert code == 2
    assert message in err
    assert "Traceback" not in err


def test_a_wrong_file_exits_with_2_and_the_line(capsys, tmp_path):
    path = tmp_path / "bad.yaml"
    path.write_text(SMALL.replace("scale: 0.02", "scael: 0.02"))
    code, _, err = out_of(capsys, str(path))
    assert code == 2
    assert "bad.yaml, line 5: there is no setting 'scael'" in err


def test_out_must_be_a_folder(capsys, small):
    code, _, err = out_of(capsys, small, "--out", small)
    assert code == 2
    assert "must be a folder" in err


def test_interrupting_exits_with_130_and_writes_nothing(capsys, tmp_path, small, monkeypatch):
    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("lifeyears.simulation._simulate.run_replicate", interrupted)
    code, _, err = out_of(capsys, small, "--jobs", "1", "--out", str(tmp_path / "a"))
    assert code == 130
    assert "lifeyears: interrupted" in err
    assert not (tmp_path / "a").exists()


def test_a_write_that_fails_leaves_the_old_files_whole(tmp_path, monkeypatch):
    from lifeyears.simulation import simulate

    config = {"world": {"scale": 0.02, "burn_in_years": 0.5}}
    folder = tmp_path / "run"
    write_run(simulate(["us_status"], 1, 1, n_jobs=1, config=config), folder)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    later = simulate(["us_status"], 1, 1, 5, n_jobs=1, config=config)
    monkeypatch.setattr("os.fsync", lambda descriptor: (_ for _ in ()).throw(OSError("full")))
    with pytest.raises(OSError, match="full"):
        write_run(later, folder)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize("held", ["manifest.json", "jobs"])
def test_a_run_of_compare_is_not_written_over(capsys, tmp_path, small, held):
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "summary.json").write_text("theirs")
    (kept / held).mkdir() if held == "jobs" else (kept / held).write_text("{}")
    for extra in ([], ["--dry-run"]):
        code, _, err = out_of(capsys, small, "--out", str(kept), *extra)
        assert code == 2
        assert "holds a run" in err
        assert "another folder" in err
        assert "simulating" not in err  # before anything is computed
    assert (kept / "summary.json").read_text() == "theirs"
    assert not (kept / "report.html").exists()


def test_one_replicate_declares_no_winner_and_claims_no_interval(capsys, tmp_path, small):
    for _ in range(2):  # its own folder may be written again
        code, out, _ = out_of(capsys, small, "--replicates", "1", "--out", str(tmp_path / "run"), "--jobs", "1")
        assert code == 0
    assert "1 year, 1 replicate" in out
    assert "cannot tell policies from chance" in out
    page = (tmp_path / "run" / "report.html").read_text().partition("<script")[0]
    for words in (out, page):
        assert "95% Monte Carlo" not in words
        assert "gives the most" not in words
    code, out, _ = out_of(capsys, small, "--jobs", "1")
    assert "1 year, 2 replicates" in out
    assert "95% Monte Carlo intervals" in out


def test_the_report_says_what_each_policy_is(capsys, tmp_path, small):
    out_of(capsys, small, "--out", str(tmp_path / "run"), "--jobs", "1")
    page = (tmp_path / "run" / "report.html").read_text()
    assert page.index("us_status: US status policy") < page.index("<figure")
