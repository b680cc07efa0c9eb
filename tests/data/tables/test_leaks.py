"""Columns that know the outcome: classic leaks are pointed at, honest columns are not."""

import numpy as np
import pandas as pd
import pytest

from lifeyears import Outcome
from lifeyears.data import load, read_table
from lifeyears.data.public._catalogue import SETS
from lifeyears.data.tables._leaks import _commonest, find_leaks

N = 2000
RNG = np.random.default_rng(8)
TIME = RNG.exponential(5, N) + 0.01
EVENT = RNG.random(N) < 0.5
CAUSES = RNG.integers(1, 26, N)  # 25 of them: about 40 deaths each

TELLS = "its values tell events from censored rows (right for 100%)"
LEAKS = {
    "cause of death, alive for the censored": (
        np.where(EVENT, np.char.add("cause ", CAUSES.astype(str)), "alive"),
        TELLS,
    ),
    "cause codes, 99 for the censored": (np.where(EVENT, CAUSES, 99), TELLS),
    "days to death, 0 for the censored": (np.where(EVENT, np.ceil(TIME * 365.25), 0), TELLS),
    "days to death, -1 for the censored": (np.where(EVENT, np.ceil(TIME * 365.25), -1), TELLS),
    "known for all events and 3% of the censored": (
        np.where(EVENT | (np.cumsum(~EVENT) % 100 < 3), RNG.normal(size=N), np.nan),
        "it is known nearly only for events (100% of the events, 3% of the censored rows)",
    ),
    "known for 40% of the censored and 1% of the events": (
        np.where(np.where(EVENT, np.cumsum(EVENT) % 100 < 1, np.cumsum(~EVENT) % 100 < 40), CAUSES, np.nan),
        "it is known only for censored rows (1% of the events, 40% of the censored rows)",
    ),
}


@pytest.mark.parametrize("leak", LEAKS)
def test_classic_leaks_are_pointed_at(leak):
    values, why = LEAKS[leak]
    table = pd.DataFrame({"time": TIME, "event": EVENT, "leak": values})
    with pytest.warns(UserWarning, match="column leak may leak the outcome") as caught:
        read_table(table, "time", "event")
    assert why in str(caught[0].message)


HONEST = {
    "a measurement, 0 where below detection": np.where(RNG.random(N) < 0.4, 0, RNG.lognormal(size=N)),
    "a centre": np.char.add("centre ", RNG.integers(0, 60, N).astype(str)),
    "a code with a value that is rare among events": np.where(
        EVENT & (RNG.random(N) < 0.7), CAUSES, 99 * (CAUSES > 12)
    ),
    "known for 60% of the events and 25% of the censored": np.where(
        RNG.random(N) < np.where(EVENT, 0.6, 0.25), RNG.normal(size=N), np.nan
    ),
    "known for 8% of the events only": np.where(EVENT & (RNG.random(N) < 0.08), RNG.normal(size=N), np.nan),
}


@pytest.mark.parametrize("honest", HONEST)
def test_honest_columns_are_not(honest):
    column = pd.Series(HONEST[honest])
    X = pd.DataFrame({"honest": column if pd.api.types.is_numeric_dtype(column) else column.astype("category")})
    assert find_leaks(X, Outcome(TIME, EVENT)) == []


@pytest.mark.parametrize("n", [20, 40, 100])
def test_few_rows_of_noise_do_not_look_like_leaks(n):
    rng = np.random.default_rng(n)
    X = pd.DataFrame({f"noise {k}": rng.integers(0, k, n) for k in range(2, 60)} | {"normal": rng.normal(size=n)})
    assert find_leaks(X, Outcome(rng.exponential(5, n), rng.random(n) < 0.5)) == []


def test_rare_levels_are_taken_together():
    levels = np.repeat([0, 1, 2, 3], [10, 9, 30, 1])  # ten rows make a level, the commonest is the first
    assert _commonest(levels).tolist() == [2] * 10 + [0] * 9 + [1] * 30 + [0]
    many = np.repeat(np.arange(30), 12)
    assert _commonest(many).tolist() == [*np.repeat(np.arange(1, 21), 12), *np.zeros(120, dtype=int)]


@pytest.mark.slow
def test_no_set_of_the_catalogue_raises_a_false_alarm():
    pytest.importorskip("SurvSet")
    found = {name: find_leaks(data.X, data.y) for name in SETS for data in [load(name)]}
    assert {name: warnings for name, warnings in found.items() if warnings} == {}


@pytest.mark.parametrize("name", ["flchain", "dataDIVAT3", "prostate"])
def test_some_sets_of_the_catalogue_raise_no_false_alarm(name):
    pytest.importorskip("SurvSet")
    data = load(name)
    assert find_leaks(data.X, data.y) == []
