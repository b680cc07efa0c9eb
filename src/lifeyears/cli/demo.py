"""`lifeyears demo`: the five models on a simulated cohort."""

from __future__ import annotations

from typing import Annotated

import typer


def command(
    rows: Annotated[int, typer.Option(help="Simulated patients, half of them for training.", min=400)] = 8000,
    seed: Annotated[int, typer.Option(help="Seed of the simulation and the models.", min=0)] = 0,
) -> None:
    """Fit five survival models on a simulated registry and see what each would gain.

    Example: lifeyears demo --rows 8000
    """
    from rich.console import Console

    from ..experiments import compare_on_truth
    from ._tables import show

    console = Console(stderr=True)
    with console.status("simulating patients") as status:
        result = compare_on_truth(rows, seed, progress=status.update)
    show(result.table, title=f"{result.n_train:,} patients to learn from, {result.n_test:,} to be ranked")
    print(result.reading)
