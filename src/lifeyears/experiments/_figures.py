"""The paper's figures, as PNG and PDF, the same bytes for the same run."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ._results import Run

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#999999")  # for any eye


def write_figures(run: Run, out: Path) -> None:
    """Every figure the run has, in figures/."""
    from matplotlib.figure import Figure

    from ._runner import write_whole

    made: dict[str, Figure] = {"years": years_figure(run)}
    for kind, name in (("truth", "figure_2"), ("ey", "figure_3a"), ("ipcw", "figure_3b")):
        if f"gain_{kind}" in run.tables:
            made[name] = gain_figure(run.tables[f"gain_{kind}"])
    if "figure_a1" in run.tables:
        made["figure_a1"] = error_figure(run.tables["figure_a1"])
        made["figure_a2"] = scatter_figure(run)
    for name, figure in made.items():
        for kind, metadata in (
            ("png", {"Software": None}),
            ("pdf", {"CreationDate": None, "Producer": None, "Creator": None}),
        ):
            buffer = BytesIO()
            figure.savefig(buffer, format=kind, dpi=150, bbox_inches="tight", metadata=metadata)
            write_whole(out / "figures" / f"{name}.{kind}", buffer.getvalue())


def _figure(width: float, height: float, rows: int = 1, columns: int = 1) -> tuple[Any, Any]:
    """A figure of its own, without pyplot's global state."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(rows, columns)


def years_figure(run: Run) -> Any:
    """C-index against years per allocation, arm by arm."""
    figure, ax = _figure(6.5, 4.5)
    table = run.tables["years"]
    for place, (model, rows) in enumerate(table[table["model"] != "truth"].groupby("model", sort=False)):
        for marker, (_, row) in zip("osD", rows.iterrows(), strict=False):
            bars = [[row["years"] - row["low"]], [row["high"] - row["years"]]]
            ax.errorbar(
                row["C-index"],
                row["years"],
                yerr=np.nan_to_num(bars),
                fmt=marker,
                color=COLOURS[place % len(COLOURS)],
                label=f"{model} {row['framework']}",
                capsize=3,
            )
    ceiling = table.loc[table["model"] == "truth", "years"]
    if len(ceiling):
        ax.axhline(ceiling.item(), color="0.4", linestyle="--", linewidth=1, label="truth known")
    ax.set(xlabel="C-index", ylabel=f"{run.dataset.unit} per allocation")
    ax.legend(fontsize=7, ncols=2)
    return figure


def gain_figure(table: Any) -> Any:
    """Gain in NDCG@k over the base model, in percent (Figures 2 and 3)."""
    figure, ax = _figure(7, 3.5)
    keys = [name for name in table.columns if name.startswith("NDCG")]
    width = 0.8 / max(len(table), 1)
    for place, row in enumerate(table.itertuples(index=False)):
        values = row[2:]
        ax.bar(
            np.arange(len(keys)) + place * width - 0.4,
            values,
            width,
            align="edge",
            color=COLOURS[place % len(COLOURS)],
            label=f"{row[0]} {row[1]}",
        )
    ax.axhline(0, color="0.3", linewidth=0.8)
    ax.set(xticks=np.arange(len(keys)), xticklabels=keys, ylabel="gain over the base model (%)")
    ax.legend(fontsize=7, ncols=3)
    return figure


def error_figure(table: Any) -> Any:
    """Mean absolute error of estimated NDCG (Figure A1)."""
    figure, ax = _figure(6, 4)
    keys = [name for name in table.columns if name.endswith(" MAE")]
    values = table[keys].to_numpy()
    image = ax.imshow(values, cmap="viridis_r", aspect="auto")
    for (i, j), value in np.ndenumerate(values):
        ax.text(
            j,
            i,
            f"{value:.2f}",
            ha="center",
            va="center",
            fontsize=7,
            color="white" if value > np.nanmean(values) else "black",
        )
    ax.set(
        xticks=range(len(keys)),
        xticklabels=[key.removesuffix(" MAE") for key in keys],
        yticks=range(len(table)),
        yticklabels=table["estimator"],
    )
    figure.colorbar(image, ax=ax, label="mean absolute error")
    return figure


def scatter_figure(run: Run) -> Any:
    """Estimated against true NDCG@k, each point one arm in one unit (Figure A2)."""
    from ._results import NDCG_KEYS

    figure, axes = _figure(9, 6, 2, 3)
    table = run.tables["figure_a1"].set_index("estimator")
    for ax, key in zip(axes.ravel(), NDCG_KEYS, strict=True):
        for place, kind in enumerate(("EY", "IPCW")):
            truth = np.concatenate([run.values(arm, f"restricted {key}") for arm in run.arms])
            found = np.concatenate([run.values(arm, f"{kind} {key}") for arm in run.arms])
            ax.scatter(
                truth,
                found,
                s=6,
                alpha=0.5,
                color=COLOURS[place],
                label=f"{kind}, ρ = {table.loc[kind, f'{key} rho']:.2f}",
            )
        ends = [0, 1]
        ax.plot(ends, ends, color="0.5", linewidth=0.8, linestyle="--")
        ax.set(title=key, xlabel="true", ylabel="estimated")
        ax.legend(fontsize=7)
    return figure
