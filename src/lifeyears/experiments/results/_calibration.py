"""Calibration of a run: predicted against observed time, as far as the run can judge it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

    from ..._typing import FloatArray
    from ..types import Arm
    from ._run import Run

TENTHS = 10


def tabulate_calibration(run: Run) -> pd.DataFrame:
    """Tabulate predicted time against that of the judging relevance, in tenths; all rows of the first iteration."""
    import pandas as pd

    rows = []
    for arm, predicted, outcome, constant in _predictions(run):
        cuts = np.unique(np.quantile(predicted, np.linspace(0, 1, TENTHS + 1)[1:-1]))
        tenth = np.zeros(len(predicted), int) if constant else np.searchsorted(cuts, predicted, side="left")
        for place in np.unique(tenth):
            members = tenth == place
            mean, half = outcome[members].mean(), _half_width(outcome[members])
            rows.append(
                {
                    "model": arm.model,
                    "method": arm.method,
                    "tenth": int(place) + 1,
                    "patients": int(members.sum()),
                    "predicted": float(predicted[members].mean()),
                    "outcome": float(mean),
                    "outcome_low": float(mean - half),
                    "outcome_high": float(mean + half),
                }
            )
    return pd.DataFrame(rows)


def summarise_calibration(run: Run) -> pd.DataFrame:
    """Tabulate, by arm, mean prediction less mean outcome, and the slope of outcomes on predictions (1 is right)."""
    import pandas as pd

    rows = []
    for arm, predicted, outcome, constant in _predictions(run):
        gap, half = float((predicted - outcome).mean()), _half_width(predicted - outcome)
        slope, half_slope = (np.nan, np.nan) if constant else _slope(predicted, outcome)
        rows.append(
            {
                "model": arm.model,
                "method": arm.method,
                "predicted": float(predicted.mean()),
                "outcome": float(outcome.mean()),
                "gap": gap,
                "gap_low": gap - half,
                "gap_high": gap + half,
                "slope": slope,
                "slope_low": slope - half_slope,
                "slope_high": slope + half_slope,
            }
        )
    return pd.DataFrame(rows)


def _predictions(run: Run) -> list[tuple[Arm, FloatArray, FloatArray, bool]]:
    """Of each arm: predictions, the judge's outcomes, and whether it is constant within folds, as KM is."""
    first = run.first
    outcome = np.concatenate([job.outcomes[run.relevance] for job in first])
    return [
        (
            arm,
            np.concatenate([job.scores[j] for job in first]),
            outcome,
            all(np.ptp(job.scores[j]) <= 1e-9 * max(1.0, float(np.abs(job.scores[j]).max())) for job in first),
        )
        for j, arm in enumerate(run.arms)
        if not arm.is_oracle
    ]


def _half_width(values: FloatArray) -> float:
    """Half of a 95% interval of a mean."""
    return float(1.96 * values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")


def _slope(x: FloatArray, y: FloatArray) -> tuple[float, float]:
    """Slope of y on x by least squares, and half of its 95% interval, whatever the spread (White's)."""
    centred = x - x.mean()
    total = float(centred @ centred)
    slope = float(centred @ y) / total
    residual = y - y.mean() - slope * centred
    return slope, 1.96 * float(np.sqrt((centred**2 * residual**2).sum())) / total
