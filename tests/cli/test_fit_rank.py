"""From a table to a ranked list, each command in a process of its own."""

import errno
import json
import subprocess
import sys
import warnings
from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest

import lifeyears as ly
from lifeyears.cli import run
from lifeyears.cli.rank import choose_times, defuse_formula


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    """A training table, a waitlist and a donor, as files."""
    folder = tmp_path_factory.mktemp("fit")
    d = ly.data.simulate_registry(n=450, random_state=4)
    d.X.assign(years=d.y.time, died=d.y.event.astype(int)).to_csv(folder / "train.csv", index=False)
    people = ly.data.Population()
    pairs = people.pairs(people.candidates(60, 5), people.donors(1, 6), donor=0, incompatible="keep")
    pairs = pairs[list(d.X.columns)]
    donor = [name for name in pairs if name.startswith("donor_")]
    pairs.drop(columns=donor).assign(id=[f"P{i}" for i in range(60)]).to_csv(folder / "waitlist.csv", index=False)
    (folder / "donor.json").write_text(json.dumps(json.loads(pairs[donor].to_json(orient="records"))[0]))
    pairs.to_csv(folder / "pairs.csv", index=False)
    code = run(
        ["fit", str(folder / "train.csv"), "--time", "years", "--event", "died", "--horizon", "10"]
        + ["--method", "none", "--out", str(folder / "model"), "--jobs", "1", "--drop", "transplant_year"]
    )
    assert code == 0
    return folder


def in_new_process(*arguments):
    return subprocess.run([sys.executable, "-m", "lifeyears", *map(str, arguments)], capture_output=True, text=True)


def test_rank_in_a_new_process_gives_the_librarys_numbers(places):
    made = in_new_process(
        *("rank", places / "model", places / "waitlist.csv", "--donor", places / "donor.json"),
        *("--k", 3, "--id", "id", "--out", places / "match"),
    )
    assert made.returncode == 0, made.stderr
    assert "Research use only" in made.stdout
    ranked = pd.read_csv(places / "match" / "ranked.csv", float_precision="round_trip")
    ranker = ly.load(places / "model")
    table = pd.read_csv(places / "pairs.csv").drop(columns="transplant_year")
    expected = ranker.predict(table[list(ranker.feature_names_in_)])
    # to the last bits, which turn on where an array lies in memory
    np.testing.assert_allclose(ranked["years"], expected[ranked["row"] - 1], rtol=1e-13)
    assert ranked["years"].is_monotonic_decreasing
    assert ranked["id"].tolist() == [f"P{row - 1}" for row in ranked["row"]]
    weights = 1 / np.log2(np.arange(2, 5))
    np.testing.assert_allclose(ranked["probability"][:3], weights / weights.sum(), rtol=1e-12)
    assert ranked["probability"][3:].eq(0).all()
    assert ranked["reasons"].str.contains(r"[+-]\d\.\d\d").all()
    assert (ranked["alive_at_1"] >= ranked["alive_at_5"]).all()


def test_no_cell_of_ranked_csv_is_a_formula_and_numbers_stay(places, tmp_path, capsys):
    table = pd.read_csv(places / "waitlist.csv").head(6)
    table["id"] = ["=1+1", "@now", "-5", "+3.5", "-x", "plain"]
    table.to_csv(tmp_path / "list.csv", index=False)
    arguments = ["--donor", str(places / "donor.json"), "--id", "id", "--out", str(tmp_path / "out")]
    assert run(["rank", str(places / "model"), str(tmp_path / "list.csv"), *arguments]) == 0
    capsys.readouterr()
    ranked = pd.read_csv(tmp_path / "out" / "ranked.csv", dtype=str).set_index("row")["id"]
    assert [ranked[str(i + 1)] for i in range(6)] == ["'=1+1", "'@now", "-5", "+3.5", "'-x", "plain"]
    assert [defuse_formula(text) for text in ("\t=1", "\r1", -5.0, None, "1-2")] == ["'\t=1", "'\r1", -5.0, None, "1-2"]


@pytest.mark.parametrize(
    ("unit", "tau", "names"),
    [
        ("years", 10.0, ["alive_at_1", "alive_at_5", "alive_at_10"]),
        ("months", 84.0, ["alive_at_12_months", "alive_at_60_months"]),
        ("days", 400.0, ["alive_at_365_days"]),
        ("days", 30.0, ["alive_at_15_days", "alive_at_30_days"]),
        ("cycles", 8.0, ["alive_at_4_cycles", "alive_at_8_cycles"]),
    ],
)
def test_chances_to_live_are_told_at_times_of_the_datas_unit(unit, tau, names):
    marks = choose_times(unit, tau)
    assert list(marks) == names
    assert all(name.split("_")[2] == f"{time:g}" for name, time in marks.items())


def test_describe_tells_the_card(places, capsys):
    assert run(["describe", str(places / "model")]) == 0
    out = capsys.readouterr().out
    for word in ("450 rows", "Horizon", "C-index", "plug-in bound", "Calibration", "Subgroups", "Limits"):
        assert word in out
    assert run(["describe", str(places / "model"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["format"] == "lifeyears card"


@pytest.mark.parametrize("command", ["fit", "rank", "describe", "serve"])
def test_every_help_has_an_example(capsys, command):
    assert run([command, "--help"]) == 0
    assert f"lifeyears {command}" in capsys.readouterr().out


def failing(capsys, *arguments):
    code = run([str(one) for one in arguments])
    captured = capsys.readouterr()
    assert "Traceback" not in captured.err
    assert code == 2
    return captured.err


def test_a_bad_cell_of_the_waitlist_is_named_with_its_line(places, tmp_path, capsys):
    table = pd.read_csv(places / "pairs.csv", dtype=object)
    table.loc[2, "age"] = "sixty"
    table.to_csv(tmp_path / "bad.csv", index=False)
    said = failing(capsys, "rank", places / "model", tmp_path / "bad.csv", "--out", tmp_path / "out")
    assert "bad.csv, line 4, column age: 'sixty' is not a number" in said
    assert not (tmp_path / "out").exists()
    table = pd.read_csv(places / "pairs.csv", dtype=object).assign(sex="unheard")
    table.to_csv(tmp_path / "bad.csv", index=False)
    said = failing(capsys, "rank", places / "model", tmp_path / "bad.csv", "--out", tmp_path / "out")
    assert "; a blank cell where it is not known" in said


def test_wrong_requests_exit_2_with_plain_words(places, tmp_path, capsys):
    out = ("--out", tmp_path / "out")
    waitlist = places / "waitlist.csv"
    said = failing(capsys, "rank", places / "model", waitlist, *out)
    assert "column donor_age" in said
    assert "--donor" in said
    given = json.loads((places / "donor.json").read_text()) | {"donor_age": "old"}
    (tmp_path / "old.json").write_text(json.dumps(given))
    said = failing(capsys, "rank", places / "model", waitlist, "--donor", tmp_path / "old.json", *out)
    assert "old.json, column donor_age" in said  # not the waitlist, where nothing is wrong
    said = failing(capsys, "rank", places / "model", waitlist, "--donor", tmp_path / "none.json", *out)
    assert "none.json: no such file or directory" in said
    (tmp_path / "donor.json").write_text('{"donor_agee": 3}')
    said = failing(capsys, "rank", places / "model", waitlist, "--donor", tmp_path / "donor.json", *out)
    assert "did you mean 'donor_age'" in said
    (tmp_path / "donor.json").write_text('{"donor_age": NaN}')
    assert "null" in failing(capsys, "rank", places / "model", waitlist, "--donor", tmp_path / "donor.json", *out)
    (tmp_path / "donor.json").write_text("[")
    assert "not JSON" in failing(capsys, "rank", places / "model", waitlist, "--donor", tmp_path / "donor.json", *out)
    assert "--id" in failing(capsys, "rank", places / "model", waitlist, "--id", "nobody", *out)
    assert "no file" in failing(capsys, "rank", places / "model", tmp_path / "none.csv", *out)
    assert "is not a folder" in failing(capsys, "rank", tmp_path / "none", waitlist, *out)
    assert "is not a folder" in failing(capsys, "describe", tmp_path / "none")
    assert "exists" in failing(capsys, "fit", "registry", "--out", places / "model")
    assert "Known are KM, Cox" in failing(capsys, "fit", "registry", "--model", "Cocks", *out)


def test_serve_refuses_a_folder_that_is_no_model_or_says_what_to_install(tmp_path, capsys):
    installed = find_spec("fastapi") and find_spec("uvicorn")
    expected = "SHA256SUMS" if installed else "pip install 'lifeyears[app]'"
    assert expected in failing(capsys, "serve", "--model", tmp_path)


def test_a_dry_run_fits_nothing(tmp_path, capsys):
    assert run(["fit", "registry", "--rows", "300", "--out", str(tmp_path / "m"), "--dry-run"]) == 0
    assert "would fit Cox" in capsys.readouterr().out
    assert not (tmp_path / "m").exists()


def test_serving_elsewhere_than_loopback_needs_a_token_that_is_one(places, capsys, monkeypatch):
    monkeypatch.setenv("LIFEYEARS_TOKEN", "short")
    assert "at least 16" in failing(capsys, "serve", "--model", places / "model")


def test_a_full_disk_leaves_the_old_list(places, tmp_path, monkeypatch, capsys):
    wanted = ["rank", str(places / "model"), str(places / "pairs.csv"), "--out", str(tmp_path), "--k"]
    assert run([*wanted, "3"]) == 0
    before = (tmp_path / "ranked.csv").read_bytes()

    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    assert run([*wanted, "5"]) == 1
    assert "the disk is full" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["ranked.csv"]
    assert (tmp_path / "ranked.csv").read_bytes() == before


@pytest.fixture(scope="module")
def coded(tmp_path_factory):
    """A model that knows smoker as True, False and unknown, and centre as a code with leading zeros."""
    folder, rng = tmp_path_factory.mktemp("coded"), np.random.default_rng(0)
    n = 200
    table = pd.DataFrame(
        {
            "age": rng.integers(30, 70, n) + 0.5,
            "smoker": rng.choice(["True", "False", "unknown"], n),
            "centre": rng.choice(["001", "017", "031"], n),
            "years": rng.exponential(5, n).round(3),
            "died": rng.integers(0, 2, n),
        }
    )
    table.to_csv(folder / "train.csv", index=False)
    wanted = ["fit", str(folder / "train.csv"), "--time", "years", "--event", "died", "--horizon", "5"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it tells of the leading zeros
        assert run([*wanted, "--method", "none", "--out", str(folder / "model"), "--jobs", "1"]) == 0
    return folder


def test_what_a_cell_is_does_not_depend_on_who_else_is_in_the_file(coded, tmp_path, capsys):
    """Of a file with an "unknown", of one with True and False only, and of one patient: the same years for each."""
    head, people = "age,smoker,centre", ["40.5,True,031", "50.5,False,017", "60.5,unknown,001", "45.5,,031"]
    years = {}
    for name, rows in {
        "all": people,
        "two": people[:2],
        "with_blank": [people[1], people[3]],
        "one": [people[1]],
    }.items():
        (tmp_path / f"{name}.csv").write_text("\n".join([head, *rows]) + "\n")
        assert run(["rank", str(coded / "model"), str(tmp_path / f"{name}.csv"), "--out", str(tmp_path / name)]) == 0
        ranked = pd.read_csv(tmp_path / name / "ranked.csv")
        years[name] = dict(zip((rows[row - 1] for row in ranked["row"]), ranked["years"], strict=True))
    for name in ("two", "with_blank", "one"):
        for person, found in years[name].items():
            assert found == pytest.approx(years["all"][person], rel=1e-12)
    (tmp_path / "shouted.csv").write_text(f"{head}\n40.5,TRUE,031\n")  # as Excel writes it
    assert run(["rank", str(coded / "model"), str(tmp_path / "shouted.csv"), "--out", str(tmp_path / "shouted")]) == 0
    found = pd.read_csv(tmp_path / "shouted" / "ranked.csv")["years"][0]
    assert found == pytest.approx(years["all"][people[0]], rel=1e-12)
    capsys.readouterr()


def test_a_code_that_lost_its_zeros_is_quoted_as_written_with_a_hint(coded, tmp_path, capsys):
    (tmp_path / "bare.csv").write_text("age,smoker,centre\n40.5,True,31\n50.5,False,\n")
    said = failing(capsys, "rank", coded / "model", tmp_path / "bare.csv", "--out", tmp_path / "out")
    assert "line 2, column centre: '31' was not seen" in said
    assert "leading zeros? 031" in said


def test_numbers_with_two_decimal_marks_or_two_readings_are_refused(coded, tmp_path, capsys):
    rank = ("rank", coded / "model", tmp_path / "list.csv", "--out", tmp_path / "out")
    for cells, problem in ((["40,5", "50.5"], "'40,5' is not a number"), (["1,234", "40"], "'1,234' can be read")):
        (tmp_path / "list.csv").write_text("age;smoker;centre\n" + "".join(f"{cell};True;031\n" for cell in cells))
        assert problem in failing(capsys, *rank)
    (tmp_path / "list.csv").write_text("age;smoker;centre\n40,5;True;031\n")
    assert run([str(one) for one in rank]) == 0
    comma = pd.read_csv(tmp_path / "out" / "ranked.csv")["years"][0]
    (tmp_path / "list.csv").write_text("age;smoker;centre\n40.5;True;031\n")
    assert run([str(one) for one in rank]) == 0
    assert pd.read_csv(tmp_path / "out" / "ranked.csv")["years"][0] == comma
    capsys.readouterr()


def test_rank_explains_its_columns_in_eighty_of_them_and_spares_a_run(places, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")
    wanted = ["rank", str(places / "model"), str(places / "pairs.csv"), "--k", "3", "--out"]
    assert run([*wanted, str(tmp_path / "new")]) == 0
    out = capsys.readouterr().out
    assert "probability: of being drawn by Algorithm 1, which draws among the first 3" in out
    table = [line for line in out.split("Why the first")[0].splitlines() if line.strip()]
    assert max(len(line.rstrip()) for line in table) <= 80
    (tmp_path / "theirs" / "jobs").mkdir(parents=True)
    assert "holds a run" in failing(capsys, *wanted, tmp_path / "theirs")
    assert not (tmp_path / "theirs" / "ranked.csv").exists()
