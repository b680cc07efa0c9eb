"""Numbers that are written otherwise: as text, with thousands points, with leading zeros, or too large."""

import io

import numpy as np
import pandas as pd
import pytest

from lifeyears.data import read_table


@pytest.fixture
def write(tmp_path):
    def write(content):
        path = tmp_path / "heart.csv"
        path.write_text(content)
        return path

    return write


def refusal(path_or_frame, **options):
    with pytest.raises(ValueError) as caught:
        read_table(path_or_frame, "time", "event", **options)
    return str(caught.value)


# ---------------------------------------------------------------- thousands points

THOUSANDS = "time;event;x\n987;1;a\n1.234;0;b\n345;1;a\n2.010;0;b\n"


def test_thousands_points_beside_smaller_whole_numbers_can_be_read_in_two_ways(write):
    message = refusal(write(THOUSANDS))
    assert "column 'time' can be read in two ways: is '1.234' 1.234 or 1234?" in message
    assert "Pass decimal='.' or decimal=','" in message
    assert "column 'x' can be" in refusal(write("time;event;x\n1;1;987\n2;0;1.234\n3;1;5\n"))


def test_the_user_says_what_a_point_is(write):
    path = write(THOUSANDS)
    assert read_table(path, "time", "event", decimal=".").y.time.tolist() == [987, 1.234, 345, 2.01]
    assert read_table(path, "time", "event", decimal=",").y.time.tolist() == [987, 1234, 345, 2010]


@pytest.mark.parametrize(
    ("dose", "why"),
    [
        ([0.5, 1.5, 2.5, 2.5], "no thousand is written 0.5"),
        ([1.5, 1.5, 2.5, 2.5], "nor 1.5"),
    ],
)
def test_one_plain_decimal_in_the_file_settles_it(write, dose, why):
    rows = zip([987, "1.234", 345, "2.010"], [1, 0, 1, 0], dose, strict=True)
    path = write("time;event;dose\n" + "".join(f"{time};{event};{amount}\n" for time, event, amount in rows))
    assert read_table(path, "time", "event").y.time.tolist() == [987, 1.234, 345, 2.01], why


@pytest.mark.parametrize("other", ["5.678", "1500"])  # three decimals throughout; a thousand without a point
def test_points_are_decimals_where_thousands_would_look_otherwise(write, other):
    path = write(f"time;event;x\n1.234;1;a\n{other};0;b\n2.010;1;a\n")
    assert read_table(path, "time", "event").y.time.tolist() == [1.234, float(other), 2.01]


def test_decimal_commas_elsewhere_settle_it_too(write):
    path = write("time;event;dose\n987;1;1,5\n1.234;0;2,5\n345;1;1,5\n2.010;0;2,5\n")
    with pytest.warns(UserWarning, match="decimal commas were read in time, dose"):
        assert read_table(path, "time", "event").y.time.tolist() == [987, 1234, 345, 2010]


def test_decimal_commas_here_and_points_there_settle_nothing(write):
    message = refusal(write("time;event;dose;x\n987;1;1,5;1.5\n1.234;0;2,5;2.5\n345;1;1,5;1.5\n"))
    assert "column 'time' can be read in two ways" in message


def test_a_column_that_is_dropped_is_no_obstacle(write):
    path = write("time;event;cost;age\n1;1;1,234;40\n2;0;12,000;50\n3;1;7;50\n")
    assert list(read_table(path, "time", "event", drop="cost").X.columns) == ["age"]


# ---------------------------------------------------------------- the decimal mark that is given


def test_times_that_do_not_fit_the_given_decimal_mark_are_refused(write):
    path = write("time;event;age\n1,5;1;40\n2;0;50\n3,5;1;50\n")
    message = refusal(path, decimal=".")
    assert "the time column 'time' holds text, not numbers under decimal='.': '1,5', '3,5' in lines 2, 4" in message
    frame = pd.DataFrame({"time": ["1,5", "2,5"], "event": [1, 0], "age": [40, 50]})
    assert "not numbers under decimal='.': '1,5', '2,5' in rows 0, 1" in refusal(frame, decimal=".")


def test_features_that_do_not_fit_the_given_decimal_mark_are_pointed_at(write):
    path = write("time;event;dose\n1;1;1,5\n2;0;2,5\n3;1;2,5\n")
    with pytest.warns(UserWarning, match=r"decimal='\.' leaves dose as text, with commas where decimals would be"):
        assert read_table(path, "time", "event", decimal=".").categorical == ["dose"]
    path = write("time;event;dose\n1.5;1;1,5\n2.5;0;2,5\n3;1;2,5\n")
    with pytest.warns(UserWarning, match="time was read with decimal points, though decimal=','"):
        assert read_table(path, "time", "event", decimal=",").X["dose"].tolist() == [1.5, 2.5, 2.5]


# ---------------------------------------------------------------- texts in frames


@pytest.mark.parametrize("dtype", [str, "string", "string[pyarrow]", object])
def test_numbers_kept_as_text_in_a_frame_are_numbers(dtype):
    if dtype == "string[pyarrow]":
        pytest.importorskip("pyarrow")
    csv = "time,event,dose,sex\n1.5,1,3,F\n2.5,0,,M\n3.5,1,5,F\n"
    frame = pd.read_csv(io.StringIO(csv), dtype=str).astype(dtype)
    with pytest.warns(UserWarning, match="texts were read as numbers in dose: name those that are codes in categori"):
        data = read_table(frame, "time", "event")
    assert data.y.time.tolist() == [1.5, 2.5, 3.5]
    np.testing.assert_array_equal(data.X["dose"], [3, np.nan, 5])
    assert data.categorical == ["sex"]


def test_blanks_and_words_for_missing_do_not_keep_texts_from_being_numbers():
    frame = pd.DataFrame({"time": [1, 2, 3, 4], "event": [1, 0, 1, 0], "dose": ["1.5", " ", "NA", "2.5"]})
    with pytest.warns(UserWarning, match="texts were read as numbers in dose"):
        np.testing.assert_array_equal(read_table(frame, "time", "event").X["dose"], [1.5, np.nan, np.nan, 2.5])


def test_texts_in_a_frame_are_asked_for_their_decimal_mark_as_in_a_file():
    frame = pd.DataFrame({"time": [1, 2], "event": [1, 0], "dose": ["1,5", "2,25"]})
    with pytest.warns(UserWarning, match="decimal commas were read in dose"):
        assert read_table(frame, "time", "event").X["dose"].tolist() == [1.5, 2.25]
    message = refusal(frame.assign(dose=["1,234", "7"]))
    assert "column 'dose' can be read in two ways: is '1,234' 1234 or 1.234?" in message


def test_texts_named_categorical_and_pandas_categories_stay_categories():
    frame = pd.DataFrame({"time": [1, 2, 3], "event": [1, 0, 1], "centre": pd.Categorical(["1", "10", "2"])})
    assert list(read_table(frame, "time", "event").X["centre"].cat.categories) == ["1", "10", "2"]
    named = read_table(frame.assign(centre=["1,234", "7", "10"]), "time", "event", categorical="centre")
    assert named.X["centre"].tolist() == ["1,234", "7", "10"]


@pytest.mark.parametrize("dtype", ["UInt64", "uint64[pyarrow]", "uint64"])
def test_whole_numbers_beyond_the_signed_ones_stay_positive(dtype):
    if "pyarrow" in dtype:
        pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"time": [1.0, 2, 3], "event": [1, 0, 1], "x": pd.array([2**63, 1, 1], dtype=dtype)})
    assert read_table(frame, "time", "event").X["x"].tolist() == [2**63, 1, 1]


# ---------------------------------------------------------------- leading zeros


@pytest.mark.parametrize("kind", ["file", "frame"])
def test_codes_with_leading_zeros_are_categories_of_their_own(write, kind):
    codes = ["007", "07", "7", "7"]
    table = pd.DataFrame({"time": [1, 2, 3, 4], "event": [1, 0, 1, 0], "code": codes})
    with pytest.warns(UserWarning, match=r"column code has leading zeros \('007'\): taken as codes"):
        data = read_table(write(table.to_csv(index=False)) if kind == "file" else table, "time", "event")
    assert data.X["code"].tolist() == codes
    named = read_table(table, "time", "event", categorical=["code"])  # then there is nothing to say
    assert named.X["code"].tolist() == codes


def test_times_with_leading_zeros_are_numbers(write):
    assert read_table(write("time,event,age\n05,1,40\n10,0,50\n07,1,50\n"), "time", "event").y.time.tolist() == [
        5,
        10,
        7,
    ]


def test_numbers_with_leading_zeros_are_identifiers_if_all_differ(write):
    rows = "".join(f"{i % 7 + 1},{i % 2},{i * 37 % 100:05d},{i % 5}\n" for i in range(40))
    data = read_table(write("time,event,record,age\n" + rows), "time", "event")
    assert data.report.dropped_columns == {"record": "it is an identifier: a different text in every row"}


def test_quantities_lost_to_leading_zeros_are_pointed_at(write):
    rows = "".join(f"{i % 7 + 1},{i % 2},{i * 37 % 79:03d},{i % 5}\n" for i in range(80))  # 79 values in 80 rows
    with pytest.warns(UserWarning, match=r"column dose is left out: with leading zeros \('000'\) it holds codes"):
        data = read_table(write("time,event,dose,age\n" + rows), "time", "event")
    assert list(data.X.columns) == ["age"]


def test_zero_and_decimals_below_one_are_no_codes(write):
    data = read_table(write("time,event,dose\n1,1,0\n2,0,0.5\n3,1,-0.5\n4,0,00.5\n"), "time", "event")
    assert data.X["dose"].tolist() == [0, 0.5, -0.5, 0.5]
