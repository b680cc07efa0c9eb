"""`lifeyears datasets`: what data there is."""

from __future__ import annotations

from typing import Annotated

import typer

from ..errors import RequestError

ROWS, SEED = 60_055, 0


def command(
    name: Annotated[str | None, typer.Argument(help="A data set to describe; without it, the list.")] = None,
    against_paper: Annotated[
        bool, typer.Option("--against-paper", help="With `registry`: put the simulated cohort beside the paper's.")
    ] = False,
    models: Annotated[
        str | None,
        typer.Option(help="With --against-paper: models whose rows to compute, comma-separated (all five)."),
    ] = None,
    rows: Annotated[
        int | None, typer.Option(help=f"With `registry`: simulated patients ({ROWS} unless given).", min=100)
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help=f"With `registry`: seed of the simulation ({SEED} unless given).", min=0)
    ] = None,
) -> None:
    """List the data sets, or describe one.

    Examples: lifeyears datasets; lifeyears datasets support2; lifeyears datasets registry --against-paper
    """
    from ..data import cohort_summary, datasets, load, simulate_registry
    from ._dialect import render_report
    from ._tables import show

    _refuse_stray_options(name, against_paper, {"--models": models, "--rows": rows, "--seed": seed})
    rows, seed = ROWS if rows is None else rows, SEED if seed is None else seed
    if against_paper:
        _against_paper(models, rows, seed)
        return
    if name is None:
        show(datasets())
        print('registry: simulated, any size, with known truth: "lifeyears datasets registry"')
        return
    data = simulate_registry(rows, random_state=seed) if name == "registry" else load(name)
    print(data)
    if data.source:
        print(f"source: {data.source}")
    print(cohort_summary(data.y, data.X))
    if data.report is not None:
        print(render_report(data.report))


def _refuse_stray_options(name: str | None, against_paper: bool, options: dict[str, object]) -> None:
    """An option that would change nothing is a misunderstanding: say so instead of passing over it."""
    if against_paper and name != "registry":
        raise RequestError(
            "--against-paper goes with the simulated cohort: lifeyears datasets registry --against-paper"
        )
    stray = [option for option, value in options.items() if value is not None]
    if name != "registry" and stray:
        raise RequestError(
            f"{' and '.join(stray)} would change nothing here: the simulated cohort alone takes it, as in "
            f"lifeyears datasets registry {stray[0]} …"
        )
    if options["--models"] is not None and not against_paper:
        raise RequestError("--models goes with --against-paper: lifeyears datasets registry --against-paper --models …")


def _against_paper(models: str | None, rows: int, seed: int) -> None:
    from ..experiments import MODELS, registry_check
    from ._progress import show_progress
    from ._runs import resolve_models
    from ._tables import show

    chosen = MODELS if models is None else resolve_models(models, "--models")
    with show_progress() as progress:
        check = registry_check(chosen, rows, seed, progress=progress)
    show(check.follow_up, title="Follow-up (calibrated; difference in %, of the share in points)", digits=2)
    show(check.survival, title="Survival by years of transplant (calibrated; difference in points)", digits=1)
    show(check.events_only, title="Events only, five folds, unrestricted times (calibrated: KM row and Cox's C-index)")
    show(check.full, title="Full cohort, five folds (calibrated: Cox's C-index)")
