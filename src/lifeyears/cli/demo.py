"""`lifeyears demo`: five models and their rankers on a simulated cohort."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def command(
    rows: Annotated[int, typer.Option(help="Simulated patients.", min=400)] = 3000,
    seed: Annotated[int, typer.Option(help="Seed of the simulation and the models.", min=0)] = 0,
    out: Annotated[Path, typer.Option(help="Where the run is kept.")] = Path("lifeyears-demo"),
    jobs: Annotated[int | None, typer.Option(help="Number of parallel jobs (default: one per core).")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be done, and do nothing.")] = False,
) -> None:
    """Fit five survival models and their rankers on a simulated registry, and see what each gains.

    Example: lifeyears demo --rows 3000
    """
    from ..data import simulate_registry
    from ..experiments.types import ORACLE, Arm
    from ._runs import count_jobs, print_plan, run_and_show, write_command

    data = simulate_registry(rows, random_state=seed)
    options = {"iterations": 1, "folds": 2, "epochs": 20, "seed": seed, "waitlist": min(256, rows // 40)}
    jobs = count_jobs(jobs)
    if dry_run:
        print_plan("full", data, jobs, options)
        return
    again = write_command("demo", rows=rows, seed=seed)
    finished = run_and_show("full", data, out, jobs, None, again, options)
    ceiling, _, _ = finished.value_of(Arm(ORACLE))
    print(f"With the true expectations known, {ceiling:.2f} could be reached.")
    print("Simulated patients: a first look, not evidence.")
