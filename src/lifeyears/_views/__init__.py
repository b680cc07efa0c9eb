"""How numbers are shown: one form of tables and charts for notebooks, files, the report and the page."""

from ._charts import COLOURS, Chart, Places, Series, forest
from ._drawing import draw
from ._tables import Cell, TableColumn, format_number, html_table, make_columns

__all__ = [
    "COLOURS",
    "Cell",
    "Chart",
    "Places",
    "Series",
    "TableColumn",
    "draw",
    "forest",
    "format_number",
    "html_table",
    "make_columns",
]
