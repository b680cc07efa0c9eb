"""Tables as files: CSV for machines, Markdown and LaTeX for people, the paper's numbers beside ours."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from ..._files import write_whole
from ..._views import make_columns
from ..paper import PAPER_TABLES, load_paper_table

if TYPE_CHECKING:
    import pandas as pd

    from ._run import Run

TITLES = {
    "years": "Years per allocation from a waitlist and NDCG over waitlists, with 95% intervals",
    "audit": "The decision audit: C-index against years per allocation, and the plug-in bound",
    "room": "Share of the room between base model and ceiling that is closed",
    "comparison": "Every paired difference of years, with intervals as those of the gains",
    "table_1": "Table 1: ground-truth metrics under artificial censoring",
    "table_2": "Table 2: metrics and estimated NDCG on the full data",
    "table_a6": "Table A6: pairwise accuracy of the estimators, by fold (%)",
    "table_a6_by_iteration": "Table A6: pairwise accuracy of the estimators, by iteration (%)",
    "table_a6_whole_life": "Table A6: the same by fold and by the whole life, as in Table 1 (%)",
    "table_a7": "Table A7: EY NDCG@k",
    "table_a8": "Table A8: IPCW NDCG@k",
    "figure_a1": "Figures A1 and A2: mean absolute error and Spearman's ρ of estimates, by life within the horizon",
    "figure_a1_whole_life": "Figures A1 and A2: the same by the whole life, as in Table 1",
    "figure_a2": "Figure A2: true and estimated measures, one row per arm and job",
    "gain_truth": "Figure 2: gain in NDCG@k over the base model (%)",
    "gain_ey": "Figure 3a: gain in EY NDCG@k over the base model (%)",
    "gain_ipcw": "Figure 3b: gain in IPCW NDCG@k over the base model (%)",
    "measures": "Every measure of every job",
    "subgroups": "Who gets the allocations of the best arm, by subgroup",
    "subgroups_moved": "Who enters and who leaves the top when a ranker takes its base model's place: clear changes",
    "calibration": "Calibration: predicted years against the judge's, by tenths of the predictions",
    "calibration_by_arm": "Calibration in the large, and the slope of outcomes on predictions",
    "positivity": "Support at the horizon, by model of censoring",
    "positivity_groups": "Support at the horizon by entry (Cox model of censoring)",
    "positivity_frontier": "The latest entry that each horizon supports",
    "positivity_curves": "The chance of still being followed, by entry",
    "cohort": "The cohort (Table A4)",
    "follow_up": "Follow-up (Table A5)",
    "survival": "Kaplan–Meier of the event and of follow-up",
    "predictors": "The predictors",
}
LONG = ("measures", "figure_a2", "calibration", "positivity_groups", "positivity_curves", "survival", "predictors")
UNOS = "The paper's (UNOS, not this data)"
NOTE = (
    "± is one standard deviation over folds; * p < .05, ** p < .01 by Wilcoxon's two-sided test against the base "
    "model, as in the paper (a loss gets stars too; with few folds it cannot get there); it takes overlapping folds "
    "for independent. `tables/*.csv` have both p-values. KM's equal scores are averaged over, where the paper drew one "
    "order. In Table A6 a tie of two estimates counts as half right. IPCW NDCG is divided by the ideal of its own "
    "relevance and lies within [0, 1]; the paper's exceeds 1 in places, so its divisor must be another. In Table 1 and "
    "Figure 2 NDCG@k is by the whole life, as in the paper, and waitlist NDCG, like all years, by life within the "
    "horizon. Table 2's DR years are means over folds, where the years above pool patients if there are fewer than ten "
    "jobs."
)


def write_tables(run: Run, out: Path) -> None:
    """Write summary.json, tables/*.csv, tables.md and tables.tex."""
    for name, table in run.tables.items():
        write_whole(out / "tables" / f"{name}.csv", table.to_csv(index=False).encode())
        if name in PAPER_TABLES:
            write_whole(out / "tables" / f"{name}_paper.csv", load_paper_table(name).to_csv(index=False).encode())
    write_whole(out / "tables.md", render_markdown(run).encode())
    write_whole(out / "tables.tex", render_latex(run).encode())
    write_whole(
        out / "summary.json", (json.dumps(run.summary, indent=1, sort_keys=True, allow_nan=False) + "\n").encode()
    )


def list_printed(run: Run) -> list[tuple[str, pd.DataFrame]]:
    """List title and cells of every table that fits a page, the paper's after ours."""
    printed = []
    for name, table in {**run.tables, **_short_subgroups(run)}.items():
        if name not in LONG:
            printed.append((TITLES[name], format_cells(table)))
        if name in PAPER_TABLES:
            printed.append((f"{TITLES[name]}. {UNOS}", format_cells(load_paper_table(name))))
    return printed


def _short_subgroups(run: Run) -> dict[str, pd.DataFrame]:
    """The best arm's subgroups, and the changes by rankers whose interval leaves out 0."""
    if "subgroups" not in run.tables:
        return {}
    table = run.tables["subgroups"]
    moved = table[(table["change low"] > 0) | (table["change high"] < 0)]
    best = table[table["arm"] == run.best()].drop(columns="arm")
    columns = ["by", "group", "arm", "share of patients", "share change", "change low", "change high"]
    return {"subgroups": best} | ({"subgroups_moved": moved[columns]} if len(moved) else {})


def render_markdown(run: Run) -> str:
    """Render all tables but the long ones in Markdown, with the paper's after them."""
    parts = [f"# {run.dataset.name}: {run.plan.protocol} protocol\n", run.reading() + "\n"]
    parts += [f"## {title}\n\n{to_markdown(cells)}\n" for title, cells in list_printed(run)]
    return "\n".join([*parts, NOTE + "\n"])


def format_cells(table: pd.DataFrame) -> pd.DataFrame:
    """Format mean ± sd and stars in one cell, as the paper prints them; a value and its interval in one."""
    import pandas as pd

    return pd.DataFrame({column.name: column.texts for column in make_columns(table)})


def to_markdown(table: pd.DataFrame) -> str:
    """Write a table in Markdown, without a further dependency."""
    lines = ["| " + " | ".join(map(str, table.columns)) + " |", "|" + "---|" * len(table.columns)]
    lines += ["| " + " | ".join(str(value) for value in row) + " |" for row in table.itertuples(index=False)]
    return "\n".join(lines)


def render_latex(run: Run) -> str:
    """Render the same in LaTeX, for booktabs."""
    parts = []
    for title, cells in list_printed(run):
        lines = [
            "\\begin{table}",
            "\\centering",
            f"\\begin{{tabular}}{{ll{'c' * (len(cells.columns) - 2)}}}",
            "\\toprule",
        ]
        lines.append(" & ".join(_escape_latex(str(column)) for column in cells.columns) + " \\\\ \\midrule")
        lines += [
            " & ".join(_escape_latex(str(value)) for value in row) + " \\\\" for row in cells.itertuples(index=False)
        ]
        lines += ["\\bottomrule", "\\end{tabular}", f"\\caption{{{_escape_latex(title)}}}", "\\end{table}", ""]
        parts.append("\n".join(lines))
    return "\n".join([*parts, _escape_latex(NOTE.replace("`", "")), ""])


def _escape_latex(text: str) -> str:
    for mark, words in (
        ("\\", "\\textbackslash{}"),
        ("%", "\\%"),
        ("_", "\\_"),
        ("&", "\\&"),
        ("±", "$\\pm$"),
        ("–", "--"),
        ("ρ", "$\\rho$"),
        ("−", "$-$"),
        ("<", "$<$"),
        ("#", "\\#"),
    ):
        text = text.replace(mark, words)
    return text
