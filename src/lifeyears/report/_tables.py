"""Tables as the templates show them: a value with its interval in one cell, and raw values for sorting and saving."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..experiments.results import display_columns
from ..experiments.types import Arm

if TYPE_CHECKING:
    from ..experiments.types import Table, Value

WIDE = 36  # texts longer than this may wrap
TALL = 25  # rows; a longer table scrolls in its box


@dataclass(frozen=True)
class ColumnView:
    """A column to show; `extras` is JSON of the headings of the columns that are shown within it."""

    heading: str
    is_numeric: bool
    is_wide: bool = False
    extras: str = ""


@dataclass(frozen=True)
class CellView:
    """A cell to show; `raw` and `extras` are JSON of what is sorted by and saved, `link` is an anchor."""

    text: str
    raw: str = ""
    extras: str = ""
    shade: str = ""
    link: str = ""


@dataclass(frozen=True)
class RowView:
    """A row to show; `is_marked` sets it off."""

    cells: tuple[CellView, ...]
    is_marked: bool = False


@dataclass(frozen=True)
class TableView:
    """A table to show; a note under it is the template's.

    Attributes
    ----------
    key : str
        Its anchor, and the name of the file it is saved as.
    title : str
    columns : tuple of ColumnView
    rows : tuple of RowView
    """

    key: str
    title: str
    columns: tuple[ColumnView, ...]
    rows: tuple[RowView, ...]

    @property
    def is_narrow(self) -> bool:
        """Whether it needs no more than half of the page."""
        return len(self.columns) < 4

    @property
    def is_tall(self) -> bool:
        """Whether it scrolls in its box."""
        return len(self.rows) > TALL


def view_table(
    key: str,
    table: Table,
    best: Arm | None = None,
    shade: Callable[[str, Value], str] | None = None,
    link: Callable[[str, int], str] | None = None,
) -> TableView:
    """Prepare a table for the page.

    Parameters
    ----------
    key : str
        Its anchor.
    table : Table
    best : Arm, optional
        The arm whose rows are set off.
    shade : callable, optional
        Of a column's key and a value: a class for the cell, or nothing.
    link : callable, optional
        Of a column's key and the number of a row: an anchor for the cell, or nothing.

    Examples
    --------
    >>> from lifeyears.experiments.types import ColumnNote, Table
    >>> columns = (
    ...     ColumnNote("group", "group", "text"),
    ...     ColumnNote("gain", "gain (years)", "time"),
    ...     ColumnNote("low", "gain (years), lower end", "time", "gain", "low"),
    ...     ColumnNote("high", "gain (years), upper end", "time", "gain", "high"),
    ... )
    >>> view = view_table("gains", Table("Gains", columns, (("A", 1.5, 1.25, 1.75),)))
    >>> [cell.text for cell in view.rows[0].cells]
    ['A', '1.50 (1.25 to 1.75)']
    """
    keys = [column.key for column in table.columns if column.of not in table.keys]
    columns, cells = [], []
    for name, shown in zip(keys, display_columns(table), strict=True):
        is_wide = not shown.numeric and max(map(len, shown.texts), default=0) > WIDE
        columns.append(ColumnView(shown.name, shown.numeric, is_wide, _write_json(list(shown.extras))))
        cells.append(
            [
                CellView(
                    text,
                    _write_json(value) if shown.numeric and value is not None else "",
                    _write_json([extra[row] for extra in shown.extras.values()]),
                    shade(name, value) if shade is not None else "",
                    link(name, row) if link is not None else "",
                )
                for row, (text, value) in enumerate(zip(shown.texts, shown.values, strict=True))
            ]
        )
    marks = [best is not None and _find_arm(row) == best for row in table.records()]
    rows = tuple(RowView(tuple(row), mark) for row, mark in zip(zip(*cells, strict=True), marks, strict=True))
    return TableView(key, table.title, tuple(columns), rows)


def _find_arm(row: dict[str, Value]) -> Arm | None:
    return Arm(str(row["model"]), str(row["method"])) if {"model", "method"} <= row.keys() else None


def _write_json(value: object) -> str:
    return "" if value == [] else json.dumps(value, ensure_ascii=False, allow_nan=False)
