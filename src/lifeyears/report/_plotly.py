"""Charts as plotly draws them; ink and ground come from the page's style, for light, dark and paper."""

from __future__ import annotations

import math

from .._typing import Json
from .._views import COLOURS, Chart, Places, Series

SYMBOLS = ("circle", "square", "diamond", "triangle-up")
ROW_HEIGHT = 26


def as_plotly(chart: Chart) -> Json:
    """Convert a chart to the data and layout of a plotly figure."""
    numbers = [value for one in chart.series for value in (*one.x, *one.y) if isinstance(value, (int, float))]
    layout: Json = {
        "height": _height(chart),
        "margin": {"l": 8, "r": 16, "t": 34 if chart.title or _labelled(chart) else 12, "b": 8},
        "xaxis": {"title": {"text": _text(chart.x_label), "standoff": 8}, "automargin": True, "zeroline": False},
        "yaxis": {"title": {"text": _text(chart.y_label), "standoff": 8}, "automargin": True, "zeroline": False},
        "showlegend": False,
        "shapes": [],
        "annotations": [],
    }
    if chart.title:
        layout["title"] = {
            "text": _text(chart.title),
            "x": 0,
            "xanchor": "left",
            "font": {"size": 14},
            "y": 0.98,
            "yanchor": "top",
        }
        layout["margin"]["t"] = 36
    if chart.rows:
        layout["yaxis"] |= {
            "type": "category",
            "categoryorder": "array",
            "categoryarray": _plain(chart.rows)[::-1],
            "range": [-0.6, len(chart.rows) - 0.4],
        }
    if chart.y_range is not None:
        layout["yaxis"]["range"] = list(chart.y_range)
    if chart.diagonal and numbers:
        ends = [value for one in chart.series for part in (one.low, one.high) if part for value in part]
        known = [value for value in (*numbers, *ends) if value is not None and math.isfinite(value)]
        pad = 0.04 * (max(known) - min(known) or 1.0)
        span = [min(known) - pad, max(known) + pad]
        layout["shapes"].append(_line(x0=span[0], x1=span[1], y0=span[0], y1=span[1]))
        layout["xaxis"]["range"] = layout["yaxis"]["range"] = span
    _add_lines(chart, layout)
    return {"data": [_trace(one, bool(chart.rows)) for one in chart.series], "layout": layout}


def _height(chart: Chart) -> int:
    if chart.rows:
        return 74 + ROW_HEIGHT * len(chart.rows) + (28 if chart.title else 0)
    return 320 if chart.title else 420


def _labelled(chart: Chart) -> bool:
    return bool(chart.x_line and chart.x_line[1])


def _add_lines(chart: Chart, layout: Json) -> None:
    if chart.x_line is not None:
        at, label = chart.x_line
        layout["shapes"].append(_line(x0=at, x1=at, y0=0, y1=1, yref="paper"))
        if label:
            layout["annotations"].append(
                {"x": at, "y": 1, "yref": "paper", "yanchor": "bottom", "text": _text(label), "showarrow": False}
            )
            layout["margin"]["t"] = max(layout["margin"]["t"], 28)
    if chart.y_line is not None:
        at, label = chart.y_line
        layout["shapes"].append(_line(x0=0, x1=1, y0=at, y1=at, xref="paper"))
        if label:
            where = {"x": 1, "xref": "paper", "xanchor": "right", "y": at, "yanchor": "bottom"}
            layout["annotations"].append({**where, "text": _text(label), "showarrow": False})


def _line(**place: object) -> Json:
    return {"type": "line", "layer": "below", "line": {"dash": "dash", "width": 1, "color": "#888888"}, **place}


def _trace(series: Series, rows: bool) -> Json:
    colour = COLOURS[series.colour % len(COLOURS)]
    trace: Json = {
        "x": _plain(series.x),
        "y": _plain(series.y),
        "name": _text(series.name),
    }
    if series.kind == "bars":
        return {**trace, "type": "bar", "marker": {"color": colour}}
    trace |= {"type": "scatter", "mode": {"points": "markers", "line": "lines+markers", "steps": "lines"}[series.kind]}
    trace["marker"] = {"color": colour, "symbol": SYMBOLS[series.marker % len(SYMBOLS)], "size": 9}
    trace["line"] = {"color": colour, "width": 2, "shape": "hv" if series.kind == "steps" else "linear"}
    if len(series.x) > 40 and series.kind == "points":
        trace["marker"] |= {"size": 5, "opacity": 0.6}
    if series.labels:
        trace |= {"text": _plain(series.labels), "hovertemplate": "%{text}<br>%{x:.3f}, %{y:.3f}<extra></extra>"}
    if series.low is not None and series.high is not None:
        middle = series.x if rows else series.y
        trace["error_x" if rows else "error_y"] = {
            "type": "data",
            "symmetric": False,
            "array": _distances(series.high, middle),
            "arrayminus": _distances(middle, series.low),
            "thickness": 1.6,
            "width": 4,
            "color": colour,
        }
    return trace


def _distances(upper: Places, lower: Places) -> list[float]:
    gaps = [
        0.0 if a is None or b is None or a != a or b != b else max(a - b, 0.0)
        for a, b in zip(upper, lower, strict=True)
    ]
    return [round(float(gap), 6) for gap in gaps]


def _text(words: str) -> str:
    """Plotly reads a little HTML: a name is to be shown as it is."""
    return words.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _plain(values: Places) -> list[str | float | None]:
    return [
        _text(value) if isinstance(value, str) else None if value is None or value != value else round(float(value), 6)
        for value in values
    ]
