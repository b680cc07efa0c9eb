"""Tables and charts that notebooks, files and the report share."""

import html

import numpy as np
import pandas as pd
import pytest

import lifeyears as ly
from lifeyears._views import Chart, Series, draw, forest, format_number, html_table, make_columns


def test_values_are_joined_with_what_belongs_to_them():
    table = pd.DataFrame(
        {
            "model": ["Cox", "KM"],
            "years": [14.4, 11.0],
            "low": [14.1, np.nan],
            "high": [14.7, np.nan],
            "NDCG@1": [0.5, 0.25],
            "NDCG@1 sd": [0.125, np.nan],
            "NDCG@1 stars": ["**", None],
            "NDCG@1 p corrected": [0.0004, None],
            "p": [0.0004, 0.5],
            "patients": [1200, 30],
            "share of patients": [0.25, 1.0],
        }
    )
    columns = {column.name: column for column in make_columns(table)}
    assert list(columns) == ["model", "years", "NDCG@1", "p", "patients", "share of patients"]
    assert columns["years"].texts == ["14.40 (14.10 to 14.70)", "11.00"]
    assert columns["years"].extras == {"low": [14.1, None], "high": [14.7, None]}
    assert columns["NDCG@1"].texts == ["0.500 ± 0.125**", "0.250"]
    assert columns["p"].texts == ["<0.001", "0.500"]
    assert columns["patients"].texts == ["1,200", "30"]
    assert columns["share of patients"].texts == ["25.0%", "100.0%"]


@pytest.mark.parametrize(
    ("value", "text"), [(-1.239, "−1.24"), (0.0, "0.00"), (-0.001, "0.00"), (1234.5, "1,234.50"), (np.nan, "–")]
)
def test_numbers_format_number(value, text):
    assert format_number(value) == text


def test_no_text_of_data_becomes_markup():
    wicked = "<script>alert(1)</script>"
    made = html_table(pd.DataFrame({wicked: [wicked], "x low": [1.0]}), key=wicked, caption=wicked)
    assert wicked not in made
    assert made.count(html.escape(wicked)) == 4


def test_a_forest_has_a_row_each_and_sets_off_the_best():
    chart = forest(["a", "b"], [1.0, 2.0], [0.5, 1.0], [1.5, 3.0], "years", "words", line=(0.0, ""), best="b")
    assert chart.rows == ("a", "b")
    assert [series.y for series in chart.series] == [["b"], ["a"]]
    ax = draw(chart)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a", "b"]
    assert list(ax.get_yticks()) == [1, 0]  # the first on top
    assert ax.get_xlabel() == "years"


def test_every_kind_of_series_is_drawn():
    series = (
        Series("points", [0.0, 1.0], [0.0, 1.0]),
        Series("line", [0.0, 1.0], [1.0, 0.0], [0.5, 0.0], [1.5, 0.5], kind="line"),
        Series("steps", [0.0, 1.0], [1.0, 0.5], kind="steps"),
    )
    ax = draw(Chart("words", "x", "y", series, diagonal=True, title="title", y_range=(0.0, 2.0)))
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["points", "steps", "line"]
    assert ax.get_ylim() == (0.0, 2.0)
    bars = draw(Chart("words", "", "%", (Series("a", ["p", "q"], [1.0, 2.0], kind="bars"),), y_line=(0.0, "")))
    assert [patch.get_height() for patch in bars.patches] == [1.0, 2.0]


def test_a_comparison_shows_as_the_report_does():
    rng = np.random.default_rng(0)
    years = rng.exponential(5, 1000)
    found = ly.metrics.compare(years, {"<i>": years, "random": rng.normal(size=1000)}, waitlist=10, n_resamples=50)
    made = found._repr_html_()
    assert '<table class="lifeyears"' in made
    assert "<i>" not in made
    assert f"{found.values['value'].iloc[0]:.2f} (" in made
    assert found.plot().get_xlabel().startswith("difference")
