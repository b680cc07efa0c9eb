"""Find and read the files of a STAR thoracic release: delimited text with its .htm, SAS, or Stata."""

from __future__ import annotations

import codecs
import csv
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, TypeAlias

from ...errors import DataError, FileReadError, Message, MissingFileError, RequestError, Setting

if TYPE_CHECKING:
    import pandas as pd

    Wanted: TypeAlias = Callable[[str], bool]
    Choose: TypeAlias = Callable[[pd.DataFrame], pd.DataFrame]

STEM = "thoracic_data"
KINDS = (".dat", ".sas7bdat", ".dta")  # in the order they are preferred
MOST_FILES = 5_000  # a release unpacked with all its documents has some hundreds
ROWS_AT_ONCE = 20_000  # SAS and Stata hold numbers as doubles: 549 columns of 20,000 rows are 90 MB


@dataclass(frozen=True)
class Release:
    """Where the data of a release are, where its columns are named (text only), and what else lies there."""

    data: Path
    names: Path | None
    others: tuple[Path, ...]


@dataclass(frozen=True)
class Contents:
    """The chosen rows and columns of a release, the names of all its columns, and warnings."""

    frame: pd.DataFrame
    names: list[str]
    warnings: list[str]


def find_release(folder: str | Path) -> Release:
    """Find the thoracic file in a folder or below it, whatever the case of its name.

    Raises
    ------
    MissingFileError
        If there is no such folder, no thoracic file in it, or a .DAT without its .htm.
    FileReadError
        If the folder cannot be opened.
    RequestError
        If `folder` is a file, or there are two releases below it.
    """
    folder = Path(folder).expanduser()
    if folder.is_file():
        raise RequestError(f"{folder} is a file; read_star takes the folder of the release, here {folder.parent}")
    if not folder.is_dir():
        raise MissingFileError(
            f"there is no folder {folder}", hint="Name the folder of a STAR release.", path=str(folder)
        )
    files = _files_below(folder)
    by_kind = [[path for path in files if _is(path, kind)] for kind in KINDS]
    for paths in by_kind:
        if len(paths) > 1:
            raise RequestError(
                f"{folder} holds more than one release: {', '.join(map(str, paths))}", hint="Give the folder of one."
            )
    data = [paths[0] for paths in by_kind if paths]
    if not data:
        there = ", ".join(path.name for path in files[:8]) + (", …" if len(files) > 8 else "")
        raise MissingFileError(
            f"no STAR thoracic file in {folder} or its subfolders. Looked for THORACIC_DATA.DAT with "
            "THORACIC_DATA.htm, for thoracic_data.sas7bdat and thoracic_data.dta; found "
            f"{there or 'no files at all'}",
            hint="Unpack the release and give the folder with the thoracic files.",
            path=str(folder),
        )
    names = _names_file(data[0]) if _is(data[0], ".dat") else None
    return Release(data[0], names, tuple(data[1:]))


def _files_below(folder: Path) -> list[Path]:
    """All files of a folder and those below; a folder with very many is not that of a release (a whole disk, say)."""
    files: list[Path] = []
    for here, _, names in os.walk(folder, onerror=_refuse_unreadable):
        files += [Path(here, name) for name in names]
        if len(files) > MOST_FILES:
            raise RequestError(
                f"{folder} and its subfolders hold more than {MOST_FILES:,} files: give the folder of the STAR release "
                "itself"
            )
    return sorted(path for path in files if path.is_file())


def _refuse_unreadable(error: OSError) -> NoReturn:
    raise FileReadError(
        f"{error.filename} cannot be read: {(error.strerror or str(error)).lower()}",
        hint="Ask the owner of the release for read permission.",
        path=str(error.filename),
    ) from None


def read_release(
    release: Release,
    wanted: Wanted,
    choose: Choose,
    encoding: str,
) -> Contents:
    """Read the wanted columns of the rows that `choose` keeps.

    Columns come under upper-case names: as categories of text (.DAT), or as SAS and Stata hold them. `choose`
    may be called more than once, with a piece of the rows each time.
    """
    try:
        codecs.lookup(encoding)
    except LookupError:
        raise RequestError(
            f"there is no encoding called {encoding!r}; STAR files are cp1252, others may be latin-1 or utf-8"
        ) from None
    read = {".dat": _read_text, ".sas7bdat": _read_sas, ".dta": _read_stata}[release.data.suffix.lower()]
    try:
        return read(release, wanted, choose, encoding)
    except UnicodeDecodeError as error:
        raise DataError(
            f"{release.data} is not {encoding} text: it has a byte {error.object[error.start]:#04x}",
            hint=Message(
                "STAR files are cp1252; if this one is not, pass ",
                Setting("encoding", "latin-1"),
                " or ",
                Setting("encoding", "utf-8"),
                ".",
            ),
        ) from None
    except FileReadError:
        raise
    except OSError as error:
        _refuse_unreadable(error)


def _is(path: Path, suffix: str) -> bool:
    return path.stem.lower() == STEM and path.suffix.lower() == suffix


def _names_file(data: Path) -> Path:
    for path in sorted(data.parent.iterdir()):
        if _is(path, ".htm") or _is(path, ".html"):
            return path
    raise MissingFileError(
        f"{data} has no THORACIC_DATA.htm beside it. That file names the columns, whose order changes from "
        "release to release",
        hint="Copy the one that came with this .DAT.",
        path=str(data.with_suffix(".htm")),
    )


def _read_text(release: Release, wanted: Wanted, choose: Choose, encoding: str) -> Contents:
    import pandas as pd

    assert release.names is not None
    names = read_column_names(release.names, encoding)
    complete = check_lines(release.data, len(names), release.names.name)
    pieces = _pieces(
        release.data,
        pd.read_csv,
        sep="\t",
        header=None,
        names=names,
        usecols=[name for name in names if wanted(name)],
        dtype="category",  # one or two bytes a cell: 200,000 x 549 cells as text would take gigabytes
        keep_default_na=False,
        na_values=["", "."],
        quoting=csv.QUOTE_NONE,
        encoding=encoding,
        low_memory=False,  # it would split a piece again and spend its time on joining categories
        chunksize=ROWS_AT_ONCE,
    )
    contents = _gather(release.data, pieces, wanted, choose)
    cut = f"the last line of {release.data.name} has no line end: its last value may be cut short"
    return Contents(contents.frame, names, [] if complete else [cut])


def _read_sas(release: Release, wanted: Wanted, choose: Choose, encoding: str) -> Contents:
    import pandas as pd

    pieces = _pieces(release.data, pd.read_sas, format="sas7bdat", encoding=encoding, chunksize=ROWS_AT_ONCE)
    return _gather(release.data, pieces, wanted, choose)


def _read_stata(release: Release, wanted: Wanted, choose: Choose, encoding: str) -> Contents:
    import pandas as pd

    # Stata files state their own encoding. Value labels would hide the codes.
    pieces = _pieces(release.data, pd.read_stata, convert_categoricals=False, chunksize=ROWS_AT_ONCE)
    return _gather(release.data, pieces, wanted, choose)


def _pieces(
    path: Path, read: Callable[..., AbstractContextManager[Iterable[pd.DataFrame]]], **options: object
) -> Iterator[pd.DataFrame]:
    """Read a file piece by piece; whatever fails within pandas means that the file is damaged."""
    rows = 0
    try:
        with read(path, **options) as reader:
            for piece in reader:
                rows += len(piece)
                yield piece.rename(columns=lambda name: str(name).upper())
            promised = getattr(reader, "row_count", rows)
    except (UnicodeDecodeError, PermissionError, MemoryError):
        raise
    except Exception as error:
        raise FileReadError(
            f"cannot read {path} beyond row {rows:,}: {str(error).rstrip('.')}. The file is cut short or damaged",
            hint="Copy it again from the release.",
            path=str(path),
        ) from error
    if rows != promised:
        raise FileReadError(
            f"{path} ends after {rows:,} of its {promised:,} rows. The file is cut short",
            hint="Copy it again from the release.",
            path=str(path),
        )


def _gather(path: Path, pieces: Iterator[pd.DataFrame], wanted: Wanted, choose: Choose) -> Contents:
    """Choose the rows piece by piece, so that those not wanted do not add up in memory."""
    import pandas as pd

    names: list[str] = []
    kept: list[pd.DataFrame] = []
    for piece in pieces:
        names = list(piece.columns)
        rows = choose(piece[[name for name in names if wanted(name)]])
        if len(rows):
            kept.append(rows)
    if not names:
        raise DataError(f"{path} has no rows; copy it again from the release")
    if not kept:
        return Contents(pd.DataFrame(), names, [])
    return Contents(pd.DataFrame({name: _joined([rows[name] for rows in kept]) for name in kept[0]}), names, [])


def _joined(pieces: list[pd.Series]) -> pd.Series:
    """Join the pieces of a column; concat alone would turn unlike categories into plain text."""
    import pandas as pd
    from pandas.api.types import union_categoricals

    if not isinstance(pieces[0].dtype, pd.CategoricalDtype):
        return pd.concat(pieces, ignore_index=True)
    # A piece without a single value has categories of no particular type, which union_categoricals refuses.
    plain = [
        pd.Categorical.from_codes(piece.cat.codes, categories=piece.cat.categories.astype(object)) for piece in pieces
    ]
    return pd.Series(union_categoricals(plain))


def check_lines(path: Path, columns: int, names_file: str) -> bool:
    """Check the number of fields in every line: pandas would silently fill a short line with missing values.

    Returns whether the last line is complete: whether it ends with a line break.
    """
    number, line = 0, b""
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            fields = line.count(b"\t") + 1
            if fields == columns or not line.rstrip(b"\r\n"):  # pandas skips an empty line too
                continue
            if number == 1 and next(lines, b"").count(b"\t") + 1 == fields:
                raise DataError(
                    f"{path} has {fields} fields in its first lines, but {names_file} names {columns} "
                    "columns: they belong to different releases",
                    hint="Put the .htm that came with this .DAT beside it.",
                )
            raise DataError(
                f"{path}, line {number}: {fields} fields, but {names_file} names {columns} columns. The line "
                "is cut short or damaged",
                hint="Copy the file again from the release.",
                line=number,
            )
    if not number:
        raise DataError(f"{path} is empty; copy it again from the release")
    return line.endswith(b"\n")


def read_column_names(path: Path, encoding: str = "cp1252") -> list[str]:
    """Read the names of the columns, in their order, from the .htm of a release: the LABELs of its table.

    Raises
    ------
    DataError
        If the file has no table with a LABEL column, or names a column twice.
    """
    table = _Table()
    table.feed(path.read_text(encoding=encoding))
    table.close()
    rows = [[cell.strip().upper() for cell in row] for row in table.rows]
    head = next((place for place, row in enumerate(rows) if "LABEL" in row), None)
    if head is None:
        first = ", ".join(next((row for row in rows if row), ["no table at all"]))
        raise DataError(f"{path} has no table with a LABEL column, which names the columns; found {first}")
    at = rows[head].index("LABEL")
    names = [row[at] for row in rows[head + 1 :] if len(row) > at and row[at] not in ("", "LABEL")]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise DataError(f"{path} names these columns twice: {', '.join(twice)}", hint="Use the .htm of the release.")
    return names


class _Table(HTMLParser):
    """The cells of all tables, row by row; closing tags may be left out, as older SAS output does."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.rows: list[list[str]] = [[]]
        self._in_cell = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
        self._in_cell = tag in ("td", "th") or (self._in_cell and tag != "tr")

    def handle_endtag(self, tag: str) -> None:
        self._in_cell = self._in_cell and tag not in ("td", "th", "tr", "table")

    def handle_data(self, data: str) -> None:
        if self._in_cell:
            self.rows[-1][-1] += data
