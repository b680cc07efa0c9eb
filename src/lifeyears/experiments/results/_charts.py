"""The charts of a run as data, for the report, for notebooks and for files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from ..._views import Chart, Series, forest, format_number
from ..paper import NDCG_KEYS

if TYPE_CHECKING:
    import pandas as pd

MARKERS = {"standard": 0, "ranker": 1, "default": 2}
GAINS = {"gain_truth": "figure_2", "gain_ey": "figure_3a", "gain_ipcw": "figure_3b"}
MOST_GAIN = 200.0  # percent; taller bars are cut, their numbers are in the table
KINDS = {"EY": 0, "IPCW": 1, "DR": 2}


def make_charts(tables: Mapping[str, pd.DataFrame], unit: str, best: str, tau: float) -> dict[str, Chart]:
    """Make every chart that the tables of a run allow, by name."""
    charts = {"years": chart_years(tables["years"], unit, best), "audit": chart_audit(tables["years"], unit)}
    if len(tables["audit"]) > 1:
        charts["differences"] = chart_differences(tables["audit"], unit, best)
    if "room" in tables and "closed" in tables["room"]:
        charts["room"] = chart_headroom(tables["room"])
    for name, figure in GAINS.items():
        if name in tables and len(tables[name]):
            charts[figure] = chart_gain(tables[name])
    if "figure_a2" in tables:
        charts |= {f"figure_a2 {key}": chart_scatter(tables["figure_a2"], key) for key in NDCG_KEYS}
    for model, rows in _by_model(tables["calibration"]):
        charts[f"calibration {model}"] = chart_calibration(rows, model, unit)
    charts["positivity"] = chart_follow_up(tables["positivity_curves"], unit, tau)
    charts["survival"] = chart_survival(tables["survival"], unit)
    if "subgroups" in tables:
        of_best = tables["subgroups"][tables["subgroups"]["arm"] == best]
        charts |= {
            f"subgroups {question}": chart_subgroup(rows, str(question), best)
            for question, rows in of_best.groupby("by", sort=False)
        }
    return charts


def _by_model(table: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    yield from table.groupby(table["arm"].str.split(" ").str[0], sort=False)


def chart_years(table: pd.DataFrame, unit: str, best: str) -> Chart:
    """Years per allocation with intervals, the most on top, and the ceiling where it is known."""
    ceiling = table.loc[table["model"] == "truth", "years"]
    models = table[table["model"] != "truth"].sort_values("years", ascending=False, kind="stable")
    names = [f"{row['model']} {row['framework']}" for _, row in models.iterrows()]
    texts = [
        f"{name} {format_number(row['years'])} ({format_number(row['low'])} to {format_number(row['high'])})"
        for name, (_, row) in zip(names, models.iterrows(), strict=True)
    ]
    line = None
    if len(ceiling):
        line = (float(ceiling.iloc[0]), "if the truth were known")
        texts.append(f"with the truth known {format_number(float(ceiling.iloc[0]))}")
    alt = f"{unit.capitalize()} per allocation with 95% intervals: {'; '.join(texts)}."
    label = f"{unit} per allocation"
    value, low, high = (list(models[name]) for name in ("years", "low", "high"))
    return forest(names, value, low, high, label, alt, line, best)


def chart_audit(table: pd.DataFrame, unit: str) -> Chart:
    """C-index against years per allocation, arm by arm; without those that rank nobody, which squeeze the rest."""
    models = table[table["model"] != "truth"]
    flat = np.isclose(models["C-index"].astype(float), 0.5, atol=1e-9)
    flat &= (~flat).sum() > 1
    series, left_out = [], []
    for place, (model, rows) in enumerate(models.assign(flat=flat).groupby("model", sort=False)):
        for _, row in rows.iterrows():
            name = f"{model} {row['framework']}"
            if row["flat"]:
                left_out.append(f"{name} 0.500, {format_number(row['years'])}")
                continue
            series.append(
                Series(
                    name,
                    [row["C-index"]],
                    [row["years"]],
                    [row["low"]],
                    [row["high"]],
                    colour=place,
                    marker=MARKERS.get(row["framework"], 3),
                    labels=[name],
                )
            )
    text = "; ".join(f"{s.name} {format_number(s.x[0], 3)}, {format_number(s.y[0])}" for s in series)
    ceiling = table.loc[table["model"] == "truth", "years"]
    line = (float(ceiling.iloc[0]), "if the truth were known") if len(ceiling) else None
    alt = f"C-index across, {unit} per allocation up: {text}."
    if left_out:
        alt += f" Left out, since it ranks nobody: {'; '.join(left_out)}."
    return Chart(alt, "C-index", f"{unit} per allocation", tuple(series), y_line=line)


def chart_differences(table: pd.DataFrame, unit: str, best: str) -> Chart:
    """What the best arm gains over each other one, paired."""
    names = table["model"] + " " + table["framework"]
    others = table[names != best].assign(name=names).sort_values("short of best", kind="stable")
    text = "; ".join(
        f"{row['name']} {format_number(row['short of best'])} ({format_number(row['short low'])} to "
        f"{format_number(row['short high'])})"
        for _, row in others.iterrows()
    )
    value, low, high = (list(others[name]) for name in ("short of best", "short low", "short high"))
    return forest(
        list(others["name"]),
        value,
        low,
        high,
        x_label=f"{unit} gained per allocation",
        alt=f"Paired differences with 95% intervals, {best} less: {text}.",
        line=(0.0, ""),
    )


def chart_headroom(table: pd.DataFrame) -> Chart:
    """Share of the room between base and ceiling that a ranker closes."""
    rows = table[table["closed"].notna()]
    names = [f"{row['model']} {row['framework']}" for _, row in rows.iterrows()]
    value, low, high = (list(100 * rows[name]) for name in ("closed", "closed low", "closed high"))
    text = "; ".join(
        f"{name} {format_number(share, 0)}% ({format_number(least, 0)} to {format_number(most, 0)})"
        for name, share, least, most in zip(names, value, low, high, strict=True)
    )
    alt = f"Share of the room between base model and ceiling that a ranker closes, with 95% intervals: {text}."
    return forest(names, value, low, high, x_label="room closed (%)", alt=alt, line=(0.0, ""))


def chart_gain(table: pd.DataFrame) -> Chart:
    """Gain in NDCG@k over the base model, in percent (Figures 2 and 3)."""
    keys = [str(name) for name in table.columns if "NDCG" in str(name) and table[name].notna().any()]
    models = list(dict.fromkeys(table["model"]))
    series = tuple(
        Series(
            f"{row['model']} {row['framework']}",
            keys,
            [row[key] for key in keys],
            kind="bars",
            colour=models.index(row["model"]) if row["framework"] == "ranker" else len(models) + place % 2,
        )
        for place, (_, row) in enumerate(table.iterrows())
    )
    text = "; ".join(f"{one.name} {format_number(one.y[0], 1)}%" for one in series)
    alt = f"Bars of the gain over the base model at each cut-off; at {keys[0] if keys else 'none'}: {text}."
    heights = [value for one in series for value in one.y if value == value]
    cut = (-100.0, MOST_GAIN) if max(heights, default=0.0) > MOST_GAIN else None  # a base near 0 makes any gain vast
    return Chart(alt, "", "gain over the base model (%)", series, y_line=(0.0, ""), y_range=cut)


def chart_scatter(table: pd.DataFrame, key: str) -> Chart:
    """Estimated against true NDCG@k, each point one arm in one job (Figure A2)."""
    from scipy import stats

    part = table[table["measure"] == key]
    series = []
    for kind, colour in KINDS.items():
        known = part[part["true"].notna() & part[kind].notna()]
        if not len(known):
            continue
        spread = len(known) > 2 and np.ptp(known["true"]) > 0 and np.ptp(known[kind]) > 0
        rho = stats.spearmanr(known["true"], known[kind]).statistic if spread else np.nan
        name = f"{kind}, ρ = {format_number(rho)}"
        x, y = list(known["true"].round(4)), list(known[kind].round(4))
        series.append(Series(name, x, y, colour=colour, marker=colour, labels=list(known["arm"])))
    text = "; ".join(one.name for one in series)
    alt = f"Estimated against true {key}, one point per arm and job: {text}."
    return Chart(alt, "true", "estimated", tuple(series), diagonal=True, title=key)


def chart_calibration(table: pd.DataFrame, model: str, unit: str) -> Chart:
    """Mean outcome against mean prediction by tenths, the arms of one base model."""
    series, texts = [], []
    for arm, rows in table.groupby("arm", sort=False):
        framework = str(arm).split(" ")[1]
        names = ("predicted", "outcome", "outcome low", "outcome high")
        x, y, low, high = (list(rows[name].astype(float)) for name in names)
        place = MARKERS.get(framework, 3)
        series.append(Series(framework, x, y, low, high, kind="line", colour=place, marker=place))
        first, last = rows.iloc[0], rows.iloc[-1]
        texts.append(
            f"{framework}: lowest tenth predicted {format_number(first['predicted'])}, outcome "
            f"{format_number(first['outcome'])}, "
            f"highest predicted {format_number(last['predicted'])}, outcome {format_number(last['outcome'])}"
        )
    alt = f"Calibration of {model}, predicted {unit} across and the judge's up, by tenths. {'; '.join(texts)}."
    return Chart(alt, f"{unit} predicted", f"{unit}, judged", tuple(series), diagonal=True, title=model)


def chart_follow_up(table: pd.DataFrame, unit: str, tau: float) -> Chart:
    """The chance of still being followed, by when people entered."""
    names = [name for name in table.columns if name != "time"]
    series = tuple(
        Series(str(name), list(table["time"].round(3)), list(table[name].round(4)), kind="steps", colour=place)
        for place, name in enumerate(names)
    )
    at = (table["time"] - tau).abs().idxmin()
    text = "; ".join(f"{name} {100 * table.loc[at, name]:.0f}%" for name in names)
    alt = f"The chance of still being followed, by entry; at the horizon of {tau:g} {unit}: {text}."
    label = "chance of still being followed"
    return Chart(alt, unit, label, series, x_line=(tau, "horizon"), y_range=(0.0, 1.02))


def chart_survival(table: pd.DataFrame, unit: str) -> Chart:
    """Kaplan–Meier of the event and of follow-up."""
    time = list(table["time"].astype(float))
    series = tuple(
        Series(name, time, list(table[name].astype(float)), kind="steps", colour=place)
        for place, name in enumerate(("without event", "still followed"))
    )
    last = table.iloc[-1]
    alt = (
        f"Kaplan–Meier curves. At {last['time']:g} {unit}: {100 * last['without event']:.0f}% without event, "
        f"{100 * last['still followed']:.0f}% still followed."
    )
    return Chart(alt, unit, "share", series, y_range=(0.0, 1.02))


def chart_subgroup(table: pd.DataFrame, question: str, best: str) -> Chart:
    """Share of patients and share of allocations of each group, under the best arm."""
    names = list(table["group"].astype(str))
    columns = {
        name: list(100 * table[name].astype(float))
        for name in ("share of patients", "share of allocations", "low", "high")
    }
    patients = Series("patients", columns["share of patients"], names, colour=6, marker=1)
    allocations = Series(
        "allocations", columns["share of allocations"], names, columns["low"], columns["high"], colour=0, marker=0
    )
    text = "; ".join(
        f"{name} {format_number(p, 0)}% of patients, {format_number(a, 0)}% of allocations"
        for name, p, a in zip(names, columns["share of patients"], columns["share of allocations"], strict=True)
    )
    alt = f"Who gets the allocations of {best}, by {question.replace('_', ' ')}: {text}."
    return Chart(alt, "%", "", (patients, allocations), rows=tuple(names), title=question.replace("_", " "))
