"""What `demo`, `reproduce` and `compare` share: run, show, say where it is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..data import Dataset
    from ..experiments import Run


def run_and_show(protocol: str, data: Dataset, out: Path, jobs: int | None, dask: str | None, **options: Any) -> Run:
    """Run a protocol with progress, write its report, print the table of years and the reading."""
    from ..experiments import run
    from ..report import write_report
    from ._progress import unit_progress
    from ._tables import show

    with unit_progress(f"{data.name}, {protocol}") as progress:
        made = run(protocol, data, out, n_jobs=jobs, dask=dask, progress=progress, **options)
    table = made.tables["years"]
    wanted = ["model", "framework", "C-index", "years", "low", "high", "gain", "gain low", "gain high"]
    shown = table[[name for name in wanted if name in table]].rename(columns={"years": data.unit})
    show(shown, title=f"{data.name}, {protocol}: {data.unit} per allocation")
    print(made.reading())
    for warning in made.summary["warnings"]:
        print(f"{'Warning' if warning['serious'] else 'Note'}: {warning['title']}. {warning['text']}")
    print(f"All tables and figures: {out}")
    print(f"Report: {write_report(out)}")
    return made


def command_line(name: str, *arguments: str, **options: Any) -> str:
    """The command that makes a run again, for its report: files by their names, no folders; None is left out."""
    import shlex

    words = ["lifeyears", name, *(Path(word).name for word in arguments)]
    for option, value in options.items():
        if value is None:
            continue
        text = ",".join(map(str, value)) if isinstance(value, (tuple, list)) else str(value)
        words += [f"--{option.replace('_', '-')}", text]
    return shlex.join(words)


def all_cores(jobs: int | None) -> int:
    """As many jobs as asked for, or one a core."""
    import os

    if jobs is not None and jobs < 1:
        raise ValueError(f"--jobs must be at least 1; got {jobs}")
    return jobs or len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else jobs or os.cpu_count() or 1


def named(text: str, allowed: tuple[str, ...], option: str) -> tuple[str, ...]:
    """Names between commas, in any case, checked, each once."""
    known = {name.lower(): name for name in allowed}
    chosen = [part.strip() for part in text.split(",") if part.strip()]
    wrong = [part for part in chosen if part.lower() not in known]
    if wrong or not chosen:
        raise ValueError(f"{option} knows {', '.join(allowed)}; got {', '.join(wrong) or 'nothing'}")
    return tuple(dict.fromkeys(known[part.lower()] for part in chosen))


def plan_only(protocol: str, data: Dataset, jobs: int, **options: Any) -> None:
    """For --dry-run: what would be done, and roughly for how long."""
    from ..experiments import Plan
    from ..experiments._job import check_feasible
    from ..experiments._plan import START
    from ..text import count_noun

    plan = Plan(protocol=protocol, **options)  # type: ignore[arg-type]
    check_feasible(data, plan)
    rows = len(data) if protocol == "full" else data.y.n_events
    seconds = START + plan.seconds(rows, data.X.shape[1]) / min(jobs, len(plan.units))
    print(f"{protocol}: {data!r}")
    folds = f"{count_noun(plan.iterations, 'iteration')} of {plan.folds} folds"
    print(f"{len(plan.units)} units ({folds}), {count_noun(len(plan.arms), 'arm')}, {count_noun(jobs, 'job')}")
    print(f"about {max(seconds / 60, 0.1):.1f} minutes; nothing was run")
