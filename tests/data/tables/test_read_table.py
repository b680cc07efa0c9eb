"""Tables that can be read: every way of coding time and event, every kind of file, the fate of columns."""

import base64
import bz2
import csv
import datetime
import gzip
import lzma
import sys
import warnings
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from lifeyears.data import read_table

TABLE = pd.DataFrame(
    {
        "years": [1.5, 2.25, 4.0, 8.0],
        "died": [1, 0, 1, 0],
        "age": [40.5, 50.0, np.nan, 70.25],
        "sex": ["F", "M", "F", "M"],
    }
)


def check_is_table(dataset):
    assert dataset.y.time.tolist() == [1.5, 2.25, 4.0, 8.0]
    assert dataset.y.event.tolist() == [True, False, True, False]
    assert list(dataset.X.columns) == ["age", "sex"]
    np.testing.assert_array_equal(dataset.X["age"], [40.5, 50.0, np.nan, 70.25])
    assert isinstance(dataset.X["sex"].dtype, pd.CategoricalDtype)
    assert dataset.X["sex"].tolist() == ["F", "M", "F", "M"]
    assert dataset.categorical == ["sex"]
    assert dataset.report.warnings == ()


def outcome_table(event, **columns):
    n = len(event)
    return pd.DataFrame({"time": np.arange(1.0, n + 1), "event": event, "age": 50.0 + np.arange(n) % 3} | columns)


# ---------------------------------------------------------------- ways of coding the event


@pytest.mark.parametrize(
    "coded",
    [
        [1, 0, 1],
        [1.0, 0.0, 1.0],
        [True, False, True],
        ["1", "0", "1"],
        ["True", "False", "True"],
        ["yes", "no", "yes"],
        ["Yes", " NO ", "YES"],
        ["Y", "N", "Y"],
        ["dead", "alive", "dead"],
        ["Died", "Censored", "Died"],
        ["deceased", "living", "Deceased"],
        ["event", "censored", "event"],
        ["event", "no event", "event"],
        ["failed", "survived", "failed"],
    ],
    ids=str,
)
def test_plain_codings_of_the_event_are_understood(coded):
    assert read_table(outcome_table(coded), "time", "event").y.event.tolist() == [True, False, True]


@pytest.mark.parametrize("dtype", ["category", "string", "Int64", "boolean"])
def test_event_column_may_have_any_pandas_type(dtype):
    values = {"category": ["dead", "alive", "dead"], "string": ["y", "n", "y"]}.get(dtype, [1, 0, 1])
    assert read_table(outcome_table(pd.array(values, dtype=dtype)), "time", "event").y.event.tolist() == [
        1,
        0,
        1,
    ]


@pytest.mark.parametrize(
    ("coded", "means_event"),
    [
        ([2, 1, 2], 2),
        ([2.0, 1.0, 2.0], 2),
        (["2", "1", "2"], 2),
        (["graft loss", "functioning", "Graft Loss"], "graft loss"),
        ([2, 0, 1], [1, 2]),
        (["cancer", "alive", "heart"], ("heart", "cancer")),
        ([0, 1, 0], 0),
        ([True, False, True], True),
    ],
    ids=str,
)
def test_the_users_event_values_decide(coded, means_event):
    data = read_table(outcome_table(coded), "time", "event", event_values=means_event)
    assert data.y.event.tolist() == [True, False, True]


@pytest.mark.parametrize(
    ("coded", "means_event", "told"),
    [
        ([0, 1, 2, 2], 1, "2 rows of other codes in 'event' count as censored: 2 (2 rows)"),
        (
            ["alive", "died", "re-tx", "lost"],
            "died",
            "2 rows of other codes in 'event' count as censored: 're-tx' (1 row), 'lost' (1 row)",
        ),
        ([1, 2, 3, 3], 3, "2 rows of other codes in 'event' count as censored: 1 (1 row), 2 (1 row)"),
        ([0, 1, 2, 2], [1, 2], None),
        ([1, 2, 1, 2], 2, None),
        (["no", "died", "alive", "died"], "died", None),
    ],
    ids=str,
)
def test_codes_of_other_events_are_told_of(coded, means_event, told):
    table = pd.DataFrame({"time": [1.0, 2, 3, 4], "event": coded, "age": [40, 50, 60, 70]})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = read_table(table, "time", "event", event_values=means_event).report.warnings
    assert [told in warning and "competing events are not modelled" in warning for warning in found] == [True] * bool(
        told
    )


@pytest.mark.parametrize(
    ("name", "coded", "shown"),
    [
        ("alive", ["no", "yes", "no"], "'no'"),
        ("is_alive", [False, True, False], "'False'"),
        ("Survived", [0, 1, 0], "0"),
        ("survival_status", [0, 1, 0], "0"),
        ("living", ["N", "Y", "N"], "'N'"),
        ("censored", [0.0, 1.0, 0.0], "0"),
        ("CENSORING", ["0", "1", "0"], "0"),
        ("cens", [0, 1, 0], "0"),
    ],
)
def test_a_yes_under_a_name_that_says_no_event_needs_the_users_word(name, coded, shown):
    table = outcome_table(coded).rename(columns={"event": name})
    with pytest.raises(ValueError, match=f"event column '{name}', by its name, says who had no event") as caught:
        read_table(table, "time", name)
    assert f"Pass event_values={shown} if the name is right" in str(caught.value)
    data = read_table(table, "time", name, event_values=coded[0])
    assert data.y.event.tolist() == [True, False, True]


@pytest.mark.parametrize(
    ("name", "coded"),
    [
        ("alive", ["dead", "alive", "dead"]),
        ("censored", ["event", "censored", "event"]),
        ("uncensored", [1, 0, 1]),
        ("not_censored", ["yes", "no", "yes"]),
        ("overall_survival_event", [1, 0, 1]),
        ("living_donor_graft_failed", [1, 0, 1]),
    ],
)
def test_a_name_that_does_not_speak_against_the_coding_is_taken_as_it_is(name, coded):
    data = read_table(outcome_table(coded).rename(columns={"event": name}), "time", name)
    assert data.y.event.tolist() == [True, False, True]


# ---------------------------------------------------------------- ways of coding the time


def test_time_as_numbers_keeps_the_users_unit():
    data = read_table(TABLE.rename(columns={"years": "followup_days"}), "followup_days", "died")
    assert data.y.time.tolist() == [1.5, 2.25, 4.0, 8.0]
    assert data.unit == "days"  # told by the column's name
    assert read_table(TABLE, "years", "died", unit="months").unit == "months"
    assert read_table(TABLE.rename(columns={"years": "t"}), "t", "died").unit == "time units"


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("time (yrs), total", "years"),
        ("fu_mo", "months"),
        ("FU.MTHS", "months"),
        ("yrs", "years"),
        ("wk", "weeks"),
        ("t_hrs2", "hours"),
        ("OS (d)", "days"),
        ("t_y", "years"),
        ("moment", "time units"),
        ("y", "time units"),
        ("d_time", "time units"),
        ("time_to_d", "time units"),
        ("yr_or_mo", "time units"),
    ],
)
def test_units_are_known_by_their_short_names(name, unit):
    assert read_table(TABLE.rename(columns={"years": name}), name, "died").unit == unit


@pytest.mark.parametrize("values", [[1, 2, 3], ["1", "2.0", " 3 "], pd.array([1, 2, 3], dtype="Int64")], ids=str)
def test_time_may_be_whole_numbers_or_numbers_as_text(values):
    table = pd.DataFrame({"time": values, "event": [1, 0, 1], "age": [1.5, 2.5, 2.5]})
    assert read_table(table, "time", "event").y.time.tolist() == [1.0, 2.0, 3.0]


def test_time_as_durations_becomes_years_or_the_unit_asked_for():
    table = pd.DataFrame({"time": pd.to_timedelta([365.25, 730.5], unit="D"), "event": [1, 0], "age": [1.5, 2.5]})
    assert read_table(table, "time", "event").y.time.tolist() == [1.0, 2.0]
    assert read_table(table, "time", "event", unit="days").y.time.tolist() == [365.25, 730.5]


DATES = {
    "iso": ["2000-01-01", "2001-07-02", "2003-12-31"],
    "iso with clock": ["2000-01-01 00:00", "2001-07-02T00:00:00", "2003-12-31 00:00:00Z"],
    "year first, slashes": ["2000/1/1", "2001/7/2", "2003/12/31"],
    "eight digits": [20000101, 20010702, 20031231],
    "German": ["01.01.2000", "02.07.2001", "31.12.2003"],
    "British": ["01/01/2000", "02/07/2001", "31/12/2003"],
    "American": ["1/1/2000", "7/2/2001", "12/31/2003"],
    "American with dashes": ["01-01-2000", "07-02-2001", "12-31-2003"],
    "SAS date9": ["01JAN2000", "02JUL2001", "31DEC2003"],
    "month by name": ["1 Jan 2000", "2 July 2001", "31 December 2003"],
    "month by name first": ["Jan 1, 2000", "July 2, 2001", "December 31, 2003"],
    "datetime64": pd.to_datetime(["2000-01-01", "2001-07-02", "2003-12-31"]),
    "datetime64 with zone": pd.to_datetime(["2000-01-01", "2001-07-02", "2003-12-31"], utc=True),
    "date objects": [datetime.date(2000, 1, 1), datetime.date(2001, 7, 2), datetime.date(2003, 12, 31)],
}


@pytest.mark.parametrize("coding", DATES)
def test_dates_become_durations_and_entry_years(coding):
    # 2000 has 366 days, 2001 has 365 (2 July is day 182 from 0); exits lie 366, 31 and 1461 days later.
    exits = pd.to_datetime(["2001-01-01", "2001-08-02", "2007-12-31"])
    table = pd.DataFrame({"in": DATES[coding], "out": exits, "dead": [1, 0, 1], "age": [50.5, 60.5, 60.5]})
    data = read_table(table, event="dead", entry="in", exit="out")
    np.testing.assert_allclose(data.y.time, np.array([366, 31, 1461]) / 365.25, rtol=1e-12)
    np.testing.assert_allclose(data.entry, [2000, 2001 + 182 / 365, 2003 + 364 / 365], rtol=1e-12)
    assert data.unit == "years"
    assert list(data.X.columns) == ["age"]


@pytest.mark.parametrize(
    ("unit", "expected"),
    [("hours", 744), ("days", 31), ("weeks", 31 / 7), ("months", 31 * 12 / 365.25), ("years", 31 / 365.25)],
)
def test_dates_give_durations_in_the_unit_asked_for(unit, expected):
    table = pd.DataFrame({"in": ["2001-01-01"] * 2, "out": ["2001-02-01"] * 2, "dead": [1, 0], "age": [1.5, 2.5]})
    data = read_table(table, event="dead", entry="in", exit="out", unit=unit)
    np.testing.assert_allclose(data.y.time, [expected, expected])
    assert data.unit == unit


def test_one_date_after_the_12th_tells_day_from_month_in_both_columns():
    table = pd.DataFrame(
        {
            "in": ["01/02/2001", "03/02/2001"],
            "out": ["01/03/2001", "25/03/2001"],
            "dead": [1, 0],
            "age": [1.5, 2.5],
        }
    )
    data = read_table(table, event="dead", entry="in", exit="out", unit="days")
    assert data.y.time.tolist() == [28, 50]  # February 2001 has 28 days


def test_date_format_settles_what_no_row_tells():
    table = pd.DataFrame(
        {
            "in": ["01/02/2001", "03/02/2001"],
            "out": ["01/03/2001", "05/03/2001"],
            "dead": [1, 0],
            "age": [1.5, 2.5],
        }
    )
    american = read_table(table, event="dead", entry="in", exit="out", unit="days", date_format="%m/%d/%Y")
    assert american.y.time.tolist() == [1, 62]  # 2 to 3 January; 2 March to 3 May: 31 + 30 + 1


def test_calendar_years_serve_as_entry_and_exit():
    table = pd.DataFrame({"in": [1990.5, 2000], "out": [1992.0, 2010], "dead": [1, 0], "age": [1.5, 2.5]})
    data = read_table(table, event="dead", entry="in", exit="out")
    np.testing.assert_allclose(data.y.time, [1.5, 10])
    np.testing.assert_allclose(data.entry, [1990.5, 2000])


def test_entry_beside_time_says_when_each_subject_entered():
    data = read_table(TABLE.assign(tx_date=["2001-01-01", "2002-01-01"] * 2), "years", "died", entry="tx_date")
    assert data.y.time.tolist() == [1.5, 2.25, 4.0, 8.0]
    assert data.entry.tolist() == [2001, 2002, 2001, 2002]
    assert list(data.X.columns) == ["age", "sex"]


def test_entry_on_the_scale_of_follow_up_is_refused_as_left_truncation():
    with pytest.raises(ValueError, match=r"'start' holds 0\.5.*left truncation"):
        read_table(TABLE.assign(start=0.5), "years", "died", entry="start")


# ---------------------------------------------------------------- kinds of files

CSV = "years,died,age,sex\n1.5,1,40.5,F\n2.25,0,50,M\n4,1,,F\n8,0,70.25,M\n"


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|", " ", ":"])
def test_delimiters_are_found(tmp_path, delimiter):
    path = tmp_path / "heart.csv"
    path.write_text(CSV.replace(",,", ",NA,").replace(",", delimiter))
    check_is_table(read_table(path, "years", "died"))
    check_is_table(read_table(str(path), "years", "died", delimiter=delimiter))


@pytest.mark.parametrize("delimiter", ["~", "^"])
def test_an_unusual_delimiter_can_be_given(tmp_path, delimiter):
    path = tmp_path / "heart.txt"
    path.write_text(CSV.replace(",", delimiter))
    check_is_table(read_table(path, "years", "died", delimiter=delimiter))


def test_excels_own_delimiter_line_is_obeyed(tmp_path):
    path = tmp_path / "heart.csv"
    path.write_text("sep=;\n" + CSV.replace(",", ";"))
    check_is_table(read_table(path, "years", "died"))


@pytest.mark.parametrize("ending", ["\r\n", "\r"])
def test_line_endings_of_other_systems_are_read(tmp_path, ending):
    path = tmp_path / "heart.csv"
    path.write_bytes(CSV.replace("\n", ending).encode())
    check_is_table(read_table(path, "years", "died"))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_encodings_are_told_by_their_marks(tmp_path, encoding):
    path = tmp_path / "heart.csv"
    path.write_bytes(CSV.replace("F", "weiß").encode(encoding))
    data = read_table(path, "years", "died")
    assert data.X["sex"].tolist() == ["weiß", "M", "weiß", "M"]
    assert data.report.warnings == ()


def test_quoted_texts_may_hold_delimiters_and_new_lines(tmp_path):
    path = tmp_path / "heart.csv"
    path.write_text('years,died,cause\n1,1,"heart, left"\n2,0,"line one\nline two"\n3,1,"heart, left"\n-1,1,x\n')
    with pytest.raises(ValueError, match="negative in line 6"):  # the third row takes two lines
        read_table(path, "years", "died")


def test_rows_with_nothing_in_them_are_counted_not_kept(tmp_path):
    path = tmp_path / "heart.csv"
    path.write_text(CSV + ",,,\n\n,,,\n")
    data = read_table(path, "years", "died")
    check_is_table(data)
    assert (data.report.rows_read, data.report.rows_kept) == (6, 4)
    assert data.report.dropped_rows == {"every column is empty": 2}


def test_none_is_an_answer_and_not_a_missing_value(tmp_path):
    path = tmp_path / "heart.csv"
    path.write_text("years,died,diabetes\n1,1,None\n2,0,Type II\n3,1,None\n4,0,NA\n")
    diabetes = read_table(path, "years", "died").X["diabetes"]
    assert diabetes.isna().tolist() == [False, False, False, True]
    assert set(diabetes.cat.categories) == {"None", "Type II"}


@pytest.mark.parametrize(
    ("ending", "compress"), [(".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress)]
)
def test_compressed_files_are_read(tmp_path, ending, compress):
    path = tmp_path / f"heart.csv{ending}"
    path.write_bytes(compress(CSV.encode()))
    data = read_table(path, "years", "died")
    check_is_table(data)
    assert data.name == "heart"


def test_zip_files_are_read_if_they_hold_one_table(tmp_path):
    path = tmp_path / "heart.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("folder/heart.csv", CSV)
        archive.writestr("__MACOSX/._heart.csv", "rubbish")
    check_is_table(read_table(path, "years", "died"))
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("codebook.csv", "a,b")
    with pytest.raises(ValueError, match=r"holds 2 files \(folder/heart.csv, codebook.csv\)"):
        read_table(path, "years", "died")


def test_parquet_files_are_read(tmp_path):
    pytest.importorskip("pyarrow")
    TABLE.to_parquet(tmp_path / "heart.parquet")
    check_is_table(read_table(tmp_path / "heart.parquet", "years", "died"))


@pytest.mark.parametrize("name", ["heart.feather", "heart.arrow", "heart.dat"])
def test_feather_files_are_read(tmp_path, name):
    pytest.importorskip("pyarrow")
    TABLE.to_feather(tmp_path / name)
    check_is_table(read_table(tmp_path / name, "years", "died"))


def test_excel_files_are_read(tmp_path):
    pytest.importorskip("openpyxl")
    TABLE.assign(tx=pd.to_datetime(["2001-01-01", "2002-01-01"] * 2)).to_excel(tmp_path / "heart.xlsx", index=False)
    data = read_table(tmp_path / "heart.xlsx", "years", "died", entry="tx")
    check_is_table(data)
    assert data.entry.tolist() == [2001, 2002, 2001, 2002]


def test_stata_files_are_read(tmp_path):
    status = pd.Categorical(["dead", "alive", "dead", "alive"])
    TABLE.assign(died=status).to_stata(tmp_path / "heart.dta", write_index=False)
    check_is_table(read_table(tmp_path / "heart.dta", "years", "died"))


# TABLE in upper case with ENTRY dates, written by R's haven 2.5 (write_xpt, version 5), compressed.
XPT = (
    "c-qZWK~BRk5OfPj967>mkvJd@Q4%E)iU6^xx1<tDkR2g<Mf?CB(6_*2_!f5Uq9#pg<n+K??D4K9v*RQ=AtwQXCY9h<29L8$pqN9xUOPAN"
    "{{(<U2^wpwk^@LQKhga4{VnoB*oq)7tLHFD!yt{W(>QK(7>K-M-hzruo%NeHNPc&b->t{xL_F1EP<|iQui_kQ{MY%FSdiQ`Z`?gE8!^U?"
    "*@((oy>b1aLLt2}4W-fGt}tH4b3!2<vRP>~xK?!ca==xlus<&+PF}`KtwTvK;OvEMcsU)A%Mm^h>@k-!7b|_gk1CU!wVwY2o-UTpLYo%a"
    "8=PjBX2WkjP2r+xuE;{$aQkH%?pq3;?c{ggrm$!$Ot;Uu!Vh6B$Bz"
)


def test_sas_transport_files_are_read_with_their_dates_and_zeros(tmp_path):
    path = tmp_path / "heart.xpt"
    path.write_bytes(zlib.decompress(base64.b85decode(XPT)))
    data = read_table(path, "YEARS", "DEAD", entry="ENTRY")
    assert data.y.time.tolist() == [1.5, 2.25, 4.0, 8.0]
    assert data.y.event.tolist() == [True, False, True, False]  # pandas alone gives 5e-79 for the zeros
    np.testing.assert_allclose(data.entry, [2001, 2002 + 181 / 365, 2003 + 73 / 365, 2004])
    assert data.X["SEX"].tolist() == ["F", "M", "F", "M"]
    np.testing.assert_array_equal(data.X["AGE"], [40, 50, np.nan, 70])


def test_sas_transport_dates_beyond_what_pandas_can_tell_are_dates():
    from lifeyears.data.tables._file import _transport_values

    days = pd.DataFrame({"UNTIL": [2_936_549.0, np.nan, 16_254.0]})  # R: as.Date("9999-12-31") - as.Date("1960-01-01")
    until = _transport_values(days, {"UNTIL": "DATE9"})["UNTIL"]
    assert until.dt.strftime("%Y-%m-%d").tolist() == ["9999-12-31", np.nan, "2004-07-02"]


SAS = Path(__file__).parents[2] / "reference" / "star_sas"  # made by R's haven from patients.csv


def test_sas_data_files_are_read_with_their_texts_numbers_and_dates():
    with open(SAS / "patients.csv", newline="") as lines:
        patients = list(csv.DictReader(lines))
    with pytest.warns(UserWarning, match="more columns than rows"):
        data = read_table(SAS / "thoracic_data.sas7bdat", "AGE", "WL_ORG", event_values="HR", keep=["GENDER", "TBILI"])
    assert data.name == "thoracic_data"
    assert data.y.time.tolist() == [float(patient["AGE"]) for patient in patients]
    assert data.y.event.tolist() == [patient["WL_ORG"] == "HR" for patient in patients]
    assert data.X["GENDER"].astype(object).fillna("").tolist() == [patient["GENDER"] for patient in patients]
    np.testing.assert_array_equal(data.X["TBILI"], [float(patient["TBILI"] or "nan") for patient in patients])
    assert "it holds dates" in data.report.dropped_columns["TX_DATE"]
    assert "it is an identifier" in data.report.dropped_columns["TRR_ID_CODE"]


def test_a_sas_data_file_cut_short(tmp_path):
    whole = (SAS / "thoracic_data.sas7bdat").read_bytes()
    (tmp_path / "heart.sas7bdat").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match=r"heart\.sas7bdat cannot be read as a SAS file: it is damaged, cut short"):
        read_table(tmp_path / "heart.sas7bdat", "AGE", "WL_ORG")


@pytest.mark.parametrize(
    ("package", "name"), [("pyarrow", "heart.parquet"), ("pyarrow", "heart.feather"), ("openpyxl", "heart.xlsx")]
)
def test_a_missing_package_is_named_with_the_command_that_installs_it(tmp_path, monkeypatch, package, name):
    monkeypatch.setitem(sys.modules, package, None)
    (tmp_path / name).write_bytes(b"anything")
    with pytest.raises(ImportError, match=f"pip install {package}"):
        read_table(tmp_path / name, "years", "died")


# ---------------------------------------------------------------- frames


def test_pandas_frames_are_read_and_left_as_they_were():
    before = TABLE.copy()
    check_is_table(read_table(TABLE, "years", "died"))
    pd.testing.assert_frame_equal(TABLE, before)


@pytest.mark.parametrize("with_pyarrow", [True, False])
@pytest.mark.parametrize("lazy", [True, False])
def test_polars_frames_are_read_with_and_without_pyarrow(monkeypatch, with_pyarrow, lazy):
    polars = pytest.importorskip("polars")
    if not with_pyarrow:
        monkeypatch.setitem(sys.modules, "pyarrow", None)
    else:
        pytest.importorskip("pyarrow")
    frame = polars.DataFrame(
        {
            "years": [1.5, 2.25, 4.0, 8.0],
            "died": [True, False, True, False],
            "age": [40.5, 50.0, None, 70.25],
            "sex": ["F", "M", "F", "M"],
            "tx": [datetime.date(2001, 1, 1), datetime.date(2002, 1, 1)] * 2,
        }
    )
    data = read_table(frame.lazy() if lazy else frame, "years", "died", entry="tx")
    check_is_table(data)
    assert data.entry.tolist() == [2001, 2002, 2001, 2002]


def test_a_named_index_is_a_column_and_an_unnamed_one_stays_the_index():
    named = TABLE.set_index(pd.Index(["p1", "p2", "p3", "p4"], name="patient_id"))
    data = read_table(named, "years", "died")
    assert "identifier" in data.report.dropped_columns["patient_id"]
    assert data.X.index.tolist() == ["p1", "p2", "p3", "p4"]
    check_is_table(read_table(TABLE.set_index("years"), "years", "died"))


def test_any_other_object_is_refused():
    with pytest.raises(ValueError, match="a file, or a pandas or polars frame; got a list"):
        read_table([[1, 2]], "years", "died")


# ---------------------------------------------------------------- what becomes of the columns


def wide_table(n=40, **columns):
    rng = np.random.default_rng(0)
    table = {
        "time": rng.exponential(5, n).round(3),
        "event": rng.random(n) < 0.5,
        "age": rng.normal(50, 10, n).round(1),
    }
    return pd.DataFrame(table | columns)


def test_texts_truth_values_and_categories_become_categories_of_strings():
    n = 40
    table = wide_table(
        blood=["A", " A", "O", "AB"] * 10,
        insured=[True, False] * 20,
        sometimes=pd.array([True, None] * 10 + [False, True] * 10, dtype="boolean"),
        stage=pd.Categorical([3, 1, 2, 1] * 10, categories=[3, 2, 1], ordered=True),
        blank=["", "x", "y", " "] * 10,
    )
    data = read_table(table, "time", "event")
    assert data.categorical == ["blood", "insured", "sometimes", "stage", "blank"]
    assert list(data.X["blood"].cat.categories) == ["A", "AB", "O"]
    assert list(data.X["insured"].cat.categories) == ["False", "True"]
    assert data.X["sometimes"].isna().sum() == 10
    assert list(data.X["stage"].cat.categories) == ["3", "2", "1"]
    assert data.X["stage"].cat.ordered
    assert data.X["blank"].isna().sum() == n / 2


def test_numbers_named_categorical_become_categories_without_a_decimal_point():
    centre = [2.0, 10.0, np.nan, 2.0] * 10
    data = read_table(wide_table(centre=centre), "time", "event", categorical="centre")
    assert list(data.X["centre"].cat.categories) == ["2", "10"]
    assert data.X["centre"].isna().sum() == 10
    assert read_table(wide_table(centre=centre), "time", "event").categorical == []


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("patient_id", np.arange(40) * 7919 + 13),
        ("PatientID", np.arange(40) * 7919 + 13),
        ("number", np.arange(1, 41)),
        ("number", np.random.default_rng(1).permutation(40) + 500),
        ("record", 10_000_000 + np.arange(40) * 104_729),
        ("name", [f"patient {i}" for i in range(40)]),
        ("pid", np.random.default_rng(3).choice(90_000, 40, replace=False)),
        ("mrn", np.random.default_rng(4).choice(np.arange(100_000, 1_000_000), 40, replace=False)),
    ],
)
def test_identifiers_are_left_out_with_the_reason(name, values):
    data = read_table(wide_table(**{name: values}), "time", "event")
    assert name not in data.X
    assert "identifier: a different" in data.report.dropped_columns[name]


def test_an_identifier_by_its_looks_can_be_kept():
    data = read_table(wide_table(number=np.arange(1, 41)), "time", "event", keep="number")
    assert "number" in data.X


def test_a_measurement_that_happens_to_differ_in_every_row_is_no_identifier():
    rng = np.random.default_rng(2)
    values = rng.choice(100_000, 40, replace=False)
    assert "platelets" in read_table(wide_table(platelets=values), "time", "event").X
    rounded = rng.choice(np.arange(150_000, 450_000, 1000), 40, replace=False)  # six digits, three of them zeros
    assert "platelets" in read_table(wide_table(platelets=rounded), "time", "event").X
    assert "price" in read_table(wide_table(price=np.append(rounded[1:] + 7, 99_999)), "time", "event").X
    assert "age" in read_table(wide_table(), "time", "event").X


def test_six_digits_that_differ_in_every_row_are_kept_and_pointed_at():
    values = np.random.default_rng(5).choice(np.arange(100_000, 450_000), 40, replace=False)
    with pytest.warns(UserWarning, match="column platelets holds a different whole number in every row: drop it if"):
        data = read_table(wide_table(platelets=values), "time", "event")
    assert data.X["platelets"].tolist() == values.tolist()


def test_seven_digits_that_differ_in_every_row_are_left_out_and_pointed_at():
    values = np.random.default_rng(6).choice(np.arange(1_000_000, 9_999_999), 40, replace=False)
    with pytest.warns(UserWarning, match="column number is left out: it looks like an identifier"):
        data = read_table(wide_table(number=values), "time", "event")
    assert "number" not in data.X
    assert "number" in read_table(wide_table(number=values), "time", "event", keep="number").X


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        (["US"] * 40, "one value, 'US', in all rows"),
        ([3] * 40, "it is 3 in all rows"),
        ([np.nan] * 40, "no values"),
        ([""] * 40, "no values"),
        (["yes", None] * 20, r"one value, yes, and is otherwise missing \(50%\): if blank means no, write no"),
    ],
)
def test_columns_that_do_not_vary_are_left_out_with_the_reason(values, reason):
    data = read_table(wide_table(odd=values), "time", "event")
    assert "odd" not in data.X
    with pytest.raises(AssertionError, match=reason):
        raise AssertionError(data.report.dropped_columns["odd"])


def test_dates_and_durations_among_the_features_are_left_out_with_advice():
    dates = pd.date_range("2001-01-01", periods=40)
    table = wide_table(listed=dates, seen=dates.strftime("%d.%m.%Y"), wait=pd.to_timedelta(np.arange(40), unit="D"))
    dropped = read_table(table, "time", "event").report.dropped_columns
    assert "dates: turn it into a number" in dropped["listed"]
    assert "dates: turn it into a number" in dropped["seen"]
    assert "durations: turn it into a number" in dropped["wait"]


def test_numbers_with_a_few_words_among_them_are_left_out_with_the_words():
    values = [str(value) for value in range(99)] + ["<0.1"] * 2 + [str(value) for value in range(99)]
    with pytest.warns(UserWarning, match="column creatinine is left out: it holds numbers, but also '<0.1'"):
        data = read_table(wide_table(n=200, creatinine=values), "time", "event")
    assert "make these numbers or blanks" in data.report.dropped_columns["creatinine"]


def test_infinite_features_are_taken_as_missing_with_a_warning():
    values = np.linspace(1.5, 9.7, 40)
    values[3] = np.inf
    with pytest.warns(UserWarning, match=r"column dose is infinite in row 3 \(counted from 0\): taken as missing"):
        data = read_table(wide_table(dose=values), "time", "event")
    assert np.flatnonzero(data.X["dose"].isna()).tolist() == [3]


def test_dropped_columns_are_in_the_report():
    data = read_table(TABLE, "years", "died", drop=["sex"])
    assert list(data.X.columns) == ["age"]
    assert data.report.dropped_columns == {"sex": "named in drop="}


def test_name_unit_source_and_horizon(tmp_path):
    path = tmp_path / "heart.csv"
    path.write_text(CSV)
    data = read_table(path, "years", "died")
    assert (data.name, data.source, data.unit) == ("heart", "heart.csv", "years")
    assert data.horizon == pytest.approx(2.25 + 0.95 * (8 - 2.25))  # 95th percentile of the censored times
    assert read_table(path, "years", "died", name="hearts", horizon=5).horizon == 5


def test_a_table_without_oddities_gives_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read_table(TABLE, "years", "died").report.warnings == ()


def test_all_that_is_noticed_comes_in_one_warning_and_in_the_report():
    table = wide_table()
    table.loc[0, "time"] = 0
    table["copy"] = table["time"] * 365.25
    with pytest.warns(UserWarning, match="the table was read, but look at this") as caught:
        data = read_table(table, "time", "event")
    assert len(caught) == 1
    assert len(data.report.warnings) == 2
    for warning in data.report.warnings:
        assert warning in str(caught[0].message)
    assert caught[0].filename == __file__


# ---------------------------------------------------------------- requests that cannot be met


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"time": "years"}, "event= is missing"),
        ({"event": "died"}, "the time is missing"),
        ({"event": "died", "entry": "age"}, "both are needed; entry is 'age', exit is None"),
        ({"time": "years", "event": "died", "entry": "age", "exit": "sex"}, "not both"),
        ({"time": "died", "event": "died"}, "time= and event= both name the column 'died'"),
        (
            {"time": "years", "event": "died", "drop": ["Sexe"]},
            r"no column 'Sexe', which drop= names \(did you mean 'sex'\?\)",
        ),
        (
            {"time": "years", "event": "died", "drop": "died"},
            "drop= names the column 'died', which is part of the outcome",
        ),
        (
            {"time": "years", "event": "died", "categorical": ["blood"]},
            "no column 'blood', which categorical= names",
        ),
        (
            {"time": "years", "event": "died", "event_values": 7},
            r"event_values= has 7, which is not in.*0 \(2 rows\)",
        ),
        (
            {"time": "years", "event": "died", "event_values": []},
            r"event_values= is empty: it names no value of the event column 'died' of the table, which holds 1 "
            r"\(2 rows\), 0 \(2 rows\)\. Give the value, or the list of values",
        ),
        ({"time": "years", "event": "died", "decimal": ";"}, "decimal= must be '.' or ','; got ';'"),
        (
            {"time": "years", "event": "died", "horizon": -1},
            "horizon= must be a positive, finite time; got -1",
        ),
        ({"time": "years", "event": "died", "horizon": "a"}, "horizon= must be a positive, finite time; got 'a'"),
        ({"time": "years", "event": "died", "horizon": [5]}, r"horizon= must be a positive, finite time; got \[5\]"),
        (
            {"event": "died", "entry": "age", "exit": "sex", "unit": "fortnights"},
            "hours, days, weeks, months, years",
        ),
    ],
)
def test_a_wrong_request_is_refused_with_what_is_wrong(options, message):
    with pytest.raises(ValueError, match=message):
        read_table(TABLE, **options)


def test_columns_for_subgroups_stay_beside_the_features():
    table = pd.DataFrame(
        {"years": [1.0, 2, 3, 4], "died": [1, 0, 1, 1], "age": [60.0, 50, 70, 40], "site": list("abab")}
    )
    data = read_table(table, time="years", event="died", subgroups="site")
    assert list(data.X) == ["age"]
    assert data.subgroups["site"].astype(str).tolist() == list("abab")
    assert data.report.dropped_columns["site"] == "kept for subgroups"
    with pytest.raises(ValueError, match="drop= and subgroups= both name site"):
        read_table(table, time="years", event="died", subgroups="site", drop=["site"])
