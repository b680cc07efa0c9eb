"""`lifeyears fit`: a model with its card, ready to rank with and to serve."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from . import _options as table


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
    base: Annotated[str, typer.Option(help="The survival model: KM, Cox, AFT, DeepSurv or DeepHit.")] = "Cox",
    preset: Annotated[str, typer.Option(help="The ranker over it: default, paper, or none.")] = "default",
    donor: Annotated[str | None, typer.Option(help="Columns of the donor, comma-separated (donor_…).")] = None,
    name: Annotated[str | None, typer.Option(help="What to call the model.")] = None,
    rows: Annotated[int | None, typer.Option(help="Use so many rows, drawn at random.", min=100)] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a model that is there.")] = False,
    jobs: Annotated[int | None, typer.Option(help="Folds at once; one a core unless given.")] = None,
    seed: Annotated[int, typer.Option(help="Random seed.", min=0)] = 0,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be done, and do nothing.")] = False,
) -> None:
    """Fit a model to all rows, judge it on held-out ones, and write it with its card.

    Examples: lifeyears fit my.csv --time years --event died --out model; lifeyears fit registry --rows 5000 --out model
    """
    own = table.of_table(locals())
    import sys

    from ..scoring import fit_model
    from ..scoring._fit import BASES, PRESETS, check_request
    from ._data import named_data, names_in
    from ._runs import all_cores, named
    from .describe import shown

    jobs = all_cores(jobs)
    (base,), (preset,) = named(base, tuple(BASES), "--base"), named(preset, PRESETS, "--preset")
    if out.exists() and not overwrite:
        raise ValueError(f"{out} exists: choose another folder with --out, or give --overwrite")
    found = named_data(data, horizon, rows, seed, **own)
    if found.report is not None:
        print(found.report)
    check_request(found, base, preset)
    if dry_run:
        # measured on one core: seconds for 1,000 rows × 100 columns
        seconds = len(found) / 1000 * {"default": 3.0, "paper": 0.6, "none": 0.3}[preset]
        print(
            f"would fit {base} ({preset} ranker) to {found!r} and write it to {out}; about {seconds / 60:.1f} minutes"
        )
        return
    model = fit_model(
        found,
        base=base,
        preset=preset,
        name=name,
        donor=names_in(donor) if donor is not None else None,
        random_state=seed,
        n_jobs=jobs,
        progress=lambda message: print(message, file=sys.stderr, flush=True),
    )
    model.save(out, overwrite=overwrite)
    print(shown(model.card, brief=True))
    print(f"The model and its card: {out}")
