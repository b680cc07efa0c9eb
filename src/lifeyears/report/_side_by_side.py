"""Two runs side by side, with what differs in settings and data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from .._views import Chart, Series, format_number
from ..experiments.types import Arm, ColumnNote, Table, Value
from ._figures import FigureView, view_figure
from ._page import Section
from ._run import RunView, format_setting
from ._tables import TableView, view_table

if TYPE_CHECKING:
    from ..experiments.types import Finding, Summary

READING = ("rows_read", "dropped_rows", "dropped_columns", "filtered_values", "warnings")  # in the report of each run


@dataclass(frozen=True)
class NamedRun:
    """One of the two runs: its name, and its data for templates."""

    name: str
    view: RunView

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What must be read before the answer, and the answer."""
        return self.view.summary.of_severity("serious", "answer")


@dataclass(frozen=True)
class PairView:
    """Two runs as their templates see them.

    Attributes
    ----------
    runs : tuple of NamedRun
    changes : TableView
        Settings and data that differ.
    values : TableView
    figure : FigureView or None
        None where the runs have different units of time.
    incomparable : tuple of str
        Why levels cannot be compared.
    """

    runs: tuple[NamedRun, NamedRun]
    changes: TableView
    values: TableView
    figure: FigureView | None
    incomparable: tuple[str, ...]

    @property
    def heading(self) -> str:
        """What the values are, with the unit or the units."""
        units = list(dict.fromkeys(run.view.unit for run in self.runs))
        return (
            f"{units[0].capitalize()} per allocation" if len(units) == 1 else f"Per allocation: {' and '.join(units)}"
        )

    @property
    def best(self) -> tuple[str, ...]:
        """The best arms: one where the runs agree."""
        return tuple(dict.fromkeys(run.view.best for run in self.runs))


# The sections of the page of two runs, in order; see `SECTIONS` in _sections.py for how one is added.
SECTIONS: tuple[Section[PairView], ...] = (
    Section("answer", "The two answers", "beside/answer.html.j2"),
    Section("changes", "What differs", "beside/changes.html.j2"),
    Section("values", lambda view: view.heading, "beside/values.html.j2"),
    Section("calibration", "Calibration", "beside/calibration.html.j2"),
    Section("support", "Support at the horizon", "beside/support.html.j2"),
    Section("rerun", "Run them again", "beside/rerun.html.j2"),
)


def view_pair(first: Summary, second: Summary, names: tuple[str, str]) -> PairView:
    """Prepare what the templates show of two runs."""
    runs = NamedRun(names[0], RunView(first)), NamedRun(names[1], RunView(second))
    rows = _compare_values(first, second)
    same_unit = first.data.unit == second.data.unit
    return PairView(
        runs,
        view_table("changes", _tabulate_differences(first, second, names)),
        view_table("beside", _tabulate_values(rows, runs)),
        view_figure("beside", _draw_values(rows, runs)) if same_unit else None,
        tuple(_list_incomparable(runs)),
    )


def _tabulate_differences(first: Summary, second: Summary, names: tuple[str, str]) -> Table:
    rows: list[tuple[Value, ...]] = []
    for part, before, now in (
        ("plan", dict(first.plan), dict(second.plan)),
        ("data", _list_fields(first.data), _list_fields(second.data)),
        ("waitlist", _list_fields(first.waitlist), _list_fields(second.waitlist)),
    ):
        rows += [
            (f"{part}: {name}", format_setting(before.get(name)), format_setting(now.get(name)))
            for name in sorted({*before, *now})
            if name not in READING and before.get(name) != now.get(name)
        ]
    for name, old, new in (
        ("judged by", first.relevance, second.relevance),
        ("intervals over", first.intervals, second.intervals),
        ("version", first.version, second.version),
    ):
        if old != new:
            rows.append((name, old, new))
    columns = (
        ColumnNote("what", "what", "text"),
        ColumnNote("first", names[0], "text"),
        ColumnNote("second", names[1], "text"),
    )
    return Table("Settings and data that differ", columns, tuple(rows))


def _list_fields(part: object) -> dict[str, object]:
    return {field.name: getattr(part, field.name) for field in fields(part)}  # type: ignore[arg-type]


@dataclass(frozen=True)
class _Pair:
    """The rows of one arm in the tables of values; None where a run does not have it."""

    arm: Arm
    first: dict[str, Value] | None
    second: dict[str, Value] | None


def _compare_values(first: Summary, second: Summary) -> list[_Pair]:
    tables = [
        {Arm(str(row["model"]), str(row["method"])): row for row in summary.tables["allocation"].records()}
        for summary in (first, second)
    ]
    return [_Pair(arm, tables[0].get(arm), tables[1].get(arm)) for arm in dict.fromkeys((*tables[0], *tables[1]))]


def _tabulate_values(pairs: list[_Pair], runs: tuple[NamedRun, NamedRun]) -> Table:
    columns = [ColumnNote("model", "model", "text")]
    for key, run in zip(("first", "second"), runs, strict=True):
        heading = f"{run.name}, {run.view.unit}"
        columns.append(ColumnNote(key, heading, "time"))
        columns.append(ColumnNote(f"{key}_low", f"{heading}, low", "time", key, "low"))
        columns.append(ColumnNote(f"{key}_high", f"{heading}, high", "time", key, "high"))
    same_unit = runs[0].view.unit == runs[1].view.unit
    columns.append(ColumnNote("change", f"change, {runs[0].view.unit}" if same_unit else "change", "time"))
    for key, run in zip(("first", "second"), runs, strict=True):
        columns.append(ColumnNote(f"{key}_c_index", f"{run.name}, C-index"))
    rows = []
    for pair in pairs:
        cells: list[Value] = [pair.arm.label]
        for row in (pair.first, pair.second):
            cells += [None if row is None else row[name] for name in ("value", "low", "high")]
        change = None
        if pair.first is not None and pair.second is not None and same_unit:
            change = _subtract(pair.second["value"], pair.first["value"])
        cells.append(change)
        cells += [None if row is None else row["c_index"] for row in (pair.first, pair.second)]
        rows.append(tuple(cells))
    return Table("Both runs", tuple(columns), tuple(rows))


def _subtract(new: Value, old: Value) -> float | None:
    return new - old if isinstance(new, (int, float)) and isinstance(old, (int, float)) else None


def _draw_values(pairs: list[_Pair], runs: tuple[NamedRun, NamedRun]) -> Chart:
    names, unit = tuple(pair.arm.label for pair in pairs), runs[0].view.unit
    series = []
    for place, run in enumerate(runs):
        rows = [pair.second if place else pair.first for pair in pairs]
        value, low, high = ([_number(row, key) for row in rows] for key in ("value", "low", "high"))
        series.append(Series(run.name, value, names, low, high, colour=place, marker=place))
    values = zip(names, series[0].x, series[1].x, strict=True)
    text = "; ".join(f"{name} {format_number(one)} and {format_number(two)}" for name, one, two in values)
    alt = f"{unit.capitalize()} per allocation, {runs[0].name} and {runs[1].name}: {text}."
    return Chart(alt, f"{unit} per allocation", "", tuple(series), rows=names)


def _number(row: dict[str, Value] | None, key: str) -> float | None:
    value = None if row is None else row[key]
    return float(value) if isinstance(value, (int, float)) else None


def _list_incomparable(runs: tuple[NamedRun, NamedRun]) -> Iterator[str]:
    first, second = runs[0].view, runs[1].view
    for what, mine, theirs in (
        ("judged by", first.relevance, second.relevance),
        ("horizon", first.horizon, second.horizon),
        ("candidates on a list", first.waitlist.used, second.waitlist.used),
    ):
        if mine != theirs:
            yield f"{what}: {mine} and {theirs}"
