import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.model_selection import KFold, cross_validate

import lifeyears as ly
from lifeyears.curves import product_limit

EVENT, TIME = [True, False, True], [5.0, 2.0, 9.0]


@pytest.mark.parametrize(
    "y",
    [
        ly.Outcome(TIME, EVENT),
        np.array(list(zip(EVENT, TIME, strict=True)), dtype=[("whatever", bool), ("name", float)]),
        np.array(list(zip(EVENT, TIME, strict=True)), dtype=[("event", int), ("time", int)]),
        np.array(list(zip(EVENT, TIME, strict=True)), dtype=[("survival", bool), ("lenfol", float)]),
        pd.DataFrame({"time": TIME, "event": EVENT}),
        pd.DataFrame({"event": EVENT, "time": TIME}),
        pd.DataFrame({"Survival_Time": TIME, "Status": [1, 0, 1]}),
        pd.DataFrame({"a": [1, 0, 1], "b": TIME}),
        pl.DataFrame({"days": TIME, "died": EVENT}),
        (EVENT, TIME),
        [np.array([1, 0, 1]), np.array(TIME)],
        (pd.Series(EVENT), pd.Series(TIME)),
    ],
    ids=lambda y: type(y).__name__,
)
def test_every_form_of_y_gives_the_same_outcome(y):
    outcome = ly.as_outcome(y)
    assert outcome.time.tolist() == TIME
    assert outcome.event.tolist() == EVENT
    assert outcome.n_events == 2
    assert len(outcome) == 3
    assert outcome.shape == (3,)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (([1, 1], [1.0, np.nan]), "missing values in row 1"),
        (([1, 1], [np.inf, 1.0]), "infinite values in row 0"),
        (([1, 1, 1], [1.0, -1.0, -2.0]), "negative values in rows 1, 2"),
        (([1] * 9, [-1.0] * 9), "rows 0, 1, 2, 3, 4 and 4 more"),
        (([], []), "no rows"),
        (([1, 0], [1.0]), "event has 2 values and time has 1"),
        (([0, 1, 2], [1.0, 2.0, 3.0]), "found 0, 1, 2 in row 2"),
        (([1, 2, 2], [1.0, 2.0, 3.0]), "event == 2"),
        ((["dead", "alive"], [1.0, 2.0]), "found 'dead', 'alive'"),
        (([1.0, np.nan], [1.0, 2.0]), "event is missing in row 1"),
        (([1, 0], ["a", "b"]), "time must be numbers"),
        (([2.5, 1.5], [1, 0]), r"looks like \(time, event\)"),
        (np.ones(4), "cannot read an outcome from ndarray of shape"),
        (np.ones((4, 2)), "cannot read an outcome"),
        ("time", "cannot read an outcome from str"),
        (pd.DataFrame({"time": [1.0]}), "two columns"),
        (pd.DataFrame({"entry": [0.0], "time": [1.0], "event": [1]}), "left truncation"),
        (pd.DataFrame({"start": [0.0], "stop": [1.0], "event": [1]}), "left truncation"),
        (pd.DataFrame({"a": [0.0], "time": [1.0], "event": [1]}), "it has 3"),
        (pd.DataFrame({"time": [1.0], "censored": [1]}), "'censored' looks like the opposite of an event"),
        (pd.DataFrame({"alive": [1], "years": [1.0]}), "opposite of an event"),
        (([1], np.array([1], dtype="timedelta64[D]")), "not dates or durations"),
        (([1], np.array(["2020-01-01"], dtype="datetime64[D]")), "not dates or durations"),
    ],
)
def test_bad_outcomes_are_refused_with_what_and_where(y, message):
    with pytest.raises(ValueError, match=message):
        ly.as_outcome(y)


def test_all_events_and_all_censored_are_fine():
    assert ly.as_outcome(([1, 1], [1.0, 2.0])).n_events == 2
    assert ly.as_outcome(([0, 0], [1.0, 2.0])).n_events == 0


def test_restrict_cuts_time_and_makes_reaching_tau_an_event():
    y = ly.Outcome([1.0, 4.0, 4.0, 7.0, 4.0], [False, True, False, False, True]).restrict(4)
    assert y.time.tolist() == [1, 4, 4, 4, 4]
    assert y.event.tolist() == [False, True, True, True, True]
    with pytest.raises(ValueError, match="tau"):
        y.restrict(0)


def test_censoring_puts_events_before_censorings_at_a_tie():
    # at 2 one dies and one is censored: the dead was not at risk of censoring, so G(2) = 1 − 1/2 and not 1 − 1/3
    y = ly.Outcome([1.0, 2.0, 2.0, 3.0], [True, True, False, True])
    G = product_limit(y.censoring()).curves()
    assert G.at(2.0, left=True) == [1.0]
    assert G.at(2.0) == [0.5]


def test_censoring_at_time_zero_follows_the_same_rule():
    y = ly.Outcome([0.0, 0.0, 1.0], [True, False, True])
    assert product_limit(y.censoring()).curves().at(0.5) == [0.5]


def test_censoring_curve_equals_r(patients, y, from_r):
    G = product_limit(y.censoring()).curves()
    assert G.at(from_r["times"])[0] == pytest.approx(from_r["censoring"], abs=1e-12)


def test_outcome_is_read_only_and_does_not_alias():
    time = np.array([1.0, 2.0])
    y = ly.Outcome(time, [True, False])
    time[0] = 99
    assert y.time[0] == 1
    with pytest.raises(ValueError, match="read-only"):
        y.time[0] = 5


def test_indexing_slices_masks_and_single_rows():
    y = ly.Outcome(TIME, EVENT)
    assert y[[2, 0]].time.tolist() == [9, 5]
    assert y[y.event].time.tolist() == [5, 9]
    assert y[1:].event.tolist() == [False, True]
    assert y[1]["time"] == 2
    assert y[-1]["time"] == 9
    assert y[np.array(0)]["event"]
    assert "Outcome(n=3" in repr(y)
    assert repr(y[:0]) == "Outcome(n=0)"
    assert np.asarray(y).dtype.names == ("event", "time")
    with pytest.raises(TypeError, match="two fields"):
        np.asarray(y, dtype=float)


def test_suggested_horizon_is_the_95th_percentile_of_censored_times():
    time = np.arange(101.0)
    assert ly.suggest_horizon((np.zeros(101), time)) == 95
    assert ly.suggest_horizon((np.ones(101), time)) == 100


@pytest.mark.parametrize("form", ["outcome", "structured", "frame", "polars"])
def test_cross_validate_takes_every_form(X, y, form):
    given = {
        "outcome": y,
        "structured": y.to_structured(),
        "frame": pd.DataFrame({"event": y.event, "time": y.time}),
        "polars": pl.DataFrame({"event": y.event, "time": y.time}),
    }[form]
    scores = cross_validate(ly.models.Cox(), X, given, cv=KFold(3), error_score="raise")["test_score"]
    assert (scores > 0.5).all()


def test_show_versions_names_what_is_there(capsys):
    ly.show_versions()
    assert "numpy" in capsys.readouterr().out
