"""Charts drawn by matplotlib, for notebooks and for PNG and PDF files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ._charts import COLOURS, Chart, Series

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .._typing import Json

MARKERS = ("o", "s", "D", "^")


def draw(chart: Chart, ax: Axes | None = None) -> Axes:
    """Draw a chart; return the axes (new ones, if none are given)."""
    if ax is None:
        import matplotlib.pyplot as plt

        size = (6.5, 0.9 + 0.32 * len(chart.rows)) if chart.rows else (5, 5) if chart.diagonal else (6.5, 4)
        ax = plt.subplots(figsize=size, layout="constrained")[1]
    places = {name: len(chart.rows) - 1 - place for place, name in enumerate(chart.rows)}
    bars = [series for series in chart.series if series.kind == "bars"]
    for series in chart.series:
        if series.kind == "bars":
            _draw_bars(ax, series, bars.index(series), len(bars))
        else:
            _draw_points(ax, series, places)
    if chart.diagonal:
        ends = [min(ax.get_xlim()[0], ax.get_ylim()[0]), max(ax.get_xlim()[1], ax.get_ylim()[1])]
        ax.plot(ends, ends, color="0.6", linestyle="--", linewidth=1, zorder=0)
    if chart.x_line is not None:
        ax.axvline(chart.x_line[0], color="0.5", linestyle="--", linewidth=1, label=chart.x_line[1] or None)
    if chart.y_line is not None:
        ax.axhline(chart.y_line[0], color="0.5", linestyle="--", linewidth=1, label=chart.y_line[1] or None)
    if chart.rows:
        ax.set_yticks(list(places.values()), list(places))
        ax.set_ylim(-0.7, len(places) - 0.3)
    ax.set(xlabel=chart.x_label, ylabel=chart.y_label, title=chart.title)
    if chart.y_range is not None:
        ax.set_ylim(*chart.y_range)
    handles, labels = ax.get_legend_handles_labels()
    if len(labels) > 1 or (labels and len(chart.series) > 1):
        ax.legend(handles, labels, fontsize=7, ncols=2 if len(labels) > 6 else 1, frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _draw_points(ax: Axes, series: Series, places: dict[str, int]) -> None:
    x = np.array(series.x, dtype=float)
    y = np.array([places[name] for name in series.y] if places else series.y, dtype=float)
    style: Json = {"color": COLOURS[series.colour % len(COLOURS)], "label": series.name or None}
    if series.kind == "steps":
        ax.step(x, y, where="post", **style)
        return
    style |= {"linestyle": "-" if series.kind == "line" else "none", "marker": MARKERS[series.marker % len(MARKERS)]}
    error = None
    if series.low is not None and series.high is not None:
        middle, low, high = (np.array(v, dtype=float) for v in (x if places else y, series.low, series.high))
        error = np.nan_to_num(np.maximum(np.vstack([middle - low, high - middle]), 0))
    if error is None:
        ax.plot(x, y, markersize=3, **style)
    else:
        ax.errorbar(x, y, **{"xerr" if places else "yerr": error}, capsize=3, markersize=5, **style)


def _draw_bars(ax: Axes, series: Series, place: int, count: int) -> None:
    width = 0.8 / max(count, 1)
    at = np.arange(len(series.x)) + place * width - 0.4
    heights = np.array(series.y, dtype=float)
    ax.bar(at, heights, width, align="edge", color=COLOURS[series.colour % len(COLOURS)], label=series.name)
    ax.set_xticks(np.arange(len(series.x)), [str(name) for name in series.x])
