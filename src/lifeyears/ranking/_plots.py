"""Plots of a fitted ranker."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .._typing import FloatArray
from ..errors import RequestError

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_calibration(predicted: FloatArray | None, outcomes: FloatArray | None, ax: Axes | None, groups: int) -> Axes:
    """Draw mean outcome against mean prediction, in groups of similar prediction."""
    from .._views import Chart, Series, draw

    if predicted is None or outcomes is None:
        raise RequestError("no rows were held out in training, so that calibration cannot be assessed")
    held_out = ~np.isnan(predicted)
    predicted, outcomes = predicted[held_out], outcomes[held_out]
    parts = np.array_split(np.argsort(predicted, kind="stable"), groups)
    x = np.array([predicted[rows].mean() for rows in parts])
    y = np.array([outcomes[rows].mean() for rows in parts])
    half = np.array([1.96 * outcomes[rows].std(ddof=1) / np.sqrt(len(rows)) for rows in parts])
    series = Series("", x.tolist(), y.tolist(), (y - half).tolist(), (y + half).tolist())
    y_label = "years, doubly robust, of rows not seen in training"
    axes: Axes = draw(Chart("", "years predicted", y_label, (series,), diagonal=True), ax)
    return axes
