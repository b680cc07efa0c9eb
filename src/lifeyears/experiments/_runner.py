"""The runner: units in parallel, each finished one a file, so that a run stopped at any moment goes on where it was."""

from __future__ import annotations

import hashlib
import json
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from .._cluster import workers
from .._files import remove_half_written, write_whole
from ..data import Dataset
from ._job import UnitResult, check_feasible, run_unit
from ._plan import Plan
from ._results import Run

Progress = Callable[[int, int], object]
ATTEMPTS = 3  # on Dask, where workers come and go
PATIENCE = 120.0  # seconds without a unit before a run may be taken for interrupted


def run(
    protocol: str,
    dataset: Dataset,
    out: Any,
    n_jobs: int | None = None,
    dask: str | None = None,
    progress: Progress = lambda done, total: None,
    command: str = "",
    **options: Any,
) -> Run:
    """Run a protocol of the paper on a data set; go on if it was begun.

    Parameters
    ----------
    protocol : {"artificial", "full"}
    dataset : Dataset
    out : path
        The run's folder: ``units/``, ``manifest.json``, ``summary.json`` and tables. A run that was begun there with
        the same options and data is continued; with others it is refused.
    n_jobs : int, optional
        Units at once, each on one thread.
    dask : str, optional
        A Dask scheduler's address, or "local:2" for two workers here.
    progress : callable
        Told (units done, units in all) at the start and after each.
    command : str
        What would run it again, for the report.
    **options
        Those of `Plan`: iterations, folds, tau, models, seed, ….

    Returns
    -------
    Run
        With `.summary`, `.tables[name]`, and what was written.

    Examples
    --------
    >>> import tempfile, lifeyears as ly
    >>> d = ly.data.simulate_registry(n=300)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     options = dict(iterations=1, folds=2, models=("KM",), default_over=(), waitlist=50)
    ...     made = ly.experiments.run("full", d, out=folder, **options)
    >>> made.plan.folds, len(made.units)
    (2, 2)
    """
    plan = Plan(protocol=protocol, **options)  # type: ignore[arg-type]
    out = Path(out)
    check_feasible(dataset, plan)
    begin(out, plan, dataset)
    units = plan.units
    # an events-only cohort is right-truncated: the expectation of the whole population is no ceiling for it
    expected = None if dataset.truth is None or plan.protocol != "full" else dataset.truth.expected(plan.tau)
    bare = replace(dataset, truth=None)
    for attempt in range(ATTEMPTS):
        missing = [unit for unit in units if load_unit(out, *unit) is None]
        done = len(units) - len(missing)
        progress(done, len(units))
        try:
            for unit, result in _finished(bare, plan, missing, n_jobs, dask, expected):
                save_unit(out, *unit, result)
                done += 1
                progress(done, len(units))
            break
        except Exception as error:  # a Dask worker died, and what it alone held with it: the units that are left
            lost = dask is not None and type(error).__module__.partition(".")[0] == "distributed"
            if not lost or attempt == ATTEMPTS - 1:
                raise
    return finish(out, plan, dataset, command)


def finish(out: Path, plan: Plan, dataset: Dataset, command: str = "") -> Run:
    """Make summary and tables from the units."""
    from threadpoolctl import threadpool_limits

    results = [load_unit(out, *unit) for unit in plan.units]
    made = Run(plan, [result for result in results if result is not None], dataset, command)
    with threadpool_limits(1):  # sums in one order: the same bytes on any number of threads
        made.write(out)
    return made


def _finished(
    data: Dataset,
    plan: Plan,
    units: list[tuple[int, int]],
    n_jobs: int | None,
    dask: str | None,
    expected: np.ndarray | None,
) -> Iterator[tuple[tuple[int, int], UnitResult]]:
    """Units and their results, as they come: workers need not see the run's folder."""
    from joblib import Parallel, delayed

    work = (delayed(_one)(data, plan, unit, expected) for unit in units)
    with workers(dask) as extra:
        options = {"n_jobs": n_jobs, "batch_size": 1, "return_as": "generator_unordered"} | extra
        yield from Parallel(**options)(work)


def _one(
    data: Dataset, plan: Plan, unit: tuple[int, int], expected: np.ndarray | None
) -> tuple[tuple[int, int], UnitResult]:
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        return unit, run_unit(data, plan, *unit, expected)


def unit_path(out: Path, iteration: int, fold: int) -> Path:
    """Where a unit's result lies."""
    return out / "units" / f"iteration-{iteration:02d}-fold-{fold:02d}.npz"


def save_unit(out: Path, iteration: int, fold: int, result: UnitResult) -> None:
    """Write a unit's result beside and rename it: it is there whole or not at all."""
    words = json.dumps({"measures": result.measures, "counts": result.counts}).encode()
    arrays = {
        "rows": result.rows,
        "scores": result.scores,
        "words": np.frombuffer(words, dtype=np.uint8),
        **{f"outcome_{name}": values for name, values in result.outcomes.items()},
    }
    arrays["seal"] = _seal(out, iteration, fold, arrays)
    buffer = BytesIO()
    np.savez(buffer, **arrays)  # type: ignore[arg-type]
    write_whole(unit_path(out, iteration, fold), buffer.getvalue())


def load_unit(out: Path, iteration: int, fold: int) -> UnitResult | None:
    """A unit's result, or None if it is not there, cannot be read or is another run's (then it is made again)."""
    path = unit_path(out, iteration, fold)
    try:
        with np.load(BytesIO(path.read_bytes()), allow_pickle=False) as found:
            arrays = {name: found[name] for name in found.files}  # every byte is checked against zip's checksum
        if not np.array_equal(arrays.pop("seal"), _seal(out, iteration, fold, arrays)):
            return None
        words = json.loads(arrays.pop("words").tobytes())
        prefix = "outcome_"
        outcomes = {name.removeprefix(prefix): arrays[name] for name in arrays if name.startswith(prefix)}
        return UnitResult(arrays["rows"], arrays["scores"], outcomes, words["measures"], words["counts"])
    except Exception:  # a flipped byte can ask for an unknown compression, an endless header, all of the memory
        return None


def _seal(out: Path, iteration: int, fold: int, arrays: dict[str, np.ndarray]) -> np.ndarray:
    """SHA-256 of the run a unit belongs to, its place in it, and what it holds: a copy from elsewhere has another."""
    manifest = json.loads((out / "manifest.json").read_text())
    place = [manifest["plan"], manifest["data"], iteration, fold]
    digest = hashlib.sha256(json.dumps(place, sort_keys=True).encode())
    for name, values in sorted(arrays.items()):
        digest.update(f"{name} {values.dtype.str} {values.shape}".encode())
        digest.update(np.ascontiguousarray(values).tobytes())
    return np.frombuffer(digest.digest(), dtype=np.uint8)


def begin(out: Path, plan: Plan, data: Dataset) -> None:
    """Make the folder and its manifest, or check that what is there is the same run."""
    from .._versions import installed_versions

    wanted = {"plan": plan.as_dict(), "data": {"name": data.name, "rows": len(data), "sha256": data_hash(data)}}
    path = out / "manifest.json"
    if path.exists():
        try:
            found = json.loads(path.read_text())
            found = {key: found.get(key) or {} for key in (*wanted, "versions")}
        except (ValueError, AttributeError):
            raise ValueError(f"{path} cannot be read: choose another folder, or remove this one") from None
        differences = _differences(found["plan"], wanted["plan"], "=")
        differences += ["the data differ"] if found["data"] != wanted["data"] else []
        if differences:
            raise ValueError(
                f"{out} holds another run: {'; '.join(differences)}. Choose another folder with out=, or the same "
                "settings and data to go on with it"
            )
        changed = _differences(found["versions"], installed_versions())
        if changed:
            warnings.warn(
                f"{out} was begun with other versions of its packages ({'; '.join(changed)}): its units may differ in "
                "the last digits",
                stacklevel=3,
            )
        remove_half_written(out)
        return
    if out.exists() and any(not left.name.startswith(".") for left in out.iterdir()):
        raise ValueError(f"{out} is not empty and holds no run: choose another folder")
    manifest = {**wanted, "versions": installed_versions()}
    write_whole(path, json.dumps(manifest, indent=1, sort_keys=True).encode())


def _differences(found: dict, wanted: dict, sign: str = "") -> list[str]:
    return [
        f"{name}{sign} was {_shown(found.get(name))}, is {_shown(wanted.get(name))}"
        for name in sorted(set(found) | set(wanted))
        if found.get(name) != wanted.get(name)
    ]


def _shown(value: Any) -> str:
    return (",".join(map(str, value)) or "none") if isinstance(value, list) else str(value)


def data_hash(data: Dataset) -> str:
    """SHA-256 of the table, the subgroups, the entries and the outcome."""
    import pandas as pd

    digest = hashlib.sha256()
    digest.update(",".join(map(str, data.X.columns)).encode())
    digest.update(pd.util.hash_pandas_object(data.X, index=False).to_numpy().tobytes())
    for part in (data.subgroups, None if data.entry is None else pd.DataFrame({"entry": data.entry})):
        if part is not None:
            digest.update(pd.util.hash_pandas_object(part, index=False).to_numpy().tobytes())
    digest.update(data.y.time.tobytes())
    digest.update(data.y.event.tobytes())
    return digest.hexdigest()


def status(out: Any) -> str:
    """How far the run in a folder is, in words.

    Parameters
    ----------
    out : path
        The run's folder.

    Returns
    -------
    str
        Such as "3 of 25 units done, about 4 min left if it is running"; the time left is judged by when units were
        finished.

    Raises
    ------
    ValueError
        If there is no run.
    """
    out = Path(out)
    try:
        plan = json.loads((out / "manifest.json").read_text())["plan"]
        total = int(plan["iterations"]) * int(plan["folds"])
    except (OSError, ValueError, KeyError, TypeError, OverflowError):
        raise ValueError(f"{out} holds no run that can be read") from None
    finished = sorted(path.stat().st_mtime for path in (out / "units").glob("iteration-*.npz"))
    words = f"{len(finished)} of {total} units done"
    if len(finished) == total:
        return words + (", tables written" if (out / "summary.json").exists() else ", tables not yet written")
    if len(finished) > 1:
        each, idle = (finished[-1] - finished[0]) / (len(finished) - 1), time.time() - finished[-1]
        if idle > max(PATIENCE, 3 * each):
            return f"{words}, none for {idle / 60:,.0f} min: if it was interrupted, the same command goes on with it"
        words += f", about {max(each * (total - len(finished)) / 60, 1):.0f} min left if it is running"
    return words
