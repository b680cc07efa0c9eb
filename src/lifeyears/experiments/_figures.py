"""The figures of a run: charts as data, for the report and for notebooks, and as PNG and PDF files."""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .._files import write_whole
from .._views import Chart, Series, draw, forest, in_words
from ._paper_tables import NDCG_KEYS

if TYPE_CHECKING:
    import pandas as pd

    from ._results import Run

MARKERS = {"standard": 0, "ranker": 1, "default": 2}
GAINS = {"gain_truth": "figure_2", "gain_ey": "figure_3a", "gain_ipcw": "figure_3b"}
MOST_GAIN = 200.0  # percent; taller bars are cut, their numbers are in the table
KINDS = {"EY": 0, "IPCW": 1, "DR": 2}


def charts_of(tables: Mapping[str, pd.DataFrame], unit: str, best: str, tau: float) -> dict[str, Chart]:
    """Every chart that the tables of a run allow, by name."""
    made = {"years": years_chart(tables["years"], unit, best), "audit": audit_chart(tables["years"], unit)}
    if len(tables["audit"]) > 1:
        made["differences"] = differences_chart(tables["audit"], unit, best)
    if "room" in tables and "closed" in tables["room"]:
        made["room"] = room_chart(tables["room"])
    for name, figure in GAINS.items():
        if name in tables and len(tables[name]):
            made[figure] = gain_chart(tables[name])
    if "figure_a2" in tables:
        made |= {f"figure_a2 {key}": scatter_chart(tables["figure_a2"], key) for key in NDCG_KEYS}
    for model, rows in _by_model(tables["calibration"]):
        made[f"calibration {model}"] = calibration_chart(rows, model, unit)
    made["positivity"] = follow_up_chart(tables["positivity_curves"], unit, tau)
    made["survival"] = survival_chart(tables["survival"], unit)
    if "subgroups" in tables:
        mine = tables["subgroups"][tables["subgroups"]["arm"] == best]
        made |= {
            f"subgroups {question}": subgroup_chart(rows, str(question), best)
            for question, rows in mine.groupby("by", sort=False)
        }
    return made


def _by_model(table: pd.DataFrame) -> Any:
    return table.groupby(table["arm"].str.split(" ").str[0], sort=False)


def years_chart(table: pd.DataFrame, unit: str, best: str) -> Chart:
    """Years per allocation with intervals, the most on top, and the ceiling where it is known."""
    ceiling = table.loc[table["model"] == "truth", "years"]
    models = table[table["model"] != "truth"].sort_values("years", ascending=False, kind="stable")
    names = [f"{row['model']} {row['framework']}" for _, row in models.iterrows()]
    told = [
        f"{name} {in_words(row['years'])} ({in_words(row['low'])} to {in_words(row['high'])})"
        for name, (_, row) in zip(names, models.iterrows(), strict=True)
    ]
    line = None
    if len(ceiling):
        line = (float(ceiling.iloc[0]), "if the truth were known")
        told.append(f"with the truth known {in_words(float(ceiling.iloc[0]))}")
    alt = f"{unit.capitalize()} per allocation with 95% intervals: {'; '.join(told)}."
    label = f"{unit} per allocation"
    value, low, high = (list(models[name]) for name in ("years", "low", "high"))
    return forest(names, value, low, high, label, alt, line, best)


def audit_chart(table: pd.DataFrame, unit: str) -> Chart:
    """C-index against years per allocation, arm by arm; without those that rank nobody, which squeeze the rest."""
    models = table[table["model"] != "truth"]
    flat = np.isclose(models["C-index"].astype(float), 0.5, atol=1e-9)
    flat &= (~flat).sum() > 1
    series, left_out = [], []
    for place, (model, rows) in enumerate(models.assign(flat=flat).groupby("model", sort=False)):
        for _, row in rows.iterrows():
            name = f"{model} {row['framework']}"
            if row["flat"]:
                left_out.append(f"{name} 0.500, {in_words(row['years'])}")
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
    told = "; ".join(f"{s.name} {in_words(s.x[0], 3)}, {in_words(s.y[0])}" for s in series)
    ceiling = table.loc[table["model"] == "truth", "years"]
    line = (float(ceiling.iloc[0]), "if the truth were known") if len(ceiling) else None
    alt = f"C-index across, {unit} per allocation up: {told}."
    if left_out:
        alt += f" Left out, since it ranks nobody: {'; '.join(left_out)}."
    return Chart(alt, "C-index", f"{unit} per allocation", tuple(series), y_line=line)


def differences_chart(table: pd.DataFrame, unit: str, best: str) -> Chart:
    """What the best arm gains over each other one, paired."""
    names = table["model"] + " " + table["framework"]
    others = table[names != best].assign(name=names).sort_values("short of best", kind="stable")
    told = "; ".join(
        f"{row['name']} {in_words(row['short of best'])} ({in_words(row['short low'])} to "
        f"{in_words(row['short high'])})"
        for _, row in others.iterrows()
    )
    value, low, high = (list(others[name]) for name in ("short of best", "short low", "short high"))
    return forest(
        list(others["name"]),
        value,
        low,
        high,
        x_label=f"{unit} gained per allocation",
        alt=f"Paired differences with 95% intervals, {best} less: {told}.",
        line=(0.0, ""),
    )


def room_chart(table: pd.DataFrame) -> Chart:
    """Share of the room between base and ceiling that a ranker closes."""
    rows = table[table["closed"].notna()]
    names = [f"{row['model']} {row['framework']}" for _, row in rows.iterrows()]
    value, low, high = (list(100 * rows[name]) for name in ("closed", "closed low", "closed high"))
    told = "; ".join(
        f"{name} {in_words(share, 0)}% ({in_words(least, 0)} to {in_words(most, 0)})"
        for name, share, least, most in zip(names, value, low, high, strict=True)
    )
    alt = f"Share of the room between base model and ceiling that a ranker closes, with 95% intervals: {told}."
    return forest(names, value, low, high, x_label="room closed (%)", alt=alt, line=(0.0, ""))


def gain_chart(table: pd.DataFrame) -> Chart:
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
    told = "; ".join(f"{one.name} {in_words(one.y[0], 1)}%" for one in series)
    alt = f"Bars of the gain over the base model at each cut-off; at {keys[0] if keys else 'none'}: {told}."
    heights = [value for one in series for value in one.y if value == value]
    cut = (-100.0, MOST_GAIN) if max(heights, default=0.0) > MOST_GAIN else None  # a base near 0 makes any gain vast
    return Chart(alt, "", "gain over the base model (%)", series, y_line=(0.0, ""), y_range=cut)


def scatter_chart(table: pd.DataFrame, key: str) -> Chart:
    """Estimated against true NDCG@k, each point one arm in one unit (Figure A2)."""
    from scipy import stats

    part = table[table["measure"] == key]
    series = []
    for kind, colour in KINDS.items():
        known = part[part["true"].notna() & part[kind].notna()]
        if not len(known):
            continue
        spread = len(known) > 2 and np.ptp(known["true"]) > 0 and np.ptp(known[kind]) > 0
        rho = stats.spearmanr(known["true"], known[kind]).statistic if spread else np.nan
        name = f"{kind}, ρ = {in_words(rho)}"
        x, y = list(known["true"].round(4)), list(known[kind].round(4))
        series.append(Series(name, x, y, colour=colour, marker=colour, labels=list(known["arm"])))
    told = "; ".join(one.name for one in series)
    alt = f"Estimated against true {key}, one point an arm and unit: {told}."
    return Chart(alt, "true", "estimated", tuple(series), diagonal=True, title=key)


def calibration_chart(table: pd.DataFrame, model: str, unit: str) -> Chart:
    """Mean outcome against mean prediction by tenths, the arms of one base model."""
    series, told = [], []
    for arm, rows in table.groupby("arm", sort=False):
        framework = str(arm).split(" ")[1]
        names = ("predicted", "outcome", "outcome low", "outcome high")
        x, y, low, high = (list(rows[name].astype(float)) for name in names)
        place = MARKERS.get(framework, 3)
        series.append(Series(framework, x, y, low, high, kind="line", colour=place, marker=place))
        first, last = rows.iloc[0], rows.iloc[-1]
        told.append(
            f"{framework}: lowest tenth predicted {in_words(first['predicted'])}, outcome "
            f"{in_words(first['outcome'])}, "
            f"highest predicted {in_words(last['predicted'])}, outcome {in_words(last['outcome'])}"
        )
    alt = f"Calibration of {model}, predicted {unit} across and the judge's up, by tenths. {'; '.join(told)}."
    return Chart(alt, f"{unit} predicted", f"{unit}, judged", tuple(series), diagonal=True, title=model)


def follow_up_chart(table: pd.DataFrame, unit: str, tau: float) -> Chart:
    """The chance of still being followed, by when people entered."""
    names = [name for name in table.columns if name != "time"]
    series = tuple(
        Series(str(name), list(table["time"].round(3)), list(table[name].round(4)), kind="steps", colour=place)
        for place, name in enumerate(names)
    )
    at = (table["time"] - tau).abs().idxmin()
    told = "; ".join(f"{name} {100 * table.loc[at, name]:.0f}%" for name in names)
    alt = f"The chance of still being followed, by entry; at the horizon of {tau:g} {unit}: {told}."
    label = "chance of still being followed"
    return Chart(alt, unit, label, series, x_line=(tau, "horizon"), y_range=(0.0, 1.02))


def survival_chart(table: pd.DataFrame, unit: str) -> Chart:
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


def subgroup_chart(table: pd.DataFrame, question: str, best: str) -> Chart:
    """Share of patients and share of allocations of each group, under the best arm."""
    names = list(table["group"].astype(str))
    columns = {
        name: list(100 * table[name].astype(float))
        for name in ("share of patients", "share of allocations", "low", "high")
    }
    given = Series("patients", columns["share of patients"], names, colour=6, marker=1)
    won = Series(
        "allocations", columns["share of allocations"], names, columns["low"], columns["high"], colour=0, marker=0
    )
    told = "; ".join(
        f"{name} {in_words(p, 0)}% of patients, {in_words(a, 0)}% of allocations"
        for name, p, a in zip(names, columns["share of patients"], columns["share of allocations"], strict=True)
    )
    alt = f"Who gets the allocations of {best}, by {question.replace('_', ' ')}: {told}."
    return Chart(alt, "%", "", (given, won), rows=tuple(names), title=question.replace("_", " "))


def write_figures(run: Run, out: Path) -> None:
    """The paper's figures, and the years, in figures/: the same bytes for the same run."""
    charts = charts_of(run.tables, run.dataset.unit, run.best(), run.plan.tau)
    made: dict[str, Any] = {}
    for name in ("years", "audit", "room", *GAINS.values()):
        if name in charts:
            figure, ax = _figure(7, 1 + 0.32 * len(charts[name].rows) if charts[name].rows else 4.2)
            draw(charts[name], ax)
            made[name] = figure
    if "figure_a1" in run.tables:
        made["figure_a1"] = error_figure(run.tables["figure_a1"])
        made["figure_a2"], axes = _figure(9, 6, 2, 3)
        for ax, key in zip(axes.ravel(), NDCG_KEYS, strict=True):
            draw(charts[f"figure_a2 {key}"], ax)
    for name, figure in made.items():
        for kind, metadata in (
            ("png", {"Software": None}),
            ("pdf", {"CreationDate": None, "Producer": None, "Creator": None}),
        ):
            buffer = BytesIO()
            figure.savefig(buffer, format=kind, dpi=150, bbox_inches="tight", metadata=metadata)
            write_whole(out / "figures" / f"{name}.{kind}", buffer.getvalue())


def _figure(width: float, height: float, rows: int = 1, columns: int = 1) -> tuple[Any, Any]:
    """A figure of its own, without pyplot's global state."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(rows, columns)


def error_figure(table: pd.DataFrame) -> Any:
    """Mean absolute error of estimated NDCG (Figure A1)."""
    keys = [f"{key} MAE" for key in NDCG_KEYS]
    known = table[table[keys].notna().any(axis=1)]
    values = known[keys].to_numpy(dtype=float)
    figure, ax = _figure(6, 4)
    image = ax.imshow(values, cmap="viridis_r", aspect="auto")
    for (i, j), value in np.ndenumerate(values):
        colour = "white" if value > np.nanmean(values) else "black"
        ax.text(j, i, f"{value:.2f}", ha="center", va="center", fontsize=7, color=colour)
    ax.set(
        xticks=range(len(keys)), xticklabels=NDCG_KEYS, yticks=range(len(known)), yticklabels=list(known["estimator"])
    )
    figure.colorbar(image, ax=ax, label="mean absolute error")
    return figure
