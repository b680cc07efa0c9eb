"""A run for Compare: from its summary to the reply, arms by key and label."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..experiments.types import NO_METHOD, ORACLE, Arm
from ._models import RunReply

if TYPE_CHECKING:
    from .._typing import Json

# How a summary of schema 2 names the ranking methods.
_METHODS = {"standard": NO_METHOD, "ranker": "bootstrapped", "default": "stacked"}


def view_run(summary: Json) -> RunReply:
    """Return what Compare shows of a run.

    Parameters
    ----------
    summary : dict
        The content of a run's summary.json.
    """
    board = sorted(_rows(summary, "years"), key=lambda row: -row["years"])
    arms = {f"{row['model']} {row['framework']}": _arm(row["model"], row["framework"]) for row in board}
    data, waitlist = summary["data"], summary["waitlist"]
    support = summary.get("support") or {"words": {}}
    return RunReply.model_validate(
        {
            "data": {name: data[name] for name in ("name", "rows", "events", "unit", "simulated")},
            "waitlist": {name: waitlist[name] for name in ("used", "k")},
            "intervals": summary["intervals"],
            "findings": _findings(summary),
            "best": arms[summary["best"]],
            "leaderboard": [
                {
                    "arm": _arm(row["model"], row["framework"]),
                    "value": {"value": row["years"], "low": row["low"], "high": row["high"]},
                    "c_index": row["C-index"],
                    "gain": None
                    if row["gain"] is None
                    else {"value": row["gain"], "low": row["gain low"], "high": row["gain high"]},
                    "p": row["p"],
                }
                for row in board
            ],
            "differences": [
                {"arm": arms[row["model"]], "other": arms[row["other"]]}
                | {name: row[name] for name in ("value", "low", "high", "p")}
                for row in _rows(summary, "comparison")
            ],
            "subgroups": [_subgroup(row, arms) for row in _rows(summary, "subgroups")],
            "support": list(support["words"].values()),
            "counts": summary["counts"],
            "positivity": _table(summary, "positivity"),
            "follow_up": _follow_up(_rows(summary, "positivity_curves")),
        }
    )


def _arm(model: str, framework: str) -> Json:
    arm = Arm(ORACLE) if model == "truth" else Arm(model, _METHODS[framework])
    return {"model": arm.model, "method": arm.method, "label": arm.label, "oracle": arm.is_oracle}


def _findings(summary: Json) -> list[Json]:
    findings = [
        {
            "code": "warning",
            "severity": "serious" if warning["serious"] else "note",
            "title": warning["title"],
            "text": warning["text"],
        }
        for warning in summary["warnings"]
    ]
    answer = {"code": "answer", "severity": "answer", "title": "In a few sentences", "text": summary["reading"]}
    return [answer, *findings]


def _subgroup(row: Json, arms: Mapping[str, Json]) -> Json:
    names = {
        "share_of_patients": "share of patients",
        "share_of_allocations": "share of allocations",
        "low": "low",
        "high": "high",
        "predicted_less_outcome": "predicted less outcome",
        "gap_low": "gap low",
        "gap_high": "gap high",
    }
    numbers = {name: row[column] for name, column in names.items()}
    return {"arm": arms[row["arm"]], "by": row["by"], "group": row["group"], "patients": row["patients"], **numbers}


def _rows(summary: Json, table: str) -> list[Json]:
    """Return the rows of a table, by column; none if the run does not have it."""
    held = summary["tables"].get(table)
    return [] if held is None else [dict(zip(held["columns"], row, strict=True)) for row in held["data"]]


def _table(summary: Json, table: str) -> Json | None:
    held = summary["tables"].get(table)
    if held is None or not held["data"]:
        return None
    return {"columns": [{"key": name, "heading": name} for name in held["columns"]], "rows": held["data"]}


def _follow_up(rows: list[Json]) -> Json | None:
    if not rows:
        return None
    labels = [name for name in rows[0] if name != "time"]
    return {
        "times": [row["time"] for row in rows],
        "curves": [{"label": str(name), "values": [row[name] for row in rows]} for name in labels],
    }
