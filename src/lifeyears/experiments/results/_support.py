"""Support at the horizon (positivity): whether every patient could have been followed for so long."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from ...data import TablePreprocessor
from ...models import Cox, KaplanMeier
from ...relevance import NUISANCE_RIDGE, PositivityReport, check_positivity
from ..jobs import censor_outcome, select_rows

if TYPE_CHECKING:
    import pandas as pd

    from ._run import Run

MOST_ROWS = 20_000  # of the check of support: curves of more would not fit the memory, and would say the same
MOST_LINES = 7


def check_support(run: Run, tau: float | None = None) -> dict[str, PositivityReport]:
    """Check support at the horizon, by a Kaplan–Meier and by a Cox model of censoring."""
    tau = run.plan.tau if tau is None else tau
    rows = select_rows(run.dataset, run.plan)
    y = censor_outcome(run.dataset.y[rows], run.plan, 0)
    if len(rows) > MOST_ROWS:
        sample = np.sort(np.random.default_rng(0).permutation(len(rows))[:MOST_ROWS])
        rows, y = rows[sample], y[sample]
    entry = None if run.dataset.entry is None else np.asarray(run.dataset.entry, dtype=float)[rows]
    if entry is not None and run.dataset.unit == "years":
        entry = np.floor(entry).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        X = TablePreprocessor().fit_transform(run.dataset.X.iloc[rows])
        models = {"KM": KaplanMeier(), "Cox": Cox(alpha=NUISANCE_RIDGE)}
        return {name: check_positivity(model, X, y, tau, by=entry) for name, model in models.items()}


def find_supported_horizon(run: Run) -> float | None:
    """Find the longest of nine shorter horizons that is supported by both models of censoring; None if none is."""
    for share in np.arange(9, 0, -1) / 10:
        tau = float(f"{share * run.plan.tau:.3g}")
        if not any(report.violated for report in check_support(run, tau).values()):
            return tau
    return None


def tabulate_support(reports: dict[str, PositivityReport], rows: int) -> dict[str, pd.DataFrame]:
    """Tabulate support by model of censoring; and, by Cox, of each group of entry, the frontier and the curves."""
    import pandas as pd

    tables = {
        "positivity": pd.DataFrame(
            [
                {
                    "censoring": name,
                    "rows": rows,
                    "smallest_chance": report.smallest_reach,
                    "share_unsupported": report.share_out_of_reach,
                    "effective_sample_size": report.effective_sample_size,
                    "heaviest_weight_share": report.largest_weight_share,
                    "rows_below_floor": report.n_below_floor,
                    "floor": report.floor,
                }
                for name, report in reports.items()
            ]
        )
    }
    report = reports["Cox"]
    names = ["all"]
    if report.groups is not None:
        names = [f"{name:g}" for name in report.groups.index]
        groups = report.groups.set_axis(names).rename_axis("entered").reset_index()
        tables["positivity_groups"] = groups.rename(
            columns={
                "reach": "chance",
                "out_of_reach": "share_unsupported",
            }
        )
        if report.frontier is not None and len(report.frontier):
            frontier = report.frontier.rename(columns={"tau": "horizon", "latest": "latest_entry"})
            tables["positivity_frontier"] = frontier.astype({"latest_entry": str})
    drawn = np.unique(np.linspace(0, len(names) - 1, min(MOST_LINES, len(names))).round().astype(int))
    keep = np.flatnonzero(report.curves.times <= report.tau * 1.1)[::2]
    times = np.append(0.0, report.curves.times[keep])
    curves = [
        pd.DataFrame(
            {"entered": names[place], "time": times, "chance": np.append(1.0, report.curves.survival[place][keep])}
        )
        for place in drawn
    ]
    tables["positivity_curves"] = pd.concat(curves, ignore_index=True)
    return tables
