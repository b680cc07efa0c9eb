import numpy as np
import pandas as pd
import pytest

from lifeyears import Outcome
from lifeyears.data import Dataset, TablePreprocessor, cohort_summary

# Five patients; events at 1, 3 and 8, censored at 2 and 6.
Y = Outcome(time=[1.0, 2.0, 3.0, 6.0, 8.0], event=[True, False, True, False, True])
X = pd.DataFrame(
    {
        "age": [40, 50, 60, 70, 80],
        "sex": pd.Categorical(["F", "M", "F", "M", "F"]),
        "centre": ["a", "b", "a", "b", "c"],
        "diabetes": [True, False, True, False, True],
        "weight": [60.0, 70.5, np.nan, 80.0, 90.0],
    }
)


def test_cohort_table_counts_patients_censored_and_features():
    row = cohort_summary(Y, X).cohort.iloc[0]
    assert row["Total patients"] == 5
    assert row["Censored"] == 2
    assert row["Censored (%)"] == 40.0
    assert row["Total features"] == 5
    assert row["Categorical features"] == 3  # sex, centre, diabetes


def test_followup_table_has_the_papers_rows_and_columns_with_values_by_hand():
    followup = cohort_summary(Y).followup
    assert list(followup.index) == [
        "Median",
        "75th percentile",
        "90th percentile",
        "95th percentile",
        "99th percentile",
        "Maximum",
    ]
    assert list(followup.columns) == ["Entire cohort", "Observed", "Censored"]
    # Linear interpolation between order statistics: position (n − 1)·q, counted from 0.
    np.testing.assert_allclose(followup["Entire cohort"], [3, 6, 7.2, 7.6, 7.92, 8])
    np.testing.assert_allclose(followup["Observed"], [3, 5.5, 7, 7.5, 7.9, 8])
    np.testing.assert_allclose(followup["Censored"], [4, 5, 5.6, 5.8, 5.96, 6])


def test_without_features_the_feature_columns_are_left_out():
    assert list(cohort_summary(Y).cohort.columns) == ["Total patients", "Censored", "Censored (%)"]


def test_a_group_without_patients_has_missing_follow_up():
    summary = cohort_summary(([1, 1], [2.0, 4.0]), np.zeros((2, 3)))
    assert summary.followup["Censored"].isna().all()
    assert summary.followup.loc["Maximum", "Observed"] == 4.0
    assert summary.cohort["Categorical features"].item() == 0
    assert "nan" not in str(summary).lower()


def test_text_shows_counts_as_the_paper_does():
    time = np.ones(60_055)
    event = np.arange(60_055) >= 29_707  # the paper's cohort: 29,707 of 60,055 censored
    text = str(cohort_summary((event, time), np.zeros((60_055, 1))))
    assert "60,055" in text
    assert "29,707 (49.47%)" in text


def test_notebook_shows_two_tables():
    html = cohort_summary(Y, X)._repr_html_()
    assert html.count("<table") == 2
    assert "75th percentile" in html
    assert ">40.00<" in html


def test_what_is_categorical_has_one_rule():
    numbers, words = [1, None, 2.5, 3, 4], ["a", None, "b", "a", "b"]
    frame = pd.DataFrame(
        {
            "numbers": pd.Series(numbers, dtype=object),
            "words": pd.Series(words, dtype=object),
            "flags": pd.Series([True, None, False, True, True], dtype="boolean"),
            "sex": X["sex"],
            "age": X["age"],
        }
    )
    expected = ["words", "flags", "sex"]
    assert list(TablePreprocessor().fit(frame).categories_) == expected
    assert Dataset(frame, Y, "five", horizon=5.0).categorical == expected
    assert cohort_summary(Y, frame).cohort["Categorical features"].item() == 3
    when = frame.assign(when=pd.date_range("2020-01-01", periods=5))  # neither, and nothing to refuse
    assert Dataset(when, Y, "five", horizon=5.0).categorical == expected
    assert cohort_summary(Y, when).cohort["Categorical features"].item() == 3


def test_polars_features_are_counted():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"age": [1, 2, 3, 4, 5], "sex": list("FMFMF"), "ill": [True, False, True, None, True]})
    row = cohort_summary(Y, frame).cohort.iloc[0]
    assert (row["Total features"], row["Categorical features"]) == (3, 2)


def test_features_of_another_length_are_refused():
    with pytest.raises(ValueError, match="X has 4 rows and y has 5"):
        cohort_summary(Y, X.iloc[:4])


def test_features_that_are_no_table_are_refused():
    with pytest.raises(ValueError, match=r"X must be a table.*shape is \(5,\)"):
        cohort_summary(Y, np.zeros(5))
