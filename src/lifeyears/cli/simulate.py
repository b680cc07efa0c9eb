"""`lifeyears simulate`: policies compared on a simulated waiting list."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ..simulation import Config, Simulation

# Measured on one free core, in seconds: a policy-year at US size, a candidate by one model, fitting a model.
POLICY_YEAR, SCORING, FITTING = 0.12, 6e-5, 6.0


def command(
    config: Annotated[
        Path | None, typer.Argument(help="What to simulate: a YAML, JSON or TOML file; without it, the US heart list.")
    ] = None,
    policies: Annotated[
        str | None,
        typer.Option(help="Policies to compare, comma-separated: keys of the catalogue, or ./file.py:Class."),
    ] = None,
    years: Annotated[float | None, typer.Option(help="Years to simulate (10 unless given).")] = None,
    replicates: Annotated[int | None, typer.Option(help="How many times (20 unless given).")] = None,
    jobs: Annotated[int | None, typer.Option(help="Replicates at once (all cores unless given).", min=1)] = None,
    dask: Annotated[str | None, typer.Option(help="A Dask scheduler (tcp://…), or local:2.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed; it decides everything (0 unless given).", min=0)] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for report.html, summary.json and the tables as CSV.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be done, and for how long.")] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Only the US policy, beside the published figures of 2022.")
    ] = False,
) -> int:
    """Simulate a heart waiting list under several policies and compare them.

    Examples: lifeyears simulate --years 2 --replicates 4; lifeyears simulate my.yaml --out run;
    lifeyears simulate --check
    """
    from .._files import check_out_folder
    from ..simulation import as_config
    from ._data import split_names

    chosen = as_config(config)
    if check and config is None and replicates is None:
        replicates = 8
    named = None if policies is None else split_names(policies)
    chosen = chosen.changed(
        policies=["us_status"] if check else named, years=years, replicates=replicates, random_state=seed
    )
    if out is not None:
        check_out_folder(out)
    if dry_run:
        print(_plan(chosen, jobs, out))
        return 0
    return _check(chosen, jobs, dask, out) if check else _compare(chosen, jobs, dask, out)


def _compare(config: Config, jobs: int | None, dask: str | None, out: Path | None) -> int:
    from ..simulation import simulate
    from ..text import count_noun
    from ._progress import show_progress
    from ._tables import show

    with show_progress() as progress:
        result = simulate(config=config, n_jobs=jobs, dask=dask, progress=progress)
    title = f"{count_noun(config.years, 'year')}, {count_noun(config.replicates, 'replicate')}"
    title += " (low and high: all tables, with --out)" if config.replicates > 1 else ""
    show(result.wide().reset_index(), title=title, digits=2)
    differences = result.differences.reset_index()
    main = differences[differences["measure"].isin(result.wide().columns)]
    if config.replicates == 1:
        main = main.drop(columns=["low", "high"])
    if len(main):
        show(main, title=f"Paired differences against {config.reference}, {result.intervals}", digits=2)
    print(result.reading())
    _write(result, out)
    return 0


def _check(config: Config, jobs: int | None, dask: str | None, out: Path | None) -> int:
    from ..simulation import steady_state
    from ._progress import show_progress
    from ._tables import show

    with show_progress() as progress:
        steady = steady_state(config, n_jobs=jobs, dask=dask, progress=progress)
    table = steady.table.assign(
        within=steady.table["within"].map({True: "yes", False: "no"}),
        promised=steady.table["promised"].map({True: "yes", False: "no"}),
    )
    show(table, title="The US policy in the simulated world beside published figures (difference in %)", digits=1)
    print(steady.verdict)
    _write(steady.simulation, out)
    return 0 if steady.holds else 1


def _write(result: Simulation, out: Path | None) -> None:
    from ..report import write_simulation_report
    from ..simulation import write_run

    if out is not None:
        files = [*write_run(result, out), write_simulation_report(result, out)]
        print(f"written: {', '.join(str(file) for file in files)}")


def _plan(config: Config, jobs: int | None, out: Path | None) -> str:
    """What would be done, in words."""
    from joblib import cpu_count

    from ..text import count_noun

    world, workers = config.world, jobs or cpu_count()
    names = [policy.name for policy in config.policies]
    models = {str(policy.model) for policy in config.policies if policy.model and not policy.is_oracle}
    size = max(world.donors_per_year / 4300, 0.02)
    span = config.years + world.burn_in_years
    one = size * POLICY_YEAR * (len(names) * config.years + world.burn_in_years) + 2
    one += len(models) * world.listed_per_year * span * SCORING
    seconds = FITTING * len(models) + one * config.replicates / min(workers, config.replicates)
    return (
        f"would simulate {count_noun(len(names), 'policy', 'policies')} ({', '.join(names)}) for "
        f"{count_noun(config.years, 'year')} after a burn-in of {world.burn_in_years:g}, "
        f"{count_noun(config.replicates, 'time')}, {world.listed_per_year:,.0f} candidates and "
        f"{world.donors_per_year:,.0f} hearts a year, seed {config.random_state}, {workers} at once\n"
        f"models fitted at the start: {', '.join(sorted(models)) or 'none'}\n"
        f"about {max(seconds / 60, 0.1):.1f} minutes; "
        + (f"report.html, summary.json and tables to {out}" if out else "nothing is written without --out")
    )
