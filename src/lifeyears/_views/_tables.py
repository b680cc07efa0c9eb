"""Tables for people: a value with its interval in one cell, digits that fit, and HTML that is safe with any text."""

from __future__ import annotations

import html
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import pandas as pd

    from .._typing import Json

Cell: TypeAlias = float | str | bool | None
EXTRAS = (" sd", " stars", " p wilcoxon", " p corrected")
YEARS = ("gain", "short of best", "room", "difference", "change", "predicted less outcome")  # two digits, as years have
MISSING = "–"
WIDE = 36  # texts longer than this may wrap


@dataclass(frozen=True)
class TableColumn:
    """One column as it is shown.

    Attributes
    ----------
    name : str
    values, texts : list
        What is sorted by, and what is read.
    extras : dict of str to list
        Columns that are told within `texts`: the ends of an interval, standard deviation, stars, p-values.
    numeric : bool
    """

    name: str
    values: list[Cell]
    texts: list[str]
    extras: dict[str, list[Cell]] = field(default_factory=dict)
    numeric: bool = True


def make_columns(frame: pd.DataFrame) -> list[TableColumn]:
    """Make columns to show: two that end in "low" and "high" join the one before them, "X sd" and "X stars" "X".

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"model": ["Cox"], "years": [14.394], "low": [14.122], "high": [14.665]})
    >>> [column.texts for column in make_columns(table)]
    [['Cox'], ['14.39 (14.12 to 14.66)']]
    """
    names = [str(name) for name in frame.columns]
    cells = {name: [_plain(value) for value in frame.iloc[:, place]] for place, name in enumerate(names)}
    columns: list[TableColumn] = []
    place = 0
    while place < len(names):
        name = names[place]
        owner = next((name.removesuffix(end) for end in EXTRAS if name.endswith(end)), None)
        if owner in names:
            place += 1
            continue
        extras = {f"{name}{end}": cells[f"{name}{end}"] for end in EXTRAS if f"{name}{end}" in cells}
        interval = tuple(names[place + 1 : place + 3])
        if len(interval) == 2 and interval[0].endswith("low") and interval[1].endswith("high"):
            extras |= {end: cells[end] for end in interval}
            place += 2
        columns.append(_column(name, cells[name], extras))
        place += 1
    return columns


def _column(name: str, values: list[Cell], extras: dict[str, list[Cell]]) -> TableColumn:
    numbers = [value for value in values if isinstance(value, (int, float)) and not isinstance(value, bool)]
    if not numbers and any(value is not None for value in values):
        return TableColumn(name, values, [MISSING if value is None else str(value) for value in values], extras, False)
    show = _choose_format(name, numbers)
    low, high = (next((extras[key] for key in extras if key.endswith(end)), None) for end in ("low", "high"))
    spread, stars = extras.get(f"{name} sd"), extras.get(f"{name} stars")
    texts = []
    for row, value in enumerate(values):
        text = show(value) if isinstance(value, (int, float)) else MISSING if value is None else str(value)
        if spread is not None and value is not None and spread[row] is not None:
            text += f" ± {show(spread[row])}"
        if stars is not None and stars[row]:
            text += str(stars[row])
        if low is not None and high is not None and low[row] is not None and high[row] is not None:
            text += f" ({show(low[row])} to {show(high[row])})"
        texts.append(text)
    return TableColumn(name, values, texts, extras)


def _choose_format(name: str, numbers: list[float]) -> Callable[[Any], str]:
    """How the numbers of a column are written: whole, in percent, as p-values, or with digits that fit their size."""
    if name == "p" or name.startswith("p "):
        return lambda value: "<0.001" if value < 0.001 else f"{value:.3f}"
    if name == "share change":  # of two shares: points of percent
        return lambda value: format_number(100 * value, 1)
    if name.startswith("share") or name.endswith("closed"):
        return lambda value: f"{100 * value:.1f}%".replace("-", "−")
    if all(isinstance(value, int) for value in numbers):
        return lambda value: f"{value:,.0f}".replace("-", "−")
    if name == "median":  # of columns on scales of their own
        return lambda value: format_number(value, max(0, 2 - math.floor(math.log10(abs(value)))) if value else 0)
    largest = max(map(abs, numbers), default=0.0)
    digits = 0 if largest >= 1000 else 1 if largest >= 100 else 2 if largest >= 5 or name.startswith(YEARS) else 3
    return lambda value: format_number(value, digits)


def format_number(value: float | None, digits: int = 2) -> str:
    """Format a number for a sentence, with a true minus sign.

    Examples
    --------
    >>> format_number(-0.256), format_number(None)
    ('−0.26', '–')
    """
    if value is None or math.isnan(value):
        return MISSING
    text = f"{value:,.{digits}f}"
    return text.replace("-", "−") if text.strip("-0.,") else text.lstrip("-")


def _plain(value: Any) -> Cell:
    """A number, a text or None, whatever pandas holds."""
    value = value.item() if hasattr(value, "item") else value
    return None if value is None or value != value else value


def html_table(
    frame: pd.DataFrame,
    key: str = "",
    caption: str = "",
    marked: Callable[[Json], bool] | None = None,
    shade: Callable[[str, Cell], str] | None = None,
) -> str:
    """A table in HTML, every text escaped; raw values beside what is read, so that a script can sort and save them.

    Parameters
    ----------
    frame : DataFrame
        An index with a name is shown as the first columns.
    key : str
        Name of the file it is saved as.
    caption : str
    marked : callable, optional
        Of a row (a dict): whether to set it off.
    shade : callable, optional
        Of a column's name and a value: a class for the cell, or nothing.
    """
    if any(name is not None for name in frame.index.names):
        frame = frame.reset_index()
    columns = make_columns(frame)
    head = "".join(
        f'<th scope="col"{_class(column)}{_extra(list(column.extras), bool(column.extras))}>{_escape(column.name)}</th>'
        for column in columns
    )
    rows = []
    for place in range(len(frame)):
        note = ' class="marked"' if marked is not None and marked(frame.iloc[place].to_dict()) else ""
        rows.append(f"<tr{note}>" + "".join(_cell(column, place, shade) for column in columns) + "</tr>")
    name = f' data-name="{_escape(key)}"' if key else ""
    words = f"<caption>{_escape(caption)}</caption>" if caption else ""
    return (
        f'<table class="lifeyears"{name}>{words}<thead><tr>{head}</tr></thead>\n<tbody>'
        + "\n".join(rows)
        + "</tbody></table>"
    )


def _cell(column: TableColumn, place: int, shade: Callable[[str, Cell], str] | None) -> str:
    value = column.values[place]
    shaded = shade(column.name, value) if shade is not None and value is not None else ""
    raw = "" if not column.numeric or value is None else f' data-v="{_escape(json.dumps(value))}"'
    extras = [values[place] for values in column.extras.values()]
    return f"<td{_class(column, shaded)}{raw}{_extra(extras, bool(extras))}>{_escape(column.texts[place])}</td>"


def _class(column: TableColumn, shaded: str = "") -> str:
    if column.numeric:
        return f' class="number {shaded}"' if shaded else ' class="number"'
    return ' class="words"' if max(map(len, column.texts), default=0) > WIDE else ""


def _extra(values: Sequence[Cell], there: bool) -> str:
    return f' data-extra="{_escape(json.dumps(values, ensure_ascii=False))}"' if there else ""


def _escape(text: object) -> str:
    return html.escape(str(text), quote=True)
