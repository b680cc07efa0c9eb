"""Default values: numbers that no run shows where the run names its own."""

from __future__ import annotations

import contextlib
import inspect
from pathlib import Path
from typing import Any

import typer

from ..names import KEYWORDS, ly, resolve
from ..record import Record
from . import case

# What is public in the base.
PUBLIC = {
    "allocation": (
        "Case DonorTypeRanker Figure1 Greedy LifeYearsGained PlugInBound Policy PositionWeighted Tiers Tradeoff "
        "UniformRandom adversary figure_1 guarantee motivating_example plot_tradeoff tradeoff"
    ),
    "app": "create_app serve",
    "data": (
        "CohortSummary DataReport Dataset Population TablePreprocessor Truth catalogue cohort_summary load "
        "read_star read_table simulate_registry"
    ),
    "experiments": "EstimatorBench Plan RegistryCheck Run estimator_bench registry_check run status",
    "matching": "CheckedRows Column MatchModel Ranking RowError Schema fit_model make_card",
    "metrics": (
        "Calibration Comparison Scorer Selection auc_at brier_score calibration compare concordance_index "
        "dcg_score integrated_brier_score make_scorer ndcg_score pairwise_accuracy policy_value selection_measures"
    ),
    "models": ("AdministrativeCensoring Cox DeepHit DeepSurv KaplanMeier SurvivalModel WeibullAFT WrappedModel wrap"),
    "ranking": (
        "BootstrappedRanker Explanation HybridLoss HybridObjective PseudoLabels RankerReport Settings fit_on_dask "
        "fit_together settings_of"
    ),
    "relevance": (
        "IPCW Diagnostics DoublyRobust Ensemble ExpectedYears PositivityError PositivityReport Relevance "
        "Sensitivity averaged check_positivity cross_fit sensitivity temporal_folds"
    ),
    "report": "Summary as_html as_html_beside checked read_summary static_text write_report",
    "simulation": "Config Policy Simulation SteadyState World read_config simulate steady_state write_run",
}
TOP = "BootstrappedRanker Outcome SurvivalCurves as_outcome load save suggest_horizon"


@case
def defaults(record: Record, folder: Path) -> None:
    """Default values of all public functions and classes, and of the options of every command."""
    for package, names in {**PUBLIC, "": TOP}.items():
        for name in names.split():
            key = f"{package}.{name}".lstrip(".")
            with contextlib.suppress(NameError):  # what is gone leaves its keys missing
                add_defaults(record, key, resolve(f"lifeyears.{key}"))
    for command, known in typer.main.get_command(ly.cli.app).commands.items():  # type: ignore[attr-defined]
        for parameter in known.params:
            key = parameter.opts[0] if parameter.opts[0].startswith("-") else "argument"
            if not (key == "argument" and parameter.default is None):
                record.add(f"lifeyears {command}/{key}", plain_value(parameter.default))


def add_defaults(record: Record, key: str, thing: Any) -> None:
    """Record the default values of a callable, under the names that its parameters had in the base."""
    before = {new: old for old, renamed in KEYWORDS.items() for new in renamed}
    try:
        parameters = inspect.signature(thing).parameters.values()
    except (TypeError, ValueError):  # a protocol, an exception
        return
    for parameter in parameters:
        if parameter.default is not inspect.Parameter.empty:
            record.add(f"{key}/{before.get(parameter.name, parameter.name)}", plain_value(parameter.default))


def plain_value(value: Any) -> Any:
    """A default that can be compared: plain values as they are, others by their type."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)) and all(isinstance(one, (bool, int, float, str)) for one in value):
        return list(value)
    return type(value).__name__
