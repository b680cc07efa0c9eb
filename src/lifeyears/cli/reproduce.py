"""`lifeyears reproduce`: the paper's experiments."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import RequestError
from . import _options as table

if TYPE_CHECKING:
    from .._typing import Json


def command(
    protocol: Annotated[str, typer.Argument(help="artificial (section 6.1), full (section 6.2) or all.")] = "all",
    data: Annotated[
        str, typer.Option(help="registry (simulated), a data set's name, or a file or STAR folder.")
    ] = "registry",
    time: table.Time = None,
    event: table.Event = None,
    event_values: table.EventValues = None,
    entry: table.Entry = None,
    exit: table.Exit = None,
    unit: table.Unit = None,
    centre: table.Centre = None,
    drop: table.Drop = None,
    keep: table.Keep = None,
    categorical: table.Categorical = None,
    sheet: table.Sheet = None,
    delimiter: table.Delimiter = None,
    encoding: table.Encoding = None,
    decimal: table.Decimal = None,
    date_format: table.DateFormat = None,
    rows: Annotated[int | None, typer.Option(help="Rows to use (registry: 60,055 unless given).", min=200)] = None,
    iterations: Annotated[
        int | None, typer.Option(help="Of the cross-validation (5; a temporal split has one).", min=1)
    ] = None,
    folds: Annotated[int, typer.Option(help="Of each iteration.", min=2)] = 5,
    models: Annotated[
        str | None, typer.Option(help="Survival models, comma-separated (default: the paper's five).")
    ] = None,
    stacked_over: Annotated[
        str, typer.Option(help="Survival models over which the stacked ranker is fitted too, or none.")
    ] = "Cox",
    horizon: Annotated[float | None, typer.Option(help="τ (20 for the registry, else the data's).")] = None,
    epochs: Annotated[int, typer.Option(help="Of the deep models, at most.", min=1)] = 75,
    censoring: Annotated[str, typer.Option(help="Artificial: paper (C ~ U[0, T*]) or independent.")] = "paper",
    censored_share: Annotated[
        float, typer.Option(help="Artificial: the share of patients to censor.", min=0.01, max=0.99)
    ] = 0.5,
    era: Annotated[
        str, typer.Option(help="keep, drop (no era columns) or within (waitlists within a decade).")
    ] = "keep",
    split: Annotated[str, typer.Option(help="random, temporal or centre.")] = "random",
    waitlist: Annotated[int, typer.Option(help="Candidates on a list.", min=1)] = 256,
    out: Annotated[Path, typer.Option(help="The run's folder; a run begun there goes on.")] = Path("reproduction"),
    jobs: Annotated[int | None, typer.Option(help="Number of parallel jobs (default: one per core).")] = None,
    dask: Annotated[str | None, typer.Option(help="A Dask scheduler (tcp://…), or local:2.")] = None,
    seed: Annotated[int, typer.Option(help="Random seed.", min=0)] = 0,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be done, and do nothing.")] = False,
) -> None:
    """Rerun the paper's experiments: every table, every figure.

    Example: lifeyears reproduce all --rows 6000 --iterations 1 --out reproduction
    """
    own = table.select_table_options(locals())
    from ..experiments import MODELS
    from ._data import load_data_to_split
    from ._runs import count_jobs, print_plan, resolve_models, run_and_show, write_command

    protocols = ("artificial", "full") if protocol == "all" else (protocol,)
    if protocol not in ("artificial", "full", "all"):
        raise RequestError(f"the protocol is artificial, full or all; got {protocol!r}")
    jobs = count_jobs(jobs)
    dataset, own = load_data_to_split(split, data, horizon, rows, seed, own)
    if dataset.report is not None:
        print(dataset.report)
    tau = horizon if horizon is not None else 20.0 if data == "registry" else dataset.horizon
    bases = MODELS if models is None else resolve_models(models, "--models")
    options: Json = {
        "iterations": iterations if iterations is not None else 1 if split == "temporal" else 5,  # time has one order
        "folds": folds,
        "tau": tau,
        "models": bases,
        "stacked_over": ()
        if stacked_over == "none"
        else tuple(m for m in resolve_models(stacked_over, "--stacked-over") if m in bases),
        "epochs": epochs,
        "censoring": censoring,
        "censored_share": censored_share,
        "era": era,
        "split": split,
        "waitlist": waitlist,
        "seed": seed,
    }
    for each in protocols:
        if dry_run:
            print_plan(each, dataset, jobs, options)
            continue
        again = write_command(
            "reproduce",
            each,
            data=Path(data).name,
            **own,
            rows=len(dataset) if data == "registry" else rows,
            horizon=tau,
            stacked_over=options["stacked_over"] or "none",
            **{name: value for name, value in options.items() if name not in ("tau", "stacked_over")},
        )
        run_and_show(each, dataset, out / each, jobs, dask, again, options)
