"""Results of a run: intervals, the decision, calibration, support, subgroups, charts, tables and the summary."""

from ._audit import bound_utility, choose_best, tabulate_headroom
from ._charts import MOST_GAIN, make_charts
from ._run import Run
from ._statistics import clip_interval, compare_folds, correct_p_values, corrected_half_width
from ._subgroups import (
    FEWEST_IN_SUBGROUP,
    chance_of_allocation,
    chance_within_strata,
    label_subgroups,
    tabulate_subgroups,
)
from ._summary import SCHEMA, describe_pick
from ._writing import TITLES, render_latex, to_markdown

__all__ = [
    "FEWEST_IN_SUBGROUP",
    "MOST_GAIN",
    "SCHEMA",
    "TITLES",
    "Run",
    "bound_utility",
    "chance_of_allocation",
    "chance_within_strata",
    "choose_best",
    "clip_interval",
    "compare_folds",
    "correct_p_values",
    "corrected_half_width",
    "describe_pick",
    "label_subgroups",
    "make_charts",
    "render_latex",
    "tabulate_headroom",
    "tabulate_subgroups",
    "to_markdown",
]
