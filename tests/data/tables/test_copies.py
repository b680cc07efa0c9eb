"""Subjects that are there twice are told of; subjects who are alike are not."""

import warnings

import numpy as np
import pandas as pd
import pytest

from lifeyears.data import load, read_table, simulate_registry

RNG = np.random.default_rng(5)
N = 2000
TABLE = pd.DataFrame(
    {
        "time": RNG.exponential(5, N),
        "event": RNG.random(N) < 0.5,
        "age": RNG.integers(20, 80, N),
        "sex": RNG.choice(["f", "m"], N),
        "walk": np.where(RNG.random(N) < 0.2, np.nan, RNG.integers(100, 600, N)),
    }
)


def test_rows_there_twice_are_counted_and_named():
    twice = pd.concat([TABLE, TABLE.iloc[100:140]], ignore_index=True)
    died = np.flatnonzero(TABLE["event"][100:140])
    with pytest.warns(UserWarning, match=f"{len(died)} events are copies of an earlier row") as caught:
        made = read_table(twice, "time", "event")
    first = ", ".join(str(2001 + row) for row in died[:5])
    assert f"(rows kept are counted from 1: {first}, …)" in str(caught[0].message)
    assert len(made) == N + 40  # told of, not dropped
    assert len(made.report.leaks) == 1  # a run says so above its answer


def test_a_record_numbered_anew_is_still_a_copy():
    twice = pd.concat([TABLE, TABLE.sample(30, random_state=1)], ignore_index=True)
    twice.insert(0, "record_id", np.arange(len(twice)) + 10**6)
    with pytest.warns(UserWarning, match="events are copies"):
        read_table(twice, "time", "event", drop=["record_id"])


@pytest.mark.parametrize("columns", [["sex"], ["age", "sex"], ["age", "sex", "walk"]])
@pytest.mark.parametrize("digits", [0, 2])
def test_people_who_are_alike_are_no_copies(columns, digits):
    coarse = TABLE.assign(time=TABLE["time"].round(digits) + 1)[["time", "event", *columns]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read_table(coarse, "time", "event").report.warnings == ()


def test_those_who_enter_together_and_are_censored_together_are_no_copies():
    entered = RNG.integers(2000, 2010, N)
    time = np.minimum(TABLE["time"], 2010.5 - entered)
    table = pd.DataFrame({"time": time, "event": time == TABLE["time"], "entered": entered, "sex": TABLE["sex"]})
    assert table[~table["event"]].duplicated().sum() > 100
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_table(table, "time", "event")


@pytest.mark.parametrize("name", ["hdfail", "prostateSurvival", "Dialysis", "zinc"])
def test_public_sets_with_many_alike_raise_no_alarm(name):
    pytest.importorskip("SurvSet")
    data = load(name)
    table = data.X.assign(time__=data.y.time, event__=data.y.event)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        read_table(table, "time__", "event__")
    assert not any("copies" in str(warning.message) for warning in told)


def test_the_simulated_registry_has_no_copies():
    data = simulate_registry(5000, random_state=0)
    from lifeyears.data.tables._copies import find_copies

    assert find_copies(data.X, data.y) == []
