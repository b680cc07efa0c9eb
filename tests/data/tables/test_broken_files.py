"""Files that are broken, or look broken: each gets its own words, with the place and what to do."""

import bz2
import csv
import datetime
import gzip
import lzma
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from lifeyears.data import read_table
from lifeyears.errors import FileReadError, MissingFileError, RequestError, json_terms

CSV = "time,event,age\n1.5,1,40\n2.25,0,50\n4,1,60\n8,0,50\n"


@pytest.fixture
def write(tmp_path):
    def write(content, name="heart.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def refusal(path_or_frame, time="time", event="event", error=RequestError, **options):
    """The message with which a table is refused."""
    if "entry" in options:
        time = None
    with pytest.raises(error) as caught:
        read_table(path_or_frame, time, event, **options)
    return str(caught.value)


def noticed(path_or_frame, time="time", event="event", **options):
    """The data set, and the one warning that came with it."""
    with pytest.warns(UserWarning, match="was read, but look at this") as caught:
        data = read_table(path_or_frame, time, event, **options)
    assert len(caught) == 1
    for warning in data.report.warnings:
        assert warning in str(caught[0].message)
    return data, str(caught[0].message)


def patients(n=60, **columns):
    rng = np.random.default_rng(3)
    table = {
        "time": rng.exponential(5, n).round(3) + 0.001,
        "event": rng.random(n) < 0.6,
        "age": rng.normal(50, 9, n),
    }
    return pd.DataFrame(table | columns)


# ---------------------------------------------------------------- files that cannot be opened


def test_no_such_file(write, tmp_path):
    write(CSV, "hearts.csv")
    message = refusal(tmp_path / "heart.csv", error=MissingFileError)
    assert "there is no file" in message
    assert "did you mean 'hearts.csv'?" in message
    assert "the folder" in refusal(tmp_path / "nowhere" / "heart.csv", error=FileNotFoundError)
    assert "does not exist" in refusal(tmp_path / "hearts.csv" / "heart.csv", error=MissingFileError)


@pytest.mark.parametrize("name", ["a" * 300 + ".csv", "heart\0.csv"])
def test_names_that_no_file_can_have(tmp_path, name):
    assert "cannot be read: " in refusal(tmp_path / name, error=FileReadError)


def test_a_folder(write, tmp_path):
    write(CSV)
    message = refusal(tmp_path, error=FileReadError)
    assert "is a folder; one file was expected. It holds heart.csv: name one of them" in message


def test_no_permission(write, monkeypatch):
    path = write(CSV)

    def refuse(*_args, **_options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)
    message = refusal(path, error=FileReadError)
    monkeypatch.undo()
    assert "no permission to read" in message
    assert "Ask its owner" in message


# ---------------------------------------------------------------- settings, in the terms of each reader


def test_an_error_names_settings_in_the_terms_of_its_reader():
    with pytest.raises(RequestError) as caught:
        read_table(patients().assign(event=lambda table: table["event"] + 1), "time", "event")
    assert "that is event_values=2." in str(caught.value)
    assert 'that is "event_values": 2.' in caught.value.render(json_terms)
    assert (caught.value.code, caught.value.parameters) == ("ambiguous_event", {"column": "event"})


def test_warnings_and_reasons_name_settings_in_the_terms_of_their_reader():
    numbers = np.random.default_rng(0).permutation(np.arange(1_000_003, 9_000_003, 130_001))[:60]
    data, message = noticed(patients(number=numbers), drop="age")
    assert "(keep=['number'] keeps it)" in message
    assert "column age left out: named in drop=" in str(data.report)
    rendered = data.report.render(lambda setting: f"<{setting.name}>")
    assert "column age left out: named in <drop>" in rendered
    assert "in every row (<keep> keeps it)" in rendered
    assert "keep=" not in rendered


# ---------------------------------------------------------------- bytes that are no table


@pytest.mark.parametrize("content", [b"", b"\n \n\n", b"\xef\xbb\xbf"])
def test_empty(write, content):
    assert "heart.csv is empty" in refusal(write(content))


def test_empty_when_unpacked(write):
    assert "heart.csv.gz (heart.csv) is empty" in refusal(write(gzip.compress(b""), "heart.csv.gz"))


def test_header_only(write):
    message = refusal(write("time,event,age\n"))
    assert "has 3 columns (time, event, age) and no rows below the header" in message
    assert "no rows" in refusal(pd.DataFrame({"time": [], "event": []}))


@pytest.mark.parametrize("name", ["heart.csv", "heart.dat", "heart"])
def test_binary(write, name):
    message = refusal(write(b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(range(256)), name))
    assert "is a binary file, not a text table" in message
    assert "byte 9 is 0x00" in message
    assert "export the table" in message


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.parquet", "a Parquet file"),
        ("a.feather", "a Feather file"),
        ("a.xlsx", "an Excel file"),
        ("a.dta", "a Stata file"),
        ("a.xpt", "a SAS file"),
    ]
    + [("a.sas7bdat", "a SAS file")],
)
def test_a_file_of_another_kind_under_this_name(write, name, kind):
    if name.endswith((".parquet", ".feather", ".xlsx")):
        pytest.importorskip("openpyxl" if name.endswith(".xlsx") else "pyarrow")
    assert f"{name} cannot be read as {kind}: it is damaged" in refusal(write(CSV, name))


def test_a_web_page_in_place_of_the_file(write):
    assert "is a web page" in refusal(write("<!DOCTYPE html><html><body>Please log in</body></html>"))


def test_wrong_encoding_by_the_users_word(write):
    path = write("time,event,sex\n1,1,weiß\n2,0,grün\n".encode("cp1252"))
    message = refusal(path, encoding="utf-8")
    assert "heart.csv is not utf-8: byte 0xdf in line 2 does not fit. Leave encoding= out" in message
    assert "no encoding called 'klingon'" in refusal(path, encoding="klingon")


def test_wrong_encoding_that_nothing_fits(write):
    message = refusal(write(b"time,event,sex\n1,1,\x81\x8d\n2,0,x\n"))
    assert "the encoding of heart.csv is not clear" in message
    assert "byte 0x81 in line 2" in message
    assert "Pass encoding=" in message


def test_wrong_encoding_that_is_guessed_is_said(write):
    path = write("time,event,sex\n1,1,weiß\n2,0,grün\n3,1,grün\n".encode("cp1252"))
    data, message = noticed(path)
    assert "not UTF-8 (byte 0xdf in line 2 does not fit) and was read as cp1252" in message
    assert data.X["sex"].tolist() == ["weiß", "grün", "grün"]
    assert read_table(path, "time", "event", encoding="cp1252").report.warnings == ()


@pytest.mark.parametrize("order", ["le", "be"])
def test_utf16_with_byte_order_mark_is_read(write, order):
    mark = {"le": b"\xff\xfe", "be": b"\xfe\xff"}[order]
    data = read_table(write(mark + CSV.encode(f"utf-16-{order}")), "time", "event")
    assert data.y.time.tolist() == [1.5, 2.25, 4, 8]
    assert list(data.X.columns) == ["age"]


def test_utf16_read_as_something_else_or_cut_short(write):
    content = CSV.encode("utf-16")
    assert "It looks like utf-16: leave encoding= out" in refusal(write(content), encoding="utf-8")
    no_mark = refusal(write(CSV.encode("utf-16-le")), encoding="utf-8")
    assert "full of NUL characters, so it is not utf-8. It looks like utf-16-le" in no_mark
    assert "begins as utf-16 and then breaks off" in refusal(write(content[:-1]))


@pytest.mark.parametrize(
    ("ending", "compress"), [(".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress)]
)
def test_a_compressed_file_cut_short(write, ending, compress):
    whole = compress((CSV * 200).encode())
    message = refusal(write(whole[: len(whole) * 2 // 3], f"heart.csv{ending}"))
    assert f"heart.csv{ending} is cut short or damaged: its {len(whole) * 2 // 3:,} bytes are not a whole" in message
    assert "download it again" in message


def test_a_zip_file_cut_short(write, tmp_path):
    with zipfile.ZipFile(tmp_path / "whole.zip", "w") as archive:
        archive.writestr("heart.csv", CSV)
    content = (tmp_path / "whole.zip").read_bytes()
    assert "heart.zip is cut short or damaged" in refusal(write(content[:-30], "heart.zip"))
    assert "heart.zip is cut short or damaged" in refusal(write(content[20:], "heart.zip"))  # its beginning is lost


def test_a_file_that_is_not_compressed_though_its_name_says_so(write):
    assert "is not compressed, though its name says so" in refusal(write(CSV, "heart.csv.gz"))


@pytest.mark.parametrize("first", ["PK", "BZh", "BZh9", "PAR1"])
def test_a_text_table_that_begins_like_a_file_of_another_kind(write, first):
    data = read_table(write(f"{first},time,event\n1,1.5,1\n2,2.5,0\n1,3.5,1\n"), "time", "event")
    assert data.y.time.tolist() == [1.5, 2.5, 3.5]
    assert data.X[first].tolist() == [1, 2, 1]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("heart.csv", '[{"time": 1, "event": 1}, {"time": 2, "event": 0}]'),
        ("heart.csv", b'\xef\xbb\xbf \n{"time": [1, 2], "event": [1, 0]}'),
        ("heart.csv", "[[1, 1], [2, 0]]"),
        ("heart.json", "time,event"),
        ("heart.jsonl", '{"time": 1, "event": 1}\n{"time": 2, "event": 0}\n'),
    ],
)
def test_json_is_no_table(write, name, content):
    assert f"{name} is a JSON file; a table with one row per subject was expected" in refusal(write(content, name))


def test_names_in_brackets_are_no_json(write):
    table = CSV.replace("time,event,age", "[time],{event},[age]")
    assert len(read_table(write(table), "[time]", "{event}")) == 4


def test_a_parquet_or_bzip2_file_under_another_name(write, tmp_path):
    assert read_table(write(bz2.compress(CSV.encode())), "time", "event").y.time.tolist() == [1.5, 2.25, 4, 8]
    pytest.importorskip("pyarrow")
    patients(n=4, event=[1, 0, 1, 0]).to_parquet(tmp_path / "table.parquet")
    whole = (tmp_path / "table.parquet").read_bytes()
    assert len(read_table(write(whole, "heart.dat"), "time", "event")) == 4
    assert "cannot be read as a Parquet file: it is damaged" in refusal(write(whole[: len(whole) // 2], "heart.dat"))


def test_the_end_mark_of_dos_is_no_row(write):
    data = read_table(write(CSV + "\x1a"), "time", "event")
    assert data.y.time.tolist() == [1.5, 2.25, 4, 8]
    assert data.report.warnings == ()


# ---------------------------------------------------------------- rows and columns


def test_mixed_delimiters(write):
    message = refusal(write("time,event,age\n1,1,40\n2;0;50\n3,1,60\n"))
    assert "mixed delimiters: line 1 is divided by commas and line 3 by semicolons" in message
    assert "Rewrite the file with one" in message
    assert "mixed delimiters" in refusal(write("time,event,age\n1|1|40\n2|0|50\n"))


def test_no_delimiter_or_a_wrong_one(write):
    assert "seems to have one column" in refusal(write("time\n1\n2\n"))
    message = refusal(write(CSV), delimiter="|")
    assert "divided at '|', has one column" in message
    assert "Leave delimiter= out" in message
    assert "must be one character" in refusal(write(CSV), delimiter="||")


def test_ragged_rows(write):
    message = refusal(write("time,event,age\n1,1,40\n2,0,50,7\n3,1\n4,0,40\n"))
    assert "is ragged: the header (line 1) has 3 fields, but line 3 has 4, line 4 has 2" in message


def test_ragged_by_a_decimal_comma(write):
    assert "decimal commas" in refusal(write("time,event,age\n1,1,40\n2,5,0,50\n"))


def test_ragged_by_a_cut_last_line(write):
    message = refusal(write("time,event,age\n1,1,40\n2,0,50\n3,1"))
    assert "line 4 has 2" in message
    assert "the file may be cut short" in message


def test_ragged_by_row_names_without_a_heading(write):
    assert "every row has 4 fields and the header 3" in refusal(write("time,event,age\na,1,1,40\nb,2,0,50\n"))


# As R 4.3.3 writes data.frame(time = c(1.5, 2, 3.25), event = c(1, 0, 1), note = c('a "b" c', "d, e", "d, e")).
R_TABLE = """"time" "event" "note"
"1" 1.5 1 "a \\"b\\" c"
"2" 2 0 "d, e"
"3" 3.25 1 "d, e"
"""


@pytest.mark.parametrize("names", ["123", "312", "abc"], ids=["counted", "another order", "given"])
def test_what_r_writes_by_default_is_read(write, names):
    head, *rows = R_TABLE.splitlines()
    table = "\n".join([head, *(f'"{name}"{row[3:]}' for name, row in zip(names, rows, strict=True))]) + "\n"
    data, message = noticed(write(table, "heart.txt"))
    assert "every row has 4 fields and the header 3: the first was taken for row names" in message
    assert data.y.time.tolist() == [1.5, 2, 3.25]
    assert data.X["note"].tolist() == ['a "b" c', "d, e", "d, e"]
    assert list(data.report.dropped_columns) == ["rownames"]


def test_row_names_that_count_are_read_between_commas_too(write):
    data, message = noticed(write('"time","event","sex"\n"1",1.5,1,"F"\n"2",2,0,"M"\n"3",3.25,1,"F"\n'))
    assert "was taken for row names" in message
    assert data.X["sex"].tolist() == ["F", "M", "F"]


def test_a_delimiter_at_the_end_of_each_row_is_no_row_name(write):
    assert "every row has 4 fields and the header 3" in refusal(write("time,event,age\n1,1,40,\n2,0,50,\n"))


def test_a_space_before_a_quotation_mark(write):
    data = read_table(write('time,event,who\n1,1, "M, x"\n2,0, "F, y"\n3,1, "F, y"\n'), "time", "event")
    assert data.X["who"].tolist() == ["M, x", "F, y", "F, y"]


def test_quotation_marks_after_a_backslash_belong_to_the_text(write):
    path = write('time,event,cause\n1,1,"a \\"b\\", c"\n2,0,"\\"d\\""\n3,1,plain\\x\n4,0,plain\\x\n')
    assert read_table(path, "time", "event").X["cause"].tolist() == ['a "b", c', '"d"', "plain\\x", "plain\\x"]


def test_a_backslash_at_the_end_of_a_text_is_a_backslash(write):
    data = read_table(write('time,event,drive\n1,1,"C:\\"\n2,0,"D:\\"\n3,1,"D:\\"\n'), "time", "event")
    assert data.X["drive"].tolist() == ["C:\\", "D:\\", "D:\\"]


def test_quotation_marks_of_which_nobody_can_tell(write):
    message = refusal(write('time,event,cause\n1,1,plain\n2,0,"a \\"b\\" c"\n3,1,"x"y\n'))
    assert 'a quotation mark after a backslash (\\") in line 3, and others that stand alone' in message
    assert 'Write quotation marks within texts as two ("")' in message


def test_a_quotation_mark_that_never_closes(write):
    message = refusal(write('time,event,cause\n1,1,"heart\n2,0,lung\n3,1,lung\n'))
    assert "quotation mark" in message
    rows = "3,1,lung,60\n" * 40_000  # far more than csv takes for a field by itself
    message = refusal(write(f'time,event,cause,age\n1,1,heart,50\n2,0,"lung,40\n{rows}'))
    assert 'a quotation mark (") opens in line 3 and never closes' in message


def test_a_text_of_any_length(write):
    data = read_table(write(f"time,event,note\n1,1,{'a' * 140_000}\n2,0,b\n3,1,b\n"), "time", "event")
    assert data.X["note"].str.len().tolist() == [140_000, 1, 1]
    assert csv.field_size_limit() == 131_072  # as it was


def test_duplicate_column_names(write, tmp_path):
    message = refusal(write("time,event,age,sex, age\n1,1,40,F,41\n2,0,50,M,51\n"))
    assert "duplicate column names: 'age' in columns 3, 5" in message
    assert "rename or remove" in message
    frame = pd.DataFrame([[1, 1, 40, 40], [2, 0, 50, 50]], columns=["time", "event", "age", "age"])
    assert "duplicate column names: 'age' in columns 3, 4" in refusal(frame)
    pytest.importorskip("openpyxl")
    frame.to_excel(tmp_path / "heart.xlsx", index=False)
    assert "duplicate column names: 'age' in columns 3, 4" in refusal(tmp_path / "heart.xlsx")
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    table = pyarrow.table([[1.5, 2.5], [1, 0], [40, 50], [40, 50]], names=["time", "event", "age", "age"])
    parquet.write_table(table, tmp_path / "heart.parquet")
    assert "duplicate column names: 'age' in columns 3, 4" in refusal(tmp_path / "heart.parquet")


def test_column_names_in_two_levels():
    frame = pd.DataFrame([[1, 1], [2, 0]], columns=pd.MultiIndex.from_tuples([("a", "time"), ("a", "event")]))
    assert "column names in 2 levels" in refusal(frame)


def test_missing_time_column(write):
    message = refusal(write(CSV), time="tme")
    assert "heart.csv has no column 'tme', which time= names (did you mean 'time'?)" in message
    assert "It has the columns time, event, age" in message


def test_missing_event_column(write):
    assert "has no column 'status', which event= names. It has the columns" in refusal(write(CSV), event="status")


def test_missing_header(write):
    message = refusal(write("1,0,40\n2,1,50\n3,1,60\n"))
    assert "has no column 'time'" in message
    assert "These look like data: it seems to have no header row" in message
    assert "the first row is 1, 1, 40. These look like data" in refusal(write("1,1,40\n2,0,50\n3,1,60\n"))


def test_one_row(write):
    assert "has one row; nothing can be learnt or ranked with one subject" in refusal(write("time,event,age\n1,1,40\n"))


def test_more_columns_than_rows():
    rng = np.random.default_rng(0)
    wide = patients(n=12, **{f"gene{i}": rng.normal(size=12) for i in range(30)})
    data, message = noticed(wide)
    assert "more columns than rows (31 features, 12 subjects)" in message
    assert data.X.shape == (12, 31)


# ---------------------------------------------------------------- times


def test_time_as_text(write):
    message = refusal(write("time,event,age\n1,1,40\ntwo years,0,50\n3,1,60\nunknown,1,60\n"))
    assert "the time column 'time' holds text, not numbers: 'two years', 'unknown' in lines 3, 5" in message
    assert "Numbers in one unit were expected" in message


def test_time_as_dates():
    frame = patients(n=3, time=pd.to_datetime(["2001-01-01", "2002-01-01", "2003-01-01"]))
    assert "holds dates. Pass the first and last dates as entry= and exit=" in refusal(frame)


@pytest.mark.parametrize(
    ("value", "what"),
    [("-1", "negative"), ("inf", "infinite"), ("", "missing"), ("NA", "missing"), (".", "missing")],
)
def test_negative_infinite_and_missing_times(write, value, what):
    message = refusal(write(f"time,event,age\n1,1,40\n{value},0,50\n3,1,60\n{value},1,40\n"))
    assert f"the time column 'time' is {what} in lines 3, 5" in message
    assert "Times must be finite and not negative: correct or drop these rows" in message


def test_rows_of_a_frame_are_counted_from_0():
    assert "negative in rows 1, 2 (counted from 0)" in refusal(patients(n=4).assign(time=[1, -1, -2, 3]))


def test_zero_times_are_kept_and_said(write):
    data, message = noticed(write("time,event,age\n1,1,40\n0,0,50\n3,1,60\n"))
    assert "the time 'time' is zero in line 3: kept" in message
    assert data.y.time.tolist() == [1, 0, 3]


@pytest.mark.parametrize(
    ("events", "told"),
    [
        ((1, 1), "If these events came on the first day, add half a day (half a unit) to the time"),
        ((1, 0), "If the 1 event among them came on the first day"),
        ((0, 0), "A row censored at time 0 carries no information about survival"),
    ],
)
def test_zero_times_of_events_and_of_censored_rows_are_told_apart(write, events, told):
    rows = "".join(f"0,{event},40\n" for event in events)
    _, message = noticed(write(f"time,event,age\n{rows}3,1,50\n4,0,60\n"))
    assert f"the time 'time' is zero in lines 2, 3: kept. {told}" in message
    assert ("first day" in message) == any(events)


# ---------------------------------------------------------------- events


def test_event_with_three_values(write):
    message = refusal(write("time,event,age\n1,1,40\n2,0,50\n3,2,60\n4,1,50\n"))
    assert "the event column 'event' has 3 values, 1 (2 rows), " in message
    assert "0 (1 row)" in message
    assert "not clear which of them mean an event. Say which mean an event with event_values=" in message


def test_event_coded_1_and_2():
    message = refusal(patients(n=3, event=[1, 2, 2]))
    assert "2 (2 rows), 1 (1 row)" in message
    assert "as in R, that is event_values=2" in message


def test_event_with_words_that_are_not_clear():
    message = refusal(patients(n=3, event=["graft", "loss", "loss"]))
    assert "'loss' (2 rows), 'graft' (1 row)" in message


def test_event_that_is_some_other_column():
    assert "An event column has few values: name another with event=" in refusal(patients(n=60), event="age")


def test_event_as_dates():
    frame = patients(n=3, died=pd.to_datetime(["2001-01-01", None, None]))
    assert "'died' holds dates; 0/1 or two words were expected" in refusal(frame, event="died")


def test_event_all_missing(write):
    message = refusal(write("time,event,age\n1,,40\n2,NA,50\n"))
    assert "the event column 'event' is missing in all rows" in message
    assert "Is it the right column?" in message


def test_event_missing_in_some_rows(write):
    assert "column 'event' is missing in line 3." in refusal(write("time,event,age\n1,1,40\n2,,50\n3,0,60\n"))


def test_all_censored(write):
    message = refusal(write("time,event,age\n1,0,40\n2,0,50\n"))
    assert "no row has an event: all 2 are censored" in message
    assert "event_values=" in message


def test_all_events_are_kept_and_said(write):
    data, message = noticed(write("time,event,age\n1,1,40\n2,1,50\n"))
    assert "every row has an event and none is censored" in message
    assert data.y.n_events == 2


# ---------------------------------------------------------------- dates


def dates_csv(*rows):
    return "in,out,event,age\n" + "".join(f"{start},{end},{i % 2},{40 + i}\n" for i, (start, end) in enumerate(rows))


def test_dates_in_two_formats(write):
    path = write(dates_csv(("2001-01-01", "2002-01-01"), ("2001-02-01", "2002-02-01"), ("01.03.2001", "2003-01-01")))
    message = refusal(path, entry="in", exit="out")
    assert "column 'in' has dates in two formats: '2001-01-01', but '01.03.2001' in line 4" in message
    assert "best as year-month-day" in message


def test_dates_with_the_day_first_here_and_the_month_there(write):
    path = write(dates_csv(("13/01/2001", "14/02/2001"), ("01/31/2001", "15/03/2001")))
    message = refusal(path, entry="in", exit="out")
    assert "dates in two formats: '13/01/2001' in column 'in', line 2 has the day first" in message
    assert "'01/31/2001' in column 'in', line 3 the month" in message


def test_dates_of_which_no_row_tells_the_order(write):
    path = write(dates_csv(("03/01/2001", "04/02/2001"), ("01/02/2001", "05/03/2001")))
    message = refusal(path, entry="in", exit="out")
    assert "can be read in two ways" in message
    assert "date_format='%d/%m/%Y'" in message


@pytest.mark.parametrize("wrong", ["2001-02-30", "2001-13-01", "spring", "01/02/01"])
def test_dates_that_are_none(write, wrong):
    path = write(dates_csv(("2001-01-01", "2002-01-01"), (wrong, "2002-02-01"), ("2001-03-01", "2003-01-01")))
    message = refusal(path, entry="in", exit="out")
    assert f"column 'in' holds '{wrong}' in line 3; a date of the calendar" in message


def test_dates_of_eight_digits_that_are_none(write):
    path = write(dates_csv((20010101, 20020101), (20010230, 20020201), (20010301, 20030101)))
    assert "column 'in' holds '20010230' in line 3; a date of the calendar" in refusal(path, entry="in", exit="out")


def test_dates_that_do_not_fit_the_given_format(write):
    path = write(dates_csv(("01/02/2001", "01/03/2001"), ("2001-02-01", "02/03/2001")))
    message = refusal(path, entry="in", exit="out", date_format="%d/%m/%Y")
    assert "column 'in' holds '2001-02-01' in line 3; the format in date_format='%d/%m/%Y'" in message


def test_dates_as_days_since_some_day(write):
    path = write(dates_csv((15000, 15400), (15100, 15500)))
    message = refusal(path, entry="in", exit="out")
    assert "column 'in' holds 15000 in lines 2, 3; dates such as 2010-03-31" in message
    assert "1960 (SAS)" in message


def test_missing_dates(write):
    message = refusal(write(dates_csv(("2001-01-01", "2002-01-01"), ("2001-02-01", ""))), entry="in", exit="out")
    assert "column 'out' is missing in line 3. For a subject still followed, write the date of the last" in message
    message = refusal(write(dates_csv(("2001-01-01", "2002-01-01"), ("", "2003-01-01"))), entry="in", exit="out")
    assert "column 'in' is missing in line 3. Write the date of entry" in message


def test_exit_before_entry(write):
    path = write(dates_csv(("2001-01-01", "2002-01-01"), ("2001-02-11", "2001-02-01"), ("2001-03-01", "2003-01-01")))
    message = refusal(path, entry="in", exit="out")
    assert "the exit ('out') lies before the entry ('in') in line 3, by up to 10 days" in message
    assert "swapped" in message


@pytest.mark.parametrize("future", ["9999-12-31", "2999-01-01"])
def test_dates_in_the_future(write, future):
    path = write(dates_csv(("2001-01-01", "2002-01-01"), ("2001-02-01", future)))
    message = refusal(path, entry="in", exit="out")
    assert f"the dates in column 'out' lie in the future in line 3, the latest being {future}" in message
    assert "Write the date of the last contact instead" in message


FAR = [datetime.date(9999, 12, 31), datetime.date(2002, 1, 1), datetime.date(2003, 1, 1)]


@pytest.mark.parametrize("kind", ["date", "datetime", "datetime with zone", "datetime64", "date_format"])
def test_a_date_beyond_what_pandas_can_tell_is_named_with_its_column(kind):
    zone = datetime.UTC if kind == "datetime with zone" else None
    moments = [datetime.datetime(day.year, day.month, day.day, tzinfo=zone) for day in FAR]
    column = {
        "date": FAR,
        "datetime64": np.array(FAR, dtype="datetime64[s]"),
        "date_format": [f"{day:%d/%m/%Y}" for day in FAR],
    }.get(kind, pd.Series(moments, dtype=object))
    starts = ["01/02/2001"] * 3 if kind == "date_format" else ["2001-02-01"] * 3
    frame = pd.DataFrame({"in": starts, "out": column, "event": [1, 0, 1], "age": [1.5, 2.5, 2.5]})
    options = {"date_format": "%d/%m/%Y"} if kind == "date_format" else {}
    message = refusal(frame, entry="in", exit="out", **options)
    assert (
        "the dates in column 'out' lie in the future in row 0 (counted from 0), the latest being 9999-12-31" in message
    )


def test_a_date_beyond_what_pandas_can_tell_is_no_obstacle_among_the_features(tmp_path):
    frame = patients(n=3, event=[1, 0, 1], until=FAR)
    assert "it holds dates" in read_table(frame, "time", "event").report.dropped_columns["until"]
    pytest.importorskip("openpyxl")
    frame.astype({"until": str}).to_excel(tmp_path / "texts.xlsx", index=False)
    book = pytest.importorskip("openpyxl").Workbook()
    for row in (["time", "event", "age", "until"], [1, 1, 2, datetime.datetime(9999, 12, 31)], [2, 0, 3, None]):
        book.active.append(row)
    book.active.append([3, 1, 3, datetime.datetime(2001, 1, 1)])
    book.save(tmp_path / "dates.xlsx")
    for name in ("texts.xlsx", "dates.xlsx"):
        assert "it holds dates" in read_table(tmp_path / name, "time", "event").report.dropped_columns["until"]


def test_dates_before_anybody_was_followed(write):
    path = write(dates_csv(("2001-01-01", "2002-01-01"), ("1066-01-01", "2015-01-01")))
    message = refusal(path, entry="in", exit="out")
    assert "the dates in column 'in' lie before 1800 in line 3, the earliest being 1066-01-01" in message
    assert "Correct or drop these rows" in message


def test_a_follow_up_of_more_than_a_century_is_said(write):
    path = write(dates_csv(("2001-01-01", "2002-01-01"), ("1900-01-01", "2015-01-01")))
    data, message = noticed(path, time=None, entry="in", exit="out", unit="days")
    assert "the time from 'in' to 'out' is over 100 years in line 3: is one of these dates a stand-in" in message
    assert data.y.time.tolist() == [365, 42_003]  # 115 years with 28 leap days: 1904 to 2012


# ---------------------------------------------------------------- numbers written otherwise


def test_decimal_commas_and_thousand_points(write):
    path = write("time;event;cost;dose\n1,5;1;1.234,50;1.500\n2,25;0;12.000,25;2.250\n10,0;1;7,5;3.000\n")
    data, message = noticed(path)
    assert "decimal commas were read in time, cost, dose" in message
    assert data.y.time.tolist() == [1.5, 2.25, 10.0]
    assert data.X["cost"].tolist() == [1234.5, 12000.25, 7.5]
    assert data.X["dose"].tolist() == [1500, 2250, 3000]  # by the other columns, a point divides thousands
    assert read_table(path, "time", "event", decimal=",").report.warnings == ()


def test_thousand_commas_beside_decimal_points(write):
    path = write('time,event,cost,dose\n"1,200.5",1,"1,234",0.5\n900,0,"12,000",1.5\n"1,000",1,7,2.5\n')
    data = read_table(path, "time", "event")
    assert data.y.time.tolist() == [1200.5, 900, 1000]
    assert data.X["cost"].tolist() == [1234, 12000, 7]


def test_thousands_divided_by_spaces_or_apostrophes(write):
    data = read_table(write("time|event|cost\n1 200.5|1|1'234\n900|0|12'000\n1 000|1|7\n"), "time", "event")
    assert data.y.time.tolist() == [1200.5, 900, 1000]
    assert data.X["cost"].tolist() == [1234, 12000, 7]


def test_numbers_that_can_be_read_in_two_ways(write):
    path = write("time;event;cost\n1;1;1,234\n2;0;12,000\n3;1;7\n")
    message = refusal(path)
    assert "column 'cost' can be read in two ways: is '1,234' 1234 or 1.234?" in message
    assert "decimal='.' or decimal=','" in message
    assert read_table(path, "time", "event", decimal=".").X["cost"].tolist() == [1234, 12000, 7]
    assert read_table(path, "time", "event", decimal=",").X["cost"].tolist() == [1.234, 12, 7]


def test_dates_with_points_are_no_numbers_with_thousands(write):
    path = write("in;out;event;dose\n01.02.2001;05.03.2002;1;1,5\n02.02.2001;13.03.2002;0;2,5\n")
    data, _ = noticed(path, time=None, entry="in", exit="out", unit="days")
    assert data.y.time.tolist() == [397, 404]  # a year, and 32 and 39 days


# ---------------------------------------------------------------- columns that know too little or too much


def test_a_column_of_one_value(write):
    data = read_table(write("time,event,age,country\n1,1,40,US\n2,0,50,US\n3,1,60,US\n"), "time", "event")
    assert list(data.X.columns) == ["age"]
    assert data.report.dropped_columns == {"country": "it has one value, 'US', in all rows"}


def test_an_identifier_column(write):
    rows = "".join(f"P{i:03d},{i * 7 % 11 + 1},{i % 2},{40 + i % 5}\n" for i in range(30))
    data = read_table(write("patient,time,event,age\n" + rows), "time", "event")
    assert list(data.X.columns) == ["age"]
    assert data.report.dropped_columns == {"patient": "it is an identifier: a different text in every row"}


@pytest.mark.parametrize("turn", [1, -1])
def test_a_column_that_is_the_time_under_another_name(turn):
    table = patients(n=300)
    noise = np.random.default_rng(1).normal(0, 0.1, 300)
    data, message = noticed(table.assign(days_alive=turn * (365.25 * table["time"] + noise)))
    assert "column days_alive may leak the outcome: alone it ranks the times nearly perfectly (C-index" in message
    assert f"C-index {1 if turn == 1 else 0}.000" in message
    assert "days_alive" in data.X
    assert read_table(table.assign(days_alive=table["time"]), "time", "event", drop="days_alive").report.warnings == ()


@pytest.mark.parametrize("words", [("Deceased", "Alive"), (1, 0), (True, False)])
def test_a_column_that_is_the_event_under_another_name(words):
    table = patients(n=300)
    _, message = noticed(table.assign(vital_status=np.where(table["event"], *words)))
    assert (
        "column vital_status may leak the outcome: its values tell events from censored rows (right for 100%)"
        in message
    )


@pytest.mark.parametrize("kind", ["events", "censored rows"])
def test_a_column_that_is_known_for_one_kind_of_rows_only(kind):
    table = patients(n=300)
    rng = np.random.default_rng(2)
    known = table["event"] if kind == "events" else ~table["event"]
    _, message = noticed(table.assign(cause=np.where(known, rng.choice(["heart", "lung", "other"], 300), None)))
    assert f"column cause may leak the outcome: it is known only for {kind} (" in message


def test_honest_columns_are_no_leaks():
    table = patients(n=300)
    rng = np.random.default_rng(4)
    strong = np.log(table["time"]) + rng.normal(0, 1, 300)  # ranks well, but not nearly perfectly
    often_missing = np.where(rng.random(300) < 0.05, rng.normal(size=300), np.nan)
    many = rng.choice([f"centre {i}" for i in range(60)], 300)
    data = read_table(table.assign(strong=strong, rare=often_missing, centre=many), "time", "event")
    assert data.report.warnings == ()
    assert list(data.X.columns) == ["age", "strong", "rare", "centre"]


def test_concordance_of_the_leak_check_equals_a_count_of_all_pairs():
    from lifeyears import Outcome
    from lifeyears.data.tables._leaks import _comparable_pairs, _concordance

    rng = np.random.default_rng(5)
    time, event, values = rng.integers(1, 20, 40), rng.random(40) < 0.5, rng.integers(0, 9, 40).astype(float)
    values[3] = np.nan
    score = pairs = 0.0
    for i in range(40):
        for j in range(40):
            if event[i] and time[i] < time[j] and not np.isnan(values[i]) and not np.isnan(values[j]):
                pairs += 1
                score += 1.0 if values[i] < values[j] else 0.5 if values[i] == values[j] else 0.0
    assert _concordance(values, _comparable_pairs(Outcome(time, event))) == pytest.approx(score / pairs)


def test_the_most_categories_told_are_fewer_than_there_are():
    code = [f"C{row % 56}" for row in range(60)]
    assert (
        read_table(patients(code=code), "time", "event").report.dropped_columns["code"]
        == "it has 56 categories in 60 rows: too many to learn from. Group them into fewer (at most 30)"
    )


def test_a_million_categories():
    n = 1_000_001
    code = pd.Series(np.arange(n) % 1_000_000).map("C{}".format)  # one of them twice, so no identifier
    table = pd.DataFrame({"time": np.arange(n) % 97 + 1.5, "event": np.arange(n) % 3 == 0, "age": np.arange(n) % 50})
    data = read_table(table.assign(code=code), "time", "event")
    assert list(data.X.columns) == ["age"]
    reason = data.report.dropped_columns["code"]
    assert "it has 1,000,000 categories in 1,000,001 rows: too many to learn from. Group them into fewer" in reason
    message = refusal(table.assign(code=code.astype("category")), categorical=["code"])
    assert "column 'code', which you ask to keep, has 1,000,000 categories; at most 1,000 are accepted" in message


# ---------------------------------------------------------------- spreadsheets and Parquet


@pytest.fixture
def workbook(tmp_path):
    pytest.importorskip("openpyxl")
    path = tmp_path / "heart.xlsx"
    with pd.ExcelWriter(path) as writer:
        pd.DataFrame({"Notes": ["made in 2023", "see codebook"]}).to_excel(writer, sheet_name="Read me", index=False)
        patients(n=20).to_excel(writer, sheet_name="Patients", index=False)
        pd.DataFrame().to_excel(writer, sheet_name="Blank", index=False)
    return path


def test_an_excel_sheet_that_is_not_the_first(workbook):
    message = refusal(workbook)
    assert "the first sheet of heart.xlsx, 'Read me', does not have the columns time, event" in message
    assert "the sheet 'Patients' does. Pass sheet='Patients'" in message
    assert len(read_table(workbook, "time", "event", sheet="Patients")) == 20
    assert len(read_table(workbook, "time", "event", sheet=1)) == 20


def test_an_excel_sheet_that_is_not_there_or_blank(workbook):
    message = refusal(workbook, sheet="patient")
    assert "no sheet 'patient' (did you mean 'Patients'?). Its sheets are 'Read me', 'Patients', 'Blank'" in message
    assert "sheet 'Blank' of heart.xlsx is empty" in refusal(workbook, sheet="Blank")
    assert "has no column 'time'" in refusal(workbook, sheet=0)


def test_an_excel_sheet_with_blank_rows_above_its_header(tmp_path):
    pytest.importorskip("openpyxl")
    path = tmp_path / "heart.xlsx"
    notes = pd.DataFrame({"Notes": ["made in 2023", "see codebook"]})
    with pd.ExcelWriter(path) as writer:
        notes.to_excel(writer, sheet_name="Read me", index=False)
        patients(n=20).to_excel(writer, sheet_name="Patients", index=False, startrow=3)
    assert "the sheet 'Patients' does. Pass sheet='Patients'" in refusal(path)
    with pd.ExcelWriter(path) as writer:
        patients(n=20).to_excel(writer, sheet_name="Patients", index=False, startrow=3)
        patients(n=10).to_excel(writer, sheet_name="Some", index=False)
    assert len(read_table(path, "time", "event")) == 20  # the first sheet will do


def test_excel_rows_are_counted_as_the_spreadsheet_shows_them(tmp_path):
    pytest.importorskip("openpyxl")
    patients(n=4).assign(time=[1, -2, 3, 4]).to_excel(tmp_path / "heart.xlsx", index=False)
    assert "sheet 'Sheet1' of heart.xlsx: the time column 'time' is negative in sheet row 3" in refusal(
        tmp_path / "heart.xlsx"
    )


def test_numbers_kept_as_text_in_excel(tmp_path):
    pytest.importorskip("openpyxl")
    frame = pd.DataFrame({"time": ["1,5", "2,25", "3"], "event": [1, 0, 1], "dose": ["1", "2", "2"]})
    frame.to_excel(tmp_path / "heart.xlsx", index=False)
    data, message = noticed(tmp_path / "heart.xlsx")
    assert "decimal commas were read in time" in message
    assert data.y.time.tolist() == [1.5, 2.25, 3]
    assert data.X["dose"].tolist() == [1, 2, 2]


def test_a_parquet_file_with_nested_columns(tmp_path):
    pytest.importorskip("pyarrow")
    path = tmp_path / "heart.parquet"
    table = patients(n=3, event=[1, 0, 1], labs=[[1, 2], [3], None], donor=[{"age": 1}] * 3)
    table.to_parquet(path)
    message = refusal(path)
    assert "column 'labs' is nested: it holds a list in rows 0, 1 (counted from 0)" in message
    assert "Flatten it into columns of its own, or exclude it with drop=['labs']" in message
    assert "column 'donor' is nested: it holds a structure" in refusal(path, drop="labs")
    assert list(read_table(path, "time", "event", drop=["labs", "donor"]).X.columns) == ["age"]


def test_a_polars_frame_with_nested_columns():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"time": [1.0, 2.0], "event": [1, 0], "labs": [[1, 2], [3]], "donor": [{"age": 1}] * 2})
    assert "column 'labs' is nested" in refusal(frame)
    assert "column 'donor' is nested" in refusal(frame, drop="labs")
