"""Two runs side by side, with what changed in settings and data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._typing import Json
from .._views import Chart, Series, format_number
from ._answer import JUDGES, describe_answer, format_time, render_tiles, render_warnings
from ._elements import Page, escape, paragraphs, rename_years
from ._reading import Summary

if TYPE_CHECKING:
    import pandas as pd


def make_side_by_side_page(first: Summary, second: Summary) -> Page:
    """The report of two runs."""
    page = Page(first.unit if first.unit == second.unit else "years")  # tables of two units name their own
    names = name_runs(first, second)
    boxes = ""
    for name, summary in zip(names, (first, second), strict=True):
        one, two = describe_answer(summary)
        boxes += (
            f"<div><h3>{escape(name)}</h3>{render_warnings(summary, serious=True)}<p "
            f'class="answer">{escape(one)}</p>{paragraphs(two)}'
            f"{render_tiles(summary)}</div>"
        )
    page.section("answer", "The two answers", f'<div class="side">{boxes}</div>', paragraphs(_agreement(first, second)))
    changed = tabulate_differences(first, second, names)
    same = (
        "Settings and data are the same." if changed.empty else "Everything that differs; what is not here is the same."
    )
    page.section(
        "changes", "What changed", paragraphs(same), page.table("changes", changed, "Settings and data that differ")
    )
    _years(page, first, second, names)
    for key, title, table in (
        ("calibration", "Calibration", "calibration_by_arm"),
        ("positivity", "Support at the horizon", "positivity"),
    ):
        parts = [
            page.table(
                f"{table}_{place}", rename_years(summary.tables[table], summary.unit), f"{name}: {title.lower()}"
            )
            for place, (name, summary) in enumerate(zip(names, (first, second), strict=True))
        ]
        page.section(key, title, *parts)
    commands = "".join(
        f'<h3>{escape(name)}</h3><pre class="command" tabindex="0"><code>'
        f"{escape(summary['command'] or 'run from Python')}</code></pre>"
        for name, summary in zip(names, (first, second), strict=True)
    )
    page.section("rerun", "Run them again", commands)
    return page


def name_runs(first: Summary, second: Summary) -> tuple[str, str]:
    """What to call them: their folders, or A and B."""
    if first.name and second.name and first.name != second.name:
        return first.name, second.name
    return f"A {first.name}".strip(), f"B {second.name}".strip()


def tabulate_differences(first: Summary, second: Summary, names: tuple[str, str]) -> pd.DataFrame:
    """Settings and data that differ, one row each."""
    import pandas as pd

    rows = []
    for part in ("plan", "data", "waitlist"):
        before, now = first[part], second[part]
        for name in sorted(set(before) | set(now)):
            if name != "read" and before.get(name) != now.get(name):
                rows.append([f"{part}: {name}", _format_setting(before.get(name)), _format_setting(now.get(name))])
    for name in ("judge", "intervals", "version"):
        if first[name] != second[name]:
            rows.append([name, first[name], second[name]])
    return pd.DataFrame(rows, columns=["what", *names])


def _format_setting(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else "–" if value is None else str(value)


def _agreement(first: Summary, second: Summary) -> str:
    if first["best"] == second["best"]:
        return f"Both put {first['best']} first."
    return f"They differ: {first['best']} is first in the one, {second['best']} in the other."


def _by_arm(summary: Summary) -> pd.DataFrame:
    table = summary.tables["years"]
    return table.assign(arm=table["model"] + " " + table["framework"]).set_index("arm")


def _years(page: Page, first: Summary, second: Summary, names: tuple[str, str]) -> None:
    import pandas as pd

    one, two = _by_arm(first), _by_arm(second)
    arms = [*one.index, *(arm for arm in two.index if arm not in one.index)]
    rows = []
    for arm in arms:
        row: Json = {"arm": arm}
        for name, table in zip(names, (one, two), strict=True):
            values = table.loc[arm] if arm in table.index else {}
            row |= {name: values.get("years"), f"{name} low": values.get("low"), f"{name} high": values.get("high")}
        both = arm in one.index and arm in two.index and first.unit == second.unit
        row["change"] = two.loc[arm, "years"] - one.loc[arm, "years"] if both else None
        for name, table in zip(names, (one, two), strict=True):
            row[f"{name} C-index"] = table.loc[arm, "C-index"] if arm in table.index else None
        rows.append(row)
    table = pd.DataFrame(rows).astype({"change": float})
    series = tuple(
        Series(
            name,
            list(table[name]),
            arms,
            list(table[f"{name} low"]),
            list(table[f"{name} high"]),
            colour=place,
            marker=place,
        )
        for place, name in enumerate(names)
    )
    values_text = "; ".join(
        f"{row['arm']} {format_number(row[names[0]])} and {format_number(row[names[1]])}" for row in rows
    )
    unit, same = first.unit, first.unit == second.unit
    heading = f"{unit.capitalize()} per allocation" if same else f"Per allocation: {unit} and {second.unit}"
    chart = Chart(
        f"{unit} per allocation, {names[0]} and {names[1]}: {values_text}.",
        f"{unit} per allocation",
        "",
        series,
        rows=tuple(arms),
    )
    titled = {name: f"{name}, {summary.unit}" for name, summary in zip(names, (first, second), strict=True)}
    note = "The runs are not paired: a change has no interval, and may be chance."
    changed = [
        f"{what}: {mine} and {theirs}"
        for what, mine, theirs in (
            ("judged by", JUDGES[first["judge"]], JUDGES[second["judge"]]),
            ("horizon", *(f"{format_time(s['plan']['tau'])} {s.unit}" for s in (first, second))),
            ("candidates on a list", first["waitlist"]["used"], second["waitlist"]["used"]),
        )
        if mine != theirs
    ]
    if changed:
        note += f" Levels are not comparable, the order of models may be ({'; '.join(changed)})."
    page.section(
        "years",
        heading,
        page.figure("beside", chart if same else None, "Both runs, with 95% intervals.", "beside"),
        page.table("beside", table.rename(columns={} if same else titled), f"{heading}; and C-index", note),
    )
