"""Tables as files: CSV for machines, Markdown and LaTeX for people, the paper's numbers beside ours."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from .._files import write_whole
from .._views import columns_of
from ._paper import TABLE_1, TABLE_2, TABLE_A6, TABLE_A7, TABLE_A8

if TYPE_CHECKING:
    import pandas as pd

    from ._results import Run

TITLES = {
    "years": "Years per allocation (top pick of a waitlist) and NDCG over waitlists, with 95% intervals",
    "audit": "The decision audit: C-index against years per allocation, and the plug-in bound",
    "room": "Share of the room between base model and ceiling that is closed",
    "comparison": "Paired differences, all rows of the first iteration pooled, bootstrap-t intervals",
    "table_1": "Table 1: ground-truth metrics under artificial censoring",
    "table_2": "Table 2: metrics and estimated NDCG on the full data",
    "table_a6": "Table A6: pairwise accuracy of the estimators, by fold (%)",
    "table_a6_by_iteration": "Table A6: pairwise accuracy of the estimators, by iteration (%)",
    "table_a7": "Table A7: EY NDCG@k",
    "table_a8": "Table A8: IPCW NDCG@k",
    "figure_a1": "Figures A1 and A2: mean absolute error and Spearman's ρ of the estimates",
    "figure_a2": "Figure A2: true and estimated measures, one row an arm and unit",
    "gain_truth": "Figure 2: gain in NDCG@k over the base model (%)",
    "gain_ey": "Figure 3a: gain in EY NDCG@k over the base model (%)",
    "gain_ipcw": "Figure 3b: gain in IPCW NDCG@k over the base model (%)",
    "measures": "Every measure of every unit",
    "subgroups": "Who gets the allocations, by subgroup",
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
LONG = (
    *("subgroups", "measures", "figure_a2", "calibration", "positivity_groups", "positivity_curves"),
    *("survival", "predictors"),
)
PAPER: dict[str, tuple[dict, list[str]]] = {
    "table_1": (TABLE_1, ["C-index", "AUC", "NDCG@1", "NDCG@5", "NDCG@10", "NDCG@50", "NDCG@100", "NDCG"]),
    "table_2": (TABLE_2, ["C-index", "AUC@5", "EY NDCG@1", "EY NDCG@5", "IPCW NDCG@1", "IPCW NDCG@5"]),
    "table_a7": (TABLE_A7, ["NDCG@1", "NDCG@5", "NDCG@10", "NDCG@50", "NDCG@100"]),
    "table_a8": (TABLE_A8, ["NDCG@1", "NDCG@5", "NDCG@10", "NDCG@50", "NDCG@100"]),
}


def write_tables(run: Run, out: Path) -> None:
    """summary.json, tables/*.csv, tables.md and tables.tex."""
    for name, table in run.tables.items():
        write_whole(out / "tables" / f"{name}.csv", table.to_csv(index=False).encode())
    write_whole(out / "tables.md", markdown(run).encode())
    write_whole(out / "tables.tex", latex(run).encode())
    write_whole(
        out / "summary.json", (json.dumps(run.summary, indent=1, sort_keys=True, allow_nan=False) + "\n").encode()
    )


def markdown(run: Run) -> str:
    """All tables but the long ones, with the paper's beside them."""
    parts = [f"# {run.dataset.name}: {run.plan.protocol} protocol\n", run.reading() + "\n"]
    for name, table in run.tables.items():
        if name in LONG:
            continue
        parts.append(f"## {TITLES[name]}\n\n{as_markdown(shown(table))}\n")
        if name in PAPER:
            parts.append(f"The paper's (UNOS, not this data):\n\n{as_markdown(shown(paper_table(name)))}\n")
        if name == "table_a6":
            parts.append(f"The paper's (UNOS, not this data):\n\n{as_markdown(shown(paper_selection()))}\n")
    parts.append(
        "± is one standard deviation over folds; * p < .05, ** p < .01 by Wilcoxon's test against the base model, as "
        "in the paper (with few folds it cannot get there); it takes overlapping folds for independent. `tables/*.csv` "
        "have both p-values. KM's equal scores are averaged over, where the paper drew one order. IPCW NDCG is divided "
        "by the ideal of its own relevance and lies within [0, 1]; the paper's exceeds 1 in places, so its divisor "
        "must be another.\n"
    )
    return "\n".join(parts)


def shown(table: pd.DataFrame) -> pd.DataFrame:
    """Mean ± sd and stars in one cell, as the paper prints them; a value and its interval in one."""
    import pandas as pd

    return pd.DataFrame({column.name: column.texts for column in columns_of(table)})


def paper_table(name: str) -> pd.DataFrame:
    """A table of the paper."""
    import pandas as pd

    numbers, columns = PAPER[name]
    rows = [[model, framework, *values] for (model, framework), values in numbers.items()]
    return pd.DataFrame(rows, columns=["model", "framework", *columns])


def paper_selection() -> pd.DataFrame:
    """The paper's Table A6."""
    import pandas as pd

    rows = [[name, *values] for name, values in TABLE_A6.items()]
    return pd.DataFrame(rows, columns=["estimator", "NDCG@1", "NDCG@5", "NDCG@10", "NDCG@50", "NDCG@100", "NDCG"])


def as_markdown(table: pd.DataFrame) -> str:
    """A table in Markdown, without a further dependency."""
    lines = ["| " + " | ".join(map(str, table.columns)) + " |", "|" + "---|" * len(table.columns)]
    lines += ["| " + " | ".join(str(value) for value in row) + " |" for row in table.itertuples(index=False)]
    return "\n".join(lines)


def latex(run: Run) -> str:
    """The same in LaTeX, for booktabs."""
    parts = []
    for name, table in run.tables.items():
        if name in LONG:
            continue
        cells = shown(table)
        lines = [
            "\\begin{table}",
            "\\centering",
            f"\\begin{{tabular}}{{ll{'c' * (len(cells.columns) - 2)}}}",
            "\\toprule",
        ]
        lines.append(" & ".join(_tex(str(column)) for column in cells.columns) + " \\\\ \\midrule")
        lines += [" & ".join(_tex(str(value)) for value in row) + " \\\\" for row in cells.itertuples(index=False)]
        lines += ["\\bottomrule", "\\end{tabular}", f"\\caption{{{_tex(TITLES[name])}}}", "\\end{table}", ""]
        parts.append("\n".join(lines))
    return "\n".join(parts)


def _tex(text: str) -> str:
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
