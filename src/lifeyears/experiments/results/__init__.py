"""Results of a run: intervals, the decision, findings, calibration, support, subgroups, charts, tables, the summary."""

from ._audit import bound_utility, choose_best, tabulate_headroom
from ._charts import MOST_GAIN, ChartKey, make_charts
from ._findings import choose_digits, describe_pick, draw_findings, format_estimate, list_names, render_reading
from ._run import Run
from ._statistics import clip_interval, compare_folds, correct_p_values, corrected_half_width
from ._subgroups import (
    FEWEST_IN_SUBGROUP,
    chance_of_allocation,
    chance_within_strata,
    label_subgroups,
    tabulate_subgroups,
)
from ._summary import SCHEMA, note_methods, parse_summary, read_summary, summarise_run, summary_schema, write_summary
from ._tables import display_columns, make_paper_table, make_table
from ._writing import columns_to_markdown, render_latex, to_markdown

__all__ = [
    "FEWEST_IN_SUBGROUP",
    "MOST_GAIN",
    "SCHEMA",
    "ChartKey",
    "Run",
    "bound_utility",
    "chance_of_allocation",
    "chance_within_strata",
    "choose_best",
    "choose_digits",
    "clip_interval",
    "columns_to_markdown",
    "compare_folds",
    "correct_p_values",
    "corrected_half_width",
    "describe_pick",
    "display_columns",
    "draw_findings",
    "format_estimate",
    "label_subgroups",
    "list_names",
    "make_charts",
    "make_paper_table",
    "make_table",
    "note_methods",
    "parse_summary",
    "read_summary",
    "render_latex",
    "render_reading",
    "summarise_run",
    "summary_schema",
    "tabulate_headroom",
    "tabulate_subgroups",
    "to_markdown",
    "write_summary",
]
