"""What `make stress` found and was mended: each with the input that showed it, made small."""

import json

import lightgbm
import numpy as np
import pandas as pd
import pytest

import lifeyears as ly
from lifeyears.cli import run
from lifeyears.experiments import _runner
from lifeyears.experiments._store import open_run
from lifeyears.ranking.trees import check_booster_text
from lifeyears.simulation import read_config


@pytest.fixture(scope="module")
def booster():
    X = np.random.default_rng(0).normal(size=(300, 3))
    parameters = {"verbosity": -1, "num_leaves": 4, "objective": lambda scores, _: (scores - X[:, 0], np.ones(300))}
    return lightgbm.train(parameters, lightgbm.Dataset(X), 3), X


def test_a_checked_booster_says_the_same(booster):
    made, X = booster
    again = lightgbm.Booster(model_str=check_booster_text(made.model_to_string()))
    np.testing.assert_array_equal(again.predict(X), made.predict(X))


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("threshold", "%0.5 1 2"),  # "no conversion to double", thrown on a thread: the process ended
        ("leaf_value", "1 2 3 1e9999999"),
        ("leaf_count", "1 2 3"),
        ("internal_count", "x y z"),
        ("split_gain", "1 2"),
        ("decision_type", "1 1 1"),
        ("is_linear", "1"),
        ("num_cat", "2"),
        ("num_cat", "0\nnum_cat=0"),
        ("left_child", "0 1 2"),
        ("unheard_of", "1"),
    ],
)
def test_a_tree_that_would_crash_lightgbm_is_refused(booster, line, value):
    head, *trees = booster[0].model_to_string().split("\nTree=")
    lines = trees[0].split("\n")
    at = next((n for n, each in enumerate(lines) if each.startswith(f"{line}=")), len(lines) - 3)
    lines[at] = f"{line}={value}"
    forged = "\n".join(lines)
    sizes = [
        len(f"Tree={tree}".encode()) + 1 for tree in (forged, *trees[1:-1], trees[-1].partition("end of trees")[0])
    ]
    head = "\n".join(
        f"tree_sizes={' '.join(map(str, sizes))}" if each.startswith("tree_sizes") else each
        for each in head.split("\n")
    )
    with pytest.raises(ValueError, match="not as LightGBM writes it"):
        check_booster_text("\nTree=".join([head, forged, *trees[1:]]))


def test_what_stands_behind_the_trees_is_not_passed_on(booster):
    text = booster[0].model_to_string().replace("[boosting: gbdt]", "[boosting: " + "x" * 99)
    assert "xxx" not in check_booster_text(text)


@pytest.mark.parametrize(
    "y",
    [
        ([[1], [0]], [1.0, 2.0]),
        (np.array([{}, [1]], dtype=object), [1.0, 2.0]),
        pd.DataFrame([[1, 2.0]], columns=["event", "event"]).iloc[:0],
    ],
)
def test_odd_outcomes_are_refused_in_words(y):
    with pytest.raises(ValueError, match=r"event|rows|outcome"):
        ly.as_outcome(y)


def test_columns_are_taken_by_their_place():
    frame = pd.DataFrame([[1, 2.0], [0, 3.0]])
    frame.columns = pd.Index([("a", "b"), "time"], tupleize_cols=False)
    assert ly.as_outcome(frame).time.tolist() == [2.0, 3.0]


@pytest.mark.parametrize("options", [{"drop": 5.0}, {"encoding": 5.0}, {"time": ["a"]}, {"delimiter": 0}])
def test_options_of_a_wrong_type_are_refused_in_words(options):
    table = pd.DataFrame({"years": [1.0, 2.0], "died": [1, 0], "a": [1, 2]})
    with pytest.raises(ValueError, match=f"{next(iter(options))}.*got"):
        ly.data.read_table(table, **({"time": "years", "event": "died"} | options))


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.yaml", b"years: \xff", "not UTF-8"),
        ("a.yaml", b"years: \x00", "not YAML"),
        ("a.yaml", b"years: 2020-13-45", "cannot be read"),
        ("a.yaml", b"world: {law: [1]}", "law must be one of"),
        ("a.json", b"[" * 100_000, "deep"),
        ("a.json", b'{"years": ' + b"1" * 5000 + b"}", "cannot be read"),
    ],
)
def test_odd_configurations_are_refused_by_name(tmp_path, name, content, words):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=f"(?s)a\\..*{words}"):
        read_config(tmp_path / name)


def test_a_whole_disk_is_no_release(tmp_path, monkeypatch):
    monkeypatch.setattr("lifeyears.data.star._files.MOST_FILES", 20)
    for number in range(30):
        (tmp_path / f"{number}.txt").touch()
    with pytest.raises(ValueError, match="more than 20 files: give the folder of the STAR release"):
        ly.data.read_star(tmp_path)


def test_a_name_too_long_for_the_disk_is_a_wrong_request(capsys):
    assert run(["compare", "a" * 500, "--event", "died"]) == 2
    assert "too long" in capsys.readouterr().err


def test_more_units_than_anybody_can_run_are_refused():
    """A plan of 10²⁰ folds was counted out, one by one."""
    with pytest.raises(ValueError, match="at most 10,000 jobs"):
        _runner.Plan("full", folds=10**20)


def test_a_manifest_of_anything_is_refused_in_words(tmp_path):
    for content in ([], {"plan": {"iterations": float("inf"), "folds": 2}}, {"plan": []}, None):
        (tmp_path / "manifest.json").write_text(json.dumps(content))
        with pytest.raises(ValueError, match="no run that can be read"):
            _runner.status(tmp_path)
    with pytest.raises(ValueError, match="cannot be read"):
        open_run(tmp_path, _runner.Plan("full"), ly.data.simulate_registry(n=50))


def test_a_lost_dask_worker_is_worked_around(monkeypatch, tmp_path):
    """Units that were not done when a worker died are tried again; another error is not."""
    killed = type("KilledWorker", (Exception,), {"__module__": "distributed.scheduler"})
    data = ly.data.simulate_registry(n=120, random_state=1)
    options = {"iterations": 1, "folds": 2, "models": ("KM",), "stacked_over": (), "waitlist": 20, "tau": 10.0}
    asked = []

    def dying(bare, plan, jobs, n_jobs, dask, expected):
        asked.append(list(jobs))
        for job in jobs:
            yield _runner.run_on_one_thread(bare, plan, job, expected)
            if len(asked) == 1:
                raise killed("unit")

    monkeypatch.setattr(_runner, "run_jobs", dying)
    made = ly.experiments.run("full", data, tmp_path / "run", dask="local:2", **options)
    assert asked == [[(0, 0), (0, 1)], [(0, 1)]]
    assert len(made.jobs) == 2
