"""Plots of a fitted ranker."""

from __future__ import annotations

from typing import Any

import numpy as np


def plot_calibration(predicted: np.ndarray | None, outcomes: np.ndarray | None, ax: Any, groups: int) -> Any:
    """Mean outcome against mean prediction, in groups of like prediction."""
    import matplotlib.pyplot as plt

    if predicted is None or outcomes is None:
        raise ValueError("no rows were held out in training, so there is nothing to judge the calibration by")
    known = ~np.isnan(predicted)
    predicted, outcomes = predicted[known], outcomes[known]
    parts = np.array_split(np.argsort(predicted, kind="stable"), groups)
    x = np.array([predicted[rows].mean() for rows in parts])
    y = np.array([outcomes[rows].mean() for rows in parts])
    half = np.array([1.96 * outcomes[rows].std(ddof=1) / np.sqrt(len(rows)) for rows in parts])
    ax = ax if ax is not None else plt.subplots(figsize=(5, 5))[1]
    ends = [min(x.min(), y.min()), max(x.max(), y.max())]
    ax.plot(ends, ends, color="0.6", linestyle="--", linewidth=1)
    ax.errorbar(x, y, yerr=half, fmt="o", capsize=3)
    ax.set(xlabel="years predicted", ylabel="years, doubly robust, of rows not seen in training")
    return ax
