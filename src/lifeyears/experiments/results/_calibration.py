"""Calibration of a run: predicted years against those of the judge."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .._plan import CEILING

if TYPE_CHECKING:
    import pandas as pd

    from ..._typing import FloatArray
    from ._run import Run

TENTHS = 10


def tabulate_calibration(run: Run) -> pd.DataFrame:
    """Tabulate predicted years against the judge's, in tenths of the predictions; all rows of the first iteration."""
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
                    "arm": arm,
                    "tenth": int(place) + 1,
                    "patients": int(members.sum()),
                    "predicted": float(predicted[members].mean()),
                    "outcome": float(mean),
                    "outcome low": float(mean - half),
                    "outcome high": float(mean + half),
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
                "arm": arm,
                "predicted": float(predicted.mean()),
                "outcome": float(outcome.mean()),
                "predicted less outcome": gap,
                "gap low": gap - half,
                "gap high": gap + half,
                "slope": slope,
                "slope low": slope - half_slope,
                "slope high": slope + half_slope,
            }
        )
    return pd.DataFrame(rows)


def _predictions(run: Run) -> list[tuple[str, FloatArray, FloatArray, bool]]:
    """Of each arm: predictions, the judge's outcomes, and whether it is constant within folds, as KM is."""
    first = run.first
    outcome = np.concatenate([job.outcomes[run.judge] for job in first])
    return [
        (
            arm,
            np.concatenate([job.scores[j] for job in first]),
            outcome,
            all(np.ptp(job.scores[j]) <= 1e-9 * max(1.0, float(np.abs(job.scores[j]).max())) for job in first),
        )
        for j, arm in enumerate(run.arms)
        if arm != CEILING
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
