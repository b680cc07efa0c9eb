"""What `demo`, `reproduce` and `compare` share: run a protocol, show its tables, write its report."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from ..checks import check_whole
from ..errors import RequestError

if TYPE_CHECKING:
    from .._typing import Json
    from ..data import Dataset
    from ..experiments import Run

# Columns of the table on the terminal; the others are in the files.
SHOWN = ("model", "method", "c_index", "value", "low", "high", "gain", "gain_low", "gain_high")
SHOWN_OF_METRICS = ("model", "method", "metric", "relevance", "value", "low", "high", "gain", "gain_low", "gain_high")
HEADINGS = {"serious": "Warning: ", "warning": "Warning: ", "note": "Note: "}


def run_and_show(
    protocol: str, data: Dataset, out: Path, jobs: int | None, dask: str | None, command: str, options: Json
) -> Run:
    """Run a protocol with progress, write its report, print the table of values and the findings."""
    from ..experiments import run
    from ..report import write_report
    from ._progress import show_progress

    with show_progress(f"{data.name}, {protocol}") as progress:
        finished = run(protocol, data, out, n_jobs=jobs, dask=dask, progress=progress, command=command, **options)
    _show_columns(
        finished,
        "allocation",
        (*SHOWN, *(f"value_{key}" for key in finished.plan.estimators)),  # those of other packages
        title=f"{data.name}, {protocol}: {data.unit} per allocation",
    )
    if "metrics" in finished.tables:
        _show_columns(finished, "metrics", SHOWN_OF_METRICS, title=finished.typed_table("metrics").title)
    for finding in finished.findings:
        heading = "" if finding.severity == "answer" else f"{HEADINGS[finding.severity]}{finding.title}. "
        print(f"{heading}{finding.text}")
    print(f"All tables and figures: {out}")
    print(f"Report: {write_report(out)}")
    return finished


def _show_columns(finished: Run, name: str, keys: Iterable[str], title: str) -> None:
    """Print those columns of a table of a run."""
    import pandas as pd

    from ..experiments.results import display_columns
    from ._tables import show

    table = finished.typed_table(name)
    columns = display_columns(table.drop(*set(table.keys).difference(keys)))
    show(pd.DataFrame({column.name: column.texts for column in columns}), title=title)


def write_command(name: str, *arguments: str, **options: object) -> str:
    """Write the command that makes a run again, for its report: files by their names, no folders; None is left out."""
    import shlex

    words = ["lifeyears", name, *(Path(word).name for word in arguments)]
    for option, value in options.items():
        if value is None:
            continue
        text = ",".join(map(str, value)) if isinstance(value, (tuple, list)) else str(value)
        words += [f"--{option.replace('_', '-')}", text]
    return shlex.join(words)


def count_jobs(jobs: int | None) -> int:
    """Return as many jobs as the user wants, or one for each core."""
    import os

    if jobs is not None:
        return check_whole("--jobs", jobs, low=1)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def resolve_models(text: str, option: str) -> tuple[str, ...]:
    """Return the keys of the survival models between commas, each once; a class by its path is added to the catalogue.

    Examples
    --------
    >>> resolve_models("km, Cox,cox", "--models")
    ('KM', 'Cox')
    """
    from .. import catalogue
    from ..scoring import resolve_model

    return _resolve_names(text, option, resolve_model, catalogue.models)


def resolve_methods(text: str, option: str) -> tuple[str, ...]:
    """Return the keys of the ranking methods between commas, each once.

    Examples
    --------
    >>> resolve_methods("Stacked", "--methods")
    ('stacked',)
    """
    from .. import catalogue
    from ..scoring import resolve_method

    return _resolve_names(text, option, resolve_method, [*catalogue.rankers, "none"])


def _resolve_names(text: str, option: str, resolve: Callable[[str], str], known: Iterable[str]) -> tuple[str, ...]:
    from ._data import split_names

    names = split_names(text)
    if not names:
        raise RequestError(f"{option} names nothing. Known are {', '.join(known)}")
    return tuple(dict.fromkeys(resolve(name) for name in names))


def choose_arms(models: tuple[str, ...], methods: tuple[str, ...] | None) -> Json:
    """Return the options of a plan for models, each as it is and as the base of ranking methods.

    Without `methods`, the paper's ranker is fitted over every model, and the stacked ranker, which takes longer, over
    Cox, or over the first model if Cox is not among them.
    """
    if methods is None:
        return {"models": models, "stacked_over": tuple(model for model in models if model == "Cox") or models[:1]}
    methods = tuple(method for method in methods if method != "none")
    return {"models": models, "methods": methods, "stacked_over": ()}


def print_plan(protocol: str, data: Dataset, jobs: int, options: Json) -> None:
    """For --dry-run: print what would be done, and roughly for how long."""
    from ..experiments import STARTUP_SECONDS, Plan
    from ..experiments.jobs import check_feasible
    from ..text import count_noun

    plan = Plan(protocol=protocol, **options)  # type: ignore[arg-type]
    check_feasible(data, plan)
    rows = len(data) if protocol == "full" else data.y.n_events
    seconds = STARTUP_SECONDS + plan.seconds(rows, data.X.shape[1]) / min(jobs, len(plan.jobs))
    print(f"{protocol}: {data!r}")
    folds = f"{count_noun(plan.iterations, 'iteration')} of {plan.folds} folds"
    arms, at_once = count_noun(len(plan.arms), "arm"), count_noun(jobs, "job")
    print(f"{len(plan.jobs)} jobs ({folds}), {arms}, {at_once} at once")
    print(f"about {max(seconds / 60, 0.1):.1f} minutes; nothing was run")
