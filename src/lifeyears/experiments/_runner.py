"""The runner: jobs in parallel, each finished one a file, so that a run can be stopped and continued at any moment."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._cluster import workers
from ..data import Dataset
from ..errors import MissingFileError
from ..progress import Progress, no_progress
from ._plan import Plan
from ._store import JOBS, MANIFEST, SUMMARY, load_job, open_run, save_job
from .jobs import JobResult, check_feasible, run_job
from .results import Run

if TYPE_CHECKING:
    from .._typing import FloatArray, PathLike

ATTEMPTS = 3  # on Dask, where workers come and go
PATIENCE = 120.0  # seconds without a job before a run may be taken for interrupted


def run(
    protocol: str,
    dataset: Dataset,
    out: PathLike,
    n_jobs: int | None = None,
    dask: str | None = None,
    progress: Progress = no_progress,
    command: str = "",
    **options: Any,
) -> Run:
    """Run a protocol of the paper on a data set, or continue a run that was stopped.

    Parameters
    ----------
    protocol : {"artificial", "full"}
    dataset : Dataset
    out : path
        The folder of the run: ``jobs/``, ``manifest.json``, ``summary.json`` and tables. A run that was begun there
        with the same options and data is continued; with others it is refused.
    n_jobs : int, optional
        Number of parallel jobs, each on one thread.
    dask : str, optional
        The address of a Dask scheduler, or "local:2" for two workers on this machine.
    progress : Progress
        Called with the number of finished jobs and of all jobs, at the start and after each.
    command : str
        The command that would run it again, for the report.
    **options
        Those of `Plan`: iterations, folds, tau, models, methods, seed, ….

    Returns
    -------
    Run
        With `.summary`, `.tables[name]`, and what was written.

    Raises
    ------
    RequestError
        If the options or the data do not allow the run, or if the folder holds something else.

    Examples
    --------
    >>> import tempfile, lifeyears as ly
    >>> d = ly.data.simulate_registry(n=300)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     options = dict(iterations=1, folds=2, models=("KM",), stacked_over=(), waitlist=50)
    ...     result = ly.experiments.run("full", d, out=folder, **options)
    >>> result.plan.folds, len(result.jobs)
    (2, 2)
    """
    plan = Plan(protocol=protocol, **options)  # type: ignore[arg-type]
    folder = Path(out)
    check_feasible(dataset, plan)
    open_run(folder, plan, dataset)
    jobs = plan.jobs
    # an events-only cohort is right-truncated: the expectation of the whole population is no ceiling for it
    expected = None if dataset.truth is None or plan.protocol != "full" else dataset.truth.expected(plan.tau)
    without_truth = replace(dataset, truth=None)
    for attempt in range(ATTEMPTS):
        missing = [job for job in jobs if load_job(folder, *job) is None]
        done = len(jobs) - len(missing)
        progress("running jobs", done, len(jobs))
        try:
            for job, result in run_jobs(without_truth, plan, missing, n_jobs, dask, expected):
                save_job(folder, *job, result)
                done += 1
                progress("running jobs", done, len(jobs))
            break
        except Exception as error:  # a Dask worker died, and what it alone held with it: the jobs that are left
            lost = dask is not None and type(error).__module__.partition(".")[0] == "distributed"
            if not lost or attempt == ATTEMPTS - 1:
                raise
    return finish_run(folder, plan, dataset, command)


def finish_run(out: Path, plan: Plan, dataset: Dataset, command: str = "") -> Run:
    """Make the summary and the tables from the finished jobs, and write them."""
    from threadpoolctl import threadpool_limits

    results = [load_job(out, *job) for job in plan.jobs]
    finished = Run(plan, [result for result in results if result is not None], dataset, command)
    with threadpool_limits(1):  # sums in one order: the same bytes on any number of threads
        finished.write(out)
    return finished


def run_jobs(
    data: Dataset,
    plan: Plan,
    jobs: list[tuple[int, int]],
    n_jobs: int | None,
    dask: str | None,
    expected: FloatArray | None,
) -> Iterator[tuple[tuple[int, int], JobResult]]:
    """Run jobs in parallel and yield their results as they come; workers need not see the folder of the run."""
    from joblib import Parallel, delayed

    work = (delayed(run_on_one_thread)(data, plan, job, expected) for job in jobs)
    with workers(dask) as extra:
        options = {"n_jobs": n_jobs, "batch_size": 1, "return_as": "generator_unordered"} | extra
        yield from Parallel(**options)(work)


def run_on_one_thread(
    data: Dataset, plan: Plan, job: tuple[int, int], expected: FloatArray | None
) -> tuple[tuple[int, int], JobResult]:
    """Run one job on one thread; return it with its place."""
    from threadpoolctl import threadpool_limits

    plan.adopt_methods()
    with threadpool_limits(1):
        return job, run_job(data, plan, *job, expected)


def status(out: PathLike) -> str:
    """Describe how far the run in a folder is.

    Parameters
    ----------
    out : path
        The folder of the run.

    Returns
    -------
    str
        Such as "3 of 25 jobs done, about 4 min left if it is running"; the time left is estimated from when jobs were
        finished.

    Raises
    ------
    MissingFileError
        If the folder holds no run.
    """
    folder = Path(out)
    try:
        plan = json.loads((folder / MANIFEST).read_text())["plan"]
        total = int(plan["iterations"]) * int(plan["folds"])
    except (OSError, ValueError, KeyError, TypeError, OverflowError):
        raise MissingFileError(f"{folder} holds no run that can be read") from None
    finished = sorted(path.stat().st_mtime for path in (folder / JOBS).glob("iteration-*.npz"))
    words = f"{len(finished)} of {total} jobs done"
    if len(finished) == total:
        return words + (", tables written" if (folder / SUMMARY).exists() else ", tables not yet written")
    if len(finished) > 1:
        each, idle = (finished[-1] - finished[0]) / (len(finished) - 1), time.time() - finished[-1]
        if idle > max(PATIENCE, 3 * each):
            return f"{words}, none for {idle / 60:,.0f} min: if it was interrupted, the same command continues it"
        words += f", about {max(each * (total - len(finished)) / 60, 1):.0f} min left if it is running"
    return words
