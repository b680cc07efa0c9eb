"""The figures of a run as PNG and PDF files: the same bytes for the same run."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..._files import write_whole
from ..._views import draw
from ..measures import NDCGS, column_heading, column_key
from ._charts import GAINS, ChartKey, make_charts
from ._tables import display_columns

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..types import Summary, Table


def write_figures(summary: Summary, out: Path) -> None:
    """Write the paper's figures, and those of the decision, to figures/."""
    charts = make_charts(summary)
    figures: dict[str, Figure] = {}
    for name in ("allocation", "audit", "headroom", *GAINS.values()):
        chart = charts.get(ChartKey(name))
        if chart is not None:
            figures[name] = _make_figure(7, 1 + 0.32 * len(chart.rows) if chart.rows else 4.2)
            draw(chart, figures[name].subplots())
    if "figure_a1" in summary.tables:
        figures["figure_a1"] = draw_errors(summary.tables["figure_a1"])
        figures["figure_a2"] = _make_figure(9, 6)
        for ax, measure in zip(figures["figure_a2"].subplots(2, 3).ravel(), NDCGS, strict=True):
            draw(charts[ChartKey("figure_a2", column_key(measure))], ax)
    for name, figure in figures.items():
        for kind, metadata in (
            ("png", {"Software": None}),
            ("pdf", {"CreationDate": None, "Producer": None, "Creator": None}),
        ):
            buffer = BytesIO()
            figure.savefig(buffer, format=kind, dpi=150, bbox_inches="tight", metadata=metadata)
            write_whole(out / "figures" / f"{name}.{kind}", buffer.getvalue())


def _make_figure(width: float, height: float) -> Figure:
    """Make a figure of its own, without pyplot's global state."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def draw_errors(table: Table) -> Figure:
    """Draw the mean absolute error of estimated NDCG (Figure A1)."""
    frame = table.to_frame()
    frame["label"] = display_columns(table)[0].texts
    keys = [f"{column_key(measure)}_mae" for measure in NDCGS]
    headings = [column_heading(measure, "") for measure in NDCGS]
    known = frame[frame[keys].notna().any(axis=1)]
    values = known[keys].to_numpy(dtype=float)
    figure = _make_figure(6, 4)
    ax = figure.subplots()
    image = ax.imshow(values, cmap="viridis_r", aspect="auto")
    for (i, j), value in np.ndenumerate(values):
        colour = "white" if value > np.nanmean(values) else "black"
        ax.text(j, i, f"{value:.2f}", ha="center", va="center", fontsize=7, color=colour)
    ax.set(xticks=range(len(keys)), xticklabels=headings, yticks=range(len(known)), yticklabels=list(known["label"]))
    figure.colorbar(image, ax=ax, label="mean absolute error")
    return figure
