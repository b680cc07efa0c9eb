"""Tables as files: CSV for machines, Markdown and LaTeX for people, the paper's numbers beside ours."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..._files import write_whole
from ..._views import TableColumn
from ..paper import PAPER_TABLES, load_paper_table
from ._summary import SUMMARY, write_summary
from ._tables import LONG_TABLES, display_columns, make_paper_table

if TYPE_CHECKING:
    import pandas as pd

    from ..types import Arm, Table
    from ._run import Run

UNOS = "The paper's (UNOS, not this data)"
MOVED = "Who enters and who leaves the top when a ranking method takes its base model's place: clear changes"
NOTE = (
    "± is one standard deviation over folds; * p < .05, ** p < .01 by Wilcoxon's two-sided test against the base "
    "model, as in the paper (a loss gets stars too; with few folds it cannot get there); it takes overlapping folds "
    "for independent. `tables/*.csv` have both p-values. KM's equal scores are averaged over, where the paper drew one "
    "order. In Table A6 a tie of two estimates counts as half right. IPCW NDCG is divided by the ideal of its own "
    "relevance and lies within [0, 1]; the paper's exceeds 1 in places, so its divisor must be another. In Table 1 and "
    "Figure 2 NDCG@k is by the whole life, as in the paper, and waitlist NDCG, like all values, by life within the "
    "horizon. Table 2's DR values are means over folds, where the values above pool patients if there are fewer than "
    "ten jobs."
)


def write_tables(run: Run, out: Path) -> None:
    """Write summary.json, tables/*.csv, tables.md and tables.tex."""
    for name, table in run.tables.items():
        write_whole(out / "tables" / f"{name}.csv", table.to_csv(index=False).encode())
        if name in PAPER_TABLES:
            write_whole(out / "tables" / f"{name}_paper.csv", load_paper_table(name).to_csv(index=False).encode())
    write_whole(out / "tables.md", render_markdown(run).encode())
    write_whole(out / "tables.tex", render_latex(run).encode())
    write_whole(out / SUMMARY, write_summary(run.summary))


def list_printed(run: Run) -> list[tuple[str, list[TableColumn]]]:
    """List title and columns of every table that fits a page, the paper's after ours."""
    printed = []
    for name, table in run.summary.tables.items():
        if name == "subgroups":
            printed += [(short.title, display_columns(short)) for short in _short_subgroups(table, run.best())]
        elif name not in LONG_TABLES:
            printed.append((table.title, display_columns(table)))
        if name in PAPER_TABLES:
            printed.append((f"{table.title}. {UNOS}", display_columns(make_paper_table(name))))
    return printed


def _short_subgroups(table: Table, best: Arm) -> list[Table]:
    """The best arm's subgroups, and the changes by rankers whose interval leaves out 0."""
    low, high = (table.keys.index(key) for key in ("change_low", "change_high"))
    moved = tuple(row for row in table.rows if _above_zero(row[low]) or _above_zero(row[high], -1))
    shown = ("by", "group", "model", "method", "share_of_patients", "share_change", "change_low", "change_high")
    changes = replace(table, title=MOVED, rows=moved).drop(*(key for key in table.keys if key not in shown))
    of_best = table.select(model=best.model, method=best.method).drop("model", "method")
    return [of_best, *([changes] if moved else [])]


def _above_zero(value: object, sign: int = 1) -> bool:
    return isinstance(value, (int, float)) and sign * value > 0


def render_markdown(run: Run) -> str:
    """Render all tables but the long ones in Markdown, with the paper's after them."""
    parts = [f"# {run.dataset.name}: {run.plan.protocol} protocol\n", run.reading() + "\n"]
    parts += [f"## {title}\n\n{columns_to_markdown(columns)}\n" for title, columns in list_printed(run)]
    return "\n".join([*parts, NOTE + "\n"])


def to_markdown(table: pd.DataFrame) -> str:
    """Write a DataFrame in Markdown, without a further dependency."""
    return _join_cells(map(str, table.columns), table.itertuples(index=False))


def _join_cells(heads: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    head = [*heads]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(str(value) for value in row) + " |" for row in rows]
    return "\n".join(lines)


def columns_to_markdown(columns: list[TableColumn]) -> str:
    """Write the columns that people see in Markdown."""
    rows = zip(*(column.texts for column in columns), strict=True)
    return _join_cells((column.name for column in columns), rows)


def render_latex(run: Run) -> str:
    """Render the same in LaTeX, for booktabs."""
    parts = []
    for title, columns in list_printed(run):
        form = "".join("c" if column.numeric else "l" for column in columns)
        lines = ["\\begin{table}", "\\centering", f"\\begin{{tabular}}{{{form}}}", "\\toprule"]
        lines.append(" & ".join(_escape_latex(column.name) for column in columns) + " \\\\ \\midrule")
        rows = zip(*(column.texts for column in columns), strict=True)
        lines += [" & ".join(map(_escape_latex, row)) + " \\\\" for row in rows]
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
