"""Tables on the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


def show(frame: pd.DataFrame, title: str = "", digits: int = 3) -> None:
    """Print a DataFrame: numbers to the right, words to the left, as wide as it needs to be when piped.

    Columns of hundreds, days for one, have a digit; of others as many as asked for.
    """
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title or None, box=SIMPLE_HEAD, title_justify="left")
    for name in frame.columns:
        numeric = frame[name].dtype.kind in "iuf"
        table.add_column(str(name), justify="right" if numeric else "left", overflow="fold")
    large = [frame[name].dtype.kind == "f" and frame[name].abs().max() >= 100 for name in frame.columns]
    for row in frame.itertuples(index=False):
        table.add_row(*(_cell(value, min(digits, 1) if big else digits) for value, big in zip(row, large, strict=True)))
    console = Console()
    if not console.is_terminal:
        console = Console(width=200)
    console.print(table)


def _cell(value: object, digits: int) -> str:
    if isinstance(value, float):
        text = f"{value:,.{digits}f}"
        return "–" if value != value else text.lstrip("-") if not text.strip("-0.,") else text
    return f"{value:,}" if isinstance(value, int) else str(value)
