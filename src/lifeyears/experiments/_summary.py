"""A run in words and in one file: its reading, and the summary of which report and page are made."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from .._version import __version__
from ._audit import answer, audit, models_of
from ._checking import warnings_of
from ._job import cohort_of
from ._statistics import ENOUGH_ROWS

if TYPE_CHECKING:
    from ._results import Run

SCHEMA = 2
NOT_IN_SUMMARY = ("measures",)  # long: in tables/ only


def summary_of(run: Run) -> dict[str, Any]:
    """What report and page are made of; see docs/runs.md for the fields."""
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
            "used": len(cohort_of(data, run.plan)),
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
        "warnings": warnings_of(run, run.support),
        "best": run.best(),
        "answer": without_nan(answer(run)),
        "audit": without_nan(audit(run)),
        "support": {
            "violated": any(found.violated for found in run.support.values()),
            "words": {name: str(found) for name, found in run.support.items()},
        },
        "reading": reading_of(run),
        "tables": {
            name: json.loads(table.to_json(orient="split", index=False))
            for name, table in run.tables.items()
            if name not in NOT_IN_SUMMARY
        },
    }


def reading_of(run: Run) -> str:
    """The run in a few sentences."""
    models = models_of(run)
    best, by_index = models["years"].idxmax(), models["C-index"].idxmax()
    unit = run.dataset.unit
    what = {"truth": "the true lifetimes", "expected": "the true expected life", "DR": "doubly robust estimates"}
    text = (
        f"Most {unit} per allocation: {best}, {_spoken(*models.loc[best, ['years', 'low', 'high']])}, "
        f"by {what[run.judge]}, "
        f"{chosen(min(run.plan.k, run.waitlist))} of a waitlist of {run.waitlist}. "
    )
    if by_index == best:
        text += "C-index would have chosen the same. "
    else:
        cost, low, high, _ = run.gain(best, by_index)
        text += f"C-index would have chosen {by_index}, which costs {_spoken(cost, low, high)} {unit} per allocation. "
    others = [arm for arm in models.index if arm != best]
    if others:
        second = models.loc[others, "years"].idxmax()
        gain, low, high, _ = run.gain(best, second)
        alike = answer(run)["alike"]
        text += f"Over the next best, {second}, it gains {_spoken(gain, low, high)}. " + (
            f"Corrected for {len(others)} comparisons, it cannot be told from {len(alike)} of the other {len(others)}: "
            f"{', '.join(alike)}."
            if alike
            else "The evidence is enough to say that it is better than every other."
        )
    rows = sum(len(unit.rows) for unit in run.first)
    if not run.by_folds and run.few_rows:
        text += (
            f" There are {rows / run.waitlist:.0f} patients for each place on the list, fewer than {ENOUGH_ROWS}: "
            "intervals cover less often than they say."
        )
    return text


def _spoken(value: float, low: float, high: float) -> str:
    """A value with its interval; no zero is negative."""
    value, low, high = (round(float(number), 2) + 0.0 for number in (value, low, high))
    return f"{value:.2f} ({low:.2f} to {high:.2f})"


def chosen(k: int) -> str:
    """Who gets the allocation, in words: Algorithm 1's choice."""
    return "top pick" if k == 1 else f"draw by position among the first {k}"


def without_nan(value: Any) -> Any:
    """The same with None for NaN, as JSON has it."""
    if isinstance(value, dict):
        return {name: without_nan(part) for name, part in value.items()}
    if isinstance(value, list):
        return [without_nan(part) for part in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value
