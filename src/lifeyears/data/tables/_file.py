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
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
import pandas as pd

from ...errors import DataError, FileReadError, Message, MissingExtraError, MissingFileError, RequestError, Setting
from ...text import did_you_mean, list_values
from ._numbers import MISSING_TEXTS
from ._source import SourceTable, refuse_duplicates, refuse_no_rows, wrap_typed_frame
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
    """The user's settings for reading the file, and the columns that must be in it."""

    sheet: str | int | None = None
    delimiter: str | None = None
    encoding: str | None = None
    decimal: str | None = None
    needed: tuple[str, ...] = ()


def read_file_table(path: str | os.PathLike[str], options: ReadingOptions) -> SourceTable:
    """Read a table from a file of any kind that `read_table` knows; what it is shows in its first bytes."""
    path = Path(path).expanduser()
    data, name = decompress_file(read_bytes(path), path.name)
    label = path.name if name == path.name else f"{path.name} ({name})"
    if not data:
        raise DataError(f"{label} is empty: it holds no bytes at all", hint="Was the export or the copy finished?")
    ending = Path(name).suffix.lower()
    if data.startswith(_PARQUET) or ending in (".parquet", ".pq"):
        return _parquet(data, label)
    if data.startswith(_FEATHER) or ending in (".feather", ".arrow"):
        return _feather(data, label)
    if ending in (".json", ".jsonl", ".ndjson", ".geojson") or _JSON.match(data):
        raise DataError(
            f"{label} is a JSON file; a table with one row per subject was expected",
            hint="Save it as CSV or Parquet (pandas.read_json makes a frame of it).",
        )
    if data.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")) or ending in (".xlsx", ".xlsm", ".xls", ".ods"):
        return _excel(data, label, ".xls" if data.startswith(b"\xd0\xcf\x11\xe0") else ending, options)
    if ending in (".sas7bdat", ".xpt", ".xport") or data.startswith(b"HEADER RECORD*******LIB"):
        return _sas(data, label, "sas7bdat" if ending == ".sas7bdat" else "xport", options.encoding)
    if ending == ".dta" or data.startswith(b"<stata_dta>"):
        return _stata(data, label)
    return read_text_table(data, label, delimiter=options.delimiter, encoding=options.encoding, decimal=options.decimal)


def name_table(path: str | os.PathLike[str]) -> str:
    """Name a file without its endings: heart.csv.gz is 'heart'."""
    name = Path(path).name
    if name.lower().endswith(_COMPRESSED_ENDINGS):
        name = Path(name).stem
    return Path(name).stem


def read_bytes(path: Path) -> bytes:
    """Read a file that the request names; one that cannot be opened is a `FileReadError` that says what to do."""
    try:
        if path.is_dir():
            files = sorted(entry.name for entry in path.iterdir() if entry.is_file() and entry.name[:1] != ".")
            hint = f"It holds {list_values(files, most=5)}: name one of them." if files else "It holds no files."
            raise FileReadError(f"{path} is a folder; one file was expected", hint=hint, path=str(path))
        return path.read_bytes()
    except FileReadError:
        raise
    except (FileNotFoundError, NotADirectoryError):
        raise _missing_file(path) from None
    except PermissionError:
        raise FileReadError(
            f"there is no permission to read {path}",
            hint="Ask its owner for read permission, or close the program that holds it open.",
            path=str(path),
        ) from None
    except (OSError, ValueError) as error:  # a name that is too long, a zero byte in it, a disk that fails
        reason = getattr(error, "strerror", None) or error
        raise FileReadError(
            f"{path} cannot be read: {reason}", hint="Check the name and the disk.", path=str(path)
        ) from None


def _missing_file(path: Path) -> MissingFileError:
    folder = path.parent
    if not folder.is_dir():
        return MissingFileError(f"there is no file {path}: the folder {folder} does not exist", path=str(path))
    try:
        close = did_you_mean(path.name, [entry.name for entry in folder.iterdir()])
    except OSError:  # a folder that may be entered, not listed
        close = ""
    return MissingFileError(f"there is no file {path}{close}", hint="Check the name and the folder.", path=str(path))


def decompress_file(data: bytes, name: str) -> tuple[bytes, str]:
    """Unpack a compressed file: the bytes inside, and the name of what is inside."""
    for kind, (magic, decompress) in _COMPRESSED.items():
        if magic.match(data):
            inner = Path(name).stem if name.lower().endswith(_COMPRESSED_ENDINGS) else name
            try:
                return decompress(data), inner
            except (EOFError, OSError, zlib.error, lzma.LZMAError, ValueError):
                raise _damaged(name, kind, len(data)) from None
    if not data.startswith(_ZIP) and not name.lower().endswith(".zip"):
        if data and name.lower().endswith(_COMPRESSED_ENDINGS):
            raise FileReadError(
                f"{name} is not compressed, though its name says so: it begins with {data[:8]!r}",
                hint="Name it by what it is, or copy it again.",
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
                raise DataError(
                    f"{name} holds {len(members)} files ({list_values(members, most=5)}); one table is expected",
                    hint="Unpack it, and name the file to read.",
                )
            if archive.getinfo(members[0]).flag_bits & 1:
                raise DataError(f"{name} is locked with a password", hint="Unpack it first.")
            return archive.read(members[0]), Path(members[0]).name
    except DataError:
        raise
    except (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, RuntimeError, OSError, ValueError):
        if name.lower().endswith((".xlsx", ".xlsm", ".ods")):
            return data, name  # the reader of spreadsheets explains it better
        raise _damaged(name, "zip", len(data)) from None


def _damaged(name: str, kind: str, size: int) -> FileReadError:
    return FileReadError(
        f"{name} is cut short or damaged: its {size:,} bytes are not a whole {kind} file",
        hint="Copy or download it again, and compare the sizes.",
    )


def _require_package(package: str, what: str, module: str = "") -> None:
    try:
        importlib.import_module(module or package)
    except ImportError:
        raise MissingExtraError(
            f"reading {what} needs the package {package}: pip install {package}", package=package
        ) from None


@contextmanager
def _reading(label: str, kind: str) -> Iterator[None]:
    """Let a library read: suppress its own warnings (fonts, deprecations) and put its errors into plain words."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            yield
        except Exception as error:  # these errors have no common base
            raise FileReadError(
                f"{label} cannot be read as {kind}: it is damaged, cut short, or a file of another kind "
                "under this name",
                hint="Export or copy it again; CSV is always understood.",
            ) from error


def _parquet(data: bytes, label: str) -> SourceTable:
    return _arrow(data, label, "Parquet", lambda module, file: module.read_schema(file).names, pd.read_parquet)


def _feather(data: bytes, label: str) -> SourceTable:
    return _arrow(data, label, "Feather", lambda module, file: module.read_table(file).column_names, pd.read_feather)


def _arrow(
    data: bytes,
    label: str,
    kind: str,
    names_in: Callable[[Any, IO[bytes]], Iterable[str]],
    read: Callable[..., pd.DataFrame],
) -> SourceTable:
    """Read a table with pyarrow; its column names are checked first, as two may be equal."""
    _require_package("pyarrow", f"{kind} files")
    with _reading(label, f"a {kind} file"):
        names = names_in(importlib.import_module(f"pyarrow.{kind.lower()}"), io.BytesIO(data))
    refuse_duplicates([str(name) for name in names], label)
    with _reading(label, f"a {kind} file"):
        frame = read(io.BytesIO(data))
    return wrap_typed_frame(frame, label)


def _stata(data: bytes, label: str) -> SourceTable:
    with _reading(label, "a Stata file"):
        try:
            frame = pd.read_stata(io.BytesIO(data))
        except ValueError:  # two values under one label cannot be categories; their numbers can be read
            frame = pd.read_stata(io.BytesIO(data), convert_categoricals=False)
    return wrap_typed_frame(frame, label)


def _sas(data: bytes, label: str, kind: str, encoding: str | None) -> SourceTable:
    with _reading(label, "a SAS file"):
        if kind == "sas7bdat":
            frame = pd.read_sas(io.BytesIO(data), format="sas7bdat", encoding=encoding or "infer")
        else:
            with pd.read_sas(io.BytesIO(data), format="xport", encoding=None, iterator=True) as reader:
                fields = getattr(reader, "fields", [])
                frame = reader.read()
            formats = {str(_decode_cell(field["name"])): str(_decode_cell(field["nform"])) for field in fields}
            frame = _transport_values(frame, formats)
    for name in frame.columns:
        if pd.api.types.is_object_dtype(frame[name].dtype):
            frame[name] = [_decode_cell(value, encoding) for value in frame[name]]
    return wrap_typed_frame(frame, label)


def _decode_cell(value: object, encoding: str | None = None) -> object:
    if not isinstance(value, bytes):
        return value
    for guess in [encoding] if encoding else ["utf-8", "cp1252"]:
        try:
            return value.decode(guess).strip()
        except UnicodeDecodeError:
            continue
    return value.decode("latin-1").strip()


def _transport_values(frame: pd.DataFrame, formats: dict[str, str]) -> pd.DataFrame:
    """Correct what pandas makes of a transport file: zeros become 5e-79, and dates days from 1960."""
    for name, form in formats.items():
        if pd.api.types.is_float_dtype(frame[name].dtype):
            frame[name] = frame[name].mask(frame[name].abs() < _SMALLEST_IN_TRANSPORT, 0.0)
        if form.upper().startswith(_SAS_DATE_FORMATS):
            days = frame[name].astype(float) / (86400 if form.upper().startswith("DATETIME") else 1)
            # In seconds: a stand-in such as 9999-12-31 lies beyond the nanoseconds that pandas would take.
            seconds = (days.fillna(0) * 86400).round().to_numpy().astype("timedelta64[s]")
            frame[name] = pd.Series(np.datetime64("1960-01-01", "s") + seconds, frame.index).mask(days.isna())
    return frame


def _excel(data: bytes, label: str, ending: str, options: ReadingOptions) -> SourceTable:
    package, module = {".xls": ("xlrd", "xlrd"), ".ods": ("odfpy", "odf")}.get(ending, ("openpyxl", "openpyxl"))
    _require_package(package, "Excel files" if package == "openpyxl" else f"{ending} files", module)
    with _reading(label, "an Excel file"):
        book = pd.ExcelFile(io.BytesIO(data))
        headers = {str(name): _header(_first_row(book, name)) for name in book.sheet_names[:_MOST_SHEETS]}
    with book:
        sheet = _sheet([str(name) for name in book.sheet_names], headers, label, options)
        with _reading(label, "an Excel file"):
            cells = book.parse(sheet, header=None, dtype=object, na_values=MISSING_TEXTS, keep_default_na=False)
    label = f"sheet {sheet!r} of {label}"
    cells = cells.dropna(how="all", axis=1)
    filled = cells.notna().any(axis=1).to_numpy(dtype=bool)
    if not filled.any():
        hint = Message("Pass ", Setting("sheet"), " to read another sheet, or check the export.")
        raise DataError(f"{label} is empty", hint=hint)
    top = int(np.argmax(filled))
    names = _header(cells.iloc[top].tolist())
    refuse_duplicates(names, label)
    rows = cells.iloc[top + 1 :].set_axis(names, axis=1)
    refuse_no_rows(len(rows), names, label)
    row_numbers = np.arange(top + 2, top + 2 + len(rows))  # as the spreadsheet shows them: the first row is 1
    frame = rows.infer_objects().reset_index(drop=True)
    return SourceTable(frame, label, "sheet row", row_numbers).without_empty_rows()


def _header(cells: list[object]) -> list[str]:
    return [
        f"unnamed_{place}" if pd.isna(cell) or not str(cell).strip() else str(cell).strip()
        for place, cell in enumerate(cells, start=1)
    ]


def _sheet(names: list[str], headers: dict[str, list[str]], label: str, options: ReadingOptions) -> str:
    """Find the sheet to read: the one named, else the first; point out another that fits better."""
    wanted = options.sheet
    if wanted is not None:
        if isinstance(wanted, int) and 0 <= wanted < len(names):
            return names[wanted]
        if wanted in names:
            return str(wanted)
        raise RequestError(
            f"{label} has no sheet {wanted!r}{did_you_mean(str(wanted), names)}",
            hint=f"Its sheets are {list_values(map(repr, names))}: give the name, or the position counted from 0.",
        )
    if not names:
        raise DataError(f"{label} has no sheet that can be read: it is damaged, or not a workbook")
    needed = set(options.needed)
    fitting = [name for name, header in headers.items() if needed <= set(header)]
    if fitting and names[0] not in fitting:
        raise RequestError(
            f"the first sheet of {label}, {names[0]!r}, does not have the columns {list_values(options.needed)}; "
            f"the sheet {fitting[0]!r} does",
            hint=Message("Pass ", Setting("sheet", fitting[0]), "."),
        )
    return names[0]


def _first_row(book: pd.ExcelFile, sheet: str | int) -> list[object]:
    """Return the first row of a sheet with anything in it."""
    top = book.parse(
        sheet, header=None, nrows=_MOST_BLANK_ROWS, dtype=object, na_values=MISSING_TEXTS, keep_default_na=False
    )
    top = top.dropna(how="all")
    return top.iloc[0].tolist() if len(top) else []
