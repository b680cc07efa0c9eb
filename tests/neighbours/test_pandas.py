"""pandas 2 and 3: whatever index and dtypes are, the numbers are those of the plain table, which stays as it was."""

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline

import lifeyears as ly
from conftest import cohort
from lifeyears.data import TablePreprocessor
from lifeyears.models import Cox


@pytest.fixture(scope="module")
def plain():
    X, y = cohort(150, seed=6)
    table = pd.DataFrame(X, columns=["a", "b", "c"])
    rng = np.random.default_rng(0)
    table["ward"] = rng.choice(["north", "south", "west"], 150)
    table["smoker"] = rng.random(150) < 0.3
    table["visits"] = rng.integers(0, 5, 150)
    return table, y


def pipe():
    return make_pipeline(TablePreprocessor(), Cox(alpha=1.0, tau=8.0))


def test_the_index_means_nothing(plain):
    table, y = plain
    expected = pipe().fit(table, y).predict(table)
    frame = pd.DataFrame({"event": y.event, "time": y.time})
    for index in (np.arange(150)[::-1], np.zeros(150, dtype=int), [f"row {i}" for i in range(150)]):
        moved, outcome = table.set_axis(index), frame.set_axis(np.roll(index, 3))
        np.testing.assert_array_equal(pipe().fit(moved, outcome).predict(moved), expected)


@pytest.mark.parametrize("form", ["nullable", "pyarrow", "category", "string", "object"])
def test_dtypes_of_every_kind_give_the_same_numbers(plain, form):
    table, y = plain
    expected = pipe().fit(table, y).predict(table)
    if form == "pyarrow":
        pytest.importorskip("pyarrow")
    made = {
        "nullable": lambda: table.convert_dtypes(),
        "pyarrow": lambda: table.convert_dtypes(dtype_backend="pyarrow"),
        "category": lambda: table.assign(ward=table["ward"].astype("category")),
        "string": lambda: table.assign(ward=table["ward"].astype("string")),
        "object": lambda: table.assign(ward=table["ward"].astype(object)),
    }[form]()
    np.testing.assert_allclose(pipe().fit(made, y).predict(made), expected, rtol=1e-9)
    ranker = ly.BootstrappedRanker(tau=8.0, n_estimators=4, random_state=0, n_jobs=1)
    said = ranker.fit(made, y).predict(made)
    np.testing.assert_allclose(said, ranker.fit(table, y).predict(table), rtol=1e-9)


def test_missing_values_of_every_kind_are_missing(plain):
    table, y = plain
    gaps = np.arange(150) % 9 == 0
    by_nan = table.assign(a=table["a"].mask(gaps), ward=table["ward"].where(~gaps, None))
    by_na = table.convert_dtypes().assign(
        a=table["a"].astype("Float64").mask(gaps, pd.NA), ward=table["ward"].astype("string").mask(gaps, pd.NA)
    )
    np.testing.assert_allclose(pipe().fit(by_nan, y).predict(by_nan), pipe().fit(by_na, y).predict(by_na), rtol=1e-9)


def test_nothing_given_is_changed(plain):
    table, y = plain
    before, outcome = table.copy(deep=True), pd.DataFrame({"event": y.event, "time": y.time})
    kept = outcome.copy(deep=True)
    pipe().fit(table, outcome).predict(table)
    ly.BootstrappedRanker(tau=8.0, n_estimators=3, random_state=0, n_jobs=1).fit(table, outcome)
    ly.data.read_table(table.assign(time=y.time, event=y.event), time="time", event="event")
    pd.testing.assert_frame_equal(table, before)
    pd.testing.assert_frame_equal(outcome, kept)


def test_outcomes_of_nullable_dtypes():
    frame = pd.DataFrame({"event": pd.array([True, False, True]), "time": pd.array([1, 2, 3], dtype="Int64")})
    y = ly.as_outcome(frame.astype({"event": "boolean"}))
    assert (y.time.tolist(), y.event.tolist()) == ([1.0, 2.0, 3.0], [True, False, True])
    frame.loc[1, "time"] = pd.NA
    with pytest.raises(ValueError, match="time"):
        ly.as_outcome(frame)
