"""The tables of a run for people and programs: titles, headings with the unit, and how columns belong together."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ... import catalogue
from ..._views import TableColumn, format_number
from ..jobs import Source
from ..measures import C_INDEX, NDCGS, column_heading, column_key
from ..paper import load_paper_table
from ..types import NO_METHOD, Arm, ColumnKind, ColumnNote, Measure, Table, Value

if TYPE_CHECKING:
    import pandas as pd

MISSING = "–"
LONG_TABLES = (
    "measures",
    "figure_a2",
    "calibration",
    "positivity_groups",
    "positivity_curves",
    "survival",
    "predictors",
)


@dataclass(frozen=True)
class TableNote:
    """The title of a table and its columns, with {unit} where the unit of the data belongs."""

    title: str
    columns: tuple[ColumnNote, ...] = ()


def _interval(
    key: str, heading: str, kind: ColumnKind = "number", low: str = "", high: str = ""
) -> tuple[ColumnNote, ...]:
    """A value with the ends of its interval."""
    low, high = low or f"{key}_low", high or f"{key}_high"
    return (
        ColumnNote(key, heading, kind),
        ColumnNote(low, f"{heading}, lower end", kind, of=key, role="low"),
        ColumnNote(high, f"{heading}, upper end", kind, of=key, role="high"),
    )


ARM = (ColumnNote("model", "model", "model"), ColumnNote("method", "ranking method", "method", "model", "method"))
OTHER = (
    ColumnNote("other_model", "compared with", "model"),
    ColumnNote("other_method", "ranking method of the other", "method", "other_model", "method"),
)
ESTIMATOR = (
    ColumnNote("relevance", "estimator", "relevance"),
    ColumnNote("nuisance", "nuisance model", "nuisance", "relevance", "nuisance"),
)
VALUE = _interval("value", "{unit} per allocation", "time", "low", "high")
GAP = _interval("gap", "predicted less observed ({unit})", "time")
P = ColumnNote("p", "p", "p")
NOTES = {
    "allocation": TableNote(
        "Value in {unit} per allocation from a waitlist and NDCG over waitlists, with 95% intervals",
        (
            *(*ARM, *VALUE, *_interval("gain", "gain over the base model ({unit})", "time"), P),
            *_interval("ndcg", "NDCG over waitlists"),
            ColumnNote("c_index", "C-index"),
        ),
    ),
    "audit": TableNote(
        "Decision audit: C-index against {unit} per allocation, and the plug-in bound",
        (
            *(*ARM, *VALUE, *_interval("shortfall", "short of the best ({unit})", "time"), P),
            ColumnNote("c_index", "C-index"),
            ColumnNote("c_index_sd", "C-index, standard deviation", of="c_index", role="sd"),
            ColumnNote("place_by_c_index", "place by C-index", "count"),
            ColumnNote("place_by_value", "place by {unit}", "count"),
            *_interval("bound", "bound"),
        ),
    ),
    "headroom": TableNote(
        "Headroom below the oracle, and the share of it that a ranking method closes",
        (
            *ARM,
            ColumnNote("value", "{unit} per allocation", "time"),
            ColumnNote("ceiling", "oracle ({unit})", "time"),
            *_interval("left", "headroom left ({unit})", "time"),
            *_interval("closed", "share of headroom closed", "share"),
        ),
    ),
    "comparison": TableNote(
        "All paired differences in {unit} per allocation",
        (*ARM, *OTHER, *_interval("difference", "difference ({unit})", "time", "low", "high"), P),
    ),
    "metrics": TableNote(
        "Registered metrics, means over folds with 95% intervals",
        (
            *ARM,
            ColumnNote("metric", "metric", "metric"),
            ColumnNote("relevance", "by", "relevance"),
            ColumnNote("better", "better is", "text"),
            *_interval("value", "mean", "number", "low", "high"),
            *_interval("gain", "difference from the base model"),
            P,
        ),
    ),
    "table_1": TableNote("Table 1: ground-truth metrics under artificial censoring", ARM),
    "table_2": TableNote("Table 2: metrics and estimated NDCG on the full data", ARM),
    "table_a6": TableNote("Table A6: pairwise accuracy of the estimators, by fold (%)", ESTIMATOR),
    "table_a6_by_iteration": TableNote("Table A6: pairwise accuracy of the estimators, by iteration (%)", ESTIMATOR),
    "table_a6_whole_life": TableNote(
        "Table A6: pairwise accuracy by fold and by the whole life, as in Table 1 (%)", ESTIMATOR
    ),
    "table_a7": TableNote("Table A7: EY NDCG@k", ARM),
    "table_a8": TableNote("Table A8: IPCW NDCG@k", ARM),
    "figure_a1": TableNote(
        "Figures A1 and A2: mean absolute error and Spearman's ρ of estimates, by life within the horizon", ESTIMATOR
    ),
    "figure_a1_whole_life": TableNote(
        "Figures A1 and A2: mean absolute error and Spearman's ρ by the whole life, as in Table 1", ESTIMATOR
    ),
    "figure_a2": TableNote(
        "Figure A2: true and estimated measures, one row per arm and job",
        (
            ColumnNote("measure", "measure", "text"),
            *ARM,
            ColumnNote("iteration", "iteration", "count"),
            ColumnNote("fold", "fold", "count"),
            ColumnNote("true", "true"),
        ),
    ),
    "gain_truth": TableNote("Figure 2: gain in NDCG@k over the base model (%)", ARM),
    "gain_ey": TableNote("Figure 3a: gain in EY NDCG@k over the base model (%)", ARM),
    "gain_ipcw": TableNote("Figure 3b: gain in IPCW NDCG@k over the base model (%)", ARM),
    "measures": TableNote("Every measure of every job"),
    "subgroups": TableNote(
        "Who gets the allocations, by subgroup",
        (
            ColumnNote("by", "by", "text"),
            ColumnNote("group", "group", "text"),
            *ARM,
            ColumnNote("patients", "patients", "count"),
            ColumnNote("share_of_patients", "share of patients", "share"),
            *_interval("share_of_allocations", "share of allocations", "share", "low", "high"),
            *_interval("share_change", "change of share (points)", "points", "change_low", "change_high"),
            *_interval("value", "{unit} of the allocations", "time"),
            *GAP,
        ),
    ),
    "calibration": TableNote(
        "Calibration: predicted against observed {unit}, by tenths of the predictions",
        (
            *ARM,
            ColumnNote("tenth", "tenth", "count"),
            ColumnNote("patients", "patients", "count"),
            ColumnNote("predicted", "predicted {unit}", "time"),
            *_interval("outcome", "observed {unit}", "time"),
        ),
    ),
    "calibration_by_arm": TableNote(
        "Calibration in the large, and the slope of outcomes on predictions",
        (
            *ARM,
            ColumnNote("predicted", "predicted {unit}", "time"),
            ColumnNote("outcome", "observed {unit}", "time"),
            *GAP,
            *_interval("slope", "slope"),
        ),
    ),
    "positivity": TableNote(
        "Support at the horizon, by model of censoring",
        (
            ColumnNote("censoring", "model of censoring", "model"),
            ColumnNote("rows", "rows", "count"),
            ColumnNote("smallest_chance", "smallest chance of being followed"),
            ColumnNote("share_unsupported", "share not supported", "share"),
            ColumnNote("effective_sample_size", "effective sample size"),
            ColumnNote("heaviest_weight_share", "share of the heaviest weight", "share"),
            ColumnNote("rows_below_floor", "rows below the floor", "count"),
            ColumnNote("floor", "floor"),
        ),
    ),
    "positivity_groups": TableNote(
        "Support at the horizon by entry (Cox model of censoring)",
        (
            ColumnNote("entered", "entered", "text"),
            ColumnNote("rows", "rows", "count"),
            ColumnNote("chance", "chance of being followed"),
            ColumnNote("longest_followup", "longest follow-up ({unit})", "time"),
            ColumnNote("share_unsupported", "share not supported", "share"),
        ),
    ),
    "positivity_frontier": TableNote(
        "The latest entry that each horizon supports",
        (
            ColumnNote("horizon", "horizon ({unit})", "time"),
            ColumnNote("latest_entry", "supported up to entry", "text"),
        ),
    ),
    "positivity_curves": TableNote(
        "Chance of still being followed, by entry",
        (
            ColumnNote("entered", "entered", "text"),
            ColumnNote("time", "{unit}", "time"),
            ColumnNote("chance", "chance of still being followed"),
        ),
    ),
    "cohort": TableNote(
        "The cohort (Table A4)",
        (
            ColumnNote("patients", "patients", "count"),
            ColumnNote("censored", "censored", "count"),
            ColumnNote("censored_percent", "censored (%)"),
            ColumnNote("features", "features", "count"),
            ColumnNote("categorical_features", "categorical features", "count"),
        ),
    ),
    "follow_up": TableNote(
        "Follow-up in {unit} (Table A5)",
        (
            ColumnNote("follow_up", "follow-up", "text"),
            ColumnNote("all", "entire cohort", "time"),
            ColumnNote("observed", "observed", "time"),
            ColumnNote("censored", "censored", "time"),
        ),
    ),
    "survival": TableNote(
        "Kaplan–Meier estimates of the event and of follow-up",
        (
            ColumnNote("time", "{unit}", "time"),
            ColumnNote("without_event", "without event"),
            ColumnNote("still_followed", "still followed"),
            ColumnNote("at_risk", "at risk", "count"),
        ),
    ),
    "predictors": TableNote(
        "The predictors",
        (
            ColumnNote("predictor", "predictor", "text"),
            ColumnNote("kind", "kind", "text"),
            ColumnNote("share_missing", "share missing", "share"),
            *_interval("median", "median", "scaled", "quartile_low", "quartile_high"),
            ColumnNote("commonest", "commonest", "text"),
            ColumnNote("share_of_commonest", "share of the commonest", "share"),
        ),
    ),
}


def make_table(name: str, frame: pd.DataFrame, unit: str, measures: Iterable[Measure] = ()) -> Table:
    """Make a typed table from a frame: title, headings with the unit, and plain values.

    Parameters
    ----------
    name : str
        Of the table; one of `NOTES`.
    frame : DataFrame
        Its columns are keys.
    unit : str
        The unit of time of the data.
    measures : iterable of Measure
        Those of the run, whose columns some tables have.
    """
    note = NOTES[name]
    notes = {column.key: column for column in _measure_notes(measures, unit)}
    notes |= {column.key: replace(column, heading=column.heading.format(unit=unit)) for column in note.columns}
    columns = tuple(notes.get(str(key), ColumnNote(str(key), str(key))) for key in frame.columns)
    # sizes of folds, of groups and the like are whole, even where pandas made them floats
    rows = zip(*([_plain(v, c) for v in frame[c.key]] for c in columns), strict=True)
    return Table(note.title.format(unit=unit), columns, tuple(rows))


def make_paper_table(name: str, unit: str = "years") -> Table:
    """Make the typed table of the paper's own numbers (UNOS), with the keys of ours."""
    measures = (C_INDEX, Measure(None, "auc"), Measure(None, "auc", time=5.0))
    return make_table(name, load_paper_table(name), unit, (*measures, *_judged(NDCGS, ("EY", "IPCW"))))


def _judged(measures: Iterable[Measure], relevances: Iterable[str]) -> tuple[Measure, ...]:
    return tuple(replace(measure, relevance=key) for key in relevances for measure in measures)


def _measure_notes(measures: Iterable[Measure], unit: str) -> list[ColumnNote]:
    """Columns of measures, with and without their relevance, and what stands beside them."""
    bare = [replace(measure, relevance=None, nuisance=None) for measure in measures]
    notes = []
    for measure in dict.fromkeys([*measures, *bare]):
        key, heading = column_key(measure), column_heading(measure, unit)
        kind: ColumnKind = "time" if measure.metric == "value" else "number"
        notes += [
            ColumnNote(key, heading, kind),
            ColumnNote(f"{key}_sd", f"{heading}, standard deviation", kind, of=key, role="sd"),
            ColumnNote(f"{key}_stars", f"{heading}, stars", "text", of=key, role="stars"),
            ColumnNote(f"{key}_p_wilcoxon", f"{heading}, p (Wilcoxon)", "p", of=key, role="p_wilcoxon"),
            ColumnNote(f"{key}_p_corrected", f"{heading}, p (corrected t)", "p", of=key, role="p_corrected"),
            ColumnNote(f"{key}_mae", f"{heading}, mean absolute error"),
            ColumnNote(f"{key}_rho", f"{heading}, ρ"),
        ]
    for relevance in dict.fromkeys(measure.relevance for measure in measures if measure.relevance is not None):
        notes.append(ColumnNote(f"value_{relevance}", f"{unit} per allocation by {relevance}", "time"))
        notes.append(ColumnNote(f"estimate_{relevance}", f"{relevance} estimate"))
    return notes


def _plain(value: object, column: ColumnNote) -> Value:
    """A value that JSON knows; None for what is missing."""
    plain = value.item() if hasattr(value, "item") else value
    if plain is None or plain != plain or plain in (math.inf, -math.inf):
        return None
    if column.kind == "count" and isinstance(plain, float):
        return int(plain)
    return plain if isinstance(plain, (bool, int, float)) else str(plain)


# for people


def display_columns(table: Table) -> list[TableColumn]:
    """Make the columns that people see: a value with its interval or spread in one cell, an arm by its label.

    Parameters
    ----------
    table : Table

    Returns
    -------
    list of TableColumn
        Their names are the headings; `extras` holds what is told within `texts`.

    Examples
    --------
    >>> import pandas as pd
    >>> row = {"model": "Cox", "method": "stacked", "value": 14.394, "low": 14.1, "high": 14.7}
    >>> frame = pd.DataFrame([row])
    >>> [(column.name, *column.texts) for column in display_columns(make_table("allocation", frame, "years"))]
    [('model', 'Cox + stacked ranker'), ('years per allocation', '14.39 (14.10 to 14.70)')]
    """
    cells = {key: [row[place] for row in table.rows] for place, key in enumerate(table.keys)}
    columns = []
    for column in table.columns:
        if column.of in cells:
            continue
        beside: dict[str, list[Value]] = {p.role: cells[p.key] for p in table.columns if p.of == column.key}
        extras = {p.heading: cells[p.key] for p in table.columns if p.of == column.key and p.kind != "method"}
        values = cells[column.key]
        if column.kind in ("text", "model", "method", "relevance", "nuisance", "metric"):
            texts = [_label(column.kind, value, beside, row) for row, value in enumerate(values)]
            columns.append(TableColumn(column.heading, list(texts), texts, numeric=False))
        else:
            columns.append(TableColumn(column.heading, values, _number_texts(column.kind, values, beside), extras))
    return columns


def _label(kind: ColumnKind, value: Value, beside: Mapping[str, list[Value]], row: int) -> str:
    if value is None:
        return MISSING
    text = str(value)
    if kind == "model":
        method = beside["method"][row] if "method" in beside else NO_METHOD
        return Arm(text, str(method)).label
    if kind == "relevance":
        nuisance = beside["nuisance"][row] if "nuisance" in beside else None
        return Source(text, None if nuisance is None else str(nuisance)).label
    if kind == "metric" and text in catalogue.metrics:
        return catalogue.metrics[text].label
    return text


def _number_texts(kind: ColumnKind, values: list[Value], beside: Mapping[str, list[Value]]) -> list[str]:
    numbers = [value for value in values if isinstance(value, (int, float))]
    show = _choose_format(kind, numbers)
    texts = []
    for row, value in enumerate(values):
        text = show(value) if isinstance(value, (int, float)) else MISSING if value is None else str(value)
        spread, low, high = (beside[role][row] if role in beside else None for role in ("sd", "low", "high"))
        if value is not None and isinstance(spread, (int, float)):
            text += f" ± {show(spread)}"
        if "stars" in beside and beside["stars"][row]:
            text += str(beside["stars"][row])
        if isinstance(low, (int, float)) and isinstance(high, (int, float)):
            text += f" ({show(low)} to {show(high)})"
        texts.append(text)
    return texts


def _choose_format(kind: ColumnKind, numbers: list[int | float]) -> Callable[[float], str]:
    """How the numbers of a column are written: whole, in percent, as p-values, or with digits that fit their size."""
    if kind == "p":
        return lambda value: "<0.001" if value < 0.001 else f"{value:.3f}"
    if kind == "points":
        return lambda value: format_number(100 * value, 1)
    if kind == "share":
        return lambda value: f"{100 * value:.1f}%".replace("-", "−")
    if kind == "count":
        return lambda value: f"{value:,.0f}".replace("-", "−")
    if kind == "scaled":
        return lambda value: format_number(value, max(0, 2 - math.floor(math.log10(abs(value)))) if value else 0)
    largest = max(map(abs, numbers), default=0.0)
    digits = 0 if largest >= 1000 else 1 if largest >= 100 else 2 if largest >= 5 or kind == "time" else 3
    return lambda value: format_number(value, digits)
