"""`lifeyears datasets`: what data there is."""

from __future__ import annotations

from typing import Annotated

import typer


def command(
    name: Annotated[str | None, typer.Argument(help="A data set to describe; without it, the list.")] = None,
    against_paper: Annotated[
        bool, typer.Option("--against-paper", help="With `registry`: put the simulated cohort beside the paper's.")
    ] = False,
    models: Annotated[
        str, typer.Option(help="With --against-paper: which models' rows to compute, by commas.")
    ] = "KM,Cox,AFT,DeepSurv,DeepHit",
    rows: Annotated[int, typer.Option(help="With `registry`: simulated patients.", min=100)] = 60_055,
    seed: Annotated[int, typer.Option(help="With `registry`: seed of the simulation.")] = 0,
) -> None:
    """List the data sets, or describe one.

    Examples: lifeyears datasets; lifeyears datasets support2; lifeyears datasets registry --against-paper
    """
    from ..data import catalogue, cohort_summary, load, simulate_registry
    from ._tables import show

    if against_paper:
        _against_paper(name, [part.strip() for part in models.split(",") if part.strip()], rows, seed)
        return
    if name is None:
        show(catalogue())
        print('registry: simulated, any size, with known truth: "lifeyears datasets registry"')
        return
    data = simulate_registry(rows, random_state=seed) if name == "registry" else load(name)
    print(data)
    if data.source:
        print(f"source: {data.source}")
    print(cohort_summary(data.y, data.X))
    if data.report is not None:
        print(data.report)


def _against_paper(name: str | None, models: list[str], rows: int, seed: int) -> None:
    from rich.console import Console

    from ..experiments import registry_check
    from ..experiments._registry_check import PAPER_EVENTS
    from ._tables import show

    if name != "registry":
        raise ValueError("--against-paper goes with the simulated cohort: lifeyears datasets registry --against-paper")
    unknown = [model for model in models if model not in PAPER_EVENTS]
    if unknown:
        raise ValueError(f"there is no model {', '.join(unknown)}; there are {', '.join(PAPER_EVENTS)}")
    with Console(stderr=True).status("simulating") as status:
        check = registry_check(models, rows, seed, progress=status.update)
    show(check.follow_up, title="Follow-up (calibrated)", digits=2)
    show(check.events_only, title="Events only, five folds, unrestricted times (calibrated: KM row and Cox's C-index)")
    show(check.full, title="Full cohort, five folds (calibrated: Cox's C-index)")
