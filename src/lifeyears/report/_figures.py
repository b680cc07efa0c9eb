"""Charts as the templates show them: plotly's data, the legend, and a text alternative."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .._typing import Json
from .._views import COLOURS
from ._plotly import as_plotly

if TYPE_CHECKING:
    from .._views import Chart, Series

MARKERS = ("circle", "square", "diamond", "triangle")


@dataclass(frozen=True)
class LegendEntry:
    """A name in a legend; `trace` is the place of its series in the chart."""

    name: str
    trace: int
    colour: int
    shape: str


@dataclass(frozen=True)
class FigureView:
    """A chart to show.

    Attributes
    ----------
    key : str
        Its anchor in the page.
    title, label : str
        Of the chart, and of its horizontal axis.
    alt : str
        What it shows, in words.
    height : int
        In pixels.
    plotly : dict
        Data and layout.
    legend : tuple of LegendEntry
        Empty where one series needs no name.
    """

    key: str
    title: str
    label: str
    alt: str
    height: int
    plotly: Json
    legend: tuple[LegendEntry, ...]


def view_figure(key: str, chart: Chart) -> FigureView:
    """Prepare a chart for the page."""
    plotly = as_plotly(chart)
    legend = tuple(
        LegendEntry(series.name, place, series.colour % len(COLOURS), _choose_shape(series))
        for place, series in enumerate(chart.series)
        if series.name
    )
    height = int(plotly["layout"]["height"])
    return FigureView(key, chart.title, chart.x_label, chart.alt, height, plotly, legend if len(legend) > 1 else ())


def _choose_shape(series: Series) -> str:
    return {"bars": "square", "steps": "line"}.get(series.kind, MARKERS[series.marker % len(MARKERS)])
