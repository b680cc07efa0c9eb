"""`lifeyears fit`: a model with its card, ready to rank with and to serve."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .._files import wrap_file_errors
from ..errors import RequestError
from . import _options as table

# Measured on one core, for 1,000 rows of 100 columns, by ranking method.
SECONDS = {"stacked": 3.0, "bootstrapped": 0.6, "none": 0.3}


def command(
    data: Annotated[str, typer.Argument(help="A file, a STAR folder, the name of a data set, or registry.")],
    out: Annotated[Path, typer.Option(help="The model's folder.")],
    time: table.Time = None,
    event: table.Event = None,
    event_values: table.EventValues = None,
    entry: table.Entry = None,
    exit: table.Exit = None,
    unit: table.Unit = None,
    drop: table.Drop = None,
    keep: table.Keep = None,
    categorical: table.Categorical = None,
    sheet: table.Sheet = None,
    delimiter: table.Delimiter = None,
    encoding: table.Encoding = None,
    decimal: table.Decimal = None,
    date_format: table.DateFormat = None,
    horizon: Annotated[float | None, typer.Option(help="τ, in the unit of the times; suggested from the data.")] = None,
    model: Annotated[
        str, typer.Option(help="Survival model, by its key or as package.module:Class (an unknown name lists all).")
    ] = "Cox",
    method: Annotated[
        str, typer.Option(help="Ranking method over the survival model, or none (an unknown name lists all).")
    ] = "stacked",
    donor: Annotated[str | None, typer.Option(help="Columns of the donor, comma-separated (donor_…).")] = None,
    name: Annotated[str | None, typer.Option(help="What to call the model.")] = None,
    rows: Annotated[int | None, typer.Option(help="Use so many rows, drawn at random.", min=100)] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a model that is there.")] = False,
    jobs: Annotated[int | None, typer.Option(help="Number of parallel jobs (default: one per core).")] = None,
    seed: Annotated[int, typer.Option(help="Random seed.", min=0)] = 0,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be done, and do nothing.")] = False,
) -> None:
    """Fit a model to all rows, judge it on held-out ones, and write it with its card.

    Examples: lifeyears fit my.csv --time years --event died --out model;
    lifeyears fit registry --rows 5000 --model Cox --method bootstrapped --out model
    """
    own = table.select_table_options(locals())
    from ..experiments.types import Arm
    from ..scoring import check_fit_request, fit_model, resolve_method, resolve_model
    from ._data import load_data, split_names
    from ._progress import show_progress
    from ._runs import count_jobs
    from .describe import describe_card

    jobs = count_jobs(jobs)
    model, method = resolve_model(model), resolve_method(method)
    with wrap_file_errors(out):
        exists = out.exists()
    if exists and not overwrite:
        raise RequestError(f"{out} exists: choose another folder with --out, or give --overwrite")
    dataset = load_data(data, horizon, rows, seed, own)
    if dataset.report is not None:
        print(dataset.report)
    check_fit_request(dataset, model, method)
    if dry_run:
        seconds = len(dataset) / 1000 * SECONDS.get(method, max(SECONDS.values()))
        label = Arm(model, method).label
        print(f"would fit {label} to {dataset!r} and write it to {out}; about {seconds / 60:.1f} minutes")
        return
    with show_progress() as progress:
        fitted = fit_model(
            dataset,
            model=model,
            method=method,
            name=name,
            donor=split_names(donor) if donor is not None else None,
            random_state=seed,
            n_jobs=jobs,
            progress=progress,
        )
    fitted.save(out, overwrite=overwrite)
    print(describe_card(fitted.card, brief=True))
    print(f"The model and its card: {out}")
