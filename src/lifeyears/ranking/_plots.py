"""Plots of a fitted ranker."""

from __future__ import annotations

from typing import Any

import numpy as np


def plot_calibration(predicted: np.ndarray | None, outcomes: np.ndarray | None, ax: Any, groups: int) -> Any:
    """Mean outcome against mean prediction, in groups of like prediction."""
    from .._views import Chart, Series, draw

    if predicted is None or outcomes is None:
        raise ValueError("no rows were held out in training, so there is nothing to judge the calibration by")
    known = ~np.isnan(predicted)
    predicted, outcomes = predicted[known], outcomes[known]
    parts = np.array_split(np.argsort(predicted, kind="stable"), groups)
    x = np.array([predicted[rows].mean() for rows in parts])
    y = np.array([outcomes[rows].mean() for rows in parts])
    half = np.array([1.96 * outcomes[rows].std(ddof=1) / np.sqrt(len(rows)) for rows in parts])
    series = Series("", x.tolist(), y.tolist(), (y - half).tolist(), (y + half).tolist())
    y_label = "years, doubly robust, of rows not seen in training"
    return draw(Chart("", "years predicted", y_label, (series,), diagonal=True), ax)
