"""A file on disk to a table: what kind of file it is, and what is wrong with it if it cannot be read."""

from __future__ import annotations

import bz2
import gzip
import importlib
import io
import lzma
import os
import re
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
import pandas as pd

from ._numbers import MISSING
from ._source import SourceTable, listed, meant, refuse_duplicates, refuse_no_rows, typed_table
from ._text import read_text_table

# Enough of the first bytes that no text begins so: a CSV file may well start with PK, BZh or PAR1.
_COMPRESSED: dict[str, tuple[re.Pattern[bytes], Callable[[bytes], bytes]]] = {
    "gzip": (re.compile(rb"\x1f\x8b"), gzip.decompress),
    "bzip2": (re.compile(rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)"), bz2.decompress),
    "xz": (re.compile(rb"\xfd7zXZ\x00"), lzma.decompress),
}
_ZIP = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")
_PARQUET = b"PAR1\x15"
_FEATHER = (b"ARROW1\0\0", b"FEA1")  # of the second version, an Arrow file, and of the first
_JSON = re.compile(rb"(?:\xef\xbb\xbf)?\s*[{\[]\s*[{\[\]}\"]")  # not [age],[sex], as some databases write names
_COMPRESSED_ENDINGS = (".gz", ".bz2", ".xz", ".zip")
_MOST_SHEETS = 20  # looked into for the columns that are asked for
_MOST_BLANK_ROWS = 100  # looked through for the header, in each of these sheets
_SMALLEST_IN_TRANSPORT = 1e-77  # their floats are IBM's, and pandas gives a zero the smallest exponent of these
_SAS_DATE_FORMATS = ("DATE", "DDMMYY", "MMDDYY", "YYMMDD", "E8601DA", "WORDDAT", "JULIAN")


@dataclass(frozen=True)
class ReadingOptions:
    """What the user said about how to read the file, and the columns that must be in it."""

    sheet: str | int | None = None
    delimiter: str | None = None
    encoding: str | None = None
    decimal: str | None = None
    needed: tuple[str, ...] = ()


def read_file_table(path: str | os.PathLike[str], options: ReadingOptions) -> SourceTable:
    """Read a table from a file of any kind that `read_table` knows; what it is shows in its first bytes."""
    path = Path(path).expanduser()
    data, name = decompressed(_bytes_of(path), path.name)
    label = path.name if name == path.name else f"{path.name} ({name})"
    if not data:
        raise ValueError(f"{label} is empty: it holds no bytes at all. Was the export or the copy finished?")
    ending = Path(name).suffix.lower()
    if data.startswith(_PARQUET) or ending in (".parquet", ".pq"):
        return _parquet(data, label)
    if data.startswith(_FEATHER) or ending in (".feather", ".arrow"):
        return _feather(data, label)
    if ending in (".json", ".jsonl", ".ndjson", ".geojson") or _JSON.match(data):
        raise ValueError(
            f"{label} is a JSON file: a table with one row a subject was expected. Save it as CSV or Parquet; in "
            "Python, pandas.read_json makes a frame of it, which can be read as it is"
        )
    if data.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")) or ending in (".xlsx", ".xlsm", ".xls", ".ods"):
        return _excel(data, label, ".xls" if data.startswith(b"\xd0\xcf\x11\xe0") else ending, options)
    if ending in (".sas7bdat", ".xpt", ".xport") or data.startswith(b"HEADER RECORD*******LIB"):
        return _sas(data, label, "sas7bdat" if ending == ".sas7bdat" else "xport", options.encoding)
    if ending == ".dta" or data.startswith(b"<stata_dta>"):
        return _stata(data, label)
    return read_text_table(data, label, delimiter=options.delimiter, encoding=options.encoding, decimal=options.decimal)


def table_name(path: str | os.PathLike[str]) -> str:
    """Name a file without its endings: heart.csv.gz is 'heart'."""
    name = Path(path).name
    if name.lower().endswith(_COMPRESSED_ENDINGS):
        name = Path(name).stem
    return Path(name).stem


def _bytes_of(path: Path) -> bytes:
    if path.is_dir():
        inside = sorted(entry.name for entry in path.iterdir() if entry.is_file() and not entry.name.startswith("."))
        holds = f"It holds {listed(inside, most=5)}: name one of them" if inside else "It holds no files"
        raise IsADirectoryError(f"{path} is a folder; one file was expected. {holds}")
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        folder = path.parent
        if not folder.is_dir():
            raise FileNotFoundError(f"there is no file {path}: the folder {folder} does not exist") from None
        close = meant(path.name, [entry.name for entry in folder.iterdir()])
        raise FileNotFoundError(f"there is no file {path}{close}. Check the name and the folder") from None
    except PermissionError:
        raise PermissionError(
            f"there is no permission to read {path}. Ask its owner for read permission, or close the program "
            "that holds it open"
        ) from None


def decompressed(data: bytes, name: str) -> tuple[bytes, str]:
    """Unpack a compressed file: the bytes inside, and the name of what is inside."""
    for kind, (magic, decompress) in _COMPRESSED.items():
        if magic.match(data):
            inner = Path(name).stem if name.lower().endswith(_COMPRESSED_ENDINGS) else name
            try:
                return decompress(data), inner
            except (EOFError, OSError, zlib.error, lzma.LZMAError, ValueError):
                raise ValueError(_cut_short(name, kind, len(data))) from None
    if not data.startswith(_ZIP) and not name.lower().endswith(".zip"):
        if data and name.lower().endswith(_COMPRESSED_ENDINGS):
            raise ValueError(
                f"{name} is not compressed, though its name says so: it begins with {data[:8]!r}. "
                "Name it by what it is, or copy it again"
            )
        return data, name
    return _from_zip(data, name)


def _from_zip(data: bytes, name: str) -> tuple[bytes, str]:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = [entry for entry in archive.namelist() if not entry.endswith("/")]
            if {"[Content_Types].xml", "mimetype"} & set(members):  # an Excel or OpenDocument file is a zip file too
                return data, name
            members = [entry for entry in members if not entry.startswith("__MACOSX")]
            if len(members) != 1:
                raise ValueError(
                    f"{name} holds {len(members)} files ({listed(members, most=5)}); one table is expected. "
                    "Unpack it, and give the one that is meant"
                )
            if archive.getinfo(members[0]).flag_bits & 1:
                raise ValueError(f"{name} is locked with a password. Unpack it first")
            return archive.read(members[0]), Path(members[0]).name
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError, UnicodeDecodeError):
        if name.lower().endswith((".xlsx", ".xlsm", ".ods")):
            return data, name  # the reader of spreadsheets has better words for it
        raise ValueError(_cut_short(name, "zip", len(data))) from None


def _cut_short(name: str, kind: str, size: int) -> str:
    return (
        f"{name} is cut short or damaged: its {size:,} bytes are not a whole {kind} file. "
        "Copy or download it again, and compare the sizes"
    )


def _need(package: str, what: str, module: str = "") -> None:
    try:
        importlib.import_module(module or package)
    except ImportError:
        raise ImportError(f"reading {what} needs the package {package}: pip install {package}") from None


@contextmanager
def _reading(label: str, kind: str) -> Iterator[None]:
    """Let a library read: its own warnings (of fonts, of things to come) kept quiet, its errors put plain."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            yield
        except Exception as error:  # these errors have no common base
            raise ValueError(
                f"{label} cannot be read as {kind}: it is damaged, cut short, or a file of another kind "
                "under this name. Export or copy it again; CSV is always understood"
            ) from error


def _parquet(data: bytes, label: str) -> SourceTable:
    return _arrow(data, label, "Parquet", lambda module, file: module.read_schema(file).names, pd.read_parquet)


def _feather(data: bytes, label: str) -> SourceTable:
    return _arrow(data, label, "Feather", lambda module, file: module.read_table(file).column_names, pd.read_feather)


def _arrow(
    data: bytes, label: str, kind: str, names_in: Callable[[Any, IO[bytes]], Any], read: Callable[..., pd.DataFrame]
) -> SourceTable:
    """A table by pyarrow; its column names are looked at first, as two may be equal."""
    _need("pyarrow", f"{kind} files")
    with _reading(label, f"a {kind} file"):
        names = names_in(importlib.import_module(f"pyarrow.{kind.lower()}"), io.BytesIO(data))
    refuse_duplicates([str(name) for name in names], label)
    with _reading(label, f"a {kind} file"):
        frame = read(io.BytesIO(data))
    return typed_table(frame, label)


def _stata(data: bytes, label: str) -> SourceTable:
    with _reading(label, "a Stata file"):
        try:
            frame = pd.read_stata(io.BytesIO(data))
        except ValueError:  # two values under one label cannot be categories; their numbers can be read
            frame = pd.read_stata(io.BytesIO(data), convert_categoricals=False)
    return typed_table(frame, label)


def _sas(data: bytes, label: str, kind: str, encoding: str | None) -> SourceTable:
    frame: Any
    with _reading(label, "a SAS file"):
        if kind == "sas7bdat":
            frame = pd.read_sas(io.BytesIO(data), format="sas7bdat", encoding=encoding or "infer")
        else:
            with pd.read_sas(io.BytesIO(data), format="xport", encoding=None, iterator=True) as reader:
                fields = getattr(reader, "fields", [])
                frame = reader.read()
            formats = {_decoded(field["name"]): _decoded(field["nform"]) for field in fields}
            frame = _transport_values(frame, formats)
    for name in frame.columns:
        if pd.api.types.is_object_dtype(frame[name].dtype):
            frame[name] = [_decoded(value, encoding) for value in frame[name]]
    return typed_table(frame, label)


def _decoded(value: Any, encoding: str | None = None) -> Any:
    if not isinstance(value, bytes):
        return value
    for guess in [encoding] if encoding else ["utf-8", "cp1252"]:
        try:
            return value.decode(guess).strip()
        except UnicodeDecodeError:
            continue
    return value.decode("latin-1").strip()


def _transport_values(frame: pd.DataFrame, formats: dict[str, str]) -> pd.DataFrame:
    """Mend what pandas makes of a transport file: zeros come out as 5e-79, and dates as days from 1960."""
    for name, form in formats.items():
        if pd.api.types.is_float_dtype(frame[name].dtype):
            frame[name] = frame[name].mask(frame[name].abs() < _SMALLEST_IN_TRANSPORT, 0.0)
        if str(form).upper().startswith(_SAS_DATE_FORMATS):
            days = frame[name].astype(float) / (86400 if str(form).upper().startswith("DATETIME") else 1)
            # In seconds: a stand-in such as 9999-12-31 lies beyond the nanoseconds that pandas would take.
            seconds = (days.fillna(0) * 86400).round().to_numpy().astype("timedelta64[s]")
            frame[name] = pd.Series(np.datetime64("1960-01-01", "s") + seconds, frame.index).mask(days.isna())
    return frame


def _excel(data: bytes, label: str, ending: str, options: ReadingOptions) -> SourceTable:
    package, module = {".xls": ("xlrd", "xlrd"), ".ods": ("odfpy", "odf")}.get(ending, ("openpyxl", "openpyxl"))
    _need(package, "Excel files" if package == "openpyxl" else f"{ending} files", module)
    with _reading(label, "an Excel file"):
        book = pd.ExcelFile(io.BytesIO(data))
        headers = {str(name): _header(_first_row(book, name)) for name in book.sheet_names[:_MOST_SHEETS]}
    with book:
        sheet = _sheet([str(name) for name in book.sheet_names], headers, label, options)
        with _reading(label, "an Excel file"):
            cells = book.parse(sheet, header=None, dtype=object, na_values=MISSING, keep_default_na=False)
    label = f"sheet {sheet!r} of {label}"
    cells = cells.dropna(how="all", axis=1)
    filled = cells.notna().any(axis=1).to_numpy(dtype=bool)
    if not filled.any():
        raise ValueError(f"{label} is empty. Pass sheet= to read another sheet, or check the export")
    top = int(np.argmax(filled))
    names = _header(cells.iloc[top].tolist())
    refuse_duplicates(names, label)
    rows = cells.iloc[top + 1 :].set_axis(names, axis=1)
    refuse_no_rows(len(rows), names, label)
    row_numbers = np.arange(top + 2, top + 2 + len(rows))  # as the spreadsheet shows them: the first row is 1
    frame = rows.infer_objects().reset_index(drop=True)
    return SourceTable(frame, label, "sheet row", row_numbers).without_empty_rows()


def _header(cells: list[Any]) -> list[str]:
    return [
        f"unnamed_{place}" if pd.isna(cell) or not str(cell).strip() else str(cell).strip()
        for place, cell in enumerate(cells, start=1)
    ]


def _sheet(names: list[str], headers: dict[str, list[str]], label: str, options: ReadingOptions) -> str:
    """Find the sheet that is meant: the one named, else the first; point out another that fits better."""
    wanted = options.sheet
    if wanted is not None:
        if isinstance(wanted, int) and 0 <= wanted < len(names):
            return names[wanted]
        if wanted in names:
            return str(wanted)
        raise ValueError(
            f"{label} has no sheet {wanted!r}{meant(str(wanted), names)}. Its sheets are "
            f"{listed(map(repr, names))}: give the name, or the place counted from 0"
        )
    if not names:
        raise ValueError(f"{label} has no sheet that can be read: it is damaged, or not a workbook")
    needed = set(options.needed)
    fitting = [name for name, header in headers.items() if needed <= set(header)]
    if fitting and names[0] not in fitting:
        raise ValueError(
            f"the first sheet of {label}, {names[0]!r}, does not have the columns {listed(options.needed)}; "
            f"the sheet {fitting[0]!r} does. Pass sheet={fitting[0]!r}"
        )
    return names[0]


def _first_row(book: pd.ExcelFile, sheet: str | int) -> list[Any]:
    """Give the first row of a sheet with anything in it."""
    top = book.parse(sheet, header=None, nrows=_MOST_BLANK_ROWS, dtype=object, na_values=MISSING, keep_default_na=False)
    top = top.dropna(how="all")
    return top.iloc[0].tolist() if len(top) else []
