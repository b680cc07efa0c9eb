"""Read and check what a report is made of: summary.json."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._typing import Json
from ..errors import DataError, FileReadError, Message, MissingFileError, Setting
from ..experiments import SCHEMA

if TYPE_CHECKING:
    import pandas as pd

    from .._typing import PathLike
    from .._views import Chart

# field → its type; docs/runs.md says what each is
FIELDS: dict[str, type | tuple[type, ...]] = {
    "schema": int,
    "version": str,
    "protocol": str,
    "plan": dict,
    "command": str,
    "data": dict,
    "judge": str,
    "ndcg_judge": str,
    "intervals": str,
    "waitlist": dict,
    "counts": dict,
    "warnings": list,
    "best": str,
    "answer": dict,
    "audit": dict,
    "support": dict,
    "reading": str,
    "tables": dict,
}
INNER: dict[str, tuple[str, ...]] = {
    "plan": ("protocol", "iterations", "folds", "tau", "models", "default_over", "seed", "waitlist", "k", "split"),
    "data": ("name", "rows", "used", "features", "events", "unit", "source", "simulated", "entry", "read"),
    "waitlist": ("asked", "used", "k"),
    "answer": ("best", "years", "low", "high", "next", "base", "alike"),
    "audit": ("by_c_index", "same", "cost", "spearman", "bound_by"),
    "support": ("violated", "words"),
}
TABLES = (
    *("years", "audit", "comparison", "calibration", "calibration_by_arm", "positivity", "positivity_curves"),
    *("cohort", "follow_up", "survival", "predictors"),
)


@dataclass(frozen=True, eq=False)
class Summary:
    """A checked summary.json; `name` tells two of them apart."""

    content: Json
    name: str = ""

    def __getitem__(self, field: str) -> Any:
        return self.content[field]

    @property
    def unit(self) -> str:
        return str(self.content["data"]["unit"])

    @property
    def digits(self) -> int:
        """Digits of a time in words: years need two, days none."""
        size = abs(self.content["answer"]["years"] or 0.0)
        return 0 if size >= 1000 else 1 if size >= 100 else 2

    @cached_property
    def tables(self) -> dict[str, pd.DataFrame]:
        """Every table by name."""
        import pandas as pd

        def to_frame(table: Json) -> pd.DataFrame:
            frame = pd.DataFrame(table["data"], columns=table["columns"])
            empty = [name for name in frame if frame[name].isna().all()]
            return frame.astype(dict.fromkeys(empty, float))  # None throughout is a number that nobody has

        return {name: to_frame(table) for name, table in self.content["tables"].items()}

    @cached_property
    def charts(self) -> dict[str, Chart]:
        """Every chart by name, the same as notebooks show."""
        from ..experiments.results import make_charts

        charts = make_charts(self.tables, self.unit, self.content["best"], float(self.content["plan"]["tau"]))
        models = [name for name in self.tables["years"]["model"].unique() if name != "truth"]
        return {name: _match_colours(chart, name, models) for name, chart in charts.items()}


def _match_colours(chart: Chart, name: str, models: list[str]) -> Chart:
    """A calibration chart with its model in the colour it has where models stand beside each other.

    Its rankers get the two colours that no model has.
    """
    model = name.removeprefix("calibration ")
    if model == name or model not in models:
        return chart
    colours = {"standard": models.index(model), "ranker": 6, "default": 5}
    return replace(chart, series=tuple(replace(one, colour=colours.get(one.name, one.colour)) for one in chart.series))


def read_summary(folder: PathLike) -> Summary:
    """Read the summary.json of a run and check it.

    Parameters
    ----------
    folder : path
        The folder of a finished run.

    Returns
    -------
    Summary
        ``summary["best"]`` and so on; `.tables` and `.charts` by name.

    Raises
    ------
    MissingFileError
        If the folder or the file is not there.
    FileReadError
        If the file is not JSON.
    DataError
        If it is not the summary of a run, or of a schema that this version does not read.
    """
    folder = Path(folder)
    path = folder / "summary.json"
    if not folder.is_dir():
        raise MissingFileError(f"there is no folder {folder}")
    if not path.exists():
        if (folder / "manifest.json").exists():
            raise MissingFileError(
                f"{folder} holds a run that is not finished (no summary.json)",
                hint="Run its command again: the run continues where it was stopped.",
            )
        raise MissingFileError(f"{folder} holds no finished run (no summary.json)")
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, OSError) as error:
        raise FileReadError(
            f"{path} cannot be read as JSON ({error})", hint="Run the command of the run again."
        ) from None
    return Summary(check_summary(content, str(path)), folder.resolve().name)


def check_summary(content: object, where: str = "the summary") -> Json:
    """Check that every field of a summary is there and of its type; return it.

    Raises
    ------
    DataError
        If it is not the summary of a run, of another schema, or lacks something; the message names what.

    Examples
    --------
    >>> check_summary({"schema": 1})
    Traceback (most recent call last):
        ...
    lifeyears.errors.DataError: the summary has schema 1; this version of lifeyears reads 2. Run the same command with
    the same out= again: its jobs are kept, and only the tables are made anew.
    """
    if not isinstance(content, dict) or not isinstance(content.get("schema"), int):
        raise DataError(
            f"{where} is not the summary of a run (it has no schema): was it written by lifeyears simulate?"
        )
    _check_schema(content["schema"], where)
    for name, kind in FIELDS.items():
        if name not in content:
            raise DataError(f"{where} lacks the field {name!r}, which schema {SCHEMA} has")
        if not isinstance(content[name], kind):
            raise DataError(f"{where}: the field {name!r} is a {type(content[name]).__name__}, not {kind}")
    for name, inner in INNER.items():
        missing = [part for part in inner if part not in content[name]]
        if missing:
            raise DataError(f"{where}: {name!r} lacks {', '.join(missing)}")
    missing = [name for name in TABLES if name not in content["tables"]]
    if missing:
        raise DataError(f"{where} lacks the tables {', '.join(missing)}")
    for name, table in content["tables"].items():
        if not isinstance(table, dict) or not {"columns", "data"} <= set(table):
            raise DataError(f"{where}: the table {name!r} has no columns and data")
        if any(len(row) != len(table["columns"]) for row in table["data"]):
            raise DataError(f"{where}: the table {name!r} has rows that do not fit its columns")
    return content


def _check_schema(schema: int, where: str) -> None:
    if schema < SCHEMA:
        raise DataError(
            f"{where} has schema {schema}; this version of lifeyears reads {SCHEMA}",
            hint=Message(
                "Run the same command with the same ",
                Setting("out"),
                " again: its jobs are kept, and only the tables are made anew.",
            ),
        )
    if schema > SCHEMA:
        raise DataError(
            f"{where} has schema {schema}, newer than the {SCHEMA} that this version of lifeyears reads",
            hint="Upgrade lifeyears.",
        )
