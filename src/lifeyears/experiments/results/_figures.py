"""The figures of a run as PNG and PDF files: the same bytes for the same run."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..._files import write_whole
from ..._views import draw
from ..paper import NDCG_KEYS
from ._charts import GAINS, make_charts

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from ._run import Run


def write_figures(run: Run, out: Path) -> None:
    """Write the paper's figures, and the years, to figures/."""
    charts = make_charts(run.tables, run.dataset.unit, run.best(), run.plan.tau)
    figures: dict[str, Figure] = {}
    for name in ("years", "audit", "room", *GAINS.values()):
        if name in charts:
            rows = len(charts[name].rows)
            figures[name] = _make_figure(7, 1 + 0.32 * rows if rows else 4.2)
            draw(charts[name], figures[name].subplots())
    if "figure_a1" in run.tables:
        figures["figure_a1"] = draw_errors(run.tables["figure_a1"])
        figures["figure_a2"] = _make_figure(9, 6)
        for ax, key in zip(figures["figure_a2"].subplots(2, 3).ravel(), NDCG_KEYS, strict=True):
            draw(charts[f"figure_a2 {key}"], ax)
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


def draw_errors(table: pd.DataFrame) -> Figure:
    """Draw the mean absolute error of estimated NDCG (Figure A1)."""
    keys = [f"{key} MAE" for key in NDCG_KEYS]
    known = table[table[keys].notna().any(axis=1)]
    values = known[keys].to_numpy(dtype=float)
    figure = _make_figure(6, 4)
    ax = figure.subplots()
    image = ax.imshow(values, cmap="viridis_r", aspect="auto")
    for (i, j), value in np.ndenumerate(values):
        colour = "white" if value > np.nanmean(values) else "black"
        ax.text(j, i, f"{value:.2f}", ha="center", va="center", fontsize=7, color=colour)
    ax.set(
        xticks=range(len(keys)), xticklabels=NDCG_KEYS, yticks=range(len(known)), yticklabels=list(known["estimator"])
    )
    figure.colorbar(image, ax=ax, label="mean absolute error")
    return figure
