"""Charts as data: what is drawn, apart from what draws it (matplotlib here, plotly in the report)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#999999")  # Okabe and Ito: for any eye
Numbers: TypeAlias = Sequence[float | None]
Places: TypeAlias = Sequence[Any]  # numbers, or names where an axis has names


@dataclass(frozen=True)
class Series:
    """What shares a name in the legend.

    Attributes
    ----------
    name : str
    x, y : sequences
        Numbers; names of rows, where the chart has `rows`; names of places along x for bars.
    low, high : sequences, optional
        Ends of the intervals, along x where the chart has rows, else along y.
    kind : {"points", "line", "steps", "bars"}
    colour, marker : int
        Places in the palette, and among circle, square, diamond, triangle.
    labels : sequence of str, optional
        What each point is.
    """

    name: str
    x: Places
    y: Places
    low: Numbers | None = None
    high: Numbers | None = None
    kind: Literal["points", "line", "steps", "bars"] = "points"
    colour: int = 0
    marker: int = 0
    labels: Sequence[str] = ()


@dataclass(frozen=True)
class Chart:
    """One picture.

    Attributes
    ----------
    alt : str
        What it shows, in words, for those who cannot see it.
    x_label, y_label : str
    series : tuple of Series
    rows : tuple of str
        Names down the y axis, the first on top; then points lie on rows.
    x_line, y_line : (value, label), optional
        A dashed line across.
    diagonal : bool
        Draw the line where y equals x.
    title : str
    y_range : (low, high), optional
    """

    alt: str
    x_label: str
    y_label: str
    series: tuple[Series, ...]
    rows: tuple[str, ...] = ()
    x_line: tuple[float, str] | None = None
    y_line: tuple[float, str] | None = None
    diagonal: bool = False
    title: str = ""
    y_range: tuple[float, float] | None = None


def forest(
    names: Sequence[str],
    value: Numbers,
    low: Numbers,
    high: Numbers,
    x_label: str,
    alt: str,
    line: tuple[float, str] | None = None,
    best: str | None = None,
) -> Chart:
    """Values with intervals, one row each; `best` is set off by its colour.

    Examples
    --------
    >>> forest(["Cox"], [14.4], [14.1], [14.7], "years", "Cox: 14.4").rows
    ('Cox',)
    """
    parts = [(best is None or name == best) for name in names]
    series = []
    for chosen in (True, False):
        rows = [place for place, part in enumerate(parts) if part is chosen]
        if rows:
            series.append(
                Series(
                    name="",
                    x=[value[row] for row in rows],
                    y=[names[row] for row in rows],
                    low=[low[row] for row in rows],
                    high=[high[row] for row in rows],
                    colour=0 if chosen else 6,
                    marker=0 if chosen else 1,
                )
            )
    return Chart(alt, x_label, "", tuple(series), rows=tuple(names), x_line=line)
