"""The report of a simulation: policies compared on one waiting list."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from .. import catalogue
from .._files import write_whole
from .._views import Chart, Series, forest, format_number
from ..experiments.types import ColumnNote, NumberKind, Table, Value
from ._figures import FigureView, view_figure
from ._page import Fact, Section, render_page, view_sections
from ._tables import TableView, view_table

if TYPE_CHECKING:
    import pandas as pd

    from .._typing import PathLike
    from ..simulation import Simulation

HEADINGS = {  # measures of the simulation, for people
    "life_years_gained": "life-years gained per year",
    "life_years_per_transplant": "expected years per transplant",
    "life_years_gained_per_transplant": "life-years gained per transplant",
    "waitlist_deaths_per_100_patient_years": "waitlist deaths per 100 patient-years",
    "transplants_per_year": "transplants per year",
    "transplants_per_100_patient_years": "transplants per 100 patient-years",
    "transplanted_of_listed": "share of listed candidates transplanted",
    "hearts_lost_per_year": "hearts discarded per year",
    "waiting_days_median": "median wait (days)",
    "listed_per_year": "candidates listed per year",
}
SHARES = ("transplanted_of_listed",)
MAIN = (
    *("life_years_gained", "life_years_per_transplant", "waitlist_deaths_per_100_patient_years"),
    *("transplants_per_year", "hearts_lost_per_year", "waiting_days_median"),
)
DRAWN = {"life_years_gained": 0, "life_years_per_transplant": 2, "waitlist_deaths_per_100_patient_years": 1}  # digits
RATE = "transplants_per_100_patient_years"


@dataclass(frozen=True)
class PolicyView:
    """A policy of the simulation; `label` is empty for one that only its settings describe."""

    name: str
    label: str


@dataclass(frozen=True)
class GroupingView:
    """What a simulation shows of one grouping, such as the blood groups."""

    name: str
    figure: FigureView
    table: TableView
    differences: TableView | None


@dataclass(frozen=True)
class SimulationView:
    """All that the templates of a simulation get."""

    reading: str
    intervals: str
    reference: str
    has_intervals: bool
    shares_people: bool
    policies: tuple[PolicyView, ...]
    figures: tuple[FigureView, ...]
    measures: TableView
    difference_figures: tuple[FigureView, ...]
    differences: TableView | None
    groupings: tuple[GroupingView, ...]
    policy_settings: TableView
    settings: TableView


# The sections of the report of a simulation, in order; see `SECTIONS` in _sections.py for how one is added.
SECTIONS: tuple[Section[SimulationView], ...] = (
    Section("answer", "The answer", "simulation/answer.html.j2"),
    Section(
        "differences",
        lambda view: f"Against {view.reference}",
        "simulation/differences.html.j2",
        lambda view: view.differences is not None,
    ),
    Section("groups", "Results by subgroup", "simulation/groups.html.j2"),
    Section("limits", "Limits", "simulation/limits.html.j2"),
    Section("settings", "Settings", "simulation/settings.html.j2"),
)


def render_simulation(result: Simulation) -> str:
    """Render the report of a simulation as one page of HTML.

    Parameters
    ----------
    result : Simulation

    Returns
    -------
    str
        The whole page, style and scripts within it.
    """
    config, world = result.config, result.config.world
    facts = (
        Fact("policies", f"{len(config.policies)}"),
        Fact("simulated years", f"{config.years:g}"),
        Fact("replicates", f"{config.replicates:,}"),
        Fact("candidates listed per year", f"{world.listed_per_year:,.0f}"),
        Fact("donor hearts per year", f"{world.donors_per_year:,.0f}"),
        Fact("horizon", f"{world.tau:g} years"),
    )
    subtitle = "Allocation policies compared on the same simulated waiting list."
    sections = view_sections(SECTIONS, view_simulation(result))
    return render_page("Policies on a simulated heart waiting list", subtitle, facts, sections)


def write_simulation_report(result: Simulation, folder: PathLike) -> Path:
    """Write the report of a simulation, whole or not at all.

    Parameters
    ----------
    result : Simulation
    folder : path
        It gets ``report.html``.

    Returns
    -------
    Path
        The file.
    """
    path = Path(folder) / "report.html"
    write_whole(path, render_simulation(result).encode())
    return path


def view_simulation(result: Simulation) -> SimulationView:
    """Prepare what the templates show of a simulation."""
    reference = str(result.config.reference)
    settings = result.config.to_dict()
    world = settings.pop("world")
    policies = settings.pop("policies")
    has_differences = bool(len(result.differences))
    return SimulationView(
        reading=result.reading(),
        intervals=result.intervals,
        reference=reference,
        has_intervals=not bool(result.table["low"].isna().all()),
        shares_people=bool(result.config.common_random_numbers),
        policies=tuple(_list_policies(result)),
        figures=tuple(_draw_measures("policies", result.table, reference)),
        measures=view_table("measures", _widen(result.table, MAIN, ("policy",), "Results by policy")),
        difference_figures=tuple(_draw_measures("differences", result.differences, None)) if has_differences else (),
        differences=view_table("differences", _widen(result.differences, MAIN, ("policy",), "Paired differences"))
        if has_differences
        else None,
        groupings=tuple(_view_grouping(result, str(name)) for name in result.by_group.index.unique("grouping")),
        policy_settings=view_table("policies", _tabulate_policies(policies)),
        settings=view_table(
            "world",
            Table(
                "Settings of the simulation",
                (ColumnNote("setting", "setting", "text"), ColumnNote("value", "value", "text")),
                tuple((name, str(value)) for name, value in {**settings, **world}.items()),
            ),
        ),
    )


def _list_policies(result: Simulation) -> Iterator[PolicyView]:
    from ..simulation import NAMED_POLICIES, as_policy

    for policy in map(as_policy, result.config.policies):
        is_changed = policy.name in NAMED_POLICIES and NAMED_POLICIES[policy.name] is not policy
        is_known = policy.name in catalogue.policies and not is_changed
        yield PolicyView(policy.name, catalogue.policies[policy.name].label if is_known else "")


def _view_grouping(result: Simulation, name: str) -> GroupingView:
    key = name.replace(" ", "-")
    by_group = result.by_group.xs(name, level="grouping")
    measures = [str(measure) for measure in by_group.index.unique("measure")]
    levels = ("policy", "level")
    differences = None
    if len(result.group_differences):
        gaps = result.group_differences.xs(name, level="grouping")
        differences = view_table(f"differences-by-{key}", _widen(gaps, measures, levels, f"By {name}"))
    return GroupingView(
        name,
        view_figure(f"group-{key}", _draw_levels(result, name)),
        view_table(f"by-{key}", _widen(by_group, measures, levels, f"By {name}")),
        differences,
    )


def _describe(measure: str) -> str:
    return HEADINGS.get(measure, measure.replace("_", " "))


def _widen(table: pd.DataFrame, measures: Sequence[str], levels: Sequence[str], title: str) -> Table:
    """Put the measures of each policy (and level) side by side, each with its interval."""
    columns = [ColumnNote(level, level, "text") for level in levels]
    for name in measures:
        kind: NumberKind = "share" if name in SHARES else "number"
        columns.append(ColumnNote(name, _describe(name), kind))
        columns += [
            ColumnNote(f"{name}_{end}", f"{_describe(name)}, {end}", kind, name, end) for end in ("low", "high")
        ]
    parts = [table.xs(name, level="measure")[["value", "low", "high"]] for name in measures]
    rows = []
    for place in parts[0].index:
        numbers = [part.loc[place, end] for part in parts for end in ("value", "low", "high")]
        names = place if isinstance(place, tuple) else (place,)
        rows.append((*map(str, names), *(None if number != number else float(number) for number in numbers)))
    return Table(title, tuple(columns), tuple(rows))


def _tabulate_policies(policies: list[dict[str, object]]) -> Table:
    names = list(dict.fromkeys(name for policy in policies for name in policy))
    rows: list[tuple[Value, ...]] = [
        tuple(None if policy.get(name) is None else str(policy[name]) for name in names) for policy in policies
    ]
    return Table("Policies", tuple(ColumnNote(name, name, "text") for name in names), tuple(rows))


def _draw_measures(key: str, table: pd.DataFrame, reference: str | None) -> Iterator[FigureView]:
    """Draw main measures of every policy (with the reference's as a line), or of every difference (a line at 0)."""
    for measure, digits in DRAWN.items():
        rows = table.xs(measure, level="measure").dropna(subset="value")
        if rows.empty:
            continue
        names, heading = [str(name) for name in rows.index], _describe(measure)
        text = ", ".join(
            f"{name} {format_number(value, digits)}" for name, value in zip(names, rows["value"], strict=True)
        )
        line = (0.0, "") if reference is None else None
        if reference in rows.index:
            line = (float(rows.loc[reference, "value"]), str(reference))
        value, low, high = (rows[part].tolist() for part in ("value", "low", "high"))
        label = f"difference in {heading}" if reference is None else heading
        yield view_figure(f"{key}-{measure}", forest(names, value, low, high, label, f"{label}: {text}.", line))


def _draw_levels(result: Simulation, grouping: str) -> Chart:
    """Draw the transplants per 100 patient-years of every level, one series for each policy."""
    rates = result.by_group.xs((grouping, RATE), level=("grouping", "measure"))
    levels = tuple(str(level) for level in rates.index.unique("level"))
    names = [str(name) for name in rates.index.unique("policy")]
    series = tuple(
        Series(name, [float(rates.loc[(name, level), "value"]) for level in levels], levels, colour=place, marker=place)
        for place, name in enumerate(names)
    )
    text = "; ".join(
        f"{one.name}: " + ", ".join(f"{level} {format_number(x, 0)}" for level, x in zip(levels, one.x, strict=True))
        for one in series
    )
    return Chart(f"{text}.", _describe(RATE), "", series, rows=levels)
