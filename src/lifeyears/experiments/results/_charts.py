"""The charts of a run as data, for the report, for notebooks and for files."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ... import catalogue
from ..._views import Chart, Series, forest, format_number
from ..jobs import name_model
from ..measures import NDCGS, column_heading, column_key
from ..types import NO_METHOD, ORACLE, Arm, Measure

if TYPE_CHECKING:
    import pandas as pd

    from ..types import Summary, Table

GAINS = {"gain_truth": "figure_2", "gain_ey": "figure_3a", "gain_ipcw": "figure_3b"}
MOST_GAIN = 200.0  # percent; taller bars are cut, their numbers are in the table
ORACLE_LINE = "oracle"


class ChartKey(NamedTuple):
    """The name of a chart, and of one with a panel for each model, column or measure, which panel."""

    name: str
    part: str = ""


def make_charts(summary: Summary) -> dict[ChartKey, Chart]:
    """Make every chart that the tables of a run allow.

    Parameters
    ----------
    summary : Summary

    Returns
    -------
    dict of ChartKey to Chart
        "allocation", "audit", "differences", "headroom", "figure_2", "figure_3a", "figure_3b", "positivity" and
        "survival"; with parts "figure_a2" (by measure), "calibration" (by model) and "subgroups" (by column).
    """
    unit, best, tau = summary.data.unit, summary.answer.best, float(summary.plan["tau"])
    tables = {name: table.to_frame() for name, table in summary.tables.items()}
    charts = {
        ChartKey("allocation"): chart_allocation(tables["allocation"], unit, best),
        ChartKey("audit"): chart_audit(tables["allocation"], unit),
    }
    if len(tables["audit"]) > 1:
        charts[ChartKey("differences")] = chart_differences(tables["audit"], unit, best)
    if "headroom" in tables and tables["headroom"]["closed"].notna().any():
        charts[ChartKey("headroom")] = chart_headroom(tables["headroom"])
    for name, figure in GAINS.items():
        if name in tables and len(tables[name]):
            charts[ChartKey(figure)] = chart_gain(summary.tables[name])
    if "figure_a2" in tables:
        for measure in NDCGS:
            charts[ChartKey("figure_a2", column_key(measure))] = chart_scatter(tables["figure_a2"], measure)
    models = list(tables["calibration"]["model"].unique())
    for place, model in enumerate(models):
        rows = tables["calibration"][tables["calibration"]["model"] == model]
        charts[ChartKey("calibration", model)] = chart_calibration(rows, model, unit, place)
    charts[ChartKey("positivity")] = chart_follow_up(tables["positivity_curves"], unit, tau)
    charts[ChartKey("survival")] = chart_survival(tables["survival"], unit)
    if "subgroups" in tables:
        table = tables["subgroups"]
        of_best = table[(table["model"] == best.model) & (table["method"] == best.method)]
        for question, rows in of_best.groupby("by", sort=False):
            charts[ChartKey("subgroups", str(question))] = chart_subgroup(rows, str(question), best)
    return charts


def list_arms(table: pd.DataFrame) -> list[Arm]:
    """List the arm of each row of a table."""
    return [Arm(model, method) for model, method in zip(table["model"], table["method"], strict=True)]


def choose_marker(method: str) -> int:
    """Choose the marker of an arm: the model itself a circle, ranking methods others in the catalogue's order."""
    methods = [NO_METHOD, *catalogue.rankers]
    return methods.index(method) if method in methods else len(methods)


def chart_allocation(table: pd.DataFrame, unit: str, best: Arm) -> Chart:
    """Value per allocation with intervals, the highest on top, and the oracle where it is known."""
    ceiling = table.loc[table["model"] == ORACLE, "value"]
    models = table[table["model"] != ORACLE].sort_values("value", ascending=False, kind="stable")
    names = [arm.label for arm in list_arms(models)]
    texts = [
        f"{name} {format_number(row['value'])} ({format_number(row['low'])} to {format_number(row['high'])})"
        for name, (_, row) in zip(names, models.iterrows(), strict=True)
    ]
    line = None
    if len(ceiling):
        line = (float(ceiling.iloc[0]), ORACLE_LINE)
        texts.append(f"oracle {format_number(float(ceiling.iloc[0]))}")
    alt = f"{unit.capitalize()} per allocation with 95% intervals: {'; '.join(texts)}."
    label = f"{unit} per allocation"
    value, low, high = (list(models[name]) for name in ("value", "low", "high"))
    return forest(names, value, low, high, label, alt, line, best.label)


def chart_audit(table: pd.DataFrame, unit: str) -> Chart:
    """C-index against value per allocation, arm by arm; without those that rank nobody, which squeeze the rest."""
    models = table[table["model"] != ORACLE]
    flat = np.isclose(models["c_index"].astype(float), 0.5, atol=1e-9)
    flat &= (~flat).sum() > 1
    series, left_out = [], []
    for place, (_, rows) in enumerate(models.assign(flat=flat).groupby("model", sort=False)):
        for arm, (_, row) in zip(list_arms(rows), rows.iterrows(), strict=True):
            if row["flat"]:
                left_out.append(f"{arm.label} 0.500, {format_number(row['value'])}")
                continue
            series.append(
                Series(
                    arm.label,
                    [row["c_index"]],
                    [row["value"]],
                    [row["low"]],
                    [row["high"]],
                    colour=place,
                    marker=choose_marker(arm.method),
                    labels=[arm.label],
                )
            )
    text = "; ".join(f"{s.name} {format_number(s.x[0], 3)}, {format_number(s.y[0])}" for s in series)
    ceiling = table.loc[table["model"] == ORACLE, "value"]
    line = (float(ceiling.iloc[0]), ORACLE_LINE) if len(ceiling) else None
    alt = f"C-index across, {unit} per allocation up: {text}."
    if left_out:
        alt += f" Left out, since it ranks nobody: {'; '.join(left_out)}."
    return Chart(alt, "C-index", f"{unit} per allocation", tuple(series), y_line=line)


def chart_differences(table: pd.DataFrame, unit: str, best: Arm) -> Chart:
    """What the best arm gains over each other one, paired."""
    arms = list_arms(table)
    others = table.assign(name=[arm.label for arm in arms])[[arm != best for arm in arms]]
    others = others.sort_values("shortfall", kind="stable")
    text = "; ".join(
        f"{row['name']} {format_number(row['shortfall'])} ({format_number(row['shortfall_low'])} to "
        f"{format_number(row['shortfall_high'])})"
        for _, row in others.iterrows()
    )
    value, low, high = (list(others[name]) for name in ("shortfall", "shortfall_low", "shortfall_high"))
    return forest(
        list(others["name"]),
        value,
        low,
        high,
        x_label=f"{unit} gained per allocation",
        alt=f"Paired differences with 95% intervals, {best.label} less: {text}.",
        line=(0.0, ""),
    )


def chart_headroom(table: pd.DataFrame) -> Chart:
    """Share of the headroom between base model and oracle that a ranking method closes."""
    rows = table[table["closed"].notna()]
    names = [arm.label for arm in list_arms(rows)]
    value, low, high = (list(100 * rows[name]) for name in ("closed", "closed_low", "closed_high"))
    text = "; ".join(
        f"{name} {format_number(share, 0)}% ({format_number(least, 0)} to {format_number(most, 0)})"
        for name, share, least, most in zip(names, value, low, high, strict=True)
    )
    alt = f"Share of the headroom between base model and oracle that is closed, with 95% intervals: {text}."
    return forest(names, value, low, high, x_label="headroom closed (%)", alt=alt, line=(0.0, ""))


def chart_gain(table: Table) -> Chart:
    """Gain in NDCG@k over the base model, in percent (Figures 2 and 3)."""
    frame = table.to_frame()
    columns = [c for c in table.columns if c.kind == "number" and frame[c.key].notna().any()]
    headings = [column.heading for column in columns]
    models = list(dict.fromkeys(frame["model"]))
    methods = list(dict.fromkeys(frame["method"]))
    series = tuple(
        Series(
            arm.label,
            headings,
            [row[column.key] for column in columns],
            kind="bars",
            colour=models.index(arm.model) if arm.method == methods[0] else len(models) + place % 2,
        )
        for place, (arm, (_, row)) in enumerate(zip(list_arms(frame), frame.iterrows(), strict=True))
    )
    text = "; ".join(f"{one.name} {format_number(one.y[0], 1)}%" for one in series if one.y)
    alt = f"Bars of the gain over the base model at each cut-off; at {headings[0] if headings else 'none'}: {text}."
    heights = [value for one in series for value in one.y if value == value]
    cut = (-100.0, MOST_GAIN) if max(heights, default=0.0) > MOST_GAIN else None  # a base near 0 makes any gain vast
    return Chart(alt, "", "gain over the base model (%)", series, y_line=(0.0, ""), y_range=cut)


def chart_scatter(table: pd.DataFrame, measure: Measure) -> Chart:
    """Estimated against true NDCG@k, each point one arm in one job (Figure A2)."""
    from scipy import stats

    part = table[table["measure"] == column_key(measure)]
    labels = [arm.label for arm in list_arms(part)]
    series = []
    estimators = [key for key in catalogue.estimators if f"estimate_{key}" in part]
    for colour, key in enumerate(estimators):
        points = part.assign(label=labels, estimate=part[f"estimate_{key}"])
        known = points[points["true"].notna() & points["estimate"].notna()]
        if not len(known):
            continue
        spread = len(known) > 2 and np.ptp(known["true"]) > 0 and np.ptp(known["estimate"]) > 0
        rho = stats.spearmanr(known["true"], known["estimate"]).statistic if spread else np.nan
        name = f"{key}, ρ = {format_number(rho)}"
        x, y = list(known["true"].round(4)), list(known["estimate"].round(4))
        series.append(Series(name, x, y, colour=colour, marker=colour, labels=list(known["label"])))
    text = "; ".join(one.name for one in series)
    title = column_heading(measure, "")
    alt = f"Estimated against true {title}, one point per arm and job: {text}."
    return Chart(alt, "true", "estimated", tuple(series), diagonal=True, title=title)


def chart_calibration(table: pd.DataFrame, model: str, unit: str, place: int) -> Chart:
    """Mean outcome against mean prediction by tenths: a model in its colour, and the ranking methods over it."""
    series, texts = [], []
    for method, rows in table.groupby("method", sort=False):
        label = Arm(model, str(method)).label
        x, y, low, high = (
            list(rows[key].astype(float)) for key in ("predicted", "outcome", "outcome_low", "outcome_high")
        )
        marker = choose_marker(str(method))
        colour = place if method == NO_METHOD else 7 - marker
        series.append(Series(label, x, y, low, high, kind="line", colour=colour, marker=marker))
        first, last = rows.iloc[0], rows.iloc[-1]
        texts.append(
            f"{label}: lowest tenth predicted {format_number(first['predicted'])}, outcome "
            f"{format_number(first['outcome'])}, "
            f"highest predicted {format_number(last['predicted'])}, outcome {format_number(last['outcome'])}"
        )
    title = name_model(model)
    alt = f"Calibration of {title}, predicted {unit} across and observed up, by tenths. {'; '.join(texts)}."
    return Chart(alt, f"{unit} predicted", f"{unit} observed", tuple(series), diagonal=True, title=title)


def chart_follow_up(table: pd.DataFrame, unit: str, tau: float) -> Chart:
    """The chance of still being followed, by when people entered."""
    groups = [(str(name), rows) for name, rows in table.groupby("entered", sort=False)]
    series = tuple(
        Series(name, list(rows["time"].round(3)), list(rows["chance"].round(4)), kind="steps", colour=place)
        for place, (name, rows) in enumerate(groups)
    )
    text = "; ".join(f"{name} {100 * _at(rows, tau):.0f}%" for name, rows in groups)
    alt = f"The chance of still being followed, by entry; at the horizon of {tau:g} {unit}: {text}."
    label = "chance of still being followed"
    return Chart(alt, unit, label, series, x_line=(tau, "horizon"), y_range=(0.0, 1.02))


def _at(rows: pd.DataFrame, time: float) -> float:
    return float(rows.loc[(rows["time"] - time).abs().idxmin(), "chance"])


def chart_survival(table: pd.DataFrame, unit: str) -> Chart:
    """Kaplan–Meier of the event and of follow-up."""
    time = list(table["time"].astype(float))
    series = tuple(
        Series(name, time, list(table[key].astype(float)), kind="steps", colour=place)
        for place, (key, name) in enumerate((("without_event", "without event"), ("still_followed", "still followed")))
    )
    last = table.iloc[-1]
    alt = (
        f"Kaplan–Meier curves. At {last['time']:g} {unit}: {100 * last['without_event']:.0f}% without event, "
        f"{100 * last['still_followed']:.0f}% still followed."
    )
    return Chart(alt, unit, "share", series, y_range=(0.0, 1.02))


def chart_subgroup(table: pd.DataFrame, question: str, best: Arm) -> Chart:
    """Share of patients and share of allocations of each group, under the best arm."""
    names = list(table["group"].astype(str))
    columns = {
        name: list(100 * table[name].astype(float))
        for name in ("share_of_patients", "share_of_allocations", "low", "high")
    }
    patients = Series("patients", columns["share_of_patients"], names, colour=6, marker=1)
    allocations = Series(
        "allocations", columns["share_of_allocations"], names, columns["low"], columns["high"], colour=0, marker=0
    )
    text = "; ".join(
        f"{name} {format_number(p, 0)}% of patients, {format_number(a, 0)}% of allocations"
        for name, p, a in zip(names, columns["share_of_patients"], columns["share_of_allocations"], strict=True)
    )
    alt = f"Who gets the allocations of {best.label}, by {question.replace('_', ' ')}: {text}."
    return Chart(alt, "%", "", (patients, allocations), rows=tuple(names), title=question.replace("_", " "))
