"""read_star on made-up releases: three file formats, one table; every bad file its own clear message."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import star_release as made_up

from lifeyears.data.star import _files as _star_files
from lifeyears.data.star import read_star
from lifeyears.data.star._columns import explain_exclusion, find_plausible_range, is_code, is_measurement, is_subgroup
from lifeyears.data.star._values import parse_dates
from lifeyears.errors import FileReadError, MissingFileError, RequestError

SAS = Path(__file__).parents[2] / "reference" / "star_sas"  # made by make.R from patients.csv

KNOWN_ONLY_AFTER = (
    "COD COD2 COD3 COD_WL GRF_STAT GRF_FAIL_DATE GRF_FAIL_CAUSE PX_STAT PX_STAT_DATE COMPOSITE_DEATH_DATE "
    "DEATH_DATE LOS DISCHARGE_DATE TRTREJ1Y ACUTE_REJ_EPI PST_STROKE PST_DIAL PST_AIRWAY FUNC_STAT_TRF "
    "LASTFUNO RETXDATE REM_CD ECMO_72HOURS PAO2_72HOURS POST_TX_VENT_SUPPORT REINTUBATED "
    "GTIME GSTATUS PTIME PSTATUS"
)


@pytest.fixture(scope="module")
def patients():
    return made_up.made_up_patients(400)


@pytest.fixture(scope="module")
def dataset(patients, tmp_path_factory):
    folder = tmp_path_factory.mktemp("release")
    made_up.write_text(folder, patients)
    return read_star(folder)


@pytest.fixture(scope="module")
def hearts(patients):
    """The rows that read_star should keep, chosen here by hand with plain pandas."""
    organ = patients["ORGAN"].fillna(patients["WL_ORG"])
    kept = (organ == "HR") & patients["TX_DATE"].notna() & (patients["AGE"] >= 18) & patients["GTIME"].notna()
    return patients[kept].reset_index(drop=True)


def read(folder: Path, patients: pd.DataFrame, **options):
    made_up.write_text(folder, patients)
    return read_star(folder, **options)


def small(n: int = 60, random_state: int = 3) -> pd.DataFrame:
    """Only the columns with real names, only adult hearts with an outcome: the tests change them at will."""
    patients = made_up.made_up_patients(n, random_state, columns=0)
    rng = np.random.default_rng(random_state)
    return patients.assign(
        ORGAN="HR",
        AGE=rng.integers(18, 70, n).astype(float),
        TX_DATE=pd.to_datetime("2003-07-02"),
        GTIME=rng.integers(1, 5000, n).astype(float),
        GSTATUS=np.arange(n) % 2.0,
        INIT_DATE=pd.to_datetime("2003-06-02"),
    )


# One table from three formats.


def test_text_sas_and_stata_give_the_same_table(tmp_path):
    patients = made_up.read_csv(SAS / "patients.csv")
    made_up.write_text(tmp_path / "text", patients[sorted(patients.columns)])
    made_up.write_stata(tmp_path / "stata", patients[sorted(patients.columns, reverse=True)])
    (tmp_path / "sas").mkdir()
    shutil.copy(SAS / "thoracic_data.sas7bdat", tmp_path / "sas")
    text, stata, sas = (read_star(tmp_path / kind) for kind in ("text", "stata", "sas"))
    assert len(text) >= 10
    assert text.X.shape[1] > 200
    for other in (stata, sas):
        pd.testing.assert_frame_equal(other.X, text.X)
        pd.testing.assert_frame_equal(other.subgroups, text.subgroups)
        np.testing.assert_array_equal(other.y.time, text.y.time)
        np.testing.assert_array_equal(other.y.event, text.y.event)
        np.testing.assert_array_equal(other.entry, text.entry)
        assert other.report == text.report


@pytest.mark.parametrize("write", [made_up.write_text, made_up.write_stata])
def test_reading_in_pieces_gives_the_same(write, tmp_path, monkeypatch):
    patients = made_up.made_up_patients(100, random_state=5, columns=200)
    write(tmp_path, patients)
    whole = read_star(tmp_path)
    monkeypatch.setattr(_star_files, "ROWS_AT_ONCE", 7)
    pieces = read_star(tmp_path)
    pd.testing.assert_frame_equal(pieces.X, whole.X)
    pd.testing.assert_frame_equal(pieces.subgroups, whole.subgroups)
    assert pieces.report == whole.report


def test_the_order_of_the_columns_does_not_matter(patients, dataset, tmp_path):
    assert patients.shape[1] == 549
    again = read(tmp_path, patients[list(patients.columns)[::-1]])
    pd.testing.assert_frame_equal(again.X, dataset.X)
    assert again.report == dataset.report


def test_names_in_any_case_in_a_subfolder_with_old_html(patients, dataset, tmp_path):
    data = made_up.write_text(tmp_path / "Delimited Text File" / "Thoracic", patients, stem="thoracic_Data")
    names = data.with_suffix(".htm")
    page = names.read_text(encoding="cp1252")
    for tag in ("td", "th", "tr"):
        page = page.replace(f"</{tag}>", "")  # as SAS wrote it for years
    names.write_text(page.replace("<td", "<TD").replace("<tr", "<TR"), encoding="cp1252")
    names.rename(names.with_suffix(".HTM"))
    (tmp_path / "THORACIC_FOLLOWUP_DATA.DAT").write_text("another table")
    pd.testing.assert_frame_equal(read_star(tmp_path).X, dataset.X)


def test_the_first_of_several_formats_is_read_and_the_rest_named(tmp_path):
    patients = small()
    made_up.write_stata(tmp_path, patients)
    dataset = read(tmp_path, patients)
    assert "thoracic_data.dta was not read: THORACIC_DATA.DAT comes first" in dataset.report.warnings


# Rows and outcome.


def test_rows_are_adult_heart_transplants_with_an_outcome(dataset, hearts, patients):
    assert len(dataset) == len(hearts) == dataset.report.rows_kept
    assert dataset.report.rows_read == len(patients)
    np.testing.assert_array_equal(dataset.X["AGE"], hearts["AGE"])
    organ = patients["ORGAN"].fillna(patients["WL_ORG"])
    listed = (organ == "HR") & patients["TX_DATE"].isna()
    young = (organ == "HR") & ~patients["TX_DATE"].isna() & (patients["AGE"] < 18)
    assert dataset.report.dropped_rows == {
        "the organ is not HR": (organ != "HR").sum(),
        "no transplant (TX_DATE is missing)": listed.sum(),
        "younger than 18 or of unknown age": young.sum(),
        "GTIME is missing": (organ == "HR").sum() - listed.sum() - young.sum() - len(hearts),
    }


def test_graft_survival_in_years(dataset, hearts):
    np.testing.assert_allclose(dataset.y.time, hearts["GTIME"] / 365.25)
    np.testing.assert_array_equal(dataset.y.event, hearts["GSTATUS"] == 1)
    assert (dataset.unit, dataset.name) == ("years", "STAR HR graft")
    assert 0 < dataset.horizon <= dataset.y.time.max()


def test_patient_survival_and_other_organs_and_ages(tmp_path):
    patients = made_up.made_up_patients(400, columns=0)
    dataset = read(tmp_path, patients, outcome="patient", organ="lu", min_age=0)
    organ = patients["ORGAN"].fillna(patients["WL_ORG"])
    kept = patients[(organ == "LU") & patients["TX_DATE"].notna() & patients["PTIME"].notna()]
    np.testing.assert_allclose(dataset.y.time, kept["PTIME"] / 365.25)
    np.testing.assert_array_equal(dataset.y.event, kept["PSTATUS"] == 1)
    assert dataset.X["AGE"].min() == 11


def test_a_transplant_twice_counts_once_and_second_transplants_are_named(tmp_path):
    patients = small()
    patients.loc[1, "TRR_ID_CODE"] = patients.loc[0, "TRR_ID_CODE"]
    patients.loc[[5, 6], "PT_CODE"] = patients.loc[4, "PT_CODE"]
    dataset = read(tmp_path, patients)
    assert len(dataset) == 59
    assert dataset.report.dropped_rows == {"the same transplant again (TRR_ID_CODE)": 1}
    assert any(warning.startswith("2 rows are a patient's second") for warning in dataset.report.warnings)


def test_bad_times_and_states_are_dropped_and_counted(tmp_path):
    patients = small()
    patients.loc[0, "GTIME"] = -3
    patients.loc[1, "GSTATUS"] = 7
    patients.loc[2, "GSTATUS"] = np.nan
    report = read(tmp_path, patients).report
    assert report.dropped_rows == {"GTIME is negative": 1, "GSTATUS is neither 0 nor 1": 2}


# Columns.


@pytest.mark.parametrize("name", KNOWN_ONLY_AFTER.split())
def test_what_is_known_only_after_the_transplant_is_no_feature(name):
    assert explain_exclusion(name) in ("known only after the transplant", "it is the outcome")


@pytest.mark.parametrize("name", ["COD_CAD_DON", "DEATH_MECH_DON", "DIAL_AFTER_LIST", "INIT_DATE", "TX_DATE"])
def test_what_is_known_before_it_stays(name):
    assert explain_exclusion(name) is None


def test_no_leak_identifier_or_paperwork_among_the_features(dataset, patients):
    left_out = {name for name in patients if explain_exclusion(name)}
    assert left_out >= {
        "PT_CODE",
        "TRR_ID_CODE",
        "OPO_CTR_CODE",
        "STATUS_TRR",
        "END_DATE",
        "COD",
        "LOS",
        "PX_STAT",
    }
    assert not (left_out - {"TX_YEAR"}) & set(dataset.X.columns)
    assert left_out - {"TX_YEAR"} <= set(dataset.report.dropped_columns)


def test_every_column_is_a_feature_or_a_subgroup_or_left_out_with_a_reason(dataset, patients):
    used, left_out = set(dataset.table.columns), set(dataset.report.dropped_columns)
    assert used | left_out >= set(patients.columns)
    assert not used & left_out


def test_flags_are_categories_and_unknown_is_missing(dataset, hearts):
    for name in made_up.FLAGS:
        assert list(dataset.X[name].cat.categories) == ["N", "Y"]
        assert dataset.X[name].isna().sum() == (hearts[name].isna() | (hearts[name] == "U")).sum()
    assert set(dataset.X["ABO"].cat.categories) == {"O", "A", "B", "AB"}
    assert set(dataset.X["HCV_SEROSTATUS"].cat.categories) == {"N", "P"}  # not ND, not done
    assert set(dataset.X["CMV_DON"].cat.categories) == {"N", "P"}  # not C and I, undisclosed and unclear


def test_codes_are_categories_in_numeric_order(dataset, hearts):
    assert list(dataset.X["DIAG"].cat.categories) == ["1000", "1001", "1007", "1049"]
    assert list(dataset.X["DA1"].cat.categories) == ["1", "2", "3", "11", "24"]
    assert list(dataset.X["FUNC_STAT_TRR"].cat.categories) == ["2020", "2050", "2070"]  # 998 is unknown
    np.testing.assert_array_equal(dataset.X["END_STAT"].astype(float), hearts["END_STAT"])


def test_measurements_are_floats(dataset, hearts):
    for name in set(made_up.NUMBERS) - {"LOS"}:
        assert dataset.X[name].dtype == float
        np.testing.assert_allclose(dataset.X[name], hearts[name])


def test_columns_of_unknown_name_are_judged_by_their_values(dataset, hearts):
    fillers = [name for name in hearts if name.startswith("FILLER")]
    assert len(fillers) > 400
    kinds = {"FLAG": "category", "CODE": "category", "AMOUNT": "float64"}
    why = {"EMPTY": "missing", "SAME": "one value only", "DATE": "a date without a known use"}
    for name in fillers:
        kind = name.split("_")[1]
        if kind in kinds:
            assert dataset.X[name].dtype == kinds[kind]
        else:
            assert name not in dataset.X
            assert why[kind] in dataset.report.dropped_columns[name]


def test_dates_become_days_before_the_transplant(dataset, hearts):
    expected = (hearts["TX_DATE"] - hearts["INIT_DATE"]).dt.days
    np.testing.assert_array_equal(dataset.X["DAYS_SINCE_INIT_DATE"], expected)
    assert not any(pd.api.types.is_datetime64_any_dtype(dtype) for dtype in dataset.X.dtypes)
    assert dataset.report.dropped_columns["TITERA_DATE"] == "a date without a known use"
    assert dataset.report.dropped_columns["INIT_DATE"] == "turned into DAYS_SINCE_INIT_DATE"


def test_transplant_date_becomes_year_and_entry(tmp_path):
    patients = small()
    patients.loc[0, "TX_DATE"] = pd.Timestamp("2004-01-01")
    patients.loc[1, "TX_DATE"] = pd.Timestamp("2004-12-31")
    dataset = read(tmp_path, patients)
    assert dataset.X["TX_YEAR"].iloc[:3].tolist() == [2004.0, 2004.0, 2003.0]
    np.testing.assert_allclose(dataset.entry[:3], [2004, 2004 + 365 / 366, 2003 + 182 / 365])


def test_a_date_mostly_after_the_transplant_is_left_out_and_a_slip_is_filtered(tmp_path):
    patients = small().assign(ADMISSION_DATE=pd.Timestamp("2003-07-20"))
    patients.loc[0, "INIT_DATE"] = pd.Timestamp("2003-08-01")
    patients.loc[1, "INIT_DATE"] = pd.Timestamp("2003-05-01")
    dataset = read(tmp_path, patients)
    assert dataset.report.dropped_columns["ADMISSION_DATE"] == "after the transplant in 100% of its rows"
    assert "DAYS_SINCE_ADMISSION_DATE" not in dataset.X
    assert dataset.X["DAYS_SINCE_INIT_DATE"].isna().tolist()[:2] == [True, False]
    assert dataset.report.filtered_values["DAYS_SINCE_INIT_DATE"] == 1


def test_implausible_values_become_missing_and_are_counted(tmp_path):
    patients = small()
    patients.loc[:3, "HGT_CM_CALC"] = [1.8, 18.0, 1800.0, 230.0]
    patients.loc[:3, "CREAT_TRR"] = [0.0, 99.0, 0.1, 1.0]
    patients.loc[:3, "ISCHTIME"] = [0.0, 240.0, 24.0, 3.0]
    patients.loc[:3, "AGE_DON"] = [-1.0, 200.0, 0.0, 30.0]
    patients.loc[:3, "WGT_KG_DON_CALC"] = [700.0, 1.0, 2.0, 80.0]
    dataset = read(tmp_path, patients)
    assert dataset.report.filtered_values == {
        "AGE_DON": 2,
        "CREAT_TRR": 2,
        "HGT_CM_CALC": 3,
        "ISCHTIME": 2,
        "WGT_KG_DON_CALC": 2,
    }
    assert dataset.X["HGT_CM_CALC"].iloc[:4].isna().tolist() == [True, True, True, False]
    assert "3 implausible values of HGT_CM_CALC set to missing" in str(dataset.report)


def test_words_in_a_measurement_are_filtered_and_a_flag_with_such_a_name_is_a_category(tmp_path):
    patients = small()
    data = made_up.write_text(tmp_path, patients)
    lines = [line.split("\t") for line in data.read_text(encoding="cp1252").splitlines()]
    at = list(patients.columns).index("TBILI")
    lines[0][at] = "high"
    data.write_text("".join("\t".join(line) + "\n" for line in lines), encoding="cp1252")
    dataset = read_star(tmp_path)
    assert dataset.report.filtered_values == {"TBILI": 1}
    assert list(dataset.X["CREAT2_OLD"].cat.categories) == ["N", "Y"]


def test_race_insurance_geography_and_centre_are_subgroups(dataset, hearts):
    expected = {
        "ETHCAT",
        "ETHCAT_DON",
        "PRI_PAYMENT_TCR",
        "PRI_PAYMENT_TRR",
        "REGION",
        "PERM_STATE",
        "CITIZENSHIP",
    }
    assert set(dataset.subgroups.columns) == expected | {"CTR_CODE"}
    assert not set(dataset.subgroups.columns) & set(dataset.X.columns)
    assert len(dataset.subgroups) == len(dataset)
    np.testing.assert_array_equal(dataset.subgroups["REGION"].astype(float), hearts["REGION"])
    assert set(dataset.subgroups["PERM_STATE"].cat.categories) == {"OH", "TX", "CA"}  # ZZ is unknown


def test_immigration_and_recovery_abroad_are_no_features(tmp_path):
    patients = small().assign(YR_ENTRY_US_TCR=1980.0 + np.arange(60) % 30, RECOV_OUT_US=["Y", "N", "N"] * 20)
    dataset = read(tmp_path, patients)
    assert not {"YR_ENTRY_US_TCR", "RECOV_OUT_US"} & set(dataset.X.columns)
    assert dataset.report.dropped_columns["YR_ENTRY_US_TCR"].startswith("immigration")
    assert dataset.subgroups["RECOV_OUT_US"].tolist() == ["Y", "N", "N"] * 20


def test_codes_that_mean_missing_in_some_columns_only(tmp_path):
    patients = small().assign(
        CHEST_XRAY_DON=[1.0, 2.0, 998.0, 999.0] * 15,
        BRONCHO_LT_DON=[1.0, 2.0, 7.0, 998.0] * 15,
        BRONCHO_RT_DON=[1.0, 2.0, 7.0, 998.0] * 15,
        DIAB=[1.0, 3.0, 5.0, 998.0] * 15,
        FILLER_CODE_903=[5.0, 7.0, 999.0, 998.0] * 15,
    )
    X = read(tmp_path, patients).X
    for name in ("CHEST_XRAY_DON", "BRONCHO_LT_DON", "BRONCHO_RT_DON", "DIAB"):
        assert X[name].isna().tolist() == [False, False, True, True] * 15
    assert list(X["FILLER_CODE_903"].cat.categories) == ["5", "7", "999"]


def test_a_column_known_for_events_only_is_pointed_at(tmp_path):
    patients = small(800).assign(NEW_COLUMN=np.where(np.arange(800) % 2, 1.0 + np.arange(800) % 5, np.nan))
    dataset = read(tmp_path, patients)
    assert any(warning.startswith("NEW_COLUMN is known for 100% of events, 0%") for warning in dataset.report.warnings)
    assert [
        leak for leak in dataset.report.leaks if "NEW_COLUMN may leak the outcome: it is known only for events" in leak
    ]


def test_a_column_of_past_years_only_is_no_leak(tmp_path):
    patients = small(800)
    past = np.arange(800) < 300
    died = np.where(past, np.arange(800) % 100 < 97, np.arange(800) % 100 < 30)  # as years go by
    patients["TX_DATE"] = pd.to_datetime(np.where(past, "1995-03-01", "2015-03-01"))
    patients["GSTATUS"] = died.astype(float)
    patients["OLD_FORM"] = np.where(past, 1.0 + np.arange(800) % 5, np.nan)
    assert not [leak for leak in read(tmp_path, patients).report.leaks if "OLD_FORM" in leak]


def test_a_column_that_ranks_the_times_by_itself_is_a_leak(tmp_path, dataset):
    patients = small(400)
    patients["DAYS_IN_PROGRAMME"] = patients["GTIME"] + 3.0
    report = read(tmp_path, patients).report
    assert [leak for leak in report.leaks if "column DAYS_IN_PROGRAMME may leak the outcome" in leak]
    assert set(report.leaks) <= set(report.warnings)
    assert dataset.report.leaks == ()


def test_quotes_accents_and_padding_do_no_harm(tmp_path):
    patients = small()
    patients["FILLER_FLAG_900"] = ['"half quoted', " é ", "Y", "Y"] * 15
    dataset = read(tmp_path, patients)
    assert len(dataset) == 60
    assert set(dataset.X["FILLER_FLAG_900"].cat.categories) == {'"half quoted', "é", "Y"}


def test_a_date_under_a_name_that_does_not_say_so_is_left_out(tmp_path):
    patients = small().assign(FILLER_FLAG_901=["02/03/2004", None] * 30, FILLER_FLAG_902="15JAN2004:08:30:00")
    report = read(tmp_path, patients).report
    assert report.dropped_columns["FILLER_FLAG_901"] == "a date without a known use"
    assert report.dropped_columns["FILLER_FLAG_902"] == "a date without a known use"


def test_dates_that_lost_their_format_are_days_since_1960():
    days = pd.Series([0.0, 16_254.0, np.nan])  # R: as.Date("2004-07-02") - as.Date("1960-01-01") is 16254
    assert parse_dates(days).tolist() == [pd.Timestamp("1960-01-01"), pd.Timestamp("2004-07-02"), pd.NaT]


def test_a_date_that_stands_for_unknown_is_missing():
    expected = [pd.NaT, pd.Timestamp("2004-07-02")]
    assert parse_dates(pd.Series(np.array(["9999-12-31", "2004-07-02"], dtype="datetime64[s]"))).tolist() == expected
    assert parse_dates(pd.Series(["12/31/9999", "07/02/2004"], dtype="category")).tolist() == expected
    days = [2_936_549.0, 16_254.0]  # R: as.Date(c("9999-12-31", "2004-07-02")) - as.Date("1960-01-01")
    assert parse_dates(pd.Series(days)).tolist() == expected


def test_rules_by_name():
    assert is_subgroup("PRI_PAYMENT_CTRY_TRR")
    assert not is_subgroup("GENDER")
    assert is_measurement("HEMO_PA_MN_TCR")
    assert not is_measurement("HEMODIALYSIS")
    assert is_code("VAD_BRAND2_TCR")
    assert is_code("RDR2")
    assert find_plausible_range("ISCHTIME") == (0.1, 24)
    assert find_plausible_range("GENDER") is None


# Bad input.


def test_no_such_folder(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no folder .*nowhere"):
        read_star(tmp_path / "nowhere")


def test_a_file_instead_of_a_folder(tmp_path):
    data = made_up.write_text(tmp_path, small())
    with pytest.raises(ValueError, match=r"THORACIC_DATA\.DAT is a file; read_star takes the folder"):
        read_star(data)


def test_a_folder_without_a_star_file_lists_what_is_there(tmp_path):
    with pytest.raises(MissingFileError, match="found no files at all"):
        read_star(tmp_path)
    (tmp_path / "KIDPAN_DATA.DAT").write_text("x")
    with pytest.raises(FileNotFoundError, match=r"no STAR thoracic file in .*found KIDPAN_DATA\.DAT"):
        read_star(tmp_path)


def test_two_releases_in_one_folder(tmp_path):
    made_up.write_text(tmp_path / "a", small())
    made_up.write_text(tmp_path / "b", small())
    with pytest.raises(ValueError, match=r"more than one release: .*Give the folder of one"):
        read_star(tmp_path)


def test_text_without_its_names(tmp_path):
    made_up.write_text(tmp_path, small()).with_suffix(".htm").unlink()
    with pytest.raises(FileNotFoundError, match=r"has no THORACIC_DATA\.htm beside it"):
        read_star(tmp_path)


def test_names_that_are_no_table_or_name_a_column_twice(tmp_path):
    patients = small()
    names = made_up.write_text(tmp_path, patients).with_suffix(".htm")
    made_up.write_names(names, [*patients.columns[:-1], "AGE"])
    with pytest.raises(ValueError, match="names these columns twice: AGE"):
        read_star(tmp_path)
    names.write_text("<html><table><tr><td>Variable<td>Type</table></html>")
    with pytest.raises(ValueError, match="no table with a LABEL column"):
        read_star(tmp_path)
    names.write_text("")
    with pytest.raises(ValueError, match=r"no table with a LABEL column.*no table at all"):
        read_star(tmp_path)


def test_a_truncated_line_is_named(tmp_path):
    data = made_up.write_text(tmp_path, small())
    columns = small().shape[1]
    lines = data.read_bytes().splitlines(keepends=True)
    lines[7] = b"\t".join(lines[7].split(b"\t")[:40]) + b"\r\n"
    data.write_bytes(b"".join(lines))
    with pytest.raises(ValueError, match=rf"line 8: 40 fields, but THORACIC_DATA\.htm names {columns} columns"):
        read_star(tmp_path)


def test_a_file_cut_off_in_its_last_line(tmp_path):
    data = made_up.write_text(tmp_path, small())
    whole = data.read_bytes()
    data.write_bytes(whole[: -len(whole.splitlines()[-1]) // 2])
    with pytest.raises(ValueError, match=r"line 60: .* cut short or damaged"):
        read_star(tmp_path)
    data.write_bytes(whole[:-3])  # within the last value: no telling, but a hint
    assert any("no line end" in warning for warning in read_star(tmp_path).report.warnings)


def test_a_line_too_long_is_named(tmp_path):
    data = made_up.write_text(tmp_path, small())
    lines = data.read_bytes().splitlines(keepends=True)
    lines[2] = b"x\t" + lines[2]
    data.write_bytes(b"".join(lines))
    with pytest.raises(ValueError, match="line 3: "):
        read_star(tmp_path)


def test_names_of_another_release(tmp_path):
    patients = small()
    data = made_up.write_text(tmp_path, patients)
    made_up.write_names(data.with_suffix(".htm"), list(patients.columns[:-2]))
    with pytest.raises(ValueError, match=rf"has {patients.shape[1]} fields in its first lines.*different releases"):
        read_star(tmp_path)


def test_an_empty_file(tmp_path):
    made_up.write_text(tmp_path, small()).write_bytes(b"")
    with pytest.raises(ValueError, match=r"THORACIC_DATA\.DAT is empty"):
        read_star(tmp_path)


def test_no_heart_rows_says_which_organs_there_are(tmp_path):
    with pytest.raises(ValueError, match=r"no transplants of organ HR: of its 60 rows, .* is LU in 60"):
        read(tmp_path, small().assign(ORGAN="LU"))


def test_nobody_left_says_why(tmp_path):
    with pytest.raises(ValueError, match=r"is left of the 60 rows.*60 \(younger than 99 or of unknown age\)"):
        read(tmp_path, small(), min_age=99)


@pytest.mark.parametrize(("outcome", "time"), [("graft", "GTIME"), ("patient", "PTIME")])
def test_all_times_missing(tmp_path, outcome, time):
    with pytest.raises(ValueError, match=rf"no transplant of organ HR is left.*60 \({time} is missing\)"):
        read(tmp_path, small().assign(**{time: np.nan}), outcome=outcome)


@pytest.mark.parametrize("gone", ["GTIME", "GSTATUS", "AGE", "TX_DATE"])
def test_a_needed_column_is_missing(tmp_path, gone):
    with pytest.raises(ValueError, match=rf"THORACIC_DATA\.DAT has no column {gone}, which is needed"):
        read(tmp_path, small().drop(columns=gone))


def test_one_organ_column_is_enough(tmp_path):
    assert len(read(tmp_path / "a", small().drop(columns="WL_ORG"))) == 60
    assert len(read(tmp_path / "b", small().drop(columns="ORGAN").assign(WL_ORG="HR"))) == 60
    with pytest.raises(ValueError, match="no column ORGAN or WL_ORG"):
        read(tmp_path / "c", small().drop(columns=["ORGAN", "WL_ORG"]))


def test_another_encoding_says_so(tmp_path):
    data = made_up.write_text(tmp_path, small())
    data.write_bytes(data.read_bytes().replace(b"Y\t", b"\x81\t", 1))  # 0x81 means nothing in cp1252
    with pytest.raises(ValueError, match=r"not cp1252 text.*pass encoding='latin-1'"):
        read_star(tmp_path)
    assert len(read_star(tmp_path, encoding="latin-1")) == 60


def test_an_unknown_outcome():
    with pytest.raises(ValueError, match="outcome must be one of 'graft', 'patient'; got 'death'"):
        read_star(".", outcome="death")


@pytest.mark.parametrize("share", [0.0, 0.02, 0.5, 0.97])
def test_binary_files_cut_short(tmp_path, share):
    whole = (SAS / "thoracic_data.sas7bdat").read_bytes()
    sas = tmp_path / "sas" / "thoracic_data.sas7bdat"
    sas.parent.mkdir()
    sas.write_bytes(whole[: int(share * len(whole))])
    with pytest.raises(ValueError, match=r"thoracic_data\.sas7bdat.*Copy it again from the release"):
        read_star(sas.parent)
    stata = made_up.write_stata(tmp_path / "stata", small())
    whole = stata.read_bytes()
    stata.write_bytes(whole[: int(share * len(whole))])
    with pytest.raises(ValueError, match=r"thoracic_data\.dta.*Copy it again from the release"):
        read_star(stata.parent)


def test_a_folder_without_read_permission(tmp_path, monkeypatch):
    def refuse(path):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("os.scandir", refuse)
    with pytest.raises(FileReadError, match="cannot be read: permission denied") as caught:
        read_star(tmp_path)
    assert caught.value.parameters == {"path": str(tmp_path)}


def test_a_file_without_read_permission(tmp_path, monkeypatch):
    made_up.write_text(tmp_path, made_up.made_up_patients(40, columns=60))

    def refuse(path, *_args, **_options):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(FileReadError, match=r"THORACIC_DATA\.htm cannot be read: permission denied"):
        read_star(tmp_path)


def test_an_unknown_encoding(tmp_path):
    made_up.write_text(tmp_path, made_up.made_up_patients(40, columns=60))
    with pytest.raises(RequestError, match="no encoding called 'klingon'"):
        read_star(tmp_path, encoding="klingon")
