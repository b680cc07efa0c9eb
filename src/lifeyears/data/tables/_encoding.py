"""Bytes to text: the encoding by its marks, else UTF-8, else Windows-1252 with a warning, else an error."""

from __future__ import annotations

import codecs

import numpy as np

from ...errors import DataError, Message, RequestError, Setting

_BYTE_ORDER_MARKS = [  # UTF-32's little-endian mark begins with UTF-16's: the longer ones come first
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
]


def decode(data: bytes, label: str, encoding: str | None) -> tuple[str, list[str]]:
    """Decode bytes to text, with a warning if the encoding was only a guess."""
    mark = next((name for bom, name in _BYTE_ORDER_MARKS if data.startswith(bom)), None)
    wide = _wide_encoding(data)
    if encoding is not None:
        try:
            text = data.decode(encoding)
        except LookupError:
            raise RequestError(
                f"there is no encoding called {encoding!r}; common ones are utf-8, utf-16, cp1252 and latin-1"
            ) from None
        except UnicodeDecodeError as error:
            problem = f"{label} is not {encoding}: {_place(data, error)}"
            raise DataError(problem, hint=_without_encoding(mark or wide)) from None
        if "\0" in text:
            raise DataError(
                f"{label} read as {encoding} is full of NUL characters, so it is not {encoding}",
                hint=_without_encoding(mark or wide),
            )
        return text.removeprefix("\ufeff"), []
    if mark or wide:
        try:
            return data.decode(mark or wide or "utf-8").removeprefix("\ufeff"), []
        except UnicodeDecodeError as error:
            raise DataError(
                f"{label} begins as {mark or wide} and then breaks off: {_place(data, error)}",
                hint="It is damaged or cut short: copy or export it again.",
            ) from None
    _refuse_binary(data, label)
    try:
        return data.decode("utf-8"), []
    except UnicodeDecodeError as error:
        place = _place(data, error)
    try:
        text = data.decode("cp1252")
    except UnicodeDecodeError as error:
        raise DataError(
            f"the encoding of {label} is not clear: it is not UTF-8 ({place}) and not Windows-1252 "
            f"({_place(data, error)})",
            hint=Message("Pass ", Setting("encoding"), ", for example 'cp1250', 'cp437' or 'shift_jis'."),
        ) from None
    warning = Message(
        f"the text is not UTF-8 ({place}) and was read as cp1252: if letters look wrong, pass ", Setting("encoding")
    )
    return text, [warning]


def _without_encoding(likely: str | None) -> Message:
    if likely:
        return Message(f"It looks like {likely}: leave ", Setting("encoding"), " out.")
    return Message("Leave ", Setting("encoding"), " out to have it guessed.")


def _wide_encoding(data: bytes) -> str | None:
    """UTF-16 without a byte order mark shows as a NUL in nearly every second byte."""
    sample = np.frombuffer(data[: 4096 - len(data[:4096]) % 2], dtype=np.uint8)
    if len(sample) < 8:
        return None
    first, second = (sample[0::2] == 0).mean(), (sample[1::2] == 0).mean()
    if second > 0.8 and first < 0.05:
        return "utf-16-le"
    return "utf-16-be" if first > 0.8 and second < 0.05 else None


def _refuse_binary(data: bytes, label: str) -> None:
    sample = np.frombuffer(data[:65536], dtype=np.uint8)
    control = (sample < 32) & ~np.isin(sample, np.frombuffer(b"\t\n\v\f\r\x1a", dtype=np.uint8))
    if (sample == 0).any() or control.mean() > 0.005:
        first = int(np.argmax(control))
        raise DataError(
            f"{label} is a binary file, not a text table: byte {first + 1:,} is 0x{sample[first]:02x}, which "
            "text does not have",
            hint="Tables are read from CSV and other delimited text, Parquet, Feather, Excel, SAS and Stata files: "
            "export the table as one of these.",
        )


def _place(data: bytes, error: UnicodeDecodeError) -> str:
    line = data.count(b"\n", 0, error.start) + 1
    if error.start >= len(data):
        return f"it ends within a character, in line {line:,}"
    return f"byte 0x{data[error.start]:02x} in line {line:,} does not fit"
