"""What the templates show of one run, prepared from its summary alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from .._views import format_number
from ..experiments.measures import NDCGS, column_key, describe_relevance
from ..experiments.paper import PAPER_TABLES
from ..experiments.results import (
    FEWEST_IN_SUBGROUP,
    MOST_GAIN,
    ChartKey,
    choose_digits,
    make_charts,
    make_paper_table,
)
from ..experiments.types import ColumnNote, Table
from ._checklist import view_checklist
from ._figures import FigureView, view_figure
from ._tables import TableView, view_table
from ._words import format_difference, format_time

if TYPE_CHECKING:
    from .._views import Chart
    from ..experiments.types import DataNote, Estimate, MethodNote, Summary, Value, Waitlist
    from ._page import SectionView

TRUTHS = ("truth", "restricted", "expected")  # relevances that no estimator computes
GAINS = {"gain_truth": "figure_2", "gain_ey": "figure_3a", "gain_ipcw": "figure_3b"}
UNMARKED = ("calibration", "subgroups_all", "metrics")  # tables with several rows for each arm
SETTING = (ColumnNote("setting", "setting", "text"), ColumnNote("value", "value", "text"))
ARTIFICIAL_ONLY = ("censored_share", "censoring")
SHADES = 10


@dataclass(frozen=True)
class TileView:
    """A number under the answer: its name, itself, what it means, and the model it belongs to."""

    name: str
    value: str
    detail: str
    arm: str = ""


@dataclass(frozen=True)
class GainView:
    """A figure of gains with the table of its numbers; `is_cut` where bars are taller than the figure."""

    figure: FigureView
    table: TableView
    is_cut: bool
    most: float = MOST_GAIN


@dataclass(frozen=True)
class RunView:
    """One run as its templates see it.

    Attributes
    ----------
    summary : Summary
    """

    summary: Summary

    @property
    def data(self) -> DataNote:
        return self.summary.data

    @property
    def plan(self) -> Mapping[str, Any]:
        return self.summary.plan

    @property
    def waitlist(self) -> Waitlist:
        return self.summary.waitlist

    @property
    def unit(self) -> str:
        """The unit of time of the data, in the plural."""
        return self.summary.data.unit

    @property
    def horizon(self) -> str:
        """The horizon with its unit."""
        return f"{format_time(float(self.summary.plan['tau']))} {self.unit}"

    @property
    def best(self) -> str:
        """The name of the best arm."""
        return self.summary.answer.best.label

    @property
    def digits(self) -> int:
        """Decimals of a time in a sentence."""
        return choose_digits(self.summary.answer.value.value)

    @property
    def is_estimated(self) -> bool:
        """Whether an estimate judges the models, and not a truth."""
        return self.summary.relevance not in TRUTHS

    @property
    def relevance(self) -> str:
        """What values are judged by, for a sentence."""
        return describe_relevance(self.summary.relevance)

    @property
    def ndcg_relevance(self) -> str:
        """What NDCG is judged by, for a sentence."""
        return describe_relevance(self.summary.ndcg_relevance)

    @property
    def rankers(self) -> tuple[MethodNote, ...]:
        return self.summary.rankers

    @property
    def model_labels(self) -> str:
        return "; ".join(method.label for method in self.summary.models)

    @property
    def ranker_labels(self) -> str:
        return "; ".join(method.label for method in self.summary.rankers)

    @property
    def fewest_in_subgroup(self) -> int:
        return FEWEST_IN_SUBGROUP

    @property
    def has_reading_notes(self) -> bool:
        """Whether reading the data left anything out or raised a warning."""
        data = self.data
        notes = (data.dropped_rows, data.dropped_columns, data.filtered_values, data.warnings)
        return data.rows_read is not None and any(notes)

    @property
    def tiles(self) -> tuple[TileView, ...]:
        """The numbers under the answer: the value, the gain, how many others it clearly beats, the cost of C-index."""
        answer, audit, digits = self.summary.answer, self.summary.audit, self.digits
        tiles = [
            TileView(
                f"{self.unit} per allocation",
                format_number(answer.value.value, digits),
                self._describe_interval(answer.value),
                self.best,
            )
        ]
        if answer.next is not None:
            gain, others = answer.next.gain, len(self.summary.tables["audit"].rows) - 1
            tiles += [
                TileView(
                    f"{self.unit} over the next best",
                    format_difference(gain.value, digits),
                    self._describe_interval(gain),
                    answer.next.arm.label,
                ),
                TileView(
                    "clearly better than",
                    f"{others - len(answer.alike)} of {others}",
                    "other models, corrected for multiple comparisons",
                ),
            ]
        if audit.cost is None:
            tiles.append(TileView("choice by C-index", "Same", "it selects the same model", audit.by_c_index.label))
        else:
            lost = f"{self.unit} lost, {self._describe_interval(audit.cost.gain)}"
            cost = format_number(audit.cost.gain.value, digits)
            tiles.append(TileView("choice by C-index", cost, lost, audit.by_c_index.label))
        return tuple(tiles)

    def _describe_interval(self, estimate: Estimate) -> str:
        if estimate.low is None or estimate.high is None:
            return "no interval"
        ends = (format_number(end, self.digits) for end in (estimate.low, estimate.high))
        return f"95% interval {' to '.join(ends)}"

    # tables

    def table(self, key: str, suffix: str = "") -> TableView | None:
        """The table of a key; None where the run has none. A page of two runs adds a suffix to the anchor."""
        if key not in self._tables:
            return None
        best = None if key in UNMARKED else self.summary.answer.best
        shade = _make_shade(self._tables[key]) if key == "figure_a1" else None
        return view_table(f"{key}{suffix}", self._tables[key], best, shade)

    @cached_property
    def _tables(self) -> dict[str, Table]:
        tables = dict(self.summary.tables)
        if "subgroups" in tables:
            best = self.summary.answer.best
            tables["subgroups_all"] = tables["subgroups"]
            tables["subgroups"] = tables["subgroups"].select(model=best.model, method=best.method)
            tables["subgroups"] = tables["subgroups"].drop("model", "method")
        tables |= {f"{key}_paper": make_paper_table(key) for key in PAPER_TABLES if key in tables}
        tables["settings"] = Table("Settings", SETTING, tuple(self._list_settings()))
        counts = (ColumnNote("event", "event", "text"), ColumnNote("count", "times", "count"))
        if self.summary.counts:
            tables["counts"] = Table("Counts over all jobs", counts, tuple(self.summary.counts.items()))
        return tables

    @property
    def has_paper_tables(self) -> bool:
        """Whether the run followed a protocol of the paper, so that it has its tables."""
        return any(key in self.summary.tables for key in ("table_1", "table_2"))

    def checklist(self, sections: Sequence[SectionView]) -> TableView:
        """The TRIPOD+AI checklist, with links to the sections of the page."""
        return view_checklist({section.key: section.title for section in sections})

    def _list_settings(self) -> list[tuple[Value, ...]]:
        unused = () if self.summary.protocol == "artificial" else ARTIFICIAL_ONLY
        return [
            (name, format_setting(value))
            for name, value in sorted(self.summary.plan.items())
            if name not in unused and value not in ([], (), None)
        ]

    @property
    def methods(self) -> TableView:
        """Every method of the run, with the package or file that it comes from."""
        columns = ("kind", "method", "source", "version or hash")
        groups: dict[str, tuple[MethodNote, ...]] = {
            "survival model": self.summary.models,
            "ranking method": self.summary.rankers,
            "estimator": self.summary.estimators,
            "metric": self.summary.metrics,
        }
        rows = [
            (
                kind,
                method.label,
                method.origin.get("distribution", method.origin.get("factory", "")),
                method.origin.get("version", method.origin.get("sha256", "")[:12]),
            )
            for kind, methods in groups.items()
            for method in methods
        ]
        notes = tuple(ColumnNote(name, name, "text") for name in columns)
        return view_table("methods", Table("Methods of this run and where they come from", notes, tuple(rows)))

    @property
    def python_call(self) -> str:
        """The call that starts the run again from Python."""
        options = {name: value for name, value in self.summary.plan.items() if name != "protocol"}
        return f"ly.experiments.run({self.summary.protocol!r}, dataset, out, **{options!r})"

    # figures

    @cached_property
    def _charts(self) -> Mapping[ChartKey, Chart]:
        return make_charts(self.summary)

    def figure(self, name: str) -> FigureView | None:
        """The figure of a name; None where the run has none."""
        chart = self._charts.get(ChartKey(name))
        return None if chart is None else view_figure(name, chart)

    def panels(self, name: str) -> tuple[FigureView, ...]:
        """The figures of a name that has several: one for each model, column or measure."""
        charts = [chart for key, chart in self._charts.items() if key.name == name]
        return tuple(view_figure(f"{name}-{place}", chart) for place, chart in enumerate(charts))

    @property
    def gains(self) -> tuple[GainView, ...]:
        """Figures 2 and 3 of the paper."""
        views = []
        for name, key in GAINS.items():
            figure, table = self.figure(key), self.table(name)
            if figure is not None and table is not None:
                views.append(GainView(figure, table, self._charts[ChartKey(key)].y_range is not None))
        return tuple(views)


def _make_shade(table: Table) -> Callable[[str, Value], str]:
    """Shade the errors of NDCG, the darker the larger."""
    errors = {f"{column_key(measure)}_mae" for measure in NDCGS} & set(table.keys)
    values = [value for row in table.records() for key in errors if isinstance(value := row[key], float)]
    top = max(values, default=0.0) or 1.0

    def shade(key: str, value: Value) -> str:
        if key not in errors or not isinstance(value, float):
            return ""
        return f"heat{min(SHADES - 1, int(SHADES * value / top))}"

    return shade


def format_setting(value: object) -> str:
    """Write a setting or a property of the data in one line."""
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value))
    return "–" if value is None else str(value)
