"""The paper's tables and figures, made from a run, beside its own numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..experiments.paper import NDCG_KEYS, PAPER_TABLES, load_paper_table
from ..experiments.results import MOST_GAIN
from ._elements import Page, details, mark_best, paragraphs
from ._reading import Summary

if TYPE_CHECKING:
    import pandas as pd

UNOS = "The paper's numbers, on UNOS data; not this data"


def add_paper_section(page: Page, summary: Summary) -> None:
    """Add the tables and figures of the paper, made from the run, each beside the paper's numbers."""
    tables, charts, best = summary.tables, summary.charts, summary["best"]
    parts = [
        paragraphs(
            "The tables and figures of Zilberstein, Anagnostides and Sandholm (2026), made from this run. ± is one "
            "standard deviation over folds; * p < .05 and ** p < .01 by Wilcoxon's test against the base model, as in "
            "the paper (with few folds it cannot get there; the download has the corrected p-values). NDCG@k by the "
            "truth is of the whole life, as in the paper; waitlist NDCG, like all years, of life within the horizon. "
            "Where the paper gives numbers, they follow, on its own data."
        )
    ]
    captions = {
        "figure_2": "Figure 2: gain in NDCG@k over the base model.",
        "figure_3a": "Figure 3a: gain in EY NDCG@k over the base model.",
        "figure_3b": "Figure 3b: gain in IPCW NDCG@k over the base model.",
    }
    gains = {"figure_2": "gain_truth", "figure_3a": "gain_ey", "figure_3b": "gain_ipcw"}
    for name in ("table_1", "table_2"):
        parts += [page.table(name, tables.get(name), marked=mark_best(best)), render_paper_table(page, name, tables)]
    for name, caption in captions.items():
        if name in charts and charts[name].y_range is not None:
            caption += f" Bars beyond {MOST_GAIN:.0f}% are cut; the numbers are in the table."
        parts.append(page.figure(name, charts.get(name), caption, gains[name]))
        parts.append(details("Numbers of this figure", page.table(gains[name], tables.get(gains[name]))))
    if "figure_a1" in tables:
        parts += _estimators(page, summary)
    for name in ("table_a7", "table_a8"):
        parts += [page.table(name, tables.get(name), marked=mark_best(best)), render_paper_table(page, name, tables)]
    page.section("paper", "The paper's tables and figures", *parts)


def render_paper_table(page: Page, name: str, tables: dict[str, pd.DataFrame]) -> str:
    """Render the paper's own numbers of a table of this run, folded; nothing where it gives none."""
    if name not in tables or name not in PAPER_TABLES:
        return ""
    return details(UNOS, page.table(f"{name}_paper", load_paper_table(name), UNOS))


def _estimators(page: Page, summary: Summary) -> list[str]:
    """Table A6, Figures A1 and A2: how well censored data tell the better model."""
    tables = summary.tables
    panels = "".join(
        page.figure(
            f"a2-{place}",
            summary.charts[f"figure_a2 {key}"],
            f"Estimated against true {key}; one point per model and fold.",
            "figure_a1",
        )
        for place, key in enumerate(NDCG_KEYS)
    )
    unit = summary.unit
    return [
        "<h3>Do the estimates name the better model?</h3>",
        page.table(
            "table_a6",
            tables["table_a6"],
            note=f"In percent of pairs of models. DR can be negative, so that it has {unit} and no NDCG.",
        ),
        page.table("table_a6_by_iteration", tables["table_a6_by_iteration"]),
        details(UNOS, page.table("table_a6_paper", load_paper_table("table_a6"), f"Table A6. {UNOS}")),
        _heat(page, tables["figure_a1"]),
        details(
            "The same against the whole life, beyond the horizon (Table 1's; the paper does not say which it took)",
            page.table("table_a6_whole_life", tables.get("table_a6_whole_life"))
            + page.table("figure_a1_whole_life", tables.get("figure_a1_whole_life")),
        ),
        f'<h4>Figure A2: estimated against true NDCG</h4><div class="panels">{panels}</div>',
    ]


def _heat(page: Page, table: pd.DataFrame) -> str:
    """Figure A1: a table shaded by its values; the numbers are the figure."""
    names = [f"{key} MAE" for key in NDCG_KEYS]
    top = float(table[names].max().max()) or 1.0
    return page.table(
        "figure_a1",
        table,
        note="MAE: mean absolute error (of NDCG, shaded: the darker, the larger; and of "
        f"{page.unit}). rho: Spearman's, over all models and folds.",
        shade=lambda name, value: f"heat{min(9, int(10 * float(value or 0.0) / top))}" if name in names else "",
    )
