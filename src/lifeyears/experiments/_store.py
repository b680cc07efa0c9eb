"""The folder of a run: its manifest, and one file for each finished job.

A file is written beside its place and renamed there, so that a run that was stopped at any moment can be continued.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from dataclasses import asdict, fields
from io import BytesIO
from pathlib import Path

import numpy as np

from .._files import remove_half_written, write_whole
from .._typing import AnyArray, Json
from ..data import Dataset
from ..errors import FileReadError, LifeyearsWarning, Message, RequestError, Setting
from ._plan import GROUPS, Plan
from .jobs import JobResult
from .types import Arm, Measure

MANIFEST, SUMMARY, JOBS = "manifest.json", "summary.json", "jobs"


def open_run(out: Path, plan: Plan, data: Dataset) -> None:
    """Make the folder of a run and its manifest, or check that what is there is the same run.

    Raises
    ------
    RequestError
        If the folder holds another run, or something else.
    """
    from .._versions import installed_versions

    identity = {"plan": plan.as_dict(), "data": {"name": data.name, "rows": len(data), "sha256": hash_data(data)}}
    path = out / MANIFEST
    if path.exists():
        before = _check_same_run(out, path, identity)
        changed = [_describe_change(*change) for change in _changes(before["versions"], installed_versions())]
        changed += _list_changed_methods(before["methods"], plan)
        if changed:
            warnings.warn(
                f"{out} was begun with other versions of its packages or methods ({'; '.join(changed)}): its jobs may "
                "differ",
                LifeyearsWarning,
                stacklevel=3,
            )
        remove_half_written(out)
        return
    if out.exists() and any(not file.name.startswith(".") for file in out.iterdir()):
        raise RequestError(
            f"{out} is not empty and holds no run", hint=Message("Choose another folder with ", Setting("out"), ".")
        )
    manifest = {**identity, "methods": list_origins(plan), "versions": installed_versions()}
    write_whole(path, json.dumps(manifest, indent=1, sort_keys=True).encode())


def list_origins(plan: Plan) -> Json:
    """List where each method of a plan comes from, by kind and key."""
    return {group: {spec.key: spec.origin() for spec in plan.methods_of(group)} for group in GROUPS}


def job_path(out: Path, iteration: int, fold: int) -> Path:
    """Return the path of the result of a job."""
    return out / JOBS / f"iteration-{iteration:02d}-fold-{fold:02d}.npz"


def save_job(out: Path, iteration: int, fold: int, result: JobResult) -> None:
    """Write the result of a job, whole or not at all."""
    words = {
        "arms": [
            {**asdict(arm), "measures": [{**asdict(measure), "value": value} for measure, value in measures.items()]}
            for arm, measures in result.measures.items()
        ],
        "outcomes": list(result.outcomes),
        "counts": result.counts,
        "clipped": result.clipped,
    }
    arrays: dict[str, AnyArray] = {
        "rows": result.rows,
        "scores": result.scores,
        "outcomes": np.array(list(result.outcomes.values())),
        "words": np.frombuffer(json.dumps(words).encode(), dtype=np.uint8),
    }
    arrays["seal"] = _seal(out, iteration, fold, arrays)
    buffer = BytesIO()
    np.savez(buffer, **arrays)  # type: ignore[arg-type]
    write_whole(job_path(out, iteration, fold), buffer.getvalue())


def load_job(out: Path, iteration: int, fold: int) -> JobResult | None:
    """Load the result of a job; None if it is not there, damaged or of another run (it is then computed again)."""
    path = job_path(out, iteration, fold)
    try:
        with np.load(BytesIO(path.read_bytes()), allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}  # every byte is checked against zip's checksum
        if not np.array_equal(arrays.pop("seal"), _seal(out, iteration, fold, arrays)):
            return None
        words = json.loads(arrays.pop("words").tobytes())
        outcomes = dict(zip(words["outcomes"], arrays["outcomes"], strict=True))
        measures = {_read_arm(arm): _read_measures(arm["measures"]) for arm in words["arms"]}
        counts, clipped = words["counts"], words["clipped"]
        return JobResult(arrays["rows"], arrays["scores"], outcomes, measures, counts, clipped)
    except Exception:  # a flipped byte can ask for an unknown compression, an endless header, all of the memory
        return None


def _read_arm(record: Json) -> Arm:
    return Arm(record["model"], record["method"])


def _read_measures(records: list[Json]) -> dict[Measure, float]:
    parts = fields(Measure)
    return {Measure(**{part.name: record[part.name] for part in parts}): record["value"] for record in records}


def hash_data(data: Dataset) -> str:
    """Return the SHA-256 of the table, the subgroups, the entries and the outcome."""
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


def _seal(out: Path, iteration: int, fold: int, arrays: dict[str, AnyArray]) -> AnyArray:
    """SHA-256 of the run a job belongs to, its place in it, and what it holds: a copy from elsewhere has another."""
    manifest = json.loads((out / MANIFEST).read_text())
    place = [manifest["plan"], manifest["data"], iteration, fold]
    digest = hashlib.sha256(json.dumps(place, sort_keys=True).encode())
    for name, values in sorted(arrays.items()):
        digest.update(f"{name} {values.dtype.str} {values.shape}".encode())
        digest.update(np.ascontiguousarray(values).tobytes())
    return np.frombuffer(digest.digest(), dtype=np.uint8)


def _list_changed_methods(before: Json, plan: Plan) -> list[str]:
    """List the registered methods whose file or version is another than when the run was begun."""
    return [
        f"{spec.key} has changed"
        for group, spec in plan.specs
        if before.get(group, {}).get(spec.key, spec.origin()) != spec.origin()
    ]


def _check_same_run(out: Path, path: Path, identity: Json) -> Json:
    """Check that a manifest is that of this plan and these data; return it."""
    another = Message("Choose another folder with ", Setting("out"))
    try:
        manifest = json.loads(path.read_text())
        manifest = {key: manifest.get(key) or {} for key in (*identity, "methods", "versions")}
    except (ValueError, AttributeError):
        raise FileReadError(f"{path} cannot be read", hint=Message(another, ", or remove this one.")) from None
    differences: list[str] = []
    for name, before, now in _changes(manifest["plan"], identity["plan"]):
        differences.append(Message(Setting(name), f" was {_format(before)}, is {_format(now)}"))
    if manifest["data"] != identity["data"]:
        differences.append("the data differ")
    if differences:
        parts = [part for difference in differences for part in ("; ", difference)][1:]
        raise RequestError(
            Message(f"{out} holds another run: ", *parts),
            hint=Message(another, ", or use the same settings and data to continue it."),
        )
    return manifest


def _changes(before: Json, now: Json) -> list[tuple[str, object, object]]:
    return [
        (name, before.get(name), now.get(name))
        for name in sorted(set(before) | set(now))
        if before.get(name) != now.get(name)
    ]


def _describe_change(name: str, before: object, now: object) -> str:
    return f"{name} was {_format(before)}, is {_format(now)}"


def _format(value: object) -> str:
    return (",".join(map(str, value)) or "none") if isinstance(value, list) else str(value)
