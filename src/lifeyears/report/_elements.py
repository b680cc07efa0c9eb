"""The few elements that the page is made of; all text that comes from data is escaped here."""

from __future__ import annotations

import html
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .._typing import Json
from .._views import Chart, html_table
from ..experiments.results import TITLES
from ._plotly import as_plotly, render_legend

if TYPE_CHECKING:
    import pandas as pd

    from .._views import Cell


TALL = 25  # rows; a longer table scrolls in a box of its own


def escape(text: object) -> str:
    """Escape text for HTML."""
    return html.escape(str(text), quote=True)


def paragraphs(*texts: str) -> str:
    """Plain texts, a paragraph each."""
    return "".join(f"<p>{escape(text)}</p>" for text in texts if text)


def bullets(texts: list[str]) -> str:
    """Plain texts as a list."""
    return "<ul>" + "".join(f"<li>{escape(text)}</li>" for text in texts) + "</ul>"


def rename_years(table: pd.DataFrame, unit: str) -> pd.DataFrame:
    """Name columns by the unit of the data, where summary.json calls them "years"."""
    return table.rename(columns=lambda name: str(name).replace("years", unit))


@dataclass
class Page:
    """A page under way: its sections, and the charts they show."""

    unit: str
    sections: list[tuple[str, str, str]] = field(default_factory=list)
    charts: dict[str, Json] = field(default_factory=dict)

    def section(self, key: str, title: str, *parts: str) -> None:
        """Add a section; `key` is its anchor."""
        self.sections.append((key, title, "\n".join(part for part in parts if part)))

    def figure(self, key: str, chart: Chart | None, caption: str, table: str = "") -> str:
        """A chart with its caption; its text alternative tells what it shows, `table` names where its numbers are."""
        if chart is None:
            return ""
        self.charts[key] = as_plotly(chart)
        height = self.charts[key]["layout"]["height"]
        numbers = f' <a href="#table-{escape(table)}">Numbers</a>' if table else ""
        return (
            f'<figure><div class="chart" id="chart-{escape(key)}" data-chart="{escape(key)}" data-height="{height}" '
            f'role="img" aria-label="{escape(chart.alt)}"></div>{render_legend(chart)}'
            f"<figcaption>{escape(caption)}{numbers}</figcaption></figure>"
        )

    def table(
        self,
        key: str,
        table: pd.DataFrame | None,
        title: str | None = None,
        note: str = "",
        marked: Callable[[Json], bool] | None = None,
        shade: Callable[[str, Cell], str] | None = None,
    ) -> str:
        """A table in a box of its own, which scrolls where the page is narrow."""
        if table is None or not len(table):
            return ""
        title = TITLES.get(key, key) if title is None else title
        if self.unit != "years":
            title = title.replace("Years", self.unit.capitalize()).replace("years", self.unit)
        content = html_table(rename_years(table, self.unit), key=key, marked=marked, shade=shade)
        narrow = " narrow" if len(table.columns) < 4 else ""
        tall = " tall" if len(table) > TALL else ""
        below = f'<p class="note">{escape(note)}</p>' if note else ""
        return (
            f'<div class="table{narrow}" id="table-{escape(key)}"><h4 id="heading-{escape(key)}">{escape(title)}</h4>'
            f'<div class="scroll{tall}" tabindex="0" role="region" '
            f'aria-labelledby="heading-{escape(key)}">{content}</div>{below}</div>'
        )


def details(summary: str, body: str) -> str:
    """What is there for those who ask; closed at first."""
    return f"<details><summary>{escape(summary)}</summary>{body}</details>" if body else ""


def embed_json(value: object) -> str:
    """Write JSON that no text in it can break out of."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def mark_best(best: str) -> Callable[[Json], bool]:
    """Return a function that recognises the row of the best arm."""
    return lambda row: row.get("arm", f"{row.get('model')} {row.get('framework')}") == best
