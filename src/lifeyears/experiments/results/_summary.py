"""A run in one file: the summary of which report, page and REST are made, written and read as JSON."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from ..._typing import Json
from ..._version import __version__
from ...errors import DataError, FileReadError, Message, MissingFileError, Setting
from ..jobs import select_rows
from ..types import DataNote, MethodNote, Summary, Support, Waitlist
from ._audit import audit_c_index, choose_best

if TYPE_CHECKING:
    from pydantic import TypeAdapter

    from ..._typing import PathLike
    from ...data import Dataset
    from .._plan import Plan
    from ._run import Run

SCHEMA = 3
SUMMARY = "summary.json"
NOT_IN_SUMMARY = ("measures",)  # long: in tables/ only


def summarise_run(run: Run) -> Summary:
    """Summarise a run for report, page and REST; see docs/runs.md for the fields."""
    plan = run.plan
    return Summary(
        schema=SCHEMA,
        version=__version__,
        protocol=plan.protocol,
        plan=plan.as_dict(),
        command=run.command,
        data=describe_data(run.dataset, plan),
        models=note_methods(plan, "models"),
        rankers=note_methods(plan, "rankers"),
        estimators=note_methods(plan, "estimators"),
        metrics=note_methods(plan, "metrics"),
        relevance=run.relevance,
        ndcg_relevance=run.ndcg_relevance,
        intervals="folds" if run.by_folds else "patients",
        waitlist=Waitlist(plan.waitlist, run.waitlist, min(plan.k, run.waitlist)),
        counts=run.clipped | run.counts,
        findings=run.findings,
        answer=choose_best(run),
        audit=audit_c_index(run),
        support=Support(
            any(report.violated for report in run.support.values()),
            {name: str(report) for name, report in run.support.items()},
        ),
        tables={name: run.typed_table(name) for name in run.tables if name not in NOT_IN_SUMMARY},
    )


def note_methods(plan: Plan, group: str) -> tuple[MethodNote, ...]:
    """List the methods of a kind with their labels and origins."""
    return tuple(MethodNote(spec.key, spec.label, spec.origin()) for spec in plan.methods_of(group))


def describe_data(data: Dataset, plan: Plan) -> DataNote:
    """Describe the data of a run, with what reading them reported."""
    report = data.report
    return DataNote(
        name=data.name,
        rows=len(data),
        used=len(select_rows(data, plan)),
        features=data.X.shape[1],
        events=int(data.y.n_events),
        unit=data.unit,
        source=data.source,
        simulated=data.truth is not None,
        has_entry=data.entry is not None,
        rows_read=None if report is None else int(report.rows_read),
        rows_kept=None if report is None else int(report.rows_kept),
        dropped_rows={} if report is None else {str(k): int(v) for k, v in report.dropped_rows.items()},
        dropped_columns={} if report is None else {str(k): str(v) for k, v in report.dropped_columns.items()},
        filtered_values={} if report is None else {str(k): int(v) for k, v in report.filtered_values.items()},
        warnings=() if report is None else tuple(map(str, report.warnings)),
    )


@lru_cache(maxsize=1)
def _adapter() -> TypeAdapter[Summary]:
    from pydantic import TypeAdapter

    return TypeAdapter(Summary)


def write_summary(summary: Summary) -> bytes:
    """Write a summary as JSON; what is missing is null."""
    return _adapter().dump_json(summary, indent=1) + b"\n"


def summary_schema() -> Json:
    """Return the JSON schema of summary.json, generated from `Summary`.

    Examples
    --------
    >>> sorted(summary_schema()["properties"])[:3]
    ['answer', 'audit', 'command']
    """
    return _adapter().json_schema()


def read_summary(folder: PathLike) -> Summary:
    """Read the summary of a finished run.

    Parameters
    ----------
    folder : path
        The folder of the run.

    Returns
    -------
    Summary

    Raises
    ------
    MissingFileError
        If the folder or the file is not there.
    FileReadError
        If the file is not JSON.
    DataError
        If it is not the summary of a run, or has a schema that this version does not read.
    """
    folder = Path(folder)
    path = folder / SUMMARY
    if not folder.is_dir():
        raise MissingFileError(f"there is no folder {folder}")
    if not path.exists():
        if (folder / "manifest.json").exists():
            raise MissingFileError(
                f"{folder} holds a run that is not finished (no {SUMMARY})",
                hint="Run its command again: the run continues where it was stopped.",
            )
        raise MissingFileError(f"{folder} holds no finished run (no {SUMMARY})")
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, OSError) as error:
        raise FileReadError(
            f"{path} cannot be read as JSON ({error})", hint="Run the command of the run again."
        ) from None
    return parse_summary(content, str(path))


def parse_summary(content: object, where: str = "the summary") -> Summary:
    """Check the content of a summary.json and return it as a `Summary`.

    Raises
    ------
    DataError
        If it is not the summary of a run, of another schema, or lacks something; the message names what.

    Examples
    --------
    >>> parse_summary({"schema": 1})
    Traceback (most recent call last):
        ...
    lifeyears.errors.DataError: the summary has schema 1; this version of lifeyears reads 3. Run its command again with
    another folder, out=.
    """
    from pydantic import ValidationError

    if not isinstance(content, dict) or not isinstance(content.get("schema"), int):
        raise DataError(
            f"{where} is not the summary of a run (it has no schema): was it written by lifeyears simulate?"
        )
    _check_schema(content["schema"], where)
    try:
        summary = _adapter().validate_python(content)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise DataError(f"{where} does not fit schema {SCHEMA}: {place}: {first['msg']}", field=place) from None
    for name, table in summary.tables.items():
        if any(len(row) != len(table.columns) for row in table.rows):
            raise DataError(f"{where}: the table {name!r} has rows that do not fit its columns", field=name)
    return summary


def _check_schema(schema: int, where: str) -> None:
    if schema < SCHEMA:
        raise DataError(
            f"{where} has schema {schema}; this version of lifeyears reads {SCHEMA}",
            hint=Message("Run its command again with another folder, ", Setting("out"), "."),
        )
    if schema > SCHEMA:
        raise DataError(
            f"{where} has schema {schema}, newer than the {SCHEMA} that this version of lifeyears reads",
            hint="Upgrade lifeyears.",
        )
