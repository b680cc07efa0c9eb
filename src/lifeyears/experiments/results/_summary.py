"""A run in words and in one file: its reading, and the summary of which report and page are made."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

import numpy as np

from ..._typing import Json
from ..._version import __version__
from ..jobs import select_rows
from ._audit import audit_c_index, choose_best, tabulate_models
from ._statistics import ENOUGH_ROWS
from ._warnings import list_warnings

if TYPE_CHECKING:
    from ._run import Run

SCHEMA = 2
NOT_IN_SUMMARY = ("measures",)  # long: in tables/ only


def summarise_run(run: Run) -> Json:
    """Summarise a run for report and page; see docs/runs.md for the fields."""
    data = run.dataset
    report = data.report
    return {
        "schema": SCHEMA,
        "version": __version__,
        "protocol": run.plan.protocol,
        "plan": run.plan.as_dict(),
        "command": run.command,
        "data": {
            "name": data.name,
            "rows": len(data),
            "used": len(select_rows(data, run.plan)),
            "features": data.X.shape[1],
            "events": int(data.y.n_events),
            "unit": data.unit,
            "source": data.source,
            "simulated": data.truth is not None,
            "entry": data.entry is not None,
            "read": None if report is None else json.loads(json.dumps(asdict(report))),
        },
        "judge": run.judge,
        "ndcg_judge": run.ndcg_judge,
        "intervals": "corrected resampled t over folds" if run.by_folds else "bootstrap-t over pooled patients",
        "waitlist": {"asked": run.plan.waitlist, "used": run.waitlist, "k": min(run.plan.k, run.waitlist)},
        "counts": run.counts,
        "warnings": list_warnings(run, run.support),
        "best": run.best(),
        "answer": replace_nan(choose_best(run)),
        "audit": replace_nan(audit_c_index(run)),
        "support": {
            "violated": any(report.violated for report in run.support.values()),
            "words": {name: str(report) for name, report in run.support.items()},
        },
        "reading": describe_run(run),
        "tables": {
            name: json.loads(table.to_json(orient="split", index=False))
            for name, table in run.tables.items()
            if name not in NOT_IN_SUMMARY
        },
    }


def describe_run(run: Run) -> str:
    """Describe the run in a few sentences."""
    models = tabulate_models(run)
    best, by_index = models["years"].idxmax(), models["C-index"].idxmax()
    unit = run.dataset.unit
    judges = {"truth": "the true lifetimes", "expected": "the true expected life", "DR": "doubly robust estimates"}
    text = (
        f"Most {unit} per allocation: {best}, {_format_interval(*models.loc[best, ['years', 'low', 'high']])}, "
        f"by {judges[run.judge]}, "
        f"{describe_pick(min(run.plan.k, run.waitlist))} of a waitlist of {run.waitlist}. "
    )
    if by_index == best:
        text += "C-index would have chosen the same. "
    else:
        cost, low, high, _ = run.gain(best, by_index)
        lost = _format_interval(cost, low, high)
        text += f"C-index would have chosen {by_index}, which costs {lost} {unit} per allocation. "
    others = [arm for arm in models.index if arm != best]
    if others:
        second = models.loc[others, "years"].idxmax()
        gain, low, high, _ = run.gain(best, second)
        alike = choose_best(run)["alike"]
        text += f"Over the next best, {second}, it gains {_format_interval(gain, low, high)}. " + (
            f"Corrected for {len(others)} comparisons, it cannot be told from {len(alike)} of the other {len(others)}: "
            f"{', '.join(alike)}."
            if alike
            else "The evidence is enough to say that it is better than every other."
        )
    rows = sum(len(job.rows) for job in run.first)
    if not run.by_folds and run.few_rows:
        text += (
            f" There are {rows / run.waitlist:.0f} patients for each place on the list, fewer than {ENOUGH_ROWS}: "
            "intervals cover less often than they say."
        )
    return text


def _format_interval(value: float, low: float, high: float) -> str:
    """A value with its interval; no zero is negative."""
    value, low, high = (round(float(number), 2) + 0.0 for number in (value, low, high))
    return f"{value:.2f} ({low:.2f} to {high:.2f})"


def describe_pick(k: int) -> str:
    """Describe who gets the allocation: Algorithm 1's choice."""
    return "top pick" if k == 1 else f"draw by position among the first {k}"


def replace_nan(value: object) -> object:
    """Replace NaN by None, as JSON has it."""
    if isinstance(value, dict):
        return {name: replace_nan(part) for name, part in value.items()}
    if isinstance(value, list):
        return [replace_nan(part) for part in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value
