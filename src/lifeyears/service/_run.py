"""A run for Compare: from its summary to the reply, arms by key and label."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..experiments.types import Arm, Summary
from ._models import RunReply

if TYPE_CHECKING:
    from .._typing import Json

INTERVALS = {
    "folds": "95%, corrected resampled t over folds",
    "patients": "95%, bootstrap-t over pooled patients",
}


def view_run(summary: Summary) -> RunReply:
    """Return what Compare shows of a run.

    Parameters
    ----------
    summary : Summary
        As `lifeyears.experiments.read_summary` reads it.
    """
    data = summary.data
    return RunReply.model_validate(
        {
            "data": {name: getattr(data, name) for name in ("name", "rows", "events", "unit", "simulated")},
            "waitlist": {"used": summary.waitlist.used, "k": summary.waitlist.k},
            "intervals": INTERVALS[summary.intervals],
            "findings": [
                {name: getattr(finding, name) for name in ("code", "severity", "title", "text")}
                for finding in summary.findings
            ],
            "best": _describe(summary.answer.best),
            "leaderboard": _leaderboard(summary),
            "differences": [
                {"arm": _arm(row), "other": _arm(row, "other_"), "value": row["difference"]}
                | _pick(row, "low", "high", "p")
                for row in _records(summary, "comparison")
            ],
            "subgroups": [
                {"arm": _arm(row), "predicted_less_outcome": row["gap"]}
                | _pick(row, "by", "group", "patients", "share_of_patients", "share_of_allocations")
                | _pick(row, "low", "high", "gap_low", "gap_high")
                for row in _records(summary, "subgroups")
            ],
            "support": list(summary.support.texts.values()),
            "counts": dict(summary.counts),
            "positivity": _table(summary, "positivity"),
            "follow_up": _follow_up(_records(summary, "positivity_curves")),
        }
    )


def _leaderboard(summary: Summary) -> list[Json]:
    rows = sorted(_records(summary, "allocation"), key=lambda row: -row["value"])
    return [
        {
            "arm": _arm(row),
            "value": _pick(row, "value", "low", "high"),
            "gain": None
            if row["gain"] is None
            else {"value": row["gain"], "low": row["gain_low"], "high": row["gain_high"]},
        }
        | _pick(row, "c_index", "p")
        for row in rows
    ]


def _arm(row: Json, prefix: str = "") -> Json:
    return _describe(Arm(row[f"{prefix}model"], row[f"{prefix}method"]))


def _describe(arm: Arm) -> Json:
    return {"model": arm.model, "method": arm.method, "label": arm.label, "oracle": arm.is_oracle}


def _pick(row: Json, *names: str) -> Json:
    return {name: row[name] for name in names}


def _records(summary: Summary, table: str) -> list[dict[str, Any]]:
    """Return the rows of a table, by key; none if the run does not have it."""
    held = summary.tables.get(table)
    return [] if held is None else held.records()


def _table(summary: Summary, table: str) -> Json | None:
    held = summary.tables.get(table)
    if held is None or not held.rows:
        return None
    columns = [{"key": column.key, "heading": column.heading} for column in held.columns]
    return {"columns": columns, "rows": [list(row) for row in held.rows]}


def _follow_up(rows: list[dict[str, Any]]) -> Json | None:
    """Return the curves of groups by entry; every group has the same times."""
    if not rows:
        return None
    groups = list(dict.fromkeys(row["entered"] for row in rows))
    return {
        "times": [row["time"] for row in rows if row["entered"] == groups[0]],
        "curves": [
            {"label": str(group), "values": [row["chance"] for row in rows if row["entered"] == group]}
            for group in groups
        ],
    }
