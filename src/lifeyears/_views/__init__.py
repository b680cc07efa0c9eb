"""How numbers are shown: one form of tables and charts for notebooks, files, the report and the page."""

from ._charts import COLOURS, Chart, Series, forest
from ._drawing import draw
from ._tables import Column, columns_of, html_table, in_words

__all__ = ["COLOURS", "Chart", "Column", "Series", "columns_of", "draw", "forest", "html_table", "in_words"]
