"""The report of one run, section by section."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._views import format_number
from ..experiments.results import describe_pick
from ._answer import JUDGES, describe_answer, describe_arm, format_interval, format_time, render_tiles, render_warnings
from ._elements import Page, bullets, details, escape, mark_best, paragraphs
from ._methods import TRIPOD, describe_methods, list_limits, list_settings
from ._paper_section import add_paper_section, render_paper_table
from ._reading import Summary

if TYPE_CHECKING:
    import pandas as pd

FRAMEWORK_NOTES = {
    "standard": "is a model as it is",
    "ranker": "has the paper's second stage on top",
    "default": "has this software's preset of it on top",
}


KEY = ["model", "framework", "years", "low", "high", "short of best", "short low", "short high", "p"]  # of the audit


def make_report_page(summary: Summary) -> Page:
    """Every section of the report."""
    page = Page(summary.unit)
    for add in (_answer, _audit, _years, add_paper_section, _positivity, _calibration, _subgroups, _cohort):
        add(page, summary)
    parts = [f"<h3>{escape(head)}</h3>{paragraphs(text)}" for head, text in describe_methods(summary)]
    page.section("methods", "Methods", *parts)
    page.section("limits", "Limits", bullets(list_limits(summary)))
    _rerun(page, summary)
    _tripod(page)
    return page


def _answer(page: Page, summary: Summary) -> None:
    first, second = describe_answer(summary)
    lists, unit = summary["waitlist"], summary.unit
    caption = (
        f"Expected {unit} of the {describe_pick(lists['k'])} of a waitlist of {lists['used']}, judged by "
        f"{JUDGES[summary['judge']]}; lines are 95% intervals. Whether two models differ is not told by these lines: "
        "the next section has the differences, paired."
    )
    frameworks = set(summary.tables["audit"]["framework"])
    named = "; ".join(f"“{name}” {words}" for name, words in FRAMEWORK_NOTES.items() if name in frameworks)
    page.section(
        "answer",
        "The answer",
        render_warnings(summary, serious=True),
        f'<p class="answer">{escape(first)}</p><p class="lead">{escape(second)}</p>',
        render_tiles(summary),
        page.figure("years", summary.charts["years"], caption, "years"),
        render_warnings(summary, serious=False),
        f'<p class="note">{escape(named)}. {escape(summary["best"])} is {escape(describe_arm(summary["best"]))}.</p>',
    )


def _audit(page: Page, summary: Summary) -> None:
    audit, best, unit = summary["audit"], summary["best"], summary.unit
    if audit["same"]:
        text = f"C-index would have chosen {best} too: here the choice costs nothing."
    else:
        cost = audit["cost"]
        if audit["by_c_index"] not in summary["answer"]["alike"]:
            evidence = ", more than chance."
        elif cost["enough"]:
            evidence = "; corrected for the number of comparisons, that may be chance."
        else:
            evidence = "; the interval holds 0, so it may cost nothing."
        text = (
            f"C-index would have chosen {audit['by_c_index']}, {describe_arm(audit['by_c_index'])}. Against {best} "
            f"that costs {format_interval(cost, digits=summary.digits)} {unit} per allocation{evidence}"
        )
    if audit["spearman"] is not None:
        text += f" Over all models, the two measures have a rank correlation of {format_number(audit['spearman'])}."
    table, chart = summary.tables["audit"], summary.charts["audit"]
    arms = table["model"] + " " + table["framework"]
    drawn = {series.name for series in chart.series}
    left_out = [
        f"{arm} (C-index 0.5, {format_number(years, summary.digits)} {unit})"
        for arm, years in zip(arms, table["years"], strict=True)
        if arm not in drawn
    ]
    page.section(
        "audit",
        "The decision audit",
        paragraphs(text, _bound(summary, table[arms == best].iloc[0])),
        page.figure(
            "audit",
            chart,
            f"C-index against {unit} per allocation, model by model. A model further right is preferred by C-index, "
            "one further up by what it gives; C-index has an error too, in the table."
            + (f" Left out, since they rank nobody: {', '.join(left_out)}." if left_out else ""),
            "audit",
        ),
        page.table(
            "audit",
            table[[*KEY, *(name for name in table if name not in KEY)]],
            note=f"“short of best”: {unit} per allocation less than {best}, paired, with 95% interval. “bound”: "
            "NDCG@k / W_k. ± is one standard deviation over folds. Neither intervals nor p are corrected for the "
            "number of comparisons; the words of this page are.",
            marked=mark_best(best),
        ),
        page.figure(
            "differences",
            summary.charts.get("differences"),
            f"What {best} gains over each other model, paired; a line that crosses 0 leaves it open which is better.",
            "audit",
        ),
    )


def _bound(summary: Summary, row: pd.Series) -> str:
    """The plug-in bound of the best arm in words; nothing where it is not known."""
    if row["bound"] != row["bound"]:
        return ""
    k, judge, best = summary["waitlist"]["k"], summary["audit"]["bound_by"], summary["best"]
    digits = 0 if row["bound high"] - row["bound low"] >= 0.02 else 1
    share, low, high = (f"{100 * row[name]:.{digits}f}" for name in ("bound", "bound low", "bound high"))
    way = "the top pick" if k == 1 else f"one of the top {k}, drawn by position,"
    text = (
        f"The plug-in bound: with NDCG judged by {JUDGES.get(judge, judge)}, allocating to {way} of {best} gains at "
        f"least {share}% ({low} to {high}) of the best possible utility, on average over waitlists. C-index has no "
        "such bound."
    )
    if judge == "truth":
        return text + " The best possible knows every lifetime beforehand, which no model can."
    return text if judge == "expected" else text + " NDCG is an estimate here, and so is the bound."


def _years(page: Page, summary: Summary) -> None:
    tables, best, unit = summary.tables, summary["best"], summary.unit
    room = ""
    if "room" in tables:
        room = "<h3>Room to the ceiling</h3>" + paragraphs(
            "The patients are simulated, so the best possible ranking is known: by true expected life. The room is "
            "what a model leaves between itself and that; a ranker closes part of its base model's, or, below 0, "
            "widens it."
        )
        room += page.figure(
            "room", summary.charts.get("room"), "Share of the base model's room that its ranker closes.", "room"
        )
        room += page.table("room", tables["room"], marked=mark_best(best))
    compared = tables["comparison"].rename(columns={"value": "difference"})
    lost = _ipcw_note(summary) if "years by IPCW" in tables["years"] else ""
    page.section(
        "years",
        f"{unit.capitalize()} and NDCG",
        page.table(
            "years",
            tables["years"],
            note=f"“gain” is over the same base model, paired. NDCG is judged by "
            f"{JUDGES.get(summary['ndcg_judge'], summary['ndcg_judge'])}. Columns “{unit} by …” judge the same "
            f"ranking by other estimates.{lost}",
            marked=mark_best(best),
        ),
        room,
        details(
            "All paired differences",
            page.table("comparison", compared, note="p is two-sided, and not corrected for how many there are."),
        ),
    )


def _ipcw_note(summary: Summary) -> str:
    """What to make of IPCW where nobody could be followed; nothing where all could, and no value is impossible."""
    table, tau, unit = summary.tables["years"], float(summary["plan"]["tau"]), summary.unit
    above = table[table["years by IPCW"].astype(float) > tau]
    note = ""
    if summary["support"]["violated"] or len(above):
        note = (
            " IPCW can be far off either way where support is lacking: it counts nothing for patients who could not "
            "be followed, and a few of the others weigh for many."
        )
    if len(above):
        named = [
            f"{row['model']} {row['framework']} ({format_number(row['years by IPCW'], summary.digits)})"
            for _, row in above.iterrows()
        ]
        listed = f"{', '.join(named[:4])}{f' and {len(named) - 4} more' if len(named) > 4 else ''}"
        note += f" Impossible, since above the horizon of {format_time(tau)} {unit}: {listed}."
    return note


def _positivity(page: Page, summary: Summary) -> None:
    tables, plan, unit = summary.tables, summary["plan"], summary.unit
    support = summary["support"]
    text = (
        f"Could everybody have been followed for {format_time(plan['tau'])} {unit}? A patient who entered three years "
        "ago cannot be seen for twenty. Where the chance is too small, estimates rest on a model of survival and not "
        "on what happened. "
        + (
            "Here the horizon is not supported for too many."
            if support["violated"]
            else "Here the horizon is supported."
        )
    )
    groups = page.table("positivity_groups", tables.get("positivity_groups"))
    page.section(
        "positivity",
        "Support at the horizon",
        paragraphs(text),
        page.table(
            "positivity",
            tables["positivity"],
            note="Out of reach are those whose chance to be followed to the horizon is below the floor, and those who "
            "entered when nobody could be followed so long. The effective sample size, the heaviest weight and the "
            "rows below the floor are of the weights that IPCW would use, for patients who were seen: they can look "
            "well where support is lacking.",
        ),
        page.figure(
            "positivity",
            summary.charts["positivity"],
            "Chance of still being followed" + (", by when people entered" if summary["data"]["entry"] else "") + ".",
            "positivity_groups" if groups else "positivity",
        ),
        page.table("positivity_frontier", tables.get("positivity_frontier")),
        details("By entry", groups),
    )


def _calibration(page: Page, summary: Summary) -> None:
    charts = {name: chart for name, chart in summary.charts.items() if name.startswith("calibration ")}
    panels = "".join(
        page.figure(
            f"calibration-{place}",
            chart,
            f"{chart.title}: {page.unit} predicted and judged, by tenths; on the dashed line they agree.",
            "calibration",
        )
        for place, chart in enumerate(charts.values())
    )
    judge = JUDGES[summary["judge"]]
    page.section(
        "calibration",
        "Calibration",
        paragraphs(
            f"Predicted against observed {page.unit}, judged by {judge}. Ranking needs no calibration, "
            "but a reader of the scores does. A slope below 1 means that predictions are too far apart."
        ),
        page.table("calibration_by_arm", summary.tables["calibration_by_arm"], marked=mark_best(summary["best"])),
        f'<div class="panels">{panels}</div>',
        details("Numbers by tenth", page.table("calibration", summary.tables["calibration"])),
    )


def _subgroups(page: Page, summary: Summary) -> None:
    table, best = summary.tables.get("subgroups"), summary["best"]
    if table is None:
        text = (
            "No subgroup is known, or none has thirty patients or more. Columns are known by their names: age, sex, "
            "race or ethnicity, insurance, region, blood group, centre, and the time of entry. Others have to "
            "be named when the run is started."
        )
        page.section("subgroups", "Who gets the allocations", paragraphs(text))
        return
    charts = {name: chart for name, chart in summary.charts.items() if name.startswith("subgroups ")}
    panels = "".join(
        page.figure(
            f"subgroups-{place}", chart, f"Share of patients and of allocations by {chart.title}, {best}.", "subgroups"
        )
        for place, chart in enumerate(charts.values())
    )
    page.section(
        "subgroups",
        "Who gets the allocations",
        paragraphs(
            f"If the {describe_pick(summary['waitlist']['k'])} of each waitlist got the allocation, these groups would "
            "get these shares. “share change”, in points of percent, is against the same base model without a ranker: "
            "who enters and who leaves the top. Groups of fewer than 30 are left out. A difference of shares is not "
            "unfair by itself, and equal shares are not fair by themselves."
        ),
        f'<div class="panels">{panels}</div>',
        page.table("subgroups", table[table["arm"] == best].drop(columns="arm"), f"Who gets the allocations of {best}"),
        details("All models", page.table("subgroups_all", table, "Who gets the allocations, all models")),
    )


def _cohort(page: Page, summary: Summary) -> None:
    data, tables = summary["data"], summary.tables
    rate = data["events"] / max(data["features"], 1)
    text = (
        f"{data['name']}: {data['rows']:,} rows, {data['events']:,} events, {data['features']} predictors "
        f"({rate:,.0f} events for each)."
    )
    read = data["read"]
    notes = []
    if read is not None:
        notes.append(f"{read['rows_read']:,} rows were read, {read['rows_kept']:,} kept.")
        notes += [f"{count:,} rows left out: {reason}." for reason, count in read["dropped_rows"].items()]
        notes += [f"Column {name} left out: {why}." for name, why in read["dropped_columns"].items()]
        notes += [
            f"{count:,} implausible values of {name} set to missing." for name, count in read["filtered_values"].items()
        ]
        notes += list(read["warnings"])
    page.section(
        "cohort",
        "Cohort",
        paragraphs(text, f"Source: {data['source']}." if data["source"] else ""),
        bullets(notes) if len(notes) > 1 else "",
        page.table("cohort", tables["cohort"]),
        page.table("follow_up", tables["follow_up"], f"Follow-up in {summary.unit} (Table A5)"),
        render_paper_table(page, "cohort", tables) + render_paper_table(page, "follow_up", tables),
        page.figure(
            "survival",
            summary.charts["survival"],
            "Kaplan–Meier of the event and of follow-up, whole cohort.",
            "survival",
        ),
        details("Numbers of this figure, and at risk", page.table("survival", tables["survival"])),
        page.table("predictors", tables["predictors"], note="median (quartiles) of numbers; commonest of categories."),
    )


def _rerun(page: Page, summary: Summary) -> None:
    import pandas as pd

    plan, data = summary["plan"], summary["data"]
    command = summary["command"]
    if command:
        lead = "This command makes the same numbers, to the byte, from the same data:"
    else:
        lead = "It was run from Python; the same call on the same data makes the same numbers:"
        options = {name: value for name, value in plan.items() if name != "protocol"}
        command = f"ly.experiments.run({plan['protocol']!r}, dataset, out, **{options!r})"
    table = pd.DataFrame(list_settings(summary), columns=["setting", "value"]).astype(str)
    page.section(
        "rerun",
        "Run it again",
        paragraphs(lead),
        f'<pre class="command" tabindex="0"><code>{escape(command)}</code></pre>',
        paragraphs(
            f"Made by lifeyears {summary['version']} from {data['name']}; schema {summary['schema']}. The run's "
            "folder has manifest.json (versions of all packages, and the hash of the data), the jobs, and every "
            "table as CSV, Markdown and LaTeX."
        ),
        page.table("settings", table, "Settings"),
    )


def _tripod(page: Page) -> None:
    titles = {key: title for key, title, _ in page.sections} | {"top": "top of the page"}
    rows = "".join(
        f"<tr><td>{escape(item)}</td><td>{escape(what)}</td><td>"
        + (f'<a href="#{where}">{escape(titles[where])}</a>' if where else MISSING_SECTION)
        + f"</td><td>{escape(left)}</td></tr>"
        for item, what, where, left in TRIPOD
    )
    table = (
        '<div class="table" id="table-tripod"><div class="scroll" tabindex="0" role="region" aria-label="TRIPOD+AI">'
        '<table class="lifeyears" data-name="tripod"><thead><tr><th scope="col">item</th><th scope="col">asks for</th>'
        '<th scope="col">where</th><th scope="col">left to the authors</th></tr></thead><tbody>'
        f"{rows}</tbody></table></div></div>"
    )
    page.section(
        "tripod",
        "TRIPOD+AI checklist",
        paragraphs(
            "Where this page covers the items of TRIPOD+AI (Collins and others, 2024), and what it cannot know."
        ),
        table,
    )


MISSING_SECTION = "–"
